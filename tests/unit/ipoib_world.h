/* ipoib_world.h - links, hosts and a small SA on one emulated subnet, as frames LRH .. VCRC. */
#ifndef TESTS_UNIT_IPOIB_WORLD_H
#define TESTS_UNIT_IPOIB_WORLD_H

#include "causeway/ipoib.h"
#include "causeway/sa.h"
#include "causeway/wire/ib.h"
#include "causeway/wire/icmp.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/mad.h"
#include "causeway/wire/roce.h"
#include "causeway/wire/sa.h"
#include "tests/unit/test.h"

enum { SILENCE = 0xffff };
enum { NODES = 3, SM_LID = 1, FRAMES = 512, FRAME = 4200 };

struct node {
	struct cw_ipoib *link;
	struct cw_ipoib_config c;
	unsigned ups, downs, attaches, unresolved, detaches, logs, delivered, joins, duplicates;
	uint16_t log_status;
	char log_reason[48];
	bool lost;        /* the last duplicate found was a reason not to use the address */
	uint8_t ip[2048]; /* the last packet delivered */
	uint32_t ip_len;
	struct cw_ipoib_tx tx; /* of the last datagram sent */
	uint8_t sent[2048];
	uint32_t sent_len;
	unsigned nsent;
	uint8_t join_record[CW_SIZE_MCMEMBER]; /* of the last join asked for */
	uint64_t join_mask;
	uint8_t join_mad[256];
};

struct world {
	struct cw_sa *sa;
	struct node n[NODES];
	unsigned nodes;
	uint64_t now;
	bool sa_dead, lose_all;
	struct { /* such requests are refused, or with SILENCE not answered */
		unsigned method, attribute;
		uint16_t status, lid; /* 0: everybody's */
	} refuse;
	uint8_t frame[FRAMES][FRAME];
	int len[FRAMES];
	unsigned head, tail;
};

/* Of a datagram to node 0 that node 1 sends. */
static const struct cw_ipoib_tx from_1 = {
	.slid = 4, .dlid = 3, .pkey = 0x8001, .dqpn = 0x48, .sqpn = 0x49, .qkey = 0x80010b1b};

static const uint8_t ip_of[NODES][4] = {{10, 0, 0, 1}, {10, 0, 0, 2}, {10, 0, 0, 3}};

static inline void world_push(struct world *w, const struct cw_ipoib_tx *tx, const uint8_t *d,
			      size_t len)
{
	assert_true((w->tail + 1) % FRAMES != w->head);
	w->len[w->tail] = cw_ipoib_frame_build(w->frame[w->tail], FRAME, tx, 1, d, len);
	assert_true(w->len[w->tail] > 0);
	w->tail = (w->tail + 1) % FRAMES;
}

static inline void sa_sends(void *ctx, uint16_t lid, const uint8_t mad[256])
{
	struct cw_ipoib_tx tx = {.dlid = lid,
				 .slid = SM_LID,
				 .pkey = 0xffff,
				 .dqpn = 1,
				 .sqpn = 1,
				 .qkey = CW_MAD_QKEY_GSI};

	world_push(ctx, &tx, mad, 256);
}

static inline void note_mad(struct node *n, const uint8_t *mad)
{
	if (cw_mad_method(mad) != CW_SA_SET || cw_mad_attribute(mad) != CW_SA_MCMEMBER)
		return;
	n->joins++;
	memcpy(n->join_mad, mad, sizeof(n->join_mad));
	n->join_mask = cw_sa_mask(mad + 36);
	memcpy(n->join_record, mad + CW_SA_DATA, sizeof(n->join_record));
}

static inline void pull(struct world *w, struct node *n)
{
	struct cw_ipoib_out o;

	while (cw_ipoib_next(n->link, &o)) {
		switch (o.what) {
		case CW_IPOIB_UP:
			n->ups++;
			break;
		case CW_IPOIB_DOWN:
			n->downs++;
			break;
		case CW_IPOIB_ATTACH:
			n->attaches++;
			break;
		case CW_IPOIB_DETACH:
			n->detaches++;
			break;
		case CW_IPOIB_DUPLICATE:
			n->duplicates++;
			n->lost = o.status == 1;
			break;
		case CW_IPOIB_LOG:
			n->logs++;
			n->log_status = o.status;
			(void)snprintf(n->log_reason, sizeof(n->log_reason), "%s", o.reason);
			break;
		case CW_IPOIB_DELIVER:
			n->delivered++;
			n->ip_len = o.len;
			memcpy(n->ip, o.data, o.len < sizeof(n->ip) ? o.len : sizeof(n->ip));
			break;
		case CW_IPOIB_UNRESOLVED:
			assert_int_equal(o.data[0], 0x45);
			n->unresolved++;
			break;
		case CW_IPOIB_SEND:
			n->tx = o.tx;
			n->nsent++;
			n->sent_len = o.len;
			memcpy(n->sent, o.data, o.len < sizeof(n->sent) ? o.len : sizeof(n->sent));
			if (!w->lose_all)
				world_push(w, &o.tx, o.data, o.len);
			break;
		case CW_IPOIB_MAD:
			note_mad(n, o.data);
			world_push(w, &o.tx, o.data, o.len);
			break;
		}
	}
}

