// SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0
/* cw_hca.c - an InfiniBand channel adapter without hardware, so that Linux's own ib_ipoib can be
 * the peer of a test. Kernel module for the guests of the labs (Linux 6.1).
 *
 * Every packet, from LRH to VCRC, is the payload of an Ethernet frame of type 0x88B5 to the
 * broadcast address, over the interface `netdev`. There is one port, always active; its LID, the
 * LID of the subnet manager, GUID and P_Keys are module parameters, as there is no QP0. There are
 * UD queue pairs and QP1; RDMA, reliable transport and user space have no part in this. What
 * arrives is held to the rules of a real adapter: both CRCs, P_Key, Q_Key, attached multicast
 * groups.
 */
#include <linux/crc32.h>
#include <linux/etherdevice.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <asm/unaligned.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>

#define ETHERTYPE       0x88b5
#define LRH_LEN         8
#define GRH_LEN         40
#define BTH_LEN         12
#define DETH_LEN        8
#define ICRC_LEN        4
#define VCRC_LEN        2
#define LNH_LOCAL       2
#define LNH_GLOBAL      3
#define UD_SEND_ONLY    0x64
#define MULTICAST_QPN   0xffffff
#define MULTICAST_LID   0xc000
#define SUBNET_PREFIX   0xfe80000000000000ULL
#define QKEY_CONTROLLED 0x80000000
#define PKEY_TABLE      8
#define RECV_SGES       2
#define VCRC_POLYNOMIAL 0xd008 /* 0x100B, reflected */

static char *netdev = "eth0";
static ulong guid = 0x100004;
static uint lid = 3, smlid = 1, mtu = IB_MTU_2048, qpn = 0x48;
static ushort pkeys[PKEY_TABLE] = {0xffff};
static int npkeys = 1;
module_param(netdev, charp, 0444);
module_param(guid, ulong, 0444);
module_param(lid, uint, 0444);
module_param(smlid, uint, 0444);
module_param(mtu, uint, 0444);
MODULE_PARM_DESC(mtu, "MTU code of the port: 4 is 2048, 5 is 4096");
module_param(qpn, uint, 0444);
MODULE_PARM_DESC(qpn, "number of the first queue pair");
module_param_array(pkeys, ushort, &npkeys, 0444);

struct hca_cq {
	struct ib_cq ib;
	spinlock_t lock;
	struct ib_wc *ring;
	unsigned int size, head, used;
	bool armed;
};

struct hca_recv {
	u64 wr_id;
	struct ib_sge sge[RECV_SGES];
	int sges;
};

struct hca_qp {
	struct ib_qp ib;
	struct list_head list;
	spinlock_t lock; /* of the receive queue */
	struct hca_recv *recv;
	unsigned int size, head, used;
	u32 qkey, psn;
	u16 pkey_index;
	enum ib_qp_state state;
	bool signal_all;
};

struct hca_group { /* a queue pair attached to a multicast group */
	struct list_head list;
	struct hca_qp *qp;
	union ib_gid gid;
};

struct hca_ah {
	struct ib_ah ib;
	struct rdma_ah_attr attr;
};

struct hca_pd {
	struct ib_pd ib;
};

struct hca_device {
	struct ib_device ib;
};

/* A packet that came, in one piece of memory. */
struct hca_packet {
	const u8 *lrh, *grh, *bth, *payload; /* no GRH: NULL */
	unsigned int payload_len;            /* without padding */
	u32 dest_qp, src_qp, qkey;
	u16 pkey;
};

static struct hca_device *hca;
static struct net_device *carrier;
static LIST_HEAD(qps);
static LIST_HEAD(groups);
static DEFINE_SPINLOCK(lists_lock); /* of qps and groups */
static struct sk_buff_head tx_queue;
static u16 vcrc_table[256];

static struct hca_counters {
	u64 tx, rx, bad_crc, bad_pkey, bad_qkey, no_qp, no_buffer;
} counters;

/* ---- CRCs ---- */

static void vcrc_init(void)
{
	unsigned int i, bit;

	for (i = 0; i < 256; i++) {
		u16 c = i;

		for (bit = 0; bit < 8; bit++)
			c = c & 1 ? (c >> 1) ^ VCRC_POLYNOMIAL : c >> 1;
		vcrc_table[i] = c;
	}
}

