/* rtp_threads.c - uboe.h: a device is for one thread at a time, different devices share nothing. So
 * many pairs of ends, each pair in a thread of its own, do what one pair does alone: the same
 * packets at the same times. (Run it in a build with -Db_sanitize=thread to see that they do not
 * race.)
 */
#include <pthread.h>
#include "rtp_sim.h"

#define THREADS 4
#define SENDS   2000
#define LEN     3000

struct lane {
	uint64_t seed;
	/* what came of it */
	uint64_t now, sent, again, octets;
};

static void *run(void *arg)
{
	struct lane *l = arg;
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
	uint8_t tx[LEN] = {1, 2, 3}, *rx = malloc(LEN);
	struct cw_uboe_wr w = {.op = CW_UBOE_OP_SEND, .local = tx, .len = LEN};
	unsigned n;
	struct sim s;

	t.mtu = 1024;
	t.retries = 50;
	sim_init(&s, l->seed, NULL, &t);
	s.loss = 300;
	s.jitter = 20000;
	for (n = 0; n < SENDS; n++) {
		assert_int_equal(cw_uboe_post_recv(s.jetty[1], rx, LEN, n), CW_OK);
		assert_int_equal(cw_uboe_post(s.to[0], &w), CW_OK);
		assert_int_equal(sim_wait(&s, 0).status, CW_UBOE_OK);
		assert_int_equal(sim_wait(&s, 1).len, LEN);
		assert_memory_equal(tx, rx, LEN);
	}
	l->now = s.now;
	l->sent = s.sent;
	l->again = cw_uboe_dev_count(s.dev[0], CW_UBOE_C_RTX);
	l->octets = cw_uboe_dev_count(s.dev[1], CW_UBOE_C_RX_OCTETS);
	sim_free(&s);
	free(rx);
	return NULL;
}

static void devices_share_nothing(void **state)
{
	struct lane alone[THREADS], together[THREADS];
	pthread_t id[THREADS];
	unsigned i;

	for (i = 0; i < THREADS; i++) {
		alone[i] = together[i] = (struct lane){.seed = 90 + i};
		(void)run(&alone[i]);
		assert_true(alone[i].again > 0);
	}
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&id[i], NULL, run, &together[i]), 0);
	for (i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(id[i], NULL), 0);
		assert_memory_equal(&alone[i], &together[i], sizeof(alone[i]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_share_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