static inline bool is_refused(struct world *w, const uint8_t *mad, uint16_t lid)
{
	uint8_t answer[256];

	if (w->refuse.status == 0 || (w->refuse.lid != 0 && w->refuse.lid != lid) ||
	    cw_mad_method(mad) != w->refuse.method || cw_mad_attribute(mad) != w->refuse.attribute)
		return false;
	memcpy(answer, mad, sizeof(answer));
	cw_mad_set_response(answer, 1);
	if (cw_mad_method(mad) == CW_SA_SET)
		cw_mad_set_method(answer, CW_SA_GET);
	cw_mad_set_status(answer, w->refuse.status);
	if (w->refuse.status != SILENCE)
		sa_sends(w, lid, answer);
	return true;
}

/* Let everything that is on its way arrive. */
static inline void settle(struct world *w)
{
	unsigned i;

	for (;;) {
		for (i = 0; i < w->nodes; i++)
			pull(w, &w->n[i]);
		if (w->head == w->tail)
			return;
		uint8_t *f = exact_copy(w->frame[w->head], (size_t)w->len[w->head]);
		size_t len = (size_t)w->len[w->head];

		w->head = (w->head + 1) % FRAMES;
		if (cw_lrh_dlid(f) == SM_LID) {
			if (!w->sa_dead && !is_refused(w, f + 28, (uint16_t)cw_lrh_slid(f)))
				(void)cw_sa_request(w->sa, (uint16_t)cw_lrh_slid(f), f + 28, 256);
		} else {
			for (i = 0; i < w->nodes; i++)
				if (cw_lrh_dlid(f) >= CW_IB_LID_MCAST ||
				    cw_lrh_dlid(f) == w->n[i].c.lid)
					(void)cw_ipoib_frame(w->n[i].link, w->now, f, len);
		}
		free(f);
	}
}

static inline void pass(struct world *w, uint64_t ms)
{
	uint64_t end = w->now + ms;
	unsigned i;

	for (; w->now < end; w->now += 100) {
		for (i = 0; i < w->nodes; i++)
			cw_ipoib_tick(w->n[i].link, w->now);
		settle(w);
	}
}

static inline void node_new(struct world *w, unsigned i, bool router)
{
	struct node *n = &w->n[i];

	memset(n, 0, sizeof(*n));
	n->c.gid[0] = 0xfe;
	n->c.gid[1] = 0x80;
	n->c.gid[13] = 0x10;
	n->c.gid[15] = (uint8_t)(i + 4);
	n->c.qpn = 0x48 + i;
	n->c.lid = (uint16_t)(i + 3);
	n->c.sm_lid = SM_LID;
	n->c.pkey = 0x8001;
	n->c.router = router;
	assert_int_equal(cw_ipoib_new(&n->link, &n->c), CW_OK);
	assert_int_equal(cw_ipoib_address(n->link, w->now, false, ip_of[i]), CW_OK);
}

/* SA, `nodes` links, the last of them a router if so wanted; not yet started. */
static inline struct world *world_new(unsigned nodes, bool router)
{
	static const struct cw_sa_partition p = {0x8001, 2, 4, 3, 0, 0x80010b1b};
	struct world *w = calloc(1, sizeof(*w));
	unsigned i;

	w->now = 1000;
	w->nodes = nodes;
	assert_int_equal(cw_sa_new(&w->sa, SM_LID, 64, sa_sends, w), CW_OK);
	assert_int_equal(cw_sa_partition(w->sa, &p), CW_OK);
	for (i = 0; i < nodes; i++) {
		node_new(w, i, router && i == nodes - 1);
		assert_int_equal(cw_sa_port(w->sa, w->n[i].c.gid, w->n[i].c.lid), CW_OK);
	}
	return w;
}

static inline void world_free(struct world *w)
{
	unsigned i;

	for (i = 0; i < w->nodes; i++)
		cw_ipoib_free(w->n[i].link);
	cw_sa_free(w->sa);
	free(w);
}

/* An IPv4 packet of `len` octets; it is not looked into further. */
static inline int send4(struct world *w, unsigned from, const uint8_t *to, size_t len)
{
	uint8_t *ip = calloc(1, len);
	int err;

	ip[0] = 0x45;
	memcpy(ip + 12, ip_of[from], 4);
	memcpy(ip + 16, to, 4);
	err = cw_ipoib_send(w->n[from].link, w->now, to, ip, len);
	free(ip);
	settle(w);
	return err;
}

static inline bool find_group(const struct cw_ipoib *l, const char *mgid,
			      struct cw_ipoib_group_info *g)
{
	uint8_t want[16];
	uint32_t i;

	assert_int_equal(cw_ip6_parse(mgid, want), CW_OK);
	for (i = 0; cw_ipoib_group_at(l, i, g); i++) {
		if (memcmp(g->mgid, want, 16) == 0)
			return true;
	}
	return false;
}

#endif