static u16 vcrc(const u8 *p, unsigned int len)
{
	u16 c = 0xffff;

	while (len--)
		c = c >> 8 ^ vcrc_table[(c ^ *p++) & 0xff];
	return ~c;
}

/* Over LRH to padding; what switches and routers change counts as ones. */
static u32 icrc(const u8 *p, unsigned int len, bool grh)
{
	u8 head[LRH_LEN + GRH_LEN + BTH_LEN];
	unsigned int bth = LRH_LEN + (grh ? GRH_LEN : 0), n = bth + BTH_LEN;

	memcpy(head, p, n);
	head[0] |= 0xf0; /* VL */
	if (grh) {
		head[LRH_LEN] |= 0x0f; /* traffic class, flow label, hop limit */
		memset(head + LRH_LEN + 1, 0xff, 3);
		head[LRH_LEN + 7] = 0xff;
	}
	head[bth + 4] = 0xff;
	return ~crc32_le(crc32_le(~0, head, n), p + n, len - n);
}

/* ---- Completion queues ---- */

static struct hca_cq *to_cq(struct ib_cq *ib)
{
	return container_of(ib, struct hca_cq, ib);
}

static void complete_wr(struct ib_cq *ib, const struct ib_wc *wc)
{
	struct hca_cq *cq = to_cq(ib);
	unsigned long flags;
	bool notify;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->used < cq->size)
		cq->ring[(cq->head + cq->used++) % cq->size] = *wc;
	else
		pr_warn_ratelimited("cw_hca: completion queue overrun\n");
	notify = cq->armed;
	cq->armed = false;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (notify && ib->comp_handler)
		ib->comp_handler(ib, ib->cq_context);
}

static int hca_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
			 struct ib_udata *udata)
{
	struct hca_cq *cq = to_cq(ib);

	spin_lock_init(&cq->lock);
	cq->size = attr->cqe;
	cq->ring = kvcalloc(cq->size, sizeof(*cq->ring), GFP_KERNEL);
	ib->cqe = cq->size;
	return cq->ring ? 0 : -ENOMEM;
}

static int hca_destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	kvfree(to_cq(ib)->ring);
	return 0;
}

