/* sa_small.c - a small subnet administration. Scope and deviations: causeway/sa.h. */
#include <stdlib.h>
#include <string.h>
#include "causeway/sa.h"
#include "causeway/wire/ib.h"
#include "causeway/wire/ipoib.h"
#include "causeway/wire/mad.h"
#include "causeway/wire/sa.h"

enum { PORTS = 64, PARTITIONS = 16, TRAPS = 2, LIFE = 18 };

struct port {
	uint8_t gid[16];
	uint16_t lid;
	bool subscribed[TRAPS];
};

struct group {
	bool used, fixed;
	uint8_t record[CW_SIZE_MCMEMBER];
	uint8_t states[PORTS]; /* JoinState of each port */
};

struct cw_sa {
	uint16_t lid;
	cw_sa_send_fn send;
	void *ctx;
	struct port ports[PORTS];
	struct cw_sa_partition partitions[PARTITIONS];
	unsigned nports, npartitions, ngroups;
	uint32_t tid;
	struct group *groups;
};

int cw_sa_new(struct cw_sa **out, uint16_t lid, unsigned groups, cw_sa_send_fn send, void *ctx)
{
	struct cw_sa *sa = calloc(1, sizeof(*sa));

	if (sa == NULL || (sa->groups = calloc(groups, sizeof(*sa->groups))) == NULL) {
		free(sa);
		return CW_E_NOMEM;
	}
	sa->lid = lid;
	sa->ngroups = groups;
	sa->send = send;
	sa->ctx = ctx;
	*out = sa;
	return CW_OK;
}

void cw_sa_free(struct cw_sa *sa)
{
	if (sa != NULL)
		free(sa->groups);
	free(sa);
}

int cw_sa_port(struct cw_sa *sa, const uint8_t gid[16], uint16_t lid)
{
	if (sa->nports == PORTS)
		return CW_E_SPACE;
	memcpy(sa->ports[sa->nports].gid, gid, 16);
	sa->ports[sa->nports++].lid = lid;
	return CW_OK;
}

static struct group *find(struct cw_sa *sa, const uint8_t mgid[16])
{
	unsigned i;

	for (i = 0; i < sa->ngroups; i++) {
		if (sa->groups[i].used &&
		    memcmp(cw_mcmember_mgid(sa->groups[i].record), mgid, 16) == 0)
			return &sa->groups[i];
	}
	return NULL;
}

static struct group *add(struct cw_sa *sa, const uint8_t *record)
{
	unsigned i;

	for (i = 0; i < sa->ngroups && sa->groups[i].used; i++)
		;
	if (i == sa->ngroups)
		return NULL;
	memset(&sa->groups[i], 0, sizeof(sa->groups[i]));
	sa->groups[i].used = true;
	memcpy(sa->groups[i].record, record, CW_SIZE_MCMEMBER);
	cw_mcmember_set_mlid(sa->groups[i].record, CW_IB_LID_MCAST + i);
	return &sa->groups[i];
}

int cw_sa_partition(struct cw_sa *sa, const struct cw_sa_partition *p)
{
	uint8_t r[CW_SIZE_MCMEMBER] = {0}, mgid[16];
	struct group *g;

	if (sa->npartitions == PARTITIONS)
		return CW_E_SPACE;
	cw_ipoib_broadcast(mgid, p->pkey, p->scope);
	cw_mcmember_set_mgid(r, mgid);
	cw_mcmember_set_qkey(r, p->qkey);
	cw_mcmember_set_mtu_sel(r, CW_SA_EXACTLY);
	cw_mcmember_set_mtu(r, p->mtu);
	cw_mcmember_set_pkey(r, p->pkey | CW_IPOIB_PKEY_FULL);
	cw_mcmember_set_rate_sel(r, CW_SA_EXACTLY);
	cw_mcmember_set_rate(r, p->rate);
	cw_mcmember_set_life_sel(r, CW_SA_EXACTLY);
	cw_mcmember_set_life(r, LIFE);
	cw_mcmember_set_sl(r, p->sl);
	cw_mcmember_set_scope(r, p->scope);
	if ((g = add(sa, r)) == NULL)
		return CW_E_SPACE;
	g->fixed = true;
	sa->partitions[sa->npartitions++] = *p;
	return CW_OK;
}

