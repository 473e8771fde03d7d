/* uet_report.c - causeway uet: how far it is, samples of a run, and its numbers at the end. */
#include <arpa/inet.h>
#include <stdio.h>
#include "cli/clock.h"
#include "cli/uet.h"

#define SHOW_EVERY   500000000u
#define SAMPLE_EVERY 20000000u

void uet_progress(struct uet_progress *p, bool last)
{
	uint64_t now = clock_now_ns();

	if (!p->on || (!last && now - p->shown_at < SHOW_EVERY))
		return;
	p->shown_at = now;
	if (last)
		fputs("\r\033[K", stderr);
	else
		fprintf(stderr, "\r%3u %%, %llu of %llu octets",
			(unsigned)(p->total > 0 ? 100 * (p->done / 1024) / (p->total / 1024 + 1)
						: 0),
			(unsigned long long)p->done, (unsigned long long)p->total);
}

/* ---- Samples -------------------------------------------------------------------------------- */

static void thin_out(struct uet_samples *t)
{
	unsigned i;

	for (i = 0; i < t->n / 2; i++)
		t->s[i] = t->s[2 * i + 1];
	t->n /= 2;
	t->interval *= 2;
}

void uet_sample(struct uet_io *io, uint64_t now)
{
	struct uet_samples *t = io->samples;
	struct cw_uet_path_info path;
	struct uet_sample *s;
	unsigned k;

	if (t == NULL || now < t->next_at)
		return;
	if (t->n == UET_SAMPLES)
		thin_out(t);
	if (t->interval == 0) {
		t->interval = SAMPLE_EVERY;
		t->began_at = now;
	}
	t->next_at = now + t->interval;
	s = &t->s[t->n++];
	*s = (struct uet_sample){.at = now - t->began_at,
				 .retransmits = cw_uet_count(io->u, CW_UET_RETRANSMITS),
				 .rx_data = cw_uet_count(io->u, CW_UET_RX_DATA),
				 .rx_ooo = cw_uet_count(io->u, CW_UET_RX_OOO),
				 .octets = cw_uet_count(io->u, CW_UET_TX_OCTETS)};
	for (k = 0; k < io->far[0].known && cw_uet_path(io->u, 0, k, &path) == CW_OK; k++)
		s->sent[k] = path.sent;
}

static void print_samples(const struct uet_io *io)
{
	unsigned i, k;

	printf("],\"samples\":[");
	for (i = 0; i < io->samples->n; i++) {
		const struct uet_sample *s = &io->samples->s[i];

		printf("%s{\"at\":%.3f,\"retransmits\":%llu,\"rx_data\":%llu,\"rx_ooo\":%llu,"
		       "\"octets\":%llu,\"sent\":[",
		       i > 0 ? "," : "", (double)s->at / 1e9, (unsigned long long)s->retransmits,
		       (unsigned long long)s->rx_data, (unsigned long long)s->rx_ooo,
		       (unsigned long long)s->octets);
		for (k = 0; k < io->far[0].known; k++)
			printf("%s%llu", k > 0 ? "," : "", (unsigned long long)s->sent[k]);
		printf("]}");
	}
}

/* ---- The end ----------------------------------------------------------------------------------
 */

/* What tells the path: the source port of the data. */
static unsigned source_port(const struct uet_io *io, unsigned path)
{
	return io->server ? ntohs(io->far[0].path[path].sin6_port) : io->port[path];
}

static void report_paths(const struct uet_io *io, bool json)
{
	struct cw_uet_path_info i;
	unsigned k;

	for (k = 0; k < io->far[0].known && cw_uet_path(io->u, 0, k, &i) == CW_OK; k++) {
		if (json)
			printf("%s{\"path\":%u,\"port\":%u,\"sent\":%llu,\"lost\":%llu,"
			       "\"marked\":%llu,\"rtt_us\":%llu,\"window\":%.1f,\"down\":%s}",
			       k > 0 ? "," : "", k, source_port(io, k), (unsigned long long)i.sent,
			       (unsigned long long)i.lost, (unsigned long long)i.marked,
			       (unsigned long long)i.rtt / 1000, i.window,
			       i.down ? "true" : "false");
		else if (!io->server)
			printf("  path %2u: %8llu sent %6llu lost, rtt %llu us, window %.1f%s\n", k,
			       (unsigned long long)i.sent, (unsigned long long)i.lost,
			       (unsigned long long)i.rtt / 1000, i.window, i.down ? ", down" : "");
	}
}