static int hca_poll_cq(struct ib_cq *ib, int max, struct ib_wc *wc)
{
	struct hca_cq *cq = to_cq(ib);
	unsigned long flags;
	int n;

	spin_lock_irqsave(&cq->lock, flags);
	for (n = 0; n < max && cq->used; n++, cq->used--) {
		wc[n] = cq->ring[cq->head];
		cq->head = (cq->head + 1) % cq->size;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

static int hca_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags how)
{
	struct hca_cq *cq = to_cq(ib);
	unsigned long flags;
	int missed;

	spin_lock_irqsave(&cq->lock, flags);
	cq->armed = true;
	missed = (how & IB_CQ_REPORT_MISSED_EVENTS) && cq->used;
	spin_unlock_irqrestore(&cq->lock, flags);
	return missed;
}

/* ---- Receiving ---- */

static struct hca_qp *to_qp(struct ib_qp *ib)
{
	return container_of(ib, struct hca_qp, ib);
}

static bool take_recv(struct hca_qp *qp, struct hca_recv *r)
{
	unsigned long flags;
	bool any;

	spin_lock_irqsave(&qp->lock, flags);
	any = qp->used > 0;
	if (any) {
		*r = qp->recv[qp->head];
		qp->head = (qp->head + 1) % qp->size;
		qp->used--;
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	return any;
}

/* Copy into the buffers from `at` on; false when they are too small. */
static bool scatter(const struct hca_recv *r, unsigned int at, const u8 *from, unsigned int len)
{
	int i;

	for (i = 0; i < r->sges && len; i++) {
		unsigned int room = r->sge[i].length, n;

		if (at >= room) {
			at -= room;
			continue;
		}
		n = min(room - at, len);
		memcpy((u8 *)(uintptr_t)r->sge[i].addr + at, from, n);
		from += n;
		len -= n;
		at = 0;
	}
	return !len;
}

/* The place of a P_Key in the table: same partition, and not limited members both. */
static int pkey_index(u16 pkey)
{
	int i;

	for (i = 0; i < npkeys; i++)
		if (!((pkeys[i] ^ pkey) & 0x7fff) && (pkeys[i] | pkey) & 0x8000)
			return i;
	return -1;
}

static bool may_hear(const struct hca_qp *qp, const struct hca_packet *pkt)
{
	int index = pkey_index(pkt->pkey);

	if (index < 0 || (qp->ib.qp_num != 1 && index != qp->pkey_index)) {
		counters.bad_pkey++;
		return false;
	}
	if (pkt->qkey != qp->qkey) {
		counters.bad_qkey++;
		return false;
	}
	return true;
}

static void deliver(struct hca_qp *qp, const struct hca_packet *pkt)
{
	static const u8 no_grh[GRH_LEN];
	struct ib_wc wc = {.opcode = IB_WC_RECV, .port_num = 1, .qp = &qp->ib};
	struct hca_recv r;

	if (!may_hear(qp, pkt))
		return;
	if (!take_recv(qp, &r)) {
		counters.no_buffer++;
		return;
	}
	wc.wr_id = r.wr_id;
	wc.byte_len = GRH_LEN + pkt->payload_len;
	wc.status = scatter(&r, 0, pkt->grh ? pkt->grh : no_grh, GRH_LEN) &&
				    scatter(&r, GRH_LEN, pkt->payload, pkt->payload_len)
			    ? IB_WC_SUCCESS
			    : IB_WC_LOC_LEN_ERR;
	wc.src_qp = pkt->src_qp;
	wc.slid = get_unaligned_be16(pkt->lrh + 6);
	wc.sl = pkt->lrh[1] >> 4;
	wc.wc_flags = pkt->grh ? IB_WC_GRH : 0;
	wc.pkey_index = pkey_index(pkt->pkey);
	complete_wr(qp->ib.recv_cq, &wc);
}

/* Is it a UD packet for this port, complete and undamaged? */
static bool parse(const u8 *p, unsigned int len, struct hca_packet *pkt)
{
	unsigned int words, end, dlid, head, pad;

	if (len < LRH_LEN)
		return false;
	words = get_unaligned_be16(p + 4) & 0x7ff;
	end = 4 * words - ICRC_LEN;
	dlid = get_unaligned_be16(p + 2);
	pkt->lrh = p;
	pkt->grh = (p[1] & 3) == LNH_GLOBAL ? p + LRH_LEN : NULL;
	head = LRH_LEN + (pkt->grh ? GRH_LEN : 0) + BTH_LEN + DETH_LEN;
	if ((p[1] & 3) < LNH_LOCAL || 4 * words < head + ICRC_LEN || 4 * words + VCRC_LEN > len ||
	    (dlid < MULTICAST_LID && dlid != lid))
		return false;
	if (get_unaligned_le32(p + end) != icrc(p, end, pkt->grh) ||
	    get_unaligned_le16(p + end + ICRC_LEN) != vcrc(p, end + ICRC_LEN)) {
		counters.bad_crc++;
		return false;
	}
	pkt->payload = p + head;
	pkt->bth = pkt->payload - DETH_LEN - BTH_LEN;
	pad = pkt->bth[1] >> 4 & 3;
	if (pkt->bth[0] != UD_SEND_ONLY || end < head + pad)
		return false;
	pkt->payload_len = end - head - pad;
	pkt->pkey = get_unaligned_be16(pkt->bth + 2);
	pkt->dest_qp = get_unaligned_be24(pkt->bth + 5);
	pkt->qkey = get_unaligned_be32(pkt->bth + BTH_LEN);
	pkt->src_qp = get_unaligned_be24(pkt->bth + BTH_LEN + 5);
	return true;
}

static void deliver_to_group(const struct hca_packet *pkt)
{
	struct hca_group *g;

	list_for_each_entry(g, &groups, list) if (pkt->grh && !memcmp(g->gid.raw, pkt->grh + 24,
								      sizeof(g->gid.raw)))
		deliver(g->qp, pkt);
}

static void deliver_to_qp(const struct hca_packet *pkt)
{
	struct hca_qp *qp;

	list_for_each_entry(qp, &qps, list) if (qp->ib.qp_num == pkt->dest_qp &&
						qp->state >= IB_QPS_RTR && qp->state <= IB_QPS_SQD)
	{
		deliver(qp, pkt);
		return;
	}
	counters.no_qp++;
}

static int receive(struct sk_buff *skb, struct net_device *dev, struct packet_type *type,
		   struct net_device *original)
{
	struct hca_packet pkt;
	unsigned long flags;

	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return 0;
	if (!skb_linearize(skb) && parse(skb->data, skb->len, &pkt)) {
		counters.rx++;
		spin_lock_irqsave(&lists_lock, flags);
		if (pkt.dest_qp == MULTICAST_QPN)
			deliver_to_group(&pkt);
		else
			deliver_to_qp(&pkt);
		spin_unlock_irqrestore(&lists_lock, flags);
	}
	kfree_skb(skb);
	return 0;
}

static struct packet_type packet_type = {.type = cpu_to_be16(ETHERTYPE), .func = receive};

static int hca_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr,
			 const struct ib_recv_wr **bad)
{
	struct hca_qp *qp = to_qp(ib);
	unsigned long flags;

	spin_lock_irqsave(&qp->lock, flags);
	for (; wr && qp->used < qp->size && wr->num_sge <= RECV_SGES; wr = wr->next) {
		struct hca_recv *r = &qp->recv[(qp->head + qp->used++) % qp->size];

		r->wr_id = wr->wr_id;
		r->sges = wr->num_sge;
		memcpy(r->sge, wr->sg_list, wr->num_sge * sizeof(*r->sge));
	}
	spin_unlock_irqrestore(&qp->lock, flags);
	*bad = wr;
	return wr ? -ENOMEM : 0;
}

/* ---- Sending ---- */

/* Whoever sends may hold locks with interrupts off, in which no frame can be queued. */
static void transmit(struct tasklet_struct *unused)
{
	struct sk_buff *skb;

	while ((skb = skb_dequeue(&tx_queue)))
		dev_queue_xmit(skb);
}

static DECLARE_TASKLET(tx_tasklet, transmit);

static void put_lrh(u8 *p, const struct rdma_ah_attr *ah, unsigned int words, bool grh)
{
	p[0] = 0;
	p[1] = rdma_ah_get_sl(ah) << 4 | (grh ? LNH_GLOBAL : LNH_LOCAL);
	put_unaligned_be16(rdma_ah_get_dlid(ah), p + 2);
	put_unaligned_be16(words, p + 4);
	put_unaligned_be16(lid, p + 6);
}

static void put_grh(u8 *p, const struct ib_global_route *route, unsigned int payload_len)
{
	put_unaligned_be32(6 << 28 | route->traffic_class << 20 | (route->flow_label & 0xfffff), p);
	put_unaligned_be16(payload_len, p + 4);
	p[6] = 0x1b;
	p[7] = route->hop_limit;
	put_unaligned_be64(SUBNET_PREFIX, p + 8);
	put_unaligned_be64(guid, p + 16);
	memcpy(p + 24, route->dgid.raw, 16);
}

static void put_bth_deth(u8 *p, struct hca_qp *qp, const struct ib_ud_wr *ud, unsigned int pad)
{
	bool se = ud->wr.send_flags & IB_SEND_SOLICITED;
	u16 index = qp->ib.qp_num == 1 ? ud->pkey_index : qp->pkey_index;

	p[0] = UD_SEND_ONLY;
	p[1] = (se ? 0x80 : 0) | 0x40 | pad << 4;
	put_unaligned_be16(pkeys[index % PKEY_TABLE], p + 2);
	put_unaligned_be32(ud->remote_qpn & 0xffffff, p + 4);
	put_unaligned_be32(qp->psn++ & 0xffffff, p + 8);
	put_unaligned_be32(ud->remote_qkey & QKEY_CONTROLLED ? qp->qkey : ud->remote_qkey,
			   p + BTH_LEN);
	put_unaligned_be32(qp->ib.qp_num, p + BTH_LEN + 4);
}

static struct sk_buff *build(struct hca_qp *qp, const struct ib_ud_wr *ud)
{
	const struct rdma_ah_attr *ah = &container_of(ud->ah, struct hca_ah, ib)->attr;
	bool grh = rdma_ah_get_ah_flags(ah) & IB_AH_GRH;
	unsigned int head = LRH_LEN + (grh ? GRH_LEN : 0), payload = 0, pad, end;
	struct sk_buff *skb;
	u8 *p, *at;
	int i;

	for (i = 0; i < ud->wr.num_sge; i++)
		payload += ud->wr.sg_list[i].length;
	pad = -payload & 3;
	end = head + BTH_LEN + DETH_LEN + payload + pad;
	skb = alloc_skb(LL_RESERVED_SPACE(carrier) + end + ICRC_LEN + VCRC_LEN, GFP_ATOMIC);
	if (!skb)
		return NULL;
	skb_reserve(skb, LL_RESERVED_SPACE(carrier));
	p = skb_put_zero(skb, end + ICRC_LEN + VCRC_LEN);
	put_lrh(p, ah, (end + ICRC_LEN) / 4, grh);
	if (grh)
		put_grh(p + LRH_LEN, rdma_ah_read_grh(ah), end + ICRC_LEN - head);
	put_bth_deth(p + head, qp, ud, pad);
	at = p + head + BTH_LEN + DETH_LEN;
	for (i = 0; i < ud->wr.num_sge; at += ud->wr.sg_list[i++].length)
		memcpy(at, (void *)(uintptr_t)ud->wr.sg_list[i].addr, ud->wr.sg_list[i].length);
	put_unaligned_le32(icrc(p, end, grh), p + end);
	put_unaligned_le16(vcrc(p, end + ICRC_LEN), p + end + ICRC_LEN);
	return skb;
}

static int hca_post_send(struct ib_qp *ib, const struct ib_send_wr *wr,
			 const struct ib_send_wr **bad)
{
	struct hca_qp *qp = to_qp(ib);

	for (; wr; wr = wr->next) {
		struct ib_wc wc = {.wr_id = wr->wr_id, .opcode = IB_WC_SEND, .qp = ib};
		struct sk_buff *skb = wr->opcode == IB_WR_SEND ? build(qp, ud_wr(wr)) : NULL;

		if (!skb) {
			*bad = wr;
			return wr->opcode == IB_WR_SEND ? -ENOMEM : -EINVAL;
		}
		skb->dev = carrier;
		skb->protocol = htons(ETHERTYPE);
		skb_reset_network_header(skb);
		dev_hard_header(skb, carrier, ETHERTYPE, carrier->broadcast, carrier->dev_addr,
				skb->len);
		counters.tx++;
		skb_queue_tail(&tx_queue, skb);
		tasklet_schedule(&tx_tasklet);
		if (qp->signal_all || wr->send_flags & IB_SEND_SIGNALED)
			complete_wr(ib->send_cq, &wc);
	}
	return 0;
}

/* ---- Queue pairs ---- */

static int hca_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct hca_qp *qp = to_qp(ib);
	unsigned long flags;

	if (attr->qp_type != IB_QPT_UD && attr->qp_type != IB_QPT_GSI)
		return -EOPNOTSUPP;
	spin_lock_init(&qp->lock);
	qp->size = attr->cap.max_recv_wr + 1;
	qp->recv = kvcalloc(qp->size, sizeof(*qp->recv), GFP_KERNEL);
	if (!qp->recv)
		return -ENOMEM;
	qp->signal_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->state = IB_QPS_RESET;
	spin_lock_irqsave(&lists_lock, flags);
	ib->qp_num = attr->qp_type == IB_QPT_GSI ? 1 : qpn++;
	list_add(&qp->list, &qps);
	spin_unlock_irqrestore(&lists_lock, flags);
	return 0;
}