void cw_sa_restart(struct cw_sa *sa)
{
	unsigned i;

	for (i = 0; i < sa->ngroups; i++) {
		if (!sa->groups[i].fixed)
			sa->groups[i].used = false;
		memset(sa->groups[i].states, 0, sizeof(sa->groups[i].states));
	}
	for (i = 0; i < sa->nports; i++)
		memset(sa->ports[i].subscribed, 0, sizeof(sa->ports[i].subscribed));
}

/* ---- Answers ------------------------------------------------------------------------------ */

static void answer(struct cw_sa *sa, uint16_t lid, const uint8_t *mad, uint16_t status,
		   const uint8_t *record, size_t len)
{
	uint8_t m[CW_MAD_OCTETS] = {0};

	memcpy(m, mad, CW_SA_DATA);
	cw_mad_set_response(m, 1);
	if (cw_mad_method(mad) == CW_SA_SET)
		cw_mad_set_method(m, CW_SA_GET);
	cw_mad_set_status(m, status);
	cw_sa_set_attr_offset(m + 36, (uint32_t)((len + 7) / 8));
	if (len > 0)
		memcpy(m + CW_SA_DATA, record, len);
	sa->send(sa->ctx, lid, m);
}

static void report(struct cw_sa *sa, unsigned trap, const uint8_t mgid[16])
{
	uint8_t m[CW_MAD_OCTETS] = {0}, *n = m + CW_SA_DATA;
	unsigned i;

	cw_mad_set_base_version(m, 1);
	cw_mad_set_mgmt_class(m, CW_MAD_CLASS_SA);
	cw_mad_set_class_version(m, 2);
	cw_mad_set_method(m, CW_SA_REPORT);
	cw_mad_set_attribute(m, CW_SA_NOTICE);
	cw_notice_set_generic(n, 1);
	cw_notice_set_type(n, 3);
	cw_notice_set_producer(n, 4);
	cw_notice_set_trap(n, trap);
	cw_notice_set_lid(n, sa->lid);
	cw_notice_set_gid(n, mgid);
	for (i = 0; i < sa->nports; i++) {
		if (!sa->ports[i].subscribed[trap - CW_TRAP_MCG_CREATE])
			continue;
		cw_mad_set_tid(m, ++sa->tid);
		sa->send(sa->ctx, sa->ports[i].lid, m);
	}
}

static int port_by_gid(const struct cw_sa *sa, const uint8_t gid[16])
{
	unsigned i;

	for (i = 0; i < sa->nports; i++) {
		if (memcmp(sa->ports[i].gid, gid, 16) == 0)
			return (int)i;
	}
	return -1;
}

uint16_t cw_sa_lid_of(const struct cw_sa *sa, const uint8_t gid[16])
{
	int i = port_by_gid(sa, gid);

	return i < 0 ? 0 : sa->ports[i].lid;
}

static bool knows_pkey(const struct cw_sa *sa, uint32_t pkey)
{
	unsigned i;

	for (i = 0; i < sa->npartitions; i++) {
		if (((sa->partitions[i].pkey ^ pkey) & 0x7fff) == 0)
			return true;
	}
	return false;
}

/* Does what is asked for contradict what the group has? */
static bool contradicts(const uint8_t *have, const uint8_t *want, uint64_t mask)
{
	if ((mask & CW_MCM_QKEY) && cw_mcmember_qkey(want) != cw_mcmember_qkey(have))
		return true;
	if ((mask & CW_MCM_PKEY) && ((cw_mcmember_pkey(want) ^ cw_mcmember_pkey(have)) & 0x7fff))
		return true;
	return (mask & CW_MCM_MTU) == CW_MCM_MTU && cw_mcmember_mtu_sel(want) == CW_SA_EXACTLY &&
	       cw_mcmember_mtu(want) != cw_mcmember_mtu(have);
}

/* What a new group needs of its first member. */
#define MASK_NEEDED (CW_MCM_QKEY | CW_MCM_PKEY | CW_MCM_TCLASS | CW_MCM_SL | CW_MCM_FLOW)

static struct group *create(struct cw_sa *sa, const uint8_t *want, uint64_t mask, uint16_t *status)
{
	uint8_t r[CW_SIZE_MCMEMBER];
	struct group *g;

