/* leave.c - leaves that the SA has not confirmed yet: sent again, and told when they fail (12). */
#include <string.h>
#include "lib/ipoib/internal.h"

enum { TRIES = 3 };

#define MASK_LEAVE (CW_MCM_MGID | CW_MCM_PORT | CW_MCM_JOIN)

static void send(struct cw_ipoib *l, struct leave *v, uint64_t now)
{
	uint8_t r[CW_SIZE_MCMEMBER] = {0};

	cw_mcmember_set_mgid(r, v->mgid);
	cw_mcmember_set_port_gid(r, l->c.gid);
	cw_mcmember_set_join_state(r, v->bits);
	request_send(l, &v->req, now, CW_SA_DELETE, CW_SA_MCMEMBER, MASK_LEAVE, r, sizeof(r));
}

static struct leave *find(struct cw_ipoib *l, const uint8_t mgid[16])
{
	unsigned i;

	for (i = 0; i < LEAVES; i++) {
		if (l->leave[i].req.due != 0 && memcmp(l->leave[i].mgid, mgid, 16) == 0)
			return &l->leave[i];
	}
	return NULL;
}

void leave_send(struct cw_ipoib *l, uint64_t now, const uint8_t mgid[16], uint8_t bits)
{
	struct leave *v = find(l, mgid), once = {0};
	unsigned i;

	for (i = 0; i < LEAVES && v == NULL; i++) {
		if (l->leave[i].req.due == 0)
			v = &l->leave[i];
	}
	if (v == NULL) /* more at once than are kept: whether it arrives is not known */
		v = &once;
	else
		request_done(&v->req);
	memcpy(v->mgid, mgid, 16);
	v->bits = bits;
	send(l, v, now);
}

void leave_cancel(struct cw_ipoib *l, const uint8_t mgid[16])
{
	struct leave *v = find(l, mgid);

	if (v != NULL)
		request_done(&v->req);
}

void leave_tick(struct cw_ipoib *l, uint64_t now)
{
	unsigned i;

	for (i = 0; i < LEAVES; i++) {
		struct leave *v = &l->leave[i];

		if (!request_due(&v->req, now))
			continue;
		if (v->req.tries < TRIES) {
			send(l, v, now);
			continue;
		}
		l->n.sa_timeout++;
		log_failure(l, v->mgid, "no answer to a leave", 0);
		request_done(&v->req);
	}
}

bool leave_answer(struct cw_ipoib *l, uint32_t tid, uint16_t status)
{
	unsigned i;

	for (i = 0; i < LEAVES; i++) {
		struct leave *v = &l->leave[i];

		if (v->req.due == 0 || v->req.tid != tid)
			continue;
		request_done(&v->req);
		if (status != CW_SA_OK) {
			l->n.sa_refused++;
			log_failure(l, v->mgid, "leave", status);
		}
		return true;
	}
	return false;
}