static void flush_recv(struct hca_qp *qp)
{
	struct ib_wc wc = {.status = IB_WC_WR_FLUSH_ERR, .qp = &qp->ib};
	struct hca_recv r;

	while (take_recv(qp, &r)) {
		wc.wr_id = r.wr_id;
		complete_wr(qp->ib.recv_cq, &wc);
	}
}

static int hca_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
			 struct ib_udata *udata)
{
	struct hca_qp *qp = to_qp(ib);

	if (mask & IB_QP_QKEY)
		qp->qkey = attr->qkey;
	if (mask & IB_QP_PKEY_INDEX)
		qp->pkey_index = attr->pkey_index;
	if (mask & IB_QP_SQ_PSN)
		qp->psn = attr->sq_psn;
	if (!(mask & IB_QP_STATE))
		return 0;
	qp->state = attr->qp_state;
	if (qp->state == IB_QPS_ERR)
		flush_recv(qp);
	else if (qp->state == IB_QPS_RESET)
		qp->used = 0;
	return 0;
}

static int hca_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
			struct ib_qp_init_attr *init)
{
	struct hca_qp *qp = to_qp(ib);

	attr->qp_state = attr->cur_qp_state = qp->state;
	attr->qkey = qp->qkey;
	attr->pkey_index = qp->pkey_index;
	return 0;
}

