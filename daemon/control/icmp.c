/* icmp.c - ICMP errors to the senders of dropped packets. See icmp.h.
 * Spec: RFC 1812 4.3.2, RFC 4443 2.4. An error leaves by the port that the packet came from, to the
 * station that sent it, in its VLAN or partition: as an answer to an echo does.
 *
 * The dropped packet may be in a capture's hands too: it is only read.
 */
#include <string.h>
#include "causeway/wire/eth.h"
#include "causeway/wire/icmp.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/ub.h"
#include "daemon/control/counters.h"
#include "daemon/control/current.h"
#include "daemon/control/icmp.h"
#include "daemon/control/local.h"
#include "daemon/control/own.h"
#include "daemon/graph/forward.h"

#define ERROR_MAX 1280 /* of either family: RFC 4443 2.4 (c) */

struct cw_icmp_stats cw_icmp_stats;

/* A dropped packet, taken apart. */
struct refused {
	const struct rte_mbuf *m;
	const struct cw_plane *plane;
	const struct cw_plane_port *in;
	const uint8_t *ip;
	uint32_t len;
	uint8_t version;
	uint16_t vid;  /* Ethernet: the network's VLAN, 0 untagged */
	uint32_t npi;  /* UB: 25 bits */
	uint8_t to[6]; /* station that it came from */
};

/* ---- What was dropped ------------------------------------------------------------------------ */

/* What is behind the tags, and the VLAN; of two tags, or on a port with an outer one, that of the
 * inner. */
static const uint8_t *skip_tags(struct refused *r, const uint8_t *frame)
{
	bool stripped = (r->m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0;
	uint16_t tci = stripped ? r->m->vlan_tci : 0;
	uint32_t off = CW_SIZE_ETH, type = cw_eth_type(frame);
	unsigned tags = stripped;

	for (; cw_is_tpid(type) && off + CW_SIZE_VLAN <= r->m->data_len; off += CW_SIZE_VLAN) {
		tci = cw_be16(frame + off);
		type = cw_vlan_type(frame + off);
		tags++;
	}
	r->vid = tags > (r->in->conf->outer_vid != 0) ? tci & 0xfff : 0;
	return frame + off;
}

/* False where the link's addresses forbid an answer (RFC 1122 3.2.2: no error about a broadcast).
 */
static bool open_ethernet(struct refused *r, const uint8_t *frame)
{
	if (r->m->data_len < CW_SIZE_ETH || ((frame[0] | frame[6]) & 1) != 0)
		return false;
	memcpy(r->to, frame + 6, 6);
	r->ip = skip_tags(r, frame);
	return true;
}

/* A UB link has one station at its other end, whatever address it was sent to. Partition 0 is
 * invalid: nothing is sent in it. */
static bool open_ub(struct refused *r, const uint8_t *frame)
{
	const uint8_t *ub = frame + (r->in->dev->bare_rx ? 0 : CW_SIZE_ETH);

	if (r->m->data_len < (uint32_t)(ub - frame) + CW_UB_PREFIX)
		return false;
	memcpy(r->to, r->in->conf->peer_mac, 6);
	r->npi = cw_be32(ub + CW_SIZE_LPH + CW_SIZE_CCI) & (CW_NPI_PERM | CW_NPI_ID_MASK);
	r->ip = ub + CW_UB_PREFIX;
	return (r->npi & CW_NPI_ID_MASK) != 0;
}

/* The IP packet without padding; a worker has found its header to be right. */
static bool open_ip(struct refused *r, uint32_t room)
{
	if (room < CW_SIZE_IPV4)
		return false;
	r->version = r->ip[0] >> 4;
	if (r->version == 4)
		r->len = cw_ipv4_length(r->ip);
	else if (r->version == 6 && room >= CW_SIZE_IPV6)
		r->len = CW_SIZE_IPV6 + cw_ipv6_length(r->ip);
	else
		return false;
	r->len = RTE_MIN(r->len, room);
	return true;
}

static bool open_refused(struct refused *r, const struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);

	memset(r, 0, sizeof(*r));
	r->m = m;
	r->plane = cw_plane_now();
	r->in = &r->plane->port[m->port];
	if (r->in->dev == NULL)
		return false;
	if (!(r->in->conf->kind == CW_PORT_UB ? open_ub(r, frame) : open_ethernet(r, frame)))
		return false;
	return open_ip(r, m->data_len - (uint32_t)(r->ip - frame));
}

/* ---- What is told ---------------------------------------------------------------------------- */

/* Of the way that the packet would have gone. */
static uint32_t mtu_of(const struct refused *r)
{
	struct cw_ub2e_view v = {.version = r->version};
	uint32_t index;

	v.dst = r->version == 4 ? cw_ipv4_dst(r->ip) : cw_ipv6_dst(r->ip);
	index = cw_route(r->plane->fib, &v);
	return index == CW_NO_HOP ? 0 : r->plane->hops[index].hop.mtu;
}