	*status = CW_SA_REQ_INVALID;
	if ((cw_mcmember_join_state(want) & (CW_SA_FULL | CW_SA_SEND_ONLY_FULL)) == 0 ||
	    cw_mcmember_mgid(want)[0] != 0xff || !knows_pkey(sa, cw_mcmember_pkey(want)))
		return NULL;
	*status = CW_SA_INSUFFICIENT;
	if ((mask & MASK_NEEDED) != MASK_NEEDED)
		return NULL;
	memcpy(r, want, sizeof(r));
	cw_mcmember_set_scope(r, cw_mcmember_mgid(want)[1] & 15);
	cw_mcmember_set_life_sel(r, CW_SA_EXACTLY);
	cw_mcmember_set_life(r, LIFE);
	*status = CW_SA_NO_RESOURCES;
	if ((g = add(sa, r)) == NULL)
		return NULL;
	*status = CW_SA_OK;
	return g;
}

static void join(struct cw_sa *sa, uint16_t lid, const uint8_t *mad)
{
	const uint8_t *want = mad + CW_SA_DATA;
	uint64_t mask = cw_sa_mask(mad + 36);
	int port = port_by_gid(sa, cw_mcmember_port_gid(want));
	struct group *g = find(sa, cw_mcmember_mgid(want));
	uint8_t r[CW_SIZE_MCMEMBER];
	uint16_t status = CW_SA_OK;
	bool created = g == NULL;

	if (port < 0 || cw_mcmember_join_state(want) == 0)
		status = CW_SA_REQ_INVALID;
	else if (g == NULL)
		g = create(sa, want, mask, &status);
	else if (contradicts(g->record, want, mask))
		status = CW_SA_REQ_INVALID;
	if (status != CW_SA_OK) {
		answer(sa, lid, mad, status, NULL, 0);
		return;
	}
	g->states[port] |= (uint8_t)cw_mcmember_join_state(want);
	memcpy(r, g->record, sizeof(r));
	cw_mcmember_set_port_gid(r, sa->ports[port].gid);
	cw_mcmember_set_join_state(r, g->states[port]);
	answer(sa, lid, mad, CW_SA_OK, r, sizeof(r));
	if (created)
		report(sa, CW_TRAP_MCG_CREATE, cw_mcmember_mgid(r));
}

/* A group lives as long as it has full members, send-only ones too. */
static bool lives(const struct group *g)
{
	unsigned i;

	for (i = 0; i < PORTS; i++) {
		if (g->states[i] & (CW_SA_FULL | CW_SA_SEND_ONLY_FULL))
			return true;
	}
	return g->fixed;
}

static void leave(struct cw_sa *sa, uint16_t lid, const uint8_t *mad)
{
	const uint8_t *want = mad + CW_SA_DATA;
	int port = port_by_gid(sa, cw_mcmember_port_gid(want));
	struct group *g = find(sa, cw_mcmember_mgid(want));
	uint8_t bits = (uint8_t)cw_mcmember_join_state(want);

	if (port < 0 || g == NULL || (g->states[port] & bits) == 0) {
		answer(sa, lid, mad, CW_SA_REQ_INVALID, NULL, 0);
		return;
	}
	g->states[port] &= (uint8_t)~bits;
	answer(sa, lid, mad, CW_SA_OK, g->record, sizeof(g->record));
	if (lives(g))
		return;
	g->used = false;
	report(sa, CW_TRAP_MCG_DELETE, cw_mcmember_mgid(g->record));
}

static void path(struct cw_sa *sa, uint16_t lid, const uint8_t *mad)
{
	const uint8_t *want = mad + CW_SA_DATA;
	int from = port_by_gid(sa, cw_pathrecord_sgid(want));
	int to = port_by_gid(sa, cw_pathrecord_dgid(want));
	uint8_t r[CW_SIZE_PATHRECORD];
	unsigned i = 0;

	while (i < sa->npartitions &&
	       ((sa->partitions[i].pkey ^ cw_pathrecord_pkey(want)) & 0x7fff))
		i++;
	if (from < 0 || to < 0 || i == sa->npartitions) {
		answer(sa, lid, mad, CW_SA_NO_RECORDS, NULL, 0);
		return;
	}
	memcpy(r, want, sizeof(r));
	cw_pathrecord_set_dlid(r, sa->ports[to].lid);
	cw_pathrecord_set_slid(r, sa->ports[from].lid);
	cw_pathrecord_set_sl(r, sa->partitions[i].sl);
	cw_pathrecord_set_mtu_sel(r, CW_SA_EXACTLY);
	cw_pathrecord_set_mtu(r, sa->partitions[i].mtu);
	cw_pathrecord_set_rate_sel(r, CW_SA_EXACTLY);
	cw_pathrecord_set_rate(r, sa->partitions[i].rate);
	cw_pathrecord_set_life_sel(r, CW_SA_EXACTLY);
	cw_pathrecord_set_life(r, LIFE);
	answer(sa, lid, mad, CW_SA_OK, r, sizeof(r));
}