static int hca_detach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 mlid)
{
	struct hca_group *g, *next;
	unsigned long flags;

	spin_lock_irqsave(&lists_lock, flags);
	list_for_each_entry_safe(g, next, &groups,
				 list) if (&g->qp->ib == ib &&
					   (!gid || !memcmp(&g->gid, gid, sizeof(*gid))))
	{
		list_del(&g->list);
		kfree(g);
	}
	spin_unlock_irqrestore(&lists_lock, flags);
	return 0;
}

static int hca_attach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 mlid)
{
	struct hca_group *g = kzalloc(sizeof(*g), GFP_KERNEL);
	unsigned long flags;

	if (!g)
		return -ENOMEM;
	g->qp = to_qp(ib);
	g->gid = *gid;
	spin_lock_irqsave(&lists_lock, flags);
	list_add(&g->list, &groups);
	spin_unlock_irqrestore(&lists_lock, flags);
	return 0;
}

static int hca_destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	struct hca_qp *qp = to_qp(ib);
	unsigned long flags;

	hca_detach_mcast(ib, NULL, 0);
	spin_lock_irqsave(&lists_lock, flags);
	list_del(&qp->list);
	spin_unlock_irqrestore(&lists_lock, flags);
	kvfree(qp->recv);
	return 0;
}

