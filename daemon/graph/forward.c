/* forward.c - the rarer parts of forwarding. See forward.h. */
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "daemon/graph/forward.h"
#include "daemon/graph/hold.h"

/* What the next hop of a packet for `dst` is known by. */
static void make_key(struct cw_neigh_key *key, const struct cw_hop *h, uint16_t vid,
		     uint8_t version, const uint8_t *dst)
{
	bool via = h->kind == CW_HOP_VIA;

	memset(key, 0, sizeof(*key));
	key->port = (uint16_t)h->slot;
	key->vid = vid;
	key->version = via ? h->via.version : version;
	memcpy(key->addr, via ? h->via.a : dst, key->version == 4 ? 4 : 16);
}

static void mark_used(struct cw_nbr *n)
{
	if (!__atomic_load_n(&n->used, __ATOMIC_RELAXED)) /* the line is other workers', too */
		__atomic_store_n(&n->used, 1, __ATOMIC_RELAXED);
}

const uint8_t *cw_forward_resolve(struct cw_worker *w, struct rte_mbuf *m, const struct cw_hop *h,
				  const struct cw_ub2e_view *v, enum cw_drop *why)
{
	struct cw_neigh_key key;
	struct cw_nbr *n;

	make_key(&key, h, v->tagged ? v->vid : 0, v->version, v->dst);
	n = cw_nbr_lookup(w->nbrs, &key);
	if (n == NULL || n->refused) {
		*why = n == NULL ? cw_hold_packet(w, m, &key) : CW_DROP_NEIGHBOUR_FAIL;
		return NULL;
	}
	mark_used(n);
	return n->mac;
}

/* The key of make_key() without its way through memory: a hop's, or an ordinary packet's own. */
static inline struct cw_nbr_words key_of(const struct cw_hop *h, uint16_t vid, const uint8_t *ip)
{
	bool via = h->kind == CW_HOP_VIA;
	uint8_t version = via ? h->via.version : ip[0] >> 4;
	const uint8_t *addr = ip + (version == 4 ? CW_UB2E_DST4 : CW_UB2E_DST6);
	uint64_t first = cw_nbr_word0((uint16_t)h->slot, vid, version);

	if (via)
		addr = h->via.a;
	if (version == 4)
		return (struct cw_nbr_words){{first, cw_nbr_word1(addr), 0}};
	return (struct cw_nbr_words){{first, cw_nbr_word(addr), cw_nbr_word(addr + 8)}};
}

const struct cw_ub2e_adj *cw_forward_learned(struct cw_worker *w, uint32_t index, const uint8_t *ub,
					     size_t len, struct cw_ub2e_adj *copy)
{
	const struct cw_hop *h = &w->plane->hops[index];
	const uint8_t *ip = ub + CW_UB_PREFIX;
	struct cw_nbr *n;
	int vid;

	if (h->kind == CW_HOP_LOCAL || len < CW_UB_PREFIX + CW_SIZE_IPV6)
		return &cw_ub2e_adj_none;
	/* From the octets that the write will make the tag of. */
	vid = cw_ub2e_npi_to_vid(w->plane->rules, cw_be32(ip - 4) & (CW_NPI_PERM | CW_NPI_ID_MASK));
	if (vid < 0)
		return &cw_ub2e_adj_none;
	n = cw_nbr_lookup_words(w->nbrs, key_of(h, (uint16_t)vid, ip));
	if (n == NULL || n->refused)
		return &cw_ub2e_adj_none;
	mark_used(n);
	*copy = w->plane->adj[index];
	memcpy(copy->head, n->mac, sizeof(n->mac));
	return copy;
}

void cw_forward_notes(struct cw_port_counters *c, uint32_t notes)
{
	for (; notes != 0; notes &= notes - 1)
		c->notes[__builtin_ctz(notes)]++;
}

uint16_t cw_own_vid(const struct cw_port_config *c, unsigned version, const uint8_t *via)
{
	unsigned i;

	for (i = 0; i < c->naddr; i++) {
		if (c->addr[i].version == version &&
		    cw_bits_equal(c->addr[i].a, via, c->addr[i].plen))
			return c->addr_vid[i];
	}
	return 0;
}

void cw_put_ethernet(struct rte_mbuf *m, const struct cw_ub2e_hop *hop, const uint8_t *dst,
		     const struct cw_ub2e_view *v)
{
	unsigned tags = (hop->outer_vid != 0) + v->tagged;
	uint8_t *p =
		(uint8_t *)rte_pktmbuf_prepend(m, (uint16_t)(CW_SIZE_ETH + tags * CW_SIZE_VLAN));

	memcpy(p, dst, 6);
	memcpy(p + 6, hop->src, 6);
	p += 12;
	if (hop->outer_vid != 0) {
		cw_put_be32(p, (uint32_t)CW_ETHERTYPE_SVLAN << 16 | (uint32_t)v->pcp << 13 |
				       hop->outer_vid);
		p += CW_SIZE_VLAN;
	}
	if (v->tagged) {
		cw_put_be32(p, (uint32_t)hop->tpid << 16 | (uint32_t)v->pcp << 13 | v->vid);
		p += CW_SIZE_VLAN;
	}
	cw_put_be16(p, v->version == 4 ? CW_ETHERTYPE_IP4 : CW_ETHERTYPE_IP6);
}
