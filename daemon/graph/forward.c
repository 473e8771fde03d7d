/* forward.c - the rarer parts of forwarding. See forward.h. */
#include "daemon/graph/forward.h"

const uint8_t *cw_forward_resolve(const struct cw_worker *w, const struct cw_hop *h,
				  const struct cw_ub2e_view *v, struct cw_neigh_key *key)
{
	bool via = h->kind == CW_HOP_VIA;
	struct cw_nbr *n;
	uint16_t vid;

	memset(key, 0, sizeof(*key));
	key->port = (uint16_t)h->slot;
	key->vid = v->tagged ? v->vid : 0;
	key->version = via ? h->via.version : v->version;
	memcpy(key->addr, via ? h->via.a : v->dst, key->version == 4 ? 4 : 16);
	n = cw_nbr_find(w->nbrs, key);
	if (n == NULL && w->nbrs->any_vlan) {
		vid = key->vid;
		key->vid = CW_NEIGH_ANY_VLAN;
		n = cw_nbr_find(w->nbrs, key);
		key->vid = vid;
	}
	if (n == NULL)
		return NULL;
	if (!n->used)
		n->used = 1;
	return n->mac;
}

void cw_forward_notes(struct cw_port_counters *c, uint32_t notes)
{
	for (; notes != 0; notes &= notes - 1)
		c->notes[__builtin_ctz(notes)]++;
}