/* ---- The other objects: nothing but their memory ---- */

static int hca_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int hca_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int hca_create_ah(struct ib_ah *ah, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	container_of(ah, struct hca_ah, ib)->attr = *init->ah_attr;
	return 0;
}

/* Without it ib_sa sends nothing. */
static int hca_query_ah(struct ib_ah *ah, struct rdma_ah_attr *attr)
{
	*attr = container_of(ah, struct hca_ah, ib)->attr;
	return 0;
}

static int hca_destroy_ah(struct ib_ah *ah, u32 flags)
{
	return 0;
}

static struct ib_mr *hca_get_dma_mr(struct ib_pd *pd, int access)
{
	struct ib_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	return mr ? mr : ERR_PTR(-ENOMEM);
}

static struct ib_mr *hca_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 address,
				     int access, struct ib_udata *udata)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static int hca_dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	kfree(mr);
	return 0;
}

/* ---- What the adapter and its port are ---- */

static int hca_query_device(struct ib_device *dev, struct ib_device_attr *a, struct ib_udata *udata)
{
	memset(a, 0, sizeof(*a));
	a->sys_image_guid = cpu_to_be64(guid - 1);
	a->max_mr_size = ~0ULL;
	a->max_qp = a->max_cq = a->max_mr = a->max_pd = 64;
	a->max_qp_wr = 8192;
	a->max_send_sge = 20;
	a->max_recv_sge = RECV_SGES;
	a->max_cqe = 65536;
	a->max_ah = 4096;
	a->max_mcast_grp = 256;
	a->max_mcast_qp_attach = 16;
	a->max_total_mcast_qp_attach = 4096;
	a->max_pkeys = PKEY_TABLE;
	a->kernel_cap_flags = IBK_LOCAL_DMA_LKEY | IBK_BLOCK_MULTICAST_LOOPBACK;
	return 0;
}

static int hca_query_port(struct ib_device *dev, u32 port, struct ib_port_attr *a)
{
	a->state = IB_PORT_ACTIVE;
	a->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	a->max_mtu = IB_MTU_4096;
	a->active_mtu = mtu;
	a->gid_tbl_len = 1;
	a->pkey_tbl_len = PKEY_TABLE;
	a->max_msg_sz = 4096;
	a->lid = lid;
	a->sm_lid = smlid;
	a->max_vl_num = 1;
	a->active_width = IB_WIDTH_4X;
	a->active_speed = IB_SPEED_SDR;
	a->subnet_timeout = 18;
	return 0;
}

