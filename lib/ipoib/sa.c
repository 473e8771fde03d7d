/* sa.c - requests to the subnet administration, its answers and reports. */
#include <stdlib.h>
#include <string.h>
#include "causeway/wire/mad.h"
#include "lib/ipoib/internal.h"

enum { BACKOFF_MAX_MS = 16000, TABLE_MAX = 1 << 20, WINDOW = 64 };

static void put_mad(struct cw_ipoib *l, uint8_t mad[CW_MAD_OCTETS], uint32_t tid, unsigned method,
		    unsigned attribute)
{
	memset(mad, 0, CW_MAD_OCTETS);
	cw_mad_set_base_version(mad, 1);
	cw_mad_set_mgmt_class(mad, CW_MAD_CLASS_SA);
	cw_mad_set_class_version(mad, 2);
	cw_mad_set_method(mad, method);
	/* The low half identifies; others may overwrite the high one on the way. */
	cw_mad_set_tid(mad, tid);
	cw_mad_set_attribute(mad, attribute);
	cw_sa_set_sm_key(mad + 36, l->c.sm_key);
}

static void emit_mad(struct cw_ipoib *l, const uint8_t mad[CW_MAD_OCTETS])
{
	struct cw_ipoib_out o = {.what = CW_IPOIB_MAD};

	o.tx.slid = l->c.lid;
	o.tx.dlid = l->c.sm_lid;
	o.tx.pkey = 0xffff;
	o.tx.dqpn = o.tx.sqpn = CW_MAD_QPN_GSI;
	o.tx.qkey = CW_MAD_QKEY_GSI;
	(void)emit(l, &o, mad, CW_MAD_OCTETS);
}

void request_send(struct cw_ipoib *l, struct request *r, uint64_t now, unsigned method,
		  unsigned attribute, uint64_t mask, const uint8_t *data, size_t len)
{
	uint8_t mad[CW_MAD_OCTETS];
	uint64_t wait = 1000u << (r->tries < 4 ? r->tries : 4);

	if (r->tid != 0)
		l->n.sa_timeout++;
	/* A new number each time: an answer to an older try says nothing about this one. */
	if (++l->tid == 0)
		l->tid = 1;
	r->tid = l->tid;
	r->tries++;
	r->due = now + (wait > BACKOFF_MAX_MS ? BACKOFF_MAX_MS : wait);
	put_mad(l, mad, r->tid, method, attribute);
	cw_sa_set_mask(mad + 36, mask);
	memcpy(mad + CW_SA_DATA, data, len);
	l->n.sa_sent++;
	emit_mad(l, mad);
}

bool request_due(const struct request *r, uint64_t now)
{
	return r->due != 0 && now >= r->due;
}

bool request_unheard(const struct request *r)
{
	return r->tid != 0 && r->tries == 3;
}

void request_done(struct request *r)
{
	memset(r, 0, sizeof(*r));
}

/* ---- Reports (traps 66 and 67) ------------------------------------------------------------ */

static int on_report(struct cw_ipoib *l, uint64_t now, const uint8_t *mad)
{
	const uint8_t *notice = mad + CW_SA_DATA;
	uint8_t answer[CW_MAD_OCTETS];

	if (cw_mad_attribute(mad) != CW_SA_NOTICE)
		return CW_E_UNKNOWN;
	memcpy(answer, mad, sizeof(answer));
	cw_mad_set_response(answer, 1);
	emit_mad(l, answer);
	l->n.reports++;
	if (cw_notice_generic(notice) == 0)
		return CW_OK;
	if (cw_notice_trap(notice) == CW_TRAP_MCG_CREATE)
		group_created(l, now, cw_notice_gid(notice));
	else if (cw_notice_trap(notice) == CW_TRAP_MCG_DELETE)
		group_deleted(l, now, cw_notice_gid(notice));
	return CW_OK;
}

/* ---- Tables (RMPP) ------------------------------------------------------------------------ */

static void table_ack(struct cw_ipoib *l, const uint8_t *mad, uint32_t segment)
{
	uint8_t ack[CW_MAD_OCTETS];

	put_mad(l, ack, (uint32_t)cw_mad_tid(mad), CW_SA_GETTABLE, CW_SA_MCMEMBER);
	cw_mad_set_tid(ack, cw_mad_tid(mad));
	cw_rmpp_set_version(ack + 24, 1);
	cw_rmpp_set_type(ack + 24, 2);
	cw_rmpp_set_active(ack + 24, 1);
	cw_rmpp_set_segment(ack + 24, segment);
	cw_rmpp_set_length(ack + 24, segment + WINDOW);
	emit_mad(l, ack);
}

static void table_records(struct cw_ipoib *l, uint64_t now, const uint8_t *data, uint32_t len,
			  uint32_t stride)
{
	for (; stride >= CW_SIZE_MCMEMBER && len >= stride; len -= stride, data += stride)
		group_created(l, now, cw_mcmember_mgid(data));
	l->table_done = true;
	request_done(&l->table_req);
	free(l->rmpp);
	l->rmpp = NULL;
}

