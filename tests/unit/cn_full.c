/* cn_full: forwarding does not wait for learning. The proxy's worker never runs, so the ring of
 * copies fills and stays full: every packet leaves all the same, in order and unchanged, and what
 * is lost are copies, counted. Messages that find their ring full are dropped, counted as cn-full.
 * The nodes are the daemon's, in graphs of DPDK; nothing here depends on time.
 */
#include "test.h"
#include <rte_eal.h>
#include "bench/cnflows.h"
#include "causeway/wire/cnmsg.h"
#include "causeway/wire/ip.h"
#include "daemon/graph/cn.h"
#include "daemon/graph/forward.h"
#include "daemon/graph/origin.h"
#include "daemon/graph/queue.h"

enum { PACKETS = 30000, AT_ONCE = 32, RING = 65536 - 1 /* chunks, cn.c */ };
enum { MESSAGES = 5000, MESSAGE_RING = 4096 - 1, PROXY = 0x0a000309 };

struct cw_dp cw_dp;

static struct cw_worker worker;
static struct rte_mempool *pool;
static struct cw_plane plane;
static struct cw_cn cn;
static struct cw_fib fib;
static struct cw_hop hop = {.kind = CW_HOP_LOCAL};
static uint32_t put, told, left, changed, strays, dropped[CW_DROP_COUNT];

/* ---- What the nodes call, and never do here ------------------------------------------------ */

void cw_dp_wake(struct cw_worker *w)
{
	(void)w;
}

void cw_drop_bulk(struct cw_worker *w, struct rte_mbuf **m, uint16_t n, enum cw_drop why)
{
	(void)w;
	dropped[why] += n;
	rte_pktmbuf_free_bulk(m, n);
}

struct rte_mbuf *cw_origin(struct cw_worker *w, const uint8_t *ip, uint32_t len, unsigned slot,
			   uint16_t domain, uint16_t vlan)
{
	fail();
	return NULL;
}

void cw_queue_hand(struct cw_worker *w, unsigned slot, struct rte_mbuf **m, uint16_t n)
{
	fail();
}

const uint8_t *cw_forward_resolve(struct cw_worker *w, struct rte_mbuf *m, const struct cw_hop *h,
				  const struct cw_ub2e_view *v, enum cw_drop *why)
{
	fail();
	return NULL;
}

void cw_forward_notes(struct cw_port_counters *c, uint32_t notes)
{
	fail();
}

int cw_node_init(const struct rte_graph *graph, struct rte_node *node)
{
	struct cw_node_ctx c = {&worker};

	(void)graph;
	memcpy(node->ctx, &c, sizeof(c));
	return 0;
}

/* ---- Packets ------------------------------------------------------------------------------- */

/* Number i: the last packet of a message, which is always learned from. */
static uint32_t frame(uint8_t *f, uint32_t i)
{
	memset(f, 2, 12);
	cw_put_be16(f + 12, CW_ETHERTYPE_IP4);
	return 14 + flow_roce(f + 14, i % 1000, i, false);
}

/* A message to the proxy: nobody reads further than its port here. */
static uint32_t message(uint8_t *f)
{
	uint8_t *ip = f + 14, *udp = ip + CW_SIZE_IPV4;
	const uint32_t len = CW_SIZE_IPV4 + CW_SIZE_UDP + 20;

	memset(f, 0, 14 + len);
	memcpy(f, plane.port[0].dev->mac, 6);
	cw_put_be16(f + 12, CW_ETHERTYPE_IP4);
	ip[0] = 0x45;
	cw_ipv4_set_length(ip, len);
	cw_ipv4_set_ttl(ip, 64);
	cw_ipv4_set_proto(ip, CW_IPPROTO_UDP);
	cw_put_be32(ip + 12, 0x0a000302);
	cw_put_be32(ip + 16, PROXY);
	cw_ipv4_set_checksum(ip, cw_ipv4_compute(ip));
	cw_udp_set_dport(udp, CW_CN_PORT1);
	cw_udp_set_length(udp, len - CW_SIZE_IPV4);
	return 14 + len;
}