static int hca_query_gid(struct ib_device *dev, u32 port, int index, union ib_gid *gid)
{
	if (index)
		return -EINVAL;
	gid->global.subnet_prefix = cpu_to_be64(SUBNET_PREFIX);
	gid->global.interface_id = cpu_to_be64(guid);
	return 0;
}

static int hca_query_pkey(struct ib_device *dev, u32 port, u16 index, u16 *pkey)
{
	if (index >= PKEY_TABLE)
		return -EINVAL;
	*pkey = index < npkeys ? pkeys[index] : 0;
	return 0;
}

static enum rdma_link_layer hca_get_link_layer(struct ib_device *dev, u32 port)
{
	return IB_LINK_LAYER_INFINIBAND;
}

static int hca_get_port_immutable(struct ib_device *dev, u32 port, struct ib_port_immutable *im)
{
	im->pkey_tbl_len = PKEY_TABLE;
	im->gid_tbl_len = 1;
	im->max_mad_size = IB_MGMT_MAD_SIZE;
	im->core_cap_flags = RDMA_CORE_PORT_IBA_IB & ~RDMA_CORE_CAP_IB_SMI;
	return 0;
}

/* What ib_core needs before it calls a device complete; memory registration is part of that. */
static const struct ib_device_ops ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.uverbs_abi_ver = 1,
	.alloc_pd = hca_alloc_pd,
	.attach_mcast = hca_attach_mcast,
	.create_ah = hca_create_ah,
	.create_cq = hca_create_cq,
	.create_qp = hca_create_qp,
	.dealloc_pd = hca_dealloc_pd,
	.dereg_mr = hca_dereg_mr,
	.destroy_ah = hca_destroy_ah,
	.destroy_cq = hca_destroy_cq,
	.destroy_qp = hca_destroy_qp,
	.detach_mcast = hca_detach_mcast,
	.get_dma_mr = hca_get_dma_mr,
	.get_link_layer = hca_get_link_layer,
	.get_port_immutable = hca_get_port_immutable,
	.modify_qp = hca_modify_qp,
	.poll_cq = hca_poll_cq,
	.post_recv = hca_post_recv,
	.post_send = hca_post_send,
	.query_ah = hca_query_ah,
	.query_device = hca_query_device,
	.query_gid = hca_query_gid,
	.query_pkey = hca_query_pkey,
	.query_port = hca_query_port,
	.query_qp = hca_query_qp,
	.reg_user_mr = hca_reg_user_mr,
	.req_notify_cq = hca_req_notify_cq,
	INIT_RDMA_OBJ_SIZE(ib_ah, hca_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, hca_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, hca_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, hca_qp, ib),
};

static void release(void)
{
	dev_remove_pack(&packet_type);
	tasklet_kill(&tx_tasklet);
	skb_queue_purge(&tx_queue);
	ib_dealloc_device(&hca->ib);
	dev_put(carrier);
}

static int __init hca_init(void)
{
	int rc;

	carrier = dev_get_by_name(&init_net, netdev);
	if (!carrier)
		return -ENODEV;
	hca = ib_alloc_device(hca_device, ib);
	if (!hca) {
		dev_put(carrier);
		return -ENOMEM;
	}
	vcrc_init();
	skb_queue_head_init(&tx_queue);
	hca->ib.node_type = RDMA_NODE_IB_CA;
	hca->ib.phys_port_cnt = 1;
	hca->ib.num_comp_vectors = 1;
	hca->ib.node_guid = cpu_to_be64(guid - 1);
	strscpy(hca->ib.node_desc, "Causeway lab HCA", sizeof(hca->ib.node_desc));
	ib_set_device_ops(&hca->ib, &ops);
	packet_type.dev = carrier;
	dev_add_pack(&packet_type);
	rc = ib_register_device(&hca->ib, "cw_hca%d", NULL);
	if (rc)
		release();
	return rc;
}

static void __exit hca_exit(void)
{
	ib_unregister_device(&hca->ib);
	release();
	pr_info("cw_hca: tx %llu rx %llu bad_crc %llu bad_pkey %llu bad_qkey %llu no_qp %llu "
		"no_buffer %llu\n",
		counters.tx, counters.rx, counters.bad_crc, counters.bad_pkey, counters.bad_qkey,
		counters.no_qp, counters.no_buffer);
}

module_init(hca_init);
module_exit(hca_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("InfiniBand channel adapter over Ethernet 0x88B5, for labs");