static void subscribe(struct cw_sa *sa, uint16_t lid, const uint8_t *mad)
{
	const uint8_t *want = mad + CW_SA_DATA;
	uint32_t trap = cw_informinfo_trap(want);
	unsigned i;

	for (i = 0; i < sa->nports; i++) {
		if (sa->ports[i].lid != lid)
			continue;
		if (trap == CW_TRAP_MCG_CREATE || trap == CW_TRAP_MCG_DELETE)
			sa->ports[i].subscribed[trap - CW_TRAP_MCG_CREATE] =
				cw_informinfo_subscribe(want) == 1;
		answer(sa, lid, mad, CW_SA_OK, want, CW_SIZE_INFORMINFO);
		return;
	}
	answer(sa, lid, mad, CW_SA_REQ_INVALID, NULL, 0);
}

/* All groups of a P_Key (or all), as RMPP segments. They go out at once: the windows of a MAD
 * service that never loses anything need no waiting for. */
static void table(struct cw_sa *sa, uint16_t lid, const uint8_t *mad)
{
	enum { STRIDE = 56 };
	uint32_t len = 0, at, seg;
	uint64_t mask = cw_sa_mask(mad + 36);
	uint8_t m[CW_MAD_OCTETS], *all = calloc(sa->ngroups + 4, STRIDE);
	unsigned i;

	for (i = 0; all != NULL && i < sa->ngroups; i++) {
		const struct group *g = &sa->groups[i];

		if (!g->used || ((mask & CW_MCM_PKEY) &&
				 cw_mcmember_pkey(g->record) != cw_mcmember_pkey(mad + CW_SA_DATA)))
			continue;
		memcpy(all + len, g->record, CW_SIZE_MCMEMBER);
		len += STRIDE;
	}
	for (at = 0, seg = 1; all != NULL && (at < len || seg == 1); at += CW_SA_DATA_LEN, seg++) {
		bool last = at + CW_SA_DATA_LEN >= len;

		memset(m, 0, sizeof(m));
		memcpy(m, mad, 24);
		cw_mad_set_response(m, 1);
		cw_rmpp_set_version(m + 24, 1);
		cw_rmpp_set_type(m + 24, 1);
		cw_rmpp_set_active(m + 24, 1);
		cw_rmpp_set_first(m + 24, seg == 1);
		cw_rmpp_set_last(m + 24, last);
		cw_rmpp_set_segment(m + 24, seg);
		cw_rmpp_set_length(m + 24, last ? len - at + CW_SIZE_SA : 0);
		cw_sa_set_attr_offset(m + 36, len > 0 ? STRIDE / 8 : 0);
		memcpy(m + CW_SA_DATA, all + at, last ? len - at : CW_SA_DATA_LEN);
		sa->send(sa->ctx, lid, m);
	}
	free(all);
}

int cw_sa_request(struct cw_sa *sa, uint16_t lid, const uint8_t *mad, size_t len)
{
	if (len < CW_MAD_OCTETS)
		return CW_E_LENGTH;
	if (cw_mad_mgmt_class(mad) != CW_MAD_CLASS_SA || cw_mad_response(mad) ||
	    cw_rmpp_type(mad + 24) > 1)
		return CW_E_UNKNOWN;
	switch (cw_mad_attribute(mad) << 8 | cw_mad_method(mad)) {
	case CW_SA_MCMEMBER << 8 | CW_SA_SET:
		join(sa, lid, mad);
		break;
	case CW_SA_MCMEMBER << 8 | CW_SA_DELETE:
		leave(sa, lid, mad);
		break;
	case CW_SA_MCMEMBER << 8 | CW_SA_GETTABLE:
		table(sa, lid, mad);
		break;
	case CW_SA_PATHRECORD << 8 | CW_SA_GET:
		path(sa, lid, mad);
		break;
	case CW_SA_INFORMINFO << 8 | CW_SA_SET:
		subscribe(sa, lid, mad);
		break;
	default:
		answer(sa, lid, mad, 0x001c, NULL, 0);
	}
	return CW_OK;
}
