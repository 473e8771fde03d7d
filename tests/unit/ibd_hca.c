/* An hca of the daemon with a carrier of the test's: what comes to QP1 and to other queue pairs,
 * who is answered, what is counted. */
#include "causeway/wire/ib.h"
#include "causeway/wire/mad.h"
#include "causeway/wire/sa.h"
#include "daemon/ipoib/int.h"
#include "tests/unit/test.h"

enum { OWN = 1, PEER = 3, SM = 7 };

/* ---- The carrier --------------------------------------------------------------------------- */

static struct cw_ipoib_tx sent;
static uint8_t sent_mad[CW_MAD_OCTETS];
static unsigned nsent;

static int fake_open(struct hca *h, const char *arg, char *why, size_t size)
{
	(void)h;
	(void)snprintf(why, size, "there is no %s", arg);
	return strcmp(arg, "none") == 0 ? CW_E_IO : CW_OK;
}

static void fake_close(struct hca *h)
{
	(void)h;
}

static void fake_send(struct hca *h, const struct cw_ipoib_tx *tx, uint32_t psn,
		      const uint8_t *data, size_t len)
{
	(void)h;
	(void)psn;
	assert_int_equal(len, CW_MAD_OCTETS);
	sent = *tx;
	memcpy(sent_mad, data, len);
	nsent++;
}

#define FAKE(name, text)                  \
	const struct carrier_ops name = { \
		.prefix = text, .open = fake_open, .close = fake_close, .send = fake_send}
FAKE(carrier_ethernet, "ethernet:");
FAKE(carrier_udp, "udp:");
FAKE(carrier_roce, "roce:");
FAKE(carrier_file, "file:");
FAKE(carrier_verbs, "verbs:");

void port_pump(struct ipport *p, uint64_t now)
{
	(void)p;
	(void)now;
}

static struct hca *hca_new(uint8_t sa)
{
	struct cw_hca_config c = {.name = "hca0",
				  .carrier = "ethernet:x",
				  .guid = 0x100001,
				  .subnet_prefix = 0xfe80000000000000,
				  .lid = OWN,
				  .sm_lid = sa == CW_HCA_SA_BUILT_IN ? OWN : SM,
				  .sa = sa,
				  .learn = true,
				  .partition = {{.pkey = 0x8001, .mtu = 4, .rate = 3, .scope = 2}},
				  .npartition = 1};
	struct hca *h = NULL;
	struct cw_diag diag;

	nsent = 0;
	assert_int_equal(hca_open(&h, &c, &diag), CW_OK);
	return h;
}

/* A request of the subnet administration, from `lid` to this hca. */
static const struct cw_ipoib_tx from_peer = {.slid = PEER,
					     .dlid = OWN,
					     .pkey = 0x7fff,
					     .dqpn = CW_MAD_QPN_GSI,
					     .sqpn = CW_MAD_QPN_GSI,
					     .qkey = CW_MAD_QKEY_GSI};

static void request(uint8_t mad[CW_MAD_OCTETS])
{
	memset(mad, 0, CW_MAD_OCTETS);
	cw_mad_set_base_version(mad, 1);
	cw_mad_set_mgmt_class(mad, CW_MAD_CLASS_SA);
	cw_mad_set_class_version(mad, 2);
	cw_mad_set_method(mad, CW_SA_GET);
	cw_mad_set_tid(mad, 0x1122334455667788);
	cw_mad_set_attribute(mad, CW_SA_CLASSPORTINFO);
}

/* ---- Queue pair 1 -------------------------------------------------------------------------- */

static void requests_are_answered_in_their_partition(void **state)
{
	struct hca *h = hca_new(CW_HCA_SA_BUILT_IN);
	uint8_t mad[CW_MAD_OCTETS];

	(void)state;
	request(mad);
	hca_datagram(h, &from_peer, mad, sizeof(mad));
	assert_int_equal(h->n.rx_packets, 1);
	assert_int_equal(h->n.sa_served, 1);
	assert_int_equal(nsent, 1);
	assert_int_equal(sent.dlid, PEER);
	assert_int_equal(sent.slid, OWN);
	assert_int_equal(sent.dqpn, CW_MAD_QPN_GSI);
	assert_int_equal(sent.qkey, CW_MAD_QKEY_GSI);
	assert_int_equal(sent.pkey, 0xffff); /* asked as a limited member */
	assert_int_equal(cw_mad_response(sent_mad), 1);
	assert_true(cw_mad_tid(sent_mad) == 0x1122334455667788);
	hca_close(h);
}