static uint16_t tell_process(struct rte_graph *graph, struct rte_node *node, void **objs,
			     uint16_t nb)
{
	uint8_t f[100];
	uint32_t len = message(f);
	unsigned i;

	(void)objs;
	(void)nb;
	for (i = 0; i < AT_ONCE && told < MESSAGES; i++, told++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

		assert_non_null(m);
		memcpy(rte_pktmbuf_append(m, (uint16_t)len), f, len);
		m->port = 0;
		rte_node_enqueue_x1(graph, node, 0, m);
	}
	return (uint16_t)i;
}

static uint16_t in_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	unsigned i;

	(void)objs;
	(void)nb;
	for (i = 0; i < AT_ONCE && put < PACKETS; i++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
		uint8_t f[14 + FLOW_PACKET];
		uint32_t len = frame(f, put++);

		assert_non_null(m);
		memcpy(rte_pktmbuf_append(m, (uint16_t)len), f, len);
		m->port = 0;
		cw_meta_set(m, 0);
		rte_node_enqueue_x1(graph, node, 0, m);
	}
	return (uint16_t)i;
}

static uint16_t tx_process(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t nb)
{
	unsigned i;

	(void)graph;
	(void)node;
	for (i = 0; i < nb; i++) {
		struct rte_mbuf *m = objs[i];
		uint8_t f[14 + FLOW_PACKET];
		uint32_t len = frame(f, left++);

		changed += m->data_len != len || memcmp(rte_pktmbuf_mtod(m, void *), f, len) != 0;
		rte_pktmbuf_free(m);
	}
	return nb;
}

static uint16_t drop_process(struct rte_graph *graph, struct rte_node *node, void **objs,
			     uint16_t nb)
{
	struct rte_mbuf *m;
	unsigned i;

	(void)graph;
	(void)node;
	for (i = 0; i < nb; i++) {
		m = objs[i];
		cw_drop_bulk(&worker, &m, 1, (enum cw_drop)cw_meta_get(m));
	}
	return nb;
}

static uint16_t stray_process(struct rte_graph *graph, struct rte_node *node, void **objs,
			      uint16_t nb)
{
	(void)graph;
	(void)node;
	strays += nb;
	rte_pktmbuf_free_bulk((struct rte_mbuf **)objs, nb);
	return nb;
}

static struct rte_node_register in_node = {.name = "test-in",
					   .flags = RTE_NODE_SOURCE_F,
					   .process = in_process,
					   .nb_edges = 1,
					   .next_nodes = {CW_NODE_EGR}};
static struct rte_node_register tx_node = {.name = CW_NODE_TX, .process = tx_process};
static struct rte_node_register drop_node = {.name = CW_NODE_DROP, .process = drop_process};
static struct rte_node_register tell_node = {.name = "test-tell",
					     .flags = RTE_NODE_SOURCE_F,
					     .process = tell_process,
					     .nb_edges = 1,
					     .next_nodes = {CW_NODE_IP}};
static struct rte_node_register eth_node = {.name = CW_NODE_ETH, .process = stray_process};
static struct rte_node_register punt_node = {.name = CW_NODE_PUNT, .process = stray_process};
RTE_NODE_REGISTER(in_node)
RTE_NODE_REGISTER(tell_node)
RTE_NODE_REGISTER(eth_node)
RTE_NODE_REGISTER(punt_node)
RTE_NODE_REGISTER(tx_node)
RTE_NODE_REGISTER(drop_node)

/* ---- Tests --------------------------------------------------------------------------------- */

/* Copies of these packets that the ring has room for. */
static uint32_t room(void)
{
	uint8_t f[14 + FLOW_PACKET];
	uint32_t len = frame(f, 0) - 14, octets;
	uint64_t flow;

	octets = cw_relay_worth(&cn.settings, f + 14, len, &flow);
	assert_true(octets > 0 && octets <= len);
	assert_int_equal(flow, 0);
	return RING / (1 + (octets + 15) / 16);
}

