/* forward.c - the rarer parts of forwarding. See forward.h. */
#include "daemon/graph/forward.h"
#include "daemon/graph/hold.h"

const uint8_t *cw_forward_resolve(struct cw_worker *w, struct rte_mbuf *m, const struct cw_hop *h,
				  const struct cw_ub2e_view *v, enum cw_drop *why)
{
	bool via = h->kind == CW_HOP_VIA;
	struct cw_neigh_key key;
	struct cw_nbr *n;

	memset(&key, 0, sizeof(key));
	key.port = (uint16_t)h->slot;
	key.vid = v->tagged ? v->vid : 0;
	key.version = via ? h->via.version : v->version;
	memcpy(key.addr, via ? h->via.a : v->dst, key.version == 4 ? 4 : 16);
	n = cw_nbr_lookup(w->nbrs, &key);
	if (n == NULL || n->refused) {
		*why = n == NULL ? cw_hold_packet(w, m, &key) : CW_DROP_NEIGHBOUR_FAIL;
		return NULL;
	}
	if (!n->used)
		n->used = 1;
	return n->mac;
}

void cw_forward_notes(struct cw_port_counters *c, uint32_t notes)
{
	for (; notes != 0; notes &= notes - 1)
		c->notes[__builtin_ctz(notes)]++;
}