static void what_may_not_come_to_queue_pair_1(void **state)
{
	struct hca *h = hca_new(CW_HCA_SA_BUILT_IN);
	struct cw_ipoib_tx rx = from_peer;
	uint8_t mad[CW_MAD_OCTETS];

	(void)state;
	request(mad);
	hca_datagram(h, &rx, mad, sizeof(mad) - 1);
	assert_int_equal(h->n.rx_forbidden, 1);
	rx.qkey = 0xb1b;
	hca_datagram(h, &rx, mad, sizeof(mad));
	assert_int_equal(h->n.rx_forbidden, 2);
	rx.qkey = CW_MAD_QKEY_GSI;
	rx.dlid = 0xc000; /* never to a group */
	hca_datagram(h, &rx, mad, sizeof(mad));
	assert_int_equal(h->n.rx_forbidden, 3);
	rx.dlid = OWN + 1;
	hca_datagram(h, &rx, mad, sizeof(mad));
	assert_int_equal(h->n.rx_other_lid, 1);
	assert_int_equal(nsent, 0);
	assert_int_equal(h->n.sa_served, 0);
	hca_close(h);
}

static void only_the_subnet_manager_answers_in_band(void **state)
{
	struct hca *h = hca_new(CW_HCA_SA_IN_BAND);
	struct cw_ipoib_tx rx = from_peer;
	uint8_t mad[CW_MAD_OCTETS];

	(void)state;
	request(mad);
	cw_mad_set_response(mad, 1);
	hca_datagram(h, &rx, mad, sizeof(mad));
	assert_int_equal(h->n.rx_forbidden, 1);
	rx.slid = SM;
	hca_datagram(h, &rx, mad, sizeof(mad));
	assert_int_equal(h->n.rx_forbidden, 1);
	hca_close(h);
}

static void links_have_transactions_of_their_own(void **state)
{
	struct hca *h = hca_new(CW_HCA_SA_IN_BAND);
	struct ipport p = {.agent = 0xabcd};
	struct cw_ipoib_tx tx = {.dlid = SM};
	uint8_t mad[CW_MAD_OCTETS];

	(void)state;
	request(mad);
	hca_send_mad(h, &p, &tx, mad);
	assert_int_equal(nsent, 1);
	assert_int_equal(sent.dlid, SM);
	assert_int_equal(sent.pkey, 0xffff);
	assert_true(cw_mad_tid(sent_mad) == 0x0000abcd55667788);
	/* A report is acknowledged once, with the TID that it came with. */
	cw_mad_set_response(mad, 1);
	hca_send_mad(h, &p, &tx, mad);
	hca_send_mad(h, &p, &tx, mad);
	assert_int_equal(nsent, 2);
	assert_true(cw_mad_tid(sent_mad) == 0x1122334455667788);
	hca_close(h);
}

/* ---- Other queue pairs, and the configuration ---------------------------------------------- */

static void nobody_is_there(void **state)
{
	struct hca *h = hca_new(CW_HCA_SA_BUILT_IN);
	struct cw_ipoib_tx rx = {.slid = PEER, .dlid = OWN, .pkey = 0x8001, .dqpn = 0x48};
	static const uint8_t data[64];

	(void)state;
	hca_datagram(h, &rx, data, sizeof(data));
	assert_int_equal(h->n.rx_no_queue_pair, 1);
	rx.dlid = 0xc000;
	rx.dqpn = CW_IB_QPN_MCAST;
	hca_datagram(h, &rx, data, sizeof(data));
	assert_int_equal(h->n.rx_no_partition, 1);
	assert_int_equal(h->n.nodes_learnt, 0);
	/* Who sends to a group with a GRH of this subnet is known from then on, once. */
	rx.grh = true;
	memcpy(rx.sgid, h->gid, 8);
	rx.sgid[15] = 9;
	hca_datagram(h, &rx, data, sizeof(data));
	hca_datagram(h, &rx, data, sizeof(data));
	assert_int_equal(h->n.nodes_learnt, 1);
	hca_frame(h, data, sizeof(data));
	assert_int_equal(h->n.rx_bad, 1);
	hca_close(h);
}

static void a_carrier_that_does_not_open(void **state)
{
	struct cw_hca_config c = {.name = "hca0", .carrier = "udp:none"};
	struct hca *h = NULL;
	struct cw_diag diag;

	(void)state;
	assert_int_equal(hca_open(&h, &c, &diag), CW_E_IO);
	assert_null(h);
	assert_non_null(strstr(diag.reason, "there is no none"));
	(void)strcpy(c.carrier, "pigeon:x");
	assert_int_equal(hca_open(&h, &c, &diag), CW_E_NAME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_answered_in_their_partition),
		cmocka_unit_test(what_may_not_come_to_queue_pair_1),
		cmocka_unit_test(only_the_subnet_manager_answers_in_band),
		cmocka_unit_test(links_have_transactions_of_their_own),
		cmocka_unit_test(nobody_is_there),
		cmocka_unit_test(a_carrier_that_does_not_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