static void report_lateness(const struct uet_io *io, bool json)
{
	uint64_t late = 0;
	unsigned k;

	for (k = 1; k < CW_UET_LATE; k++)
		late += cw_uet_late(io->u, k);
	if (json) {
		printf("],\"late\":[");
		for (k = 0; k < CW_UET_LATE; k++)
			printf("%s%llu", k > 0 ? "," : "",
			       (unsigned long long)cw_uet_late(io->u, k));
	} else if (late > 0) {
		printf("  behind the furthest packet of their message:");
		for (k = 1; k < CW_UET_LATE; k++) {
			if (cw_uet_late(io->u, k) > 0)
				printf(" %u..%u: %llu", 1u << (k - 1), (1u << k) - 1,
				       (unsigned long long)cw_uet_late(io->u, k));
		}
		printf("\n");
	}
}

static void report_completion(const struct uet_io *io, bool json)
{
	const struct histogram *h = &io->took;
	double p50 = (double)histogram_permille(h, 500) / 1e3,
	       p99 = (double)histogram_permille(h, 990) / 1e3, max = (double)h->max / 1e3;

	if (h->n == 0)
		return;
	printf(json ? "\"completion_us\":{\"p50\":%.1f,\"p99\":%.1f,\"max\":%.1f},"
		    : "  a message takes %.1f us (median), %.1f (99 %%), %.1f (the longest)\n",
	       p50, p99, max);
}

void uet_report(const struct uet_io *io, const struct uet_opts *o, const char *what,
		uint64_t octets, uint64_t messages, uint64_t ns)
{
	double s = (double)ns / 1e9;
	unsigned c;

	if (!o->json) {
		printf("%s %llu octets in %llu messages, %.3f s, %.3f Gb/s\n", what,
		       (unsigned long long)octets, (unsigned long long)messages, s,
		       s > 0 ? 8e-9 * (double)octets / s : 0);
		report_paths(io, false);
		report_completion(io, false);
		report_lateness(io, false);
	} else {
		printf("{\"what\":\"%s\",\"octets\":%llu,\"messages\":%llu,\"seconds\":%.6f,"
		       "\"paths\":[",
		       what, (unsigned long long)octets, (unsigned long long)messages, s);
		report_paths(io, true);
		print_samples(io);
		report_lateness(io, true);
		printf("],");
		report_completion(io, true);
		printf("\"strangers\":%llu,\"bad_crc\":%llu,\"counters\":{",
		       (unsigned long long)io->strangers, (unsigned long long)io->bad_crc);
	}
	for (c = 0; c < CW_UET_NCOUNTERS; c++) {
		unsigned long long v = cw_uet_count(io->u, (enum cw_uet_counter)c);
		const char *name = cw_uet_counter_name((enum cw_uet_counter)c);

		if (o->json)
			printf("%s\"%s\":%llu", c > 0 ? "," : "", name, v);
		else if (v > 0)
			printf("  %-12s %12llu  %s\n", name, v,
			       cw_uet_counter_text((enum cw_uet_counter)c));
	}
	if (!o->json && io->bad_crc > 0)
		printf("  %-12s %12llu  packets with a wrong CRC-32C\n", "bad-crc",
		       (unsigned long long)io->bad_crc);
	if (o->json)
		printf("}}\n");
}

void uet_report_transfer(const struct uet_far *from, const struct uet_opts *o, const char *file,
			 uint64_t octets, uint64_t ns, const char *wrong)
{
	const struct in6_addr *a = &from->path[0].sin6_addr;
	bool v4 = IN6_IS_ADDR_V4MAPPED(a);
	char who[INET6_ADDRSTRLEN] = "";
	double s = (double)ns / 1e9;

	(void)inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? &a->s6_addr[12] : a->s6_addr, who,
			sizeof(who));
	if (wrong != NULL)
		fprintf(stderr, "causeway uet: from %s: %s\n", who, wrong);
	else if (o->json)
		printf("{\"what\":\"transfer\",\"from\":\"%s\",\"file\":\"%s\",\"octets\":%llu,"
		       "\"seconds\":%.6f}\n",
		       who, file, (unsigned long long)octets, s);
	else
		fprintf(stderr, "from %s: %llu octets, %.3f s%s%s\n", who,
			(unsigned long long)octets, s, *file != '\0' ? ", " : "", file);
	(void)fflush(stdout);
}
