/* notify.c - the congestion notification proxy by itself: learning, lookups, notifications.
 *
 *   notify [PAIRS]       prints one JSON object a line (1000000 pairs, each direction is one)
 *
 * All connections are between 256 senders and 256 receivers and are used in shuffled order, so
 * nearly every step misses the caches, as with real traffic; `hot` uses 64 of them. Packets,
 * lookups and messages go in bursts of 32, as in the gateway; `single` and the percentiles are of
 * one by one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "causeway/cnrelay.h"
#include "cnflows.h"
#include "daemon/huge.h"

enum { HOT = 64, SAMPLES = 1 << 17, BURST = 32 };

struct bench {
	struct cw_qpmap *map;
	struct cw_relay *relay;
	struct cw_lpm *all;
	uint32_t connections, *order;
	uint64_t now; /* the map's clock */
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* For averages: this thread's processor time, which others on the machine do not change so much. */
static uint64_t ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Packets are made in batches, so that only what is measured is timed. */
static double learn(struct bench *b, bool data_only)
{
	static uint8_t pool[8192][FLOW_PACKET];
	static struct cw_qp_seen seen[8192];
	uint32_t len[8192], psn, at, n;
	uint64_t spent = 0, count = 0, start;

	for (psn = 0; psn < (data_only ? 1u : 4u); psn++) {
		for (at = 0; at < b->connections; at += 4096) {
			uint32_t k, end = at + 4096 < b->connections ? at + 4096 : b->connections;

			for (k = at, n = 0; k < end; k++) {
				len[n] =
					flow_roce(pool[n], b->order[k], 9 * data_only + psn, false);
				n++;
				if (data_only)
					continue;
				len[n] = flow_roce(pool[n], b->order[k], psn, true);
				n++;
			}
			start = ns();
			for (k = 0; k < n; k++)
				seen[k] =
					(struct cw_qp_seen){pool[k], len[k], len[k], b->now += 10};
			cw_qpmap_learn(b->map, seen, n);
			spent += ns() - start;
			count += n;
		}
	}
	return (double)spent / (double)count;
}

static struct cw_qp_key key_of(uint32_t i)
{
	struct cw_qp_key k = {.dqpn = flow_qpn(i, true)};
	uint8_t o[2][4];

	cw_put_be32(o[0], flow_sender(i));
	cw_put_be32(o[1], flow_receiver(i));
	k.sender = cw_gid_of(4, o[0]);
	k.receiver = cw_gid_of(4, o[1]);
	return k;
}

/* How many were right, and how many wrong; the rest is undecided. */
static double lookup(struct bench *b, uint32_t n, unsigned burst, uint32_t found[2])
{
	uint64_t start = ns();
	uint32_t k, j;
	struct cw_qp_pair pair[BURST];
	struct cw_qp_key key[BURST];
	int err[BURST];

	found[0] = found[1] = 0;
	for (k = 0; k < SAMPLES; k += burst) {
		for (j = 0; j < burst; j++)
			key[j] = key_of(b->order[(k + j) % n]);
		cw_qpmap_lookup_burst(b->map, key, burst, b->now, pair, err);
		for (j = 0; j < burst; j++) {
			if (err[j] == CW_OK)
				found[pair[j].sqpn != flow_qpn(b->order[(k + j) % n], false)]++;
		}
	}
	return (double)(ns() - start) / SAMPLES;
}

static int by_value(const void *a, const void *b)
{
	const uint32_t *p = a, *q = b;

	return *p < *q ? -1 : *p > *q;
}

static uint32_t notify_burst(struct bench *b, uint8_t (*message)[FLOW_PACKET])
{
	static uint8_t buf[BURST][CW_RELAY_MAX];
	struct cw_relay_item item[BURST];
	uint32_t i, sent = 0;

	for (i = 0; i < BURST; i++)
		item[i] = (struct cw_relay_item){
			.ip = message[i], .len = FLOW_MESSAGE, .internal = true, .buf = buf[i]};
	cw_relay_burst(b->relay, item, BURST, b->now += 10);
	for (i = 0; i < BURST; i++)
		sent += cw_relay_sent(item[i].result);
	return sent;
}