/* One segment of a table; the records are looked at when the last one is here. */
static int table_segment(struct cw_ipoib *l, uint64_t now, const uint8_t *mad)
{
	const uint8_t *rmpp = mad + 24;
	uint32_t seg = cw_rmpp_segment(rmpp), stride = 8 * cw_sa_attr_offset(mad + 36), part;
	uint8_t *more;

	if (cw_rmpp_type(rmpp) != 1 || seg == 0)
		return CW_E_UNKNOWN;
	if (seg == 1 && l->rmpp == NULL) {
		l->rmpp_len = 0;
		l->rmpp_next = 1;
	}
	if (seg != l->rmpp_next || l->rmpp_len > TABLE_MAX) {
		table_ack(l, mad, l->rmpp_next > 0 ? l->rmpp_next - 1 : 0);
		return CW_OK;
	}
	part = CW_SA_DATA_LEN;
	if (cw_rmpp_last(rmpp) && cw_rmpp_length(rmpp) >= CW_SIZE_SA &&
	    cw_rmpp_length(rmpp) - CW_SIZE_SA < part)
		part = cw_rmpp_length(rmpp) - CW_SIZE_SA;
	if ((more = realloc(l->rmpp, l->rmpp_len + CW_SA_DATA_LEN)) == NULL)
		return CW_E_NOMEM;
	l->rmpp = more;
	memcpy(l->rmpp + l->rmpp_len, mad + CW_SA_DATA, part);
	l->rmpp_len += part;
	l->rmpp_next++;
	table_ack(l, mad, seg);
	if (cw_rmpp_last(rmpp))
		table_records(l, now, l->rmpp, l->rmpp_len, stride);
	return CW_OK;
}

static int on_table(struct cw_ipoib *l, uint64_t now, const uint8_t *mad)
{
	if (cw_mad_status(mad) != CW_SA_OK) {
		l->n.sa_refused++;
		log_failure(l, l->broadcast, "list of groups", (uint16_t)cw_mad_status(mad));
		return CW_OK; /* asked again when the request is due */
	}
	if (cw_rmpp_active(mad + 24))
		return table_segment(l, now, mad);
	/* Without RMPP there is one segment; offset 0 says that it is empty. */
	table_records(l, now, mad + CW_SA_DATA, CW_SA_DATA_LEN, 8 * cw_sa_attr_offset(mad + 36));
	return CW_OK;
}

/* ---- Answers ------------------------------------------------------------------------------ */

static struct group *group_of(const struct cw_ipoib *l, uint32_t tid)
{
	uint32_t i;

	for (i = 0; i < l->groups.size; i++) {
		struct group *g = table_at(&l->groups, i);

		if (g != NULL && g->req.tid == tid)
			return g;
	}
	return NULL;
}

static struct path *path_of(const struct cw_ipoib *l, uint32_t tid)
{
	uint32_t i;

	for (i = 0; i < l->paths.size; i++) {
		struct path *p = table_at(&l->paths, i);

		if (p != NULL && p->req.tid == tid)
			return p;
	}
	return NULL;
}

static int on_subscribed(struct cw_ipoib *l, uint32_t tid, uint16_t status)
{
	unsigned i;

	for (i = 0; i < TRAPS; i++) {
		if (l->trap_req[i].tid != tid)
			continue;
		l->trap_req[i].tid = 0;
		if (status != CW_SA_OK) {
			l->n.sa_refused++;
			log_failure(l, l->broadcast, "subscription to traps", status);
			return CW_OK;
		}
		request_done(&l->trap_req[i]);
		l->subscribed[i] = true;
		return CW_OK;
	}
	l->n.sa_bad++;
	return CW_E_UNKNOWN;
}

static int on_answer(struct cw_ipoib *l, uint64_t now, const uint8_t *mad)
{
	uint32_t tid = (uint32_t)cw_mad_tid(mad);
	uint16_t status = (uint16_t)cw_mad_status(mad);
	const uint8_t *data = mad + CW_SA_DATA;
	struct group *g;
	struct path *p;

	if (tid != 0 && cw_mad_method(mad) == CW_SA_GETTABLE && l->table_req.tid == tid &&
	    cw_mad_attribute(mad) == CW_SA_MCMEMBER)
		return on_table(l, now, mad);
	if (tid != 0 && cw_mad_method(mad) == CW_SA_GET) {
		switch (cw_mad_attribute(mad)) {
		case CW_SA_MCMEMBER:
			if ((g = group_of(l, tid)) != NULL) {
				group_answer(l, g, now, status, data);
				return CW_OK;
			}
			break;
		case CW_SA_PATHRECORD:
			if ((p = path_of(l, tid)) != NULL) {
				path_answer(l, p, now, status, data);
				return CW_OK;
			}
			break;
		case CW_SA_INFORMINFO:
			return on_subscribed(l, tid, status);
		}
	}
	if (tid != 0 && cw_mad_method(mad) == CW_SA_DELETE && leave_answer(l, tid, status))
		return CW_OK;
	l->n.sa_bad++;
	return CW_E_UNKNOWN;
}

int cw_ipoib_mad(struct cw_ipoib *l, uint64_t now, const uint8_t *mad, size_t len)
{
	if (len < CW_MAD_OCTETS)
		return CW_E_LENGTH;
	if (cw_mad_base_version(mad) != 1 || cw_mad_mgmt_class(mad) != CW_MAD_CLASS_SA)
		return CW_E_UNKNOWN;
	if (cw_mad_response(mad))
		return on_answer(l, now, mad);
	return cw_mad_method(mad) == CW_SA_REPORT ? on_report(l, now, mad) : CW_E_UNKNOWN;
}
