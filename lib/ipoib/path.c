/* path.c - what the SA says of the way to a GID, and unicast datagrams. */
#include <stdlib.h>
#include <string.h>
#include "causeway/wire/ib.h"
#include "lib/ipoib/internal.h"

enum { TRIES = 4, FAILED_MS = 3000 };

#define MASK_PATH (CW_PATH_DGID | CW_PATH_SGID | CW_PATH_REVERSIBLE | CW_PATH_NUMB | CW_PATH_PKEY)

static struct path *get(struct cw_ipoib *l, const uint8_t gid[16])
{
	uint8_t key[KEY_LEN] = {0};
	struct path *p;

	memcpy(key, gid, 16);
	if ((p = table_find(&l->paths, key)) != NULL)
		return p;
	if ((p = table_add(&l->paths, key)) == NULL) {
		l->n.table_full++;
		return NULL;
	}
	p->tail = &p->head;
	return p;
}

static void ask(struct cw_ipoib *l, struct path *p, uint64_t now)
{
	uint8_t r[CW_SIZE_PATHRECORD] = {0};

	cw_pathrecord_set_dgid(r, p->it.key);
	cw_pathrecord_set_sgid(r, l->c.gid);
	cw_pathrecord_set_pkey(r, l->c.pkey);
	cw_pathrecord_set_reversible(r, 1);
	cw_pathrecord_set_numb_path(r, 1);
	request_send(l, &p->req, now, CW_SA_GET, CW_SA_PATHRECORD, MASK_PATH, r, sizeof(r));
}

static void transmit(struct cw_ipoib *l, const struct path *p, uint32_t qpn, const uint8_t *data,
		     size_t len)
{
	struct cw_ipoib_out o = {0};

	o.tx.dlid = p->dlid;
	o.tx.sl = p->sl;
	/* A GRH is needed towards another subnet only (6): where hops are counted. */
	o.tx.grh = p->hop_limit > 1;
	o.tx.tclass = p->tclass;
	o.tx.flow_label = p->flow_label;
	o.tx.hop_limit = p->hop_limit;
	o.tx.dqpn = qpn;
	memcpy(o.tx.dgid, p->it.key, 16);
	emit_datagram(l, &o, data, len);
}

static struct waiting *take(struct path *p)
{
	struct waiting *w = p->head;

	if (w == NULL)
		return NULL;
	if ((p->head = w->next) == NULL)
		p->tail = &p->head;
	p->n--;
	return w;
}

static uint32_t drop_waiting(struct path *p)
{
	struct waiting *w;
	uint32_t n = 0;

	while ((w = take(p)) != NULL) {
		free(w);
		n++;
	}
	return n;
}

void path_free(struct path *p)
{
	(void)drop_waiting(p);
}

static int wait_for(struct cw_ipoib *l, struct path *p, uint32_t qpn, const uint8_t *data,
		    size_t len)
{
	struct waiting *w;

	if (p->n >= l->c.held || (w = malloc(sizeof(*w) + len)) == NULL) {
		l->n.tx_queue_full++;
		return CW_E_SPACE;
	}
	w->next = NULL;
	w->qpn = qpn;
	w->len = (uint32_t)len;
	memcpy(w->data, data, len);
	*p->tail = w;
	p->tail = &w->next;
	p->n++;
	return CW_OK;
}

int path_send(struct cw_ipoib *l, uint64_t now, const uint8_t lla[CW_IPOIB_LLA],
	      const uint8_t *data, size_t len)
{
	struct path *p = get(l, lla + 4);
	int err;

	if (p == NULL)
		return CW_E_SPACE;
	if (p->valid) {
		transmit(l, p, cw_ipoib_lla_qpn(lla), data, len);
		return CW_OK;
	}
	if (p->failed) {
		l->n.tx_no_path++;
		return CW_OK;
	}
	if ((err = wait_for(l, p, cw_ipoib_lla_qpn(lla), data, len)) < 0)
		return err;
	if (p->req.due == 0)
		ask(l, p, now);
	return CW_OK;
}

static void fail(struct cw_ipoib *l, struct path *p, uint64_t now)
{
	l->n.tx_no_path += drop_waiting(p);
	request_done(&p->req);
	p->valid = false;
	p->failed = true;
	p->until = now + FAILED_MS;
}

void path_answer(struct cw_ipoib *l, struct path *p, uint64_t now, uint16_t status,
		 const uint8_t *r)
{
	struct waiting *w;

	if (status != CW_SA_OK) {
		l->n.sa_refused++;
		fail(l, p, now);
		return;
	}
	if (memcmp(cw_pathrecord_dgid(r), p->it.key, 16) != 0 || cw_pathrecord_dlid(r) == 0 ||
	    cw_pathrecord_dlid(r) >= CW_IB_LID_MCAST) {
		l->n.sa_bad++;
		return;
	}
	p->valid = true;
	p->failed = false;
	p->dlid = (uint16_t)cw_pathrecord_dlid(r);
	p->sl = (uint8_t)cw_pathrecord_sl(r);
	p->tclass = (uint8_t)cw_pathrecord_tclass(r);
	p->flow_label = cw_pathrecord_flow_label(r);
	p->hop_limit = (uint8_t)cw_pathrecord_hop_limit(r);
	p->until = now + l->c.path_ms;
	request_done(&p->req);
	while ((w = take(p)) != NULL) {
		transmit(l, p, w->qpn, w->data, w->len);
		free(w);
	}
}

void path_forget(struct cw_ipoib *l, const uint8_t gid[16])
{
	uint8_t key[KEY_LEN] = {0};
	struct path *p;

	memcpy(key, gid, 16);
	if ((p = table_find(&l->paths, key)) == NULL)
		return;
	l->n.tx_no_path += drop_waiting(p);
	table_remove(&l->paths, &p->it);
}

void path_tick(struct cw_ipoib *l, struct path *p, uint64_t now)
{
	if (request_due(&p->req, now)) {
		if (p->req.tries >= TRIES)
			fail(l, p, now);
		else
			ask(l, p, now);
		return;
	}
	/* An old path is forgotten; the next datagram asks for it again. */
	if ((p->valid || p->failed) && now >= p->until)
		path_forget(l, p->it.key);
}
