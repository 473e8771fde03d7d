/* sink_report.c - what causeway sink says of the packets it got. */
#include <inttypes.h>
#include <stdio.h>
#include "cli/sink.h"

/* ---- Judgement ---------------------------------------------------------------------------- */

static uint64_t lost(const struct sink *s, const struct traffic_run *r)
{
	uint64_t expected = traffic_run_expected(r, s->count);

	return expected > r->distinct ? expected - r->distinct : 0;
}

static uint64_t refused_faults(const struct sink *s, const struct traffic_run *r)
{
	uint64_t n = 0;
	unsigned i;

	for (i = 0; i < 256; i++)
		n += s->allow_fault[i] ? 0 : r->faults[i];
	return n;
}

static bool run_ok(const struct sink *s, const struct traffic_run *r)
{
	return lost(s, r) == 0 && r->duplicates == 0 && (s->allow_reorder || r->reordered == 0) &&
	       r->wrong == 0 && refused_faults(s, r) == 0;
}

bool sink_ok(const struct sink *s)
{
	unsigned i;

	if (s->tally.nruns < s->runs || (s->tally.damaged != 0 && !s->allow_damaged))
		return false;
	for (i = 0; i < s->tally.nruns; i++) {
		if (!run_ok(s, s->tally.runs[i]))
			return false;
	}
	return true;
}

/* Good packets of flow f that did not come. */
static uint64_t flow_lost(const struct sink *s, const struct traffic_run *r, unsigned f)
{
	uint64_t expected = traffic_run_expected(r, s->count), n = 0;

	if (expected > f)
		n = (expected - f - 1) / r->nflows + 1;
	return n - (r->flows[f].received - r->flows[f].duplicates);
}

/* ---- Report ------------------------------------------------------------------------------- */

static const char *const cc_bits[] = {"00", "01", "10", "11"};

static void json_checks(const char *title, const uint64_t *counts)
{
	const char *sep = "";
	unsigned i;

	printf(",\"%s\":{", title);
	for (i = 0; i < TRAFFIC_CHECK_COUNT; i++) {
		if (counts[i] == 0)
			continue;
		printf("%s\"%s\":%" PRIu64, sep, traffic_check_name(i), counts[i]);
		sep = ",";
	}
	putchar('}');
}

static void json_cc(const struct traffic_run *r)
{
	const char *sep = "";
	unsigned i, j;

	printf(",\"cc\":[");
	for (i = 0; i < 4; i++) {
		for (j = 0; j < 4; j++) {
			if (r->cc[i][j] == 0)
				continue;
			printf("%s{\"sent\":\"%s\",\"received\":\"%s\",\"packets\":%" PRIu64 "}",
			       sep, cc_bits[i], cc_bits[j], r->cc[i][j]);
			sep = ",";
		}
	}
	putchar(']');
}

static void json_faults(const struct traffic_run *r)
{
	const char *sep = "";
	unsigned i;

	printf(",\"faulty\":%" PRIu64 ",\"faults\":{", r->faulty);
	for (i = 1; i < 256; i++) {
		if (r->faults[i] == 0)
			continue;
		printf("%s\"%s\":%" PRIu64, sep,
		       i <= traffic_nfaults ? traffic_faults[i - 1].name : "unknown", r->faults[i]);
		sep = ",";
	}
	putchar('}');
}

static void json_flows(const struct sink *s, const struct traffic_run *r)
{
	unsigned i;

	printf(",\"flows\":[");
	for (i = 0; i < r->nflows; i++) {
		const struct traffic_flow *f = &r->flows[i];

		printf("%s{\"flow\":%u,\"received\":%" PRIu64 ",\"lost\":%" PRIu64
		       ",\"duplicates\":%" PRIu64 ",\"reordered\":%" PRIu64 ",\"wrong\":%" PRIu64
		       ",\"octets\":%" PRIu64 "}",
		       i > 0 ? "," : "", i, f->received, flow_lost(s, r, i), f->duplicates,
		       f->reordered, f->wrong, f->octets);
	}
	putchar(']');
}

