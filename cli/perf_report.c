/* perf_report.c - causeway perf: tables and JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "cli/perf.h"

static double per_second(uint64_t done, uint64_t ns)
{
	return ns ? (double)done * 1e9 / (double)ns : 0;
}

/* Messages a second, of both directions. */
static double rate(const struct perf_line *l)
{
	return per_second(l->there->done, l->there->ns) + per_second(l->back_done, l->back_ns);
}

static double gbps(const struct perf_line *l)
{
	return rate(l) * l->there->size * 8e-9;
}

static double usec(const struct perf_result *r, unsigned permille)
{
	return (double)histogram_permille(&r->latency, permille) / 1000;
}

void perf_text_head(const struct perf *p)
{
	printf("%10s %10s %9s %12s %9s %9s %9s %9s %9s%s%s\n", "octets", "messages", "Gbit/s",
	       "messages/s", "p50 us", "p90 us", "p99 us", "p99.9 us", "max us",
	       p->ep.service == CW_UBOE_UNO ? "  received" : "", p->check ? "    wrong" : "");
}

void perf_text_line(const struct perf *p, const struct perf_line *l)
{
	const struct perf_result *r = l->there;

	printf("%10u %10" PRIu64 " %9.3f %12.0f %9.1f %9.1f %9.1f %9.1f %9.1f", r->size,
	       r->done + l->back_done, gbps(l), rate(l), usec(r, 500), usec(r, 900), usec(r, 990),
	       usec(r, 999), (double)r->latency.max / 1000);
	if (p->ep.service == CW_UBOE_UNO)
		printf(" %9" PRIu64, l->received);
	if (p->check)
		printf(" %8" PRIu64, l->bad);
	puts("");
	(void)fflush(stdout);
}

static json_t *json_latency(const struct perf_result *r)
{
	return json_pack("{s:f,s:f,s:f,s:f,s:f,s:f}", "min", (double)r->latency.min / 1000, "p50",
			 usec(r, 500), "p90", usec(r, 900), "p99", usec(r, 990), "p99.9",
			 usec(r, 999), "max", (double)r->latency.max / 1000);
}

json_t *perf_json_line(const struct perf *p, const struct perf_line *l)
{
	const struct perf_result *r = l->there;
	json_t *o = json_pack("{s:I,s:I,s:f,s:f,s:f,s:o}", "octets", (json_int_t)r->size,
			      "messages", (json_int_t)r->done + (json_int_t)l->back_done, "seconds",
			      (double)r->ns / 1e9, "gbit_per_second", gbps(l),
			      "messages_per_second", rate(l), "latency_us", json_latency(r));

	if (p->both)
		(void)json_object_set_new(o, "messages_back",
					  json_integer((json_int_t)l->back_done));
	if (p->ep.service == CW_UBOE_UNO)
		(void)json_object_set_new(o, "received", json_integer((json_int_t)l->received));
	if (p->check)
		(void)json_object_set_new(o, "wrong", json_integer((json_int_t)l->bad));
	return o;
}

static json_int_t counter(json_t *report, const char *name)
{
	return json_integer_value(json_object_get(json_object_get(report, "counters"), name));
}

/* What the end at `who` refused, and why. */
static void text_refused(const char *who, json_t *report)
{
	int i;

	for (i = CW_UBOE_C_BAD_SHORT; i < CW_UBOE_COUNTER_COUNT; i++) {
		const char *name = cw_uboe_counter_name((enum cw_uboe_counter)i);
		json_int_t n = counter(report, name);

		if (n != 0)
			printf("%-8s refused %" JSON_INTEGER_FORMAT " packets as %s: %s\n", who, n,
			       name, cw_uboe_counter_text((enum cw_uboe_counter)i));
	}
}

void perf_text_end(const char *who, json_t *report)
{
	printf("%-8s sent %" JSON_INTEGER_FORMAT " packets, %" JSON_INTEGER_FORMAT
	       " again; received %" JSON_INTEGER_FORMAT ", %" JSON_INTEGER_FORMAT
	       " with a bad ICRC, %" JSON_INTEGER_FORMAT
	       " with a congestion mark; %.3f s of a CPU\n",
	       who, counter(report, "tx"), counter(report, "rtx"), counter(report, "rx"),
	       counter(report, "bad-icrc"), counter(report, "ce"),
	       json_real_value(json_object_get(report, "cpu_seconds")));
	text_refused(who, report);
}

void perf_print_json(json_t *all)
{
	char *text = json_dumps(all, JSON_COMPACT);

	if (text != NULL)
		puts(text);
	free(text);
	json_decref(all);
}