static void s6_a_full_ring_loses_copies_and_no_packets(void **state)
{
	const char *names[] = {"test-in", CW_NODE_EGR, CW_NODE_TX, CW_NODE_DROP};
	struct rte_graph_param p = {
		.socket_id = SOCKET_ID_ANY, .nb_node_patterns = 4, .node_patterns = names};
	rte_graph_t id = rte_graph_create("forwarding", &p);
	struct rte_graph *graph = rte_graph_lookup("forwarding");
	unsigned why;

	(void)state;
	assert_non_null(graph);
	assert_true(room() > 1000 && room() < PACKETS / 2);
	while (put < PACKETS)
		rte_graph_walk(graph);
	assert_int_equal(left, PACKETS);
	assert_int_equal(changed, 0);
	for (why = 0; why < CW_DROP_COUNT; why++)
		assert_int_equal(dropped[why], 0);
	assert_int_equal(cw_cn_lost(), PACKETS - room());
	assert_int_equal(rte_mempool_in_use_count(pool), 0); /* the copies hold none of them */
	assert_int_equal(rte_graph_destroy(id), 0);
}

/* Messages have a ring of their own, which the proxy's worker empties; while it doesn't, they are
 * dropped, and those in the ring wait. */
static void s6_a_full_proxy_drops_messages_as_cn_full(void **state)
{
	const char *names[] = {"test-tell",  CW_NODE_IP,   CW_NODE_EGR, CW_NODE_TX,
			       CW_NODE_DROP, CW_NODE_PUNT, CW_NODE_ETH};
	struct rte_graph_param p = {
		.socket_id = SOCKET_ID_ANY, .nb_node_patterns = 7, .node_patterns = names};
	rte_graph_t id = rte_graph_create("messages", &p);
	struct rte_graph *graph = rte_graph_lookup("messages");

	(void)state;
	assert_non_null(graph);
	while (told < MESSAGES)
		rte_graph_walk(graph);
	assert_int_equal(strays, 0);
	assert_int_equal(dropped[CW_DROP_CN_FULL], MESSAGES - MESSAGE_RING);
	assert_int_equal(rte_mempool_in_use_count(pool), MESSAGE_RING);
	assert_true(cw_cn_waits(&worker));
	cw_cn_fini();
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
	assert_int_equal(rte_graph_destroy(id), 0);
}

static int set_up(void **state)
{
	static struct cw_port dev;
	static struct cw_port_config conf = {.kind = CW_PORT_ETHERNET, .tpid = 0x8100};
	static struct cw_ub2e_settings s;
	const struct rte_lpm_config lpm = {.max_rules = 1, .number_tbl8s = 1};
	struct cw_diag diag;

	(void)state;
	pool = rte_pktmbuf_pool_create("packets", 8191, 0, 0, RTE_PKTMBUF_HEADROOM + 128,
				       SOCKET_ID_ANY);
	cw_ub2e_settings_init(&s);
	if (pool == NULL || cw_ub2e_new(&plane.rules, &s, NULL, 0, &diag) < 0)
		return -1;
	plane.port[0] = (struct cw_plane_port){.dev = &dev, .conf = &conf};
	cw_relay_settings_init(&cn.settings);
	cn.settings.enabled = true;
	cn.learn = true;
	plane.cn = &cn;
	plane.interfaces = 1;
	plane.cn_port1 = CW_CN_PORT1;
	plane.cn_port2 = CW_CN_PORT2;
	plane.hops = &hop;
	plane.fib = &fib;
	if ((fib.v4 = rte_lpm_create("routes", SOCKET_ID_ANY, &lpm)) == NULL ||
	    rte_lpm_add(fib.v4, PROXY, 32, 0) != 0)
		return -1;
	worker.plane = &plane;
	cw_dp.worker[0] = &worker;
	cw_dp.nworkers = 1;
	return cw_cn_prepare();
}

static int tear_down(void **state)
{
	(void)state;
	free(worker.lately);
	rte_lpm_free(fib.v4);
	cw_ub2e_free(plane.rules);
	rte_mempool_free(pool);
	return rte_eal_cleanup();
}

int main(void)
{
	char *args[] = {"cn_full", "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry",
			"-m",      "192",       "-l",          "0",        "--log-level",
			"error"};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(s6_a_full_ring_loses_copies_and_no_packets),
		cmocka_unit_test(s6_a_full_proxy_drops_messages_as_cn_full),
	};

	if (rte_eal_init(sizeof(args) / sizeof(args[0]), args) < 0)
		return 2;
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