/* RFC 1812 4.3.2.4, RFC 4443 2.2. NULL: there is none. */
static const uint8_t *source_of(const struct refused *r)
{
	const struct cw_config *c = r->plane->conf;
	struct cw_neigh_key key = {.vid = r->vid, .version = r->version};
	const uint8_t *a;
	unsigned i, k;

	if (c->icmp.source[r->version == 6].version != 0)
		return c->icmp.source[r->version == 6].addr;
	if (r->version == 4)
		memcpy(key.addr, cw_ipv4_src(r->ip), 4);
	else
		memcpy(key.addr, cw_ipv6_src(r->ip), 16);
	if ((a = cw_local_address(r->in, &key)) != NULL)
		return a;
	for (i = 0; i < c->nports; i++) {
		for (k = 0; k < c->ports[i].naddr; k++) {
			if (c->ports[i].addr[k].version == r->version)
				return c->ports[i].addr[k].a;
		}
	}
	return NULL;
}

static enum cw_icmp_error error_of(enum cw_drop why)
{
	switch (why) {
	case CW_DROP_MTU:
		return CW_ICMP_TOO_BIG;
	case CW_DROP_NO_ROUTE:
		return CW_ICMP_NO_ROUTE;
	case CW_DROP_NEIGHBOUR_FAIL:
		return CW_ICMP_NO_HOST;
	case CW_DROP_PLAIN_IP:
		return CW_ICMP_PROHIBITED;
	default:
		return CW_ICMP_TIME_EXCEEDED;
	}
}

static void count(unsigned slot, enum cw_icmp_error what)
{
	cw_control_counters[slot].icmp_errors++;
	if (what == CW_ICMP_TIME_EXCEEDED)
		cw_icmp_stats.time_exceeded++;
	else if (what == CW_ICMP_TOO_BIG)
		cw_icmp_stats.too_big++;
	else
		cw_icmp_stats.unreachable++;
}

/* ---- Sending it ------------------------------------------------------------------------------ */

/* Link and network headers of a packet of our own: not congested, and markable neither. */
static void put_ub(const struct refused *r, uint8_t *ub, unsigned dscp, uint32_t ip_len)
{
	const struct cw_ub2e_settings *s = cw_ub2e_get_settings(r->plane->rules);
	uint16_t plength = 0;

	memset(ub, 0, CW_UB_PREFIX);
	(void)cw_plength_encode(CW_PLENGTH_CRC, CW_UB_PREFIX - CW_SIZE_LPH + ip_len, &plength);
	cw_lph_set_vl(ub, s->vl[dscp]);
	cw_lph_set_cfg(ub, r->version == 4 ? CW_UB_CFG_IP4 : CW_UB_CFG_IP6);
	cw_lph_set_rt(ub, s->rt);
	cw_lph_set_plength(ub, plength);
	cw_cci_fecn_set_mode(ub + CW_SIZE_LPH, CW_CCI_MODE_FECN);
	cw_put_be32(ub + CW_SIZE_LPH + CW_SIZE_CCI, r->npi);
}

/* VLAN and priority; 0: untagged, as the dropped one. */
static uint16_t tci_of(const struct refused *r, unsigned dscp)
{
	const struct cw_ub2e_settings *s = cw_ub2e_get_settings(r->plane->rules);

	if (r->vid == 0)
		return 0;
	return (uint16_t)(s->pcp[dscp] << 13 | r->vid);
}

/* An IP packet to where the dropped one came from. */
static bool send_back(const struct refused *r, const uint8_t *ip, uint16_t len)
{
	unsigned dscp = r->version == 4 ? cw_ipv4_dscp(ip) : cw_ipv6_dscp(ip);
	bool ub = r->in->conf->kind == CW_PORT_UB;
	struct rte_mbuf *m;
	uint8_t *body;

	if (ub)
		m = cw_own_frame(r->in, r->to, 0, CW_ETHERTYPE_UB, CW_UB_PREFIX + len, &body);
	else
		m = cw_own_frame(r->in, r->to, tci_of(r, dscp),
				 r->version == 4 ? CW_ETHERTYPE_IP4 : CW_ETHERTYPE_IP6, len, &body);
	if (m == NULL)
		return false;
	if (ub)
		put_ub(r, body, dscp, len);
	memcpy(body + (ub ? CW_UB_PREFIX : 0), ip, len);
	cw_own_send(m, r->in->dev->slot);
	return true;
}

static void tell(const struct rte_mbuf *m)
{
	enum cw_icmp_error what = error_of((enum cw_drop)cw_meta_get(m));
	uint8_t error[ERROR_MAX];
	const uint8_t *src;
	struct refused r;
	int len;

	if (!open_refused(&r, m)) {
		cw_icmp_stats.forbidden++;
		return;
	}
	if ((src = source_of(&r)) == NULL) {
		cw_icmp_stats.no_source++;
		return;
	}
	len = cw_icmp_error(error, sizeof(error), what, mtu_of(&r), src, r.ip, r.len);
	if (len < 0)
		cw_icmp_stats.forbidden++;
	else if (send_back(&r, error, (uint16_t)len))
		count(m->port, what);
}

void cw_icmp_run(void)
{
	struct rte_mbuf *m[CW_MAX_BURST];
	unsigned i, n;

	do {
		n = rte_ring_sc_dequeue_burst(cw_dp.refused, (void **)m, CW_MAX_BURST, NULL);
		for (i = 0; i < n; i++)
			tell(m[i]);
		rte_pktmbuf_free_bulk(m, n);
	} while (n == CW_MAX_BURST);
}
