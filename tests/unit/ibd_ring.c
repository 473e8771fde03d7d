/* ibd_ring: an IPoIB link as a port of the graph: its descriptors are readable when frames wait,
 * and not when none does: else the thread that polls them would spin. */
#include "test.h"
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <rte_ring.h>
#include "daemon/ipoib/ring.h"

enum { SIZE = 8 };

struct cw_io cw_io;

static struct rte_ring *new_ring(void)
{
	struct rte_ring *r = aligned_alloc(RTE_CACHE_LINE_SIZE, (size_t)rte_ring_get_memsize(SIZE));

	assert_non_null(r);
	assert_int_equal(rte_ring_init(r, "test", SIZE, RING_F_SC_DEQ), 0);
	return r;
}

static void set_up(struct cw_ibring *r)
{
	*r = (struct cw_ibring){.to_link = new_ring(), .link_fd = eventfd(0, EFD_NONBLOCK)};
	assert_true(r->link_fd >= 0);
}

static void tear_down(struct cw_ibring *r)
{
	free(r->to_link);
	close(r->link_fd);
}

static void send_frame(struct cw_ibring *r)
{
	struct cw_port p = {.priv = r};
	static struct rte_mbuf frame;
	struct rte_mbuf *m = &frame;
	struct cw_tx_refused refused;

	assert_int_equal(cw_port_ipoib.tx_burst(&p, 0, &m, 1, &refused), 1);
}

static bool readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

static void readable_while_frames_wait(void **state)
{
	struct rte_mbuf *m[SIZE];
	struct cw_ibring r;
	unsigned round;

	set_up(&r);
	for (round = 0; round < 3; round++) {
		assert_false(readable(r.link_fd));
		send_frame(&r);
		send_frame(&r);
		assert_true(readable(r.link_fd));
		assert_int_equal(cw_ibring_receive(&r, m, 1), 1);
		assert_true(readable(r.link_fd));
		assert_int_equal(cw_ibring_receive(&r, m, SIZE), 1);
		assert_int_equal(cw_ibring_receive(&r, m, SIZE), 0);
	}
	tear_down(&r);
}

/* The sender has said that it will write the descriptor, and is slower than the receiver. */
static void late_wake_up_is_taken_back(void **state)
{
	struct rte_mbuf *m[SIZE];
	struct cw_ibring r;
	uint64_t one = 1;

	set_up(&r);
	atomic_store(&r.link_told, true);
	assert_int_equal(cw_ibring_receive(&r, m, SIZE), 0);
	assert_int_equal(write(r.link_fd, &one, sizeof(one)), sizeof(one));
	assert_true(readable(r.link_fd));
	assert_int_equal(cw_ibring_receive(&r, m, SIZE), 0);
	assert_false(readable(r.link_fd));
	send_frame(&r);
	assert_true(readable(r.link_fd));
	tear_down(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readable_while_frames_wait),
		cmocka_unit_test(late_wake_up_is_taken_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