static void report_json(const struct sink *s)
{
	const struct traffic_tally *t = &s->tally;
	unsigned i;

	printf("{\"ok\":%s,\"packets\":%" PRIu64 ",\"foreign\":%" PRIu64 ",\"damaged\":%" PRIu64
	       ",\"kernel_drops\":%" PRIu64 ",\"seconds\":%.6f",
	       sink_ok(s) ? "true" : "false", t->packets, t->foreign, t->damaged, s->kernel_drops,
	       (double)(s->last_ns - s->first_ns) / 1e9);
	json_checks("damaged_checks", t->checks);
	printf(",\"runs\":[");
	for (i = 0; i < t->nruns; i++) {
		const struct traffic_run *r = t->runs[i];

		printf("%s{\"run\":\"0x%08x\",\"from\":\"%s\",\"ip\":%u,\"ok\":%s,\"expected\":"
		       "%" PRIu64 ",\"received\":%" PRIu64 ",\"lost\":%" PRIu64
		       ",\"duplicates\":%" PRIu64 ",\"reordered\":%" PRIu64 ",\"wrong\":%" PRIu64
		       ",\"octets\":%" PRIu64,
		       i > 0 ? "," : "", r->id, r->side == TRAFFIC_UB ? "ub" : "uboe",
		       r->v6 ? 6 : 4, run_ok(s, r) ? "true" : "false",
		       traffic_run_expected(r, s->count), r->received, lost(s, r), r->duplicates,
		       r->reordered, r->wrong, r->octets);
		json_checks("checks", r->checks);
		json_cc(r);
		json_faults(r);
		if (s->per_flow)
			json_flows(s, r);
		putchar('}');
	}
	fputs("]}\n", stdout);
}

static void text_checks(const uint64_t *counts)
{
	unsigned i;

	for (i = 0; i < TRAFFIC_CHECK_COUNT; i++) {
		if (counts[i] != 0)
			printf("    %-12s %10" PRIu64 "  %s\n", traffic_check_name(i), counts[i],
			       traffic_check_text(i));
	}
}

static void text_faults(const struct sink *s, const struct traffic_run *r)
{
	unsigned i;

	if (r->faulty == 0)
		return;
	printf("  %" PRIu64 " faulty packets arrived:\n", r->faulty);
	for (i = 1; i < 256; i++) {
		if (r->faults[i] != 0)
			printf("    %-12s %10" PRIu64 "%s\n",
			       i <= traffic_nfaults ? traffic_faults[i - 1].name : "unknown",
			       r->faults[i], s->allow_fault[i] ? "  (allowed)" : "");
	}
}

static void text_run(const struct sink *s, const struct traffic_run *r)
{
	unsigned i, j;

	printf("run 0x%08x (%s, IPv%u): %" PRIu64 " of %" PRIu64 " packets, %" PRIu64
	       " lost, %" PRIu64 " duplicated, %" PRIu64 " reordered, %" PRIu64 " wrong: %s\n",
	       r->id, r->side == TRAFFIC_UB ? "UB" : "UBoE", r->v6 ? 6 : 4, r->distinct,
	       traffic_run_expected(r, s->count), lost(s, r), r->duplicates, r->reordered, r->wrong,
	       run_ok(s, r) ? "ok" : "NOT OK");
	text_checks(r->checks);
	printf("  %s as sent -> as received:", r->side == TRAFFIC_UB ? "FECN" : "ECN");
	for (i = 0; i < 4; i++) {
		for (j = 0; j < 4; j++) {
			if (r->cc[i][j] != 0)
				printf("  %s->%s %" PRIu64, cc_bits[i], cc_bits[j], r->cc[i][j]);
		}
	}
	putchar('\n');
	text_faults(s, r);
	for (i = 0; s->per_flow && i < r->nflows; i++) {
		const struct traffic_flow *f = &r->flows[i];

		printf("  flow %5u: %" PRIu64 " received, %" PRIu64 " lost, %" PRIu64
		       " duplicated, %" PRIu64 " reordered, %" PRIu64 " wrong\n",
		       i, f->received, flow_lost(s, r, i), f->duplicates, f->reordered, f->wrong);
	}
}

static void report_text(const struct sink *s)
{
	const struct traffic_tally *t = &s->tally;
	double seconds = (double)(s->last_ns - s->first_ns) / 1e9;
	unsigned i;

	for (i = 0; i < t->nruns; i++)
		text_run(s, t->runs[i]);
	if (t->nruns < s->runs)
		printf("%" PRIu64 " runs awaited, packets of %u came\n", s->runs, t->nruns);
	if (t->damaged != 0) {
		printf("damaged packets: %" PRIu64 "\n", t->damaged);
		text_checks(t->checks);
	}
	if (t->foreign != 0)
		printf("other traffic: %" PRIu64 " frames\n", t->foreign);
	if (s->kernel_drops != 0)
		printf("the kernel had no room here for %" PRIu64
		       " frames: some losses may be sink's own\n",
		       s->kernel_drops);
	if (seconds > 0)
		printf("%" PRIu64 " packets in %.3f s, %.0f packets/s\n", t->packets - t->foreign,
		       seconds, (double)(t->packets - t->foreign) / seconds);
}

void sink_report(const struct sink *s)
{
	if (s->json)
		report_json(s);
	else
		report_text(s);
}