/* One message after the other, each timed; the clock's own cost is inside. */
static void notify(struct bench *b, const char *name, uint32_t n)
{
	static uint8_t pool[SAMPLES][FLOW_PACKET];
	static uint32_t took[SAMPLES];
	uint8_t buf[CW_RELAY_MAX];
	struct cw_relay_out out;
	uint32_t k, sent = 0;
	uint64_t start, t;
	double all;

	for (k = 0; k < SAMPLES; k++)
		flow_message(pool[k], b->order[k % n]);
	start = ns();
	for (k = 0; k < SAMPLES; k += BURST)
		sent += notify_burst(b, &pool[k]);
	all = (double)(ns() - start) / SAMPLES;
	for (k = 0; k < SAMPLES; k++) {
		t = clock_ns(CLOCK_MONOTONIC);
		(void)cw_relay_input(b->relay, pool[k], FLOW_MESSAGE, true, b->now += 10, buf,
				     &out);
		took[k] = (uint32_t)(clock_ns(CLOCK_MONOTONIC) - t);
	}
	qsort(took, SAMPLES, sizeof(*took), by_value);
	printf("{\"what\":\"notifications\",\"set\":\"%s\",\"per_second\":%.0f,\"ns\":%.1f,"
	       "\"p50_ns\":%u,\"p99_ns\":%u,\"p999_ns\":%u,\"sent\":%u,\"of\":%u}\n",
	       name, 1e9 / all, all, took[SAMPLES / 2], took[SAMPLES / 100 * 99],
	       took[SAMPLES / 1000 * 999], sent, SAMPLES);
}

static int set_up(struct bench *b, uint32_t pairs)
{
	struct cw_relay_settings s;
	struct cw_qpmap_opts o;
	struct cw_gid any = cw_gid_of(4, (const uint8_t[4]){0});
	uint32_t i;

	b->connections = pairs / 2;
	b->now = 1;
	cw_qpmap_opts_init(&o);
	o.pairs = pairs;
	o.request_ns = 100000000000ull;
	o.memory = cw_ask_for_huge_pages;
	cw_relay_settings_init(&s);
	s.enabled = true;
	s.total_rate = s.source_rate = 0;
	if ((b->order = calloc(b->connections, sizeof(*b->order))) == NULL ||
	    cw_qpmap_new(&b->map, &o) < 0 || cw_lpm_new(&b->all) < 0 ||
	    cw_lpm_add(b->all, &any, 0, CW_SENDER_AUTO) < 0)
		return -1;
	s.allowed = s.senders = b->all;
	srand(1);
	for (i = 0; i < b->connections; i++) {
		uint32_t j = (uint32_t)rand() % (i + 1);

		b->order[i] = b->order[j];
		b->order[j] = i;
	}
	return cw_relay_new(&b->relay, &s, b->map, NULL);
}

int main(int argc, char **argv)
{
	struct bench b = {0};
	uint32_t pairs = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1000000, cold[2], hot[2],
		 single[2];
	double learned, data, cold_ns, hot_ns, single_ns;

	if (pairs < 2 * HOT || set_up(&b, pairs) < 0) {
		fprintf(stderr, "notify: cannot make a map of %u pairs\n", pairs);
		return 2;
	}
	learned = learn(&b, false);
	data = learn(&b, true);
	cold_ns = lookup(&b, b.connections, BURST, cold);
	hot_ns = lookup(&b, HOT, BURST, hot);
	single_ns = lookup(&b, b.connections, 1, single);
	printf("{\"what\":\"memory\",\"pairs\":%u,\"entered\":%u,\"octets_a_pair\":%.1f}\n", pairs,
	       cw_qpmap_count(b.map), (double)cw_qpmap_memory(b.map) / pairs);
	printf("{\"what\":\"learning\",\"undecided_ns\":%.1f,\"data_ns\":%.1f}\n", learned, data);
	printf("{\"what\":\"lookup\",\"cold_ns\":%.1f,\"hot_ns\":%.1f,\"single_ns\":%.1f,\"cold_"
	       "right\":%u,"
	       "\"hot_right\":%u,\"wrong\":%u,\"of\":%u}\n",
	       cold_ns, hot_ns, single_ns, cold[0], hot[0], cold[1] + hot[1] + single[1], SAMPLES);
	notify(&b, "cold", b.connections);
	notify(&b, "hot", HOT);
	cw_relay_free(b.relay);
	cw_qpmap_free(b.map);
	cw_lpm_free(b.all);
	free(b.order);
	return cold[1] + hot[1] + single[1] == 0 ? 0 : 1;
}
