/* verbs.c - the carrier of a real adapter, by libibverbs: "verbs:DEVICE[/PORT]" at an InfiniBand
 * port, "verbs:DEVICE[/PORT],ADDRESS[,group=ADDRESS],LID=ADDRESS,..." at one of RoCEv2.
 *
 * Each IPoIB port has a UD queue pair of the adapter, which makes and checks all headers, P_Key and
 * Q_Key. QP1 is not for programs: management packets go another way (umad, built-in).
 *
 * It has run on rdma_rxe. At an InfiniBand port it never has: there was none to run it on.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include "causeway/wire/ib.h"
#include "causeway/wire/ip.h"
#include "daemon/ipoib/station.h"
#include "daemon/log.h"

enum {
	QUEUES = 16, /* queue pairs of an hca */
	RECVS = 256, /* of a queue pair, posted */
	SENDS = 256, /* of a queue pair, under way */
	HANDLES = 256,
	SLOT = CW_SIZE_GRH + 4096, /* what is before a received datagram, and the largest one */
	HOPS = 64,
	HANDLE_RETRY_MS = 2000
};

struct queue {
	struct queue *next;
	struct ibv_qp *qp;
	struct ibv_cq *sent;
	struct ibv_mr *mr;
	uint8_t *buf; /* RECVS + SENDS slots */
	uint16_t idle[SENDS], nidle;
	uint16_t pkey;
	uint32_t qkey;
};

/* An address handle; which one has a place says a hash of what it is for. */
struct handle {
	struct ibv_ah_attr attr;
	struct ibv_ah *ah;
	uint64_t retry; /* not before: making one asks the kernel for a neighbour, and waits */
};

struct verbs {
	struct stations s;
	char device[64];
	uint8_t port;
	struct ibv_context *ctx;
	struct ibv_port_attr attr;
	struct ibv_pd *pd;
	struct ibv_comp_channel *events;
	struct ibv_cq *came;
	uint8_t sgid_index;
	bool roce;
	int member; /* a socket in the IP group; -1: none */
	unsigned nqueue;
	struct queue *queue;
	struct handle handle[HANDLES];
};

/* ---- Opening ------------------------------------------------------------------------------- */

static int parse_device(struct verbs *v, const char *arg, char *why, size_t size)
{
	size_t n = strcspn(arg, ",/");
	const char *at = arg + n;
	unsigned long port = 1;
	char *end;

	if (*at == '/') {
		port = strtoul(at + 1, &end, 10);
		at = end;
	}
	if (n == 0 || n >= sizeof(v->device) || port < 1 || port > 255 ||
	    (*at != '\0' && *at != ',')) {
		(void)snprintf(why, size, "must be DEVICE[/PORT][,ADDRESS,LID=ADDRESS,...]");
		return CW_E_SYNTAX;
	}
	memcpy(v->device, arg, n);
	v->port = (uint8_t)port;
	return *at == ',' ? stations_parse(&v->s, at + 1, why, size) : CW_OK;
}

static int no_device(const struct verbs *v, const char *names, char *why, size_t size)
{
	(void)snprintf(why, size, "no RDMA device %s; there are:%s", v->device,
		       *names != '\0' ? names : " none");
	return CW_E_NAME;
}

static int open_device(struct verbs *v, char *why, size_t size)
{
	struct ibv_device **all = ibv_get_device_list(NULL), **i;
	char names[128] = "";

	if (all == NULL)
		return no_device(v, names, why, size);
	for (i = all; *i != NULL && strcmp(ibv_get_device_name(*i), v->device) != 0; i++) {
		size_t at = strlen(names);

		(void)snprintf(names + at, sizeof(names) - at, " %s", ibv_get_device_name(*i));
	}
	if (*i != NULL && (v->ctx = ibv_open_device(*i)) == NULL)
		(void)snprintf(why, size, "RDMA device %s: %s", v->device, strerror(errno));
	else if (*i == NULL)
		(void)no_device(v, names, why, size);
	ibv_free_device_list(all);
	return v->ctx != NULL ? CW_OK : CW_E_NAME;
}

/* RoCEv2: which entry of the GID table the own address is. */
static int find_gid(struct verbs *v, char *why, size_t size)
{
	struct ibv_gid_entry e;
	uint32_t i;

	for (i = 0; i < (uint32_t)v->attr.gid_tbl_len && i < 256; i++) {
		if (ibv_query_gid_ex(v->ctx, v->port, i, &e, 0) != 0 ||
		    e.gid_type != IBV_GID_TYPE_ROCE_V2 || memcmp(e.gid.raw, v->s.own.o, 16) != 0)
			continue;
		v->sgid_index = (uint8_t)i;
		return CW_OK;
	}
	(void)snprintf(why, size, "port %u of %s has no RoCEv2 GID of the own address", v->port,
		       v->device);
	return CW_E_NAME;
}

/* InfiniBand: nobody reaches link-layer addresses that are not the port's. */
static int check_identity(const struct hca *h, const struct verbs *v, char *why, size_t size)
{
	char text[INET6_ADDRSTRLEN];
	union ibv_gid gid;

	if (v->attr.lid != h->conf.lid) {
		(void)snprintf(why, size, "port %u of %s has the LID %u, not %u", v->port,
			       v->device, v->attr.lid, h->conf.lid);
		return CW_E_CONFLICT;
	}
	if (ibv_query_gid(v->ctx, v->port, 0, &gid) == 0 && memcmp(gid.raw, h->gid, 16) == 0)
		return CW_OK;
	(void)snprintf(why, size, "port %u of %s has the GID %s: see guid and subnet-prefix",
		       v->port, v->device, inet_ntop(AF_INET6, gid.raw, text, sizeof(text)));
	return CW_E_CONFLICT;
}

static int open_port(struct hca *h, struct verbs *v, char *why, size_t size)
{
	bool stations = !cw_gid_none(&v->s.own);

	if (ibv_query_port(v->ctx, v->port, &v->attr) != 0) {
		(void)snprintf(why, size, "RDMA device %s has no port %u", v->device, v->port);
		return CW_E_NAME;
	}
	v->roce = v->attr.link_layer == IBV_LINK_LAYER_ETHERNET;
	if (v->roce != stations) {
		(void)snprintf(why, size, "port %u of %s is of %s, where stations have %s", v->port,
			       v->device, v->roce ? "RoCE" : "InfiniBand",
			       v->roce ? "addresses: ADDRESS,LID=ADDRESS,..." : "LIDs only");
		return CW_E_SYNTAX;
	}
	return v->roce ? find_gid(v, why, size) : check_identity(h, v, why, size);
}

static int open_group(struct verbs *v, char *why, size_t size)
{
	if (!stations_grouped(&v->s))
		return CW_OK;
	v->member =
		socket(cw_gid_is_v4(&v->s.own) ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (v->member >= 0 && stations_join(&v->s, v->member) == 0)
		return CW_OK;
	(void)snprintf(why, size, "the group: %s", strerror(errno));
	return CW_E_IO;
}

static int open_queues(struct hca *h, struct verbs *v, char *why, size_t size)
{
	v->pd = ibv_alloc_pd(v->ctx);
	v->events = ibv_create_comp_channel(v->ctx);
	if (v->pd != NULL && v->events != NULL)
		v->came = ibv_create_cq(v->ctx, QUEUES * RECVS, NULL, v->events, 0);
	if (v->came == NULL || ibv_req_notify_cq(v->came, 0) != 0 ||
	    fcntl(v->events->fd, F_SETFL, O_NONBLOCK) < 0) {
		(void)snprintf(why, size, "RDMA device %s: completion queue: %s", v->device,
			       strerror(errno));
		return CW_E_IO;
	}
	h->fd = v->events->fd;
	return CW_OK;
}

static int verbs_open(struct hca *h, const char *arg, char *why, size_t size)
{
	struct verbs *v = calloc(1, sizeof(*v));
	int err;

	if ((h->priv = v) == NULL) {
		(void)snprintf(why, size, "out of memory");
		return CW_E_NOMEM;
	}
	v->member = -1;
	if ((err = parse_device(v, arg, why, size)) < 0 || (err = open_device(v, why, size)) < 0 ||
	    (err = open_port(h, v, why, size)) < 0 || (err = open_group(v, why, size)) < 0)
		return err;
	if (!v->roce)
		cw_log(CW_LOG_WARNING,
		       "hca %s: port %u of %s is of InfiniBand, where this carrier has never been "
		       "run",
		       h->conf.name, v->port, v->device);
	return open_queues(h, v, why, size);
}

static void verbs_close(struct hca *h)
{
	struct verbs *v = h->priv;
	unsigned i;

	if (v == NULL)
		return;
	for (i = 0; i < HANDLES; i++) {
		if (v->handle[i].ah != NULL)
			(void)ibv_destroy_ah(v->handle[i].ah);
	}
	if (v->came != NULL)
		(void)ibv_destroy_cq(v->came);
	if (v->events != NULL)
		(void)ibv_destroy_comp_channel(v->events);
	if (v->pd != NULL)
		(void)ibv_dealloc_pd(v->pd);
	if (v->ctx != NULL)
		(void)ibv_close_device(v->ctx);
	if (v->member >= 0)
		(void)close(v->member);
	free(v);
}

/* ---- Queue pairs --------------------------------------------------------------------------- */

static struct queue *queue_of(const struct verbs *v, uint32_t qpn)
{
	struct queue *q = v->queue;

	while (q != NULL && q->qp->qp_num != qpn)
		q = q->next;
	return q;
}

static void post_recv(struct queue *q, uint64_t slot)
{
	struct ibv_sge sge = {(uintptr_t)(q->buf + slot * SLOT), SLOT, q->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1}, *bad;

	if (ibv_post_recv(q->qp, &wr, &bad) != 0)
		cw_log(CW_LOG_ERROR, "verbs: queue pair %u takes no more buffers", q->qp->qp_num);
}

static int pkey_index(const struct verbs *v, uint16_t pkey)
{
	uint16_t k;
	int i;

	for (i = 0; i < v->attr.pkey_tbl_len; i++) {
		if (ibv_query_pkey(v->ctx, v->port, i, &k) == 0 && ntohs(k) == pkey)
			return i;
	}
	return -1;
}

static bool start_queue(const struct verbs *v, struct queue *q, uint16_t index)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
				.pkey_index = index,
				.port_num = v->port,
				.qkey = q->qkey};

	if (ibv_modify_qp(q->qp, &a,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) != 0)
		return false;
	a.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(q->qp, &a, IBV_QP_STATE) != 0)
		return false;
	a.qp_state = IBV_QPS_RTS;
	return ibv_modify_qp(q->qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0;
}

static bool make_queue(struct verbs *v, struct queue *q, uint16_t index)
{
	struct ibv_qp_init_attr init = {.recv_cq = v->came,
					.cap = {.max_send_wr = SENDS,
						.max_recv_wr = RECVS,
						.max_send_sge = 1,
						.max_recv_sge = 1},
					.qp_type = IBV_QPT_UD};
	uint64_t i;

	q->buf = malloc((size_t)(RECVS + SENDS) * SLOT);
	if (q->buf != NULL)
		q->mr = ibv_reg_mr(v->pd, q->buf, (size_t)(RECVS + SENDS) * SLOT,
				   IBV_ACCESS_LOCAL_WRITE);
	init.send_cq = q->sent = ibv_create_cq(v->ctx, SENDS, NULL, NULL, 0);
	if (q->mr == NULL || q->sent == NULL || (q->qp = ibv_create_qp(v->pd, &init)) == NULL ||
	    !start_queue(v, q, index))
		return false;
	for (i = 0; i < RECVS; i++)
		post_recv(q, i);
	while (q->nidle < SENDS) {
		q->idle[q->nidle] = (uint16_t)(RECVS + q->nidle);
		q->nidle++;
	}
	return true;
}

static void free_queue(struct queue *q)
{
	if (q->qp != NULL)
		(void)ibv_destroy_qp(q->qp);
	if (q->sent != NULL)
		(void)ibv_destroy_cq(q->sent);
	if (q->mr != NULL)
		(void)ibv_dereg_mr(q->mr);
	free(q->buf);
	free(q);
}

static void change_group(struct verbs *v, const struct queue *q, const uint8_t gid[16],
			 uint16_t mlid, bool attached)
{
	union ibv_gid g;
	char text[INET6_ADDRSTRLEN];
	int err;

	memcpy(g.raw, gid, sizeof(g.raw));
	err = attached ? ibv_attach_mcast(q->qp, &g, mlid) : ibv_detach_mcast(q->qp, &g, mlid);
	if (err != 0)
		cw_log(CW_LOG_ERROR, "verbs: %s: group %s can't be %s: %s", v->device,
		       inet_ntop(AF_INET6, gid, text, sizeof(text)),
		       attached ? "attached" : "detached", strerror(err));
}

static int verbs_open_qp(struct hca *h, struct ipport *p, char *why, size_t size)
{
	struct verbs *v = h->priv;
	int index = pkey_index(v, p->conf.pkey);
	struct queue *q;

	if (p->conf.qpn != 0 || v->nqueue == QUEUES || index < 0) {
		(void)snprintf(why, size,
			       p->conf.qpn != 0      ? "the adapter chooses the queue pair"
			       : v->nqueue == QUEUES ? "the hca has too many ports"
						     : "the adapter does not have the P_Key");
		return CW_E_CONFLICT;
	}
	if ((q = calloc(1, sizeof(*q))) == NULL || !make_queue(v, q, (uint16_t)index)) {
		(void)snprintf(why, size, "queue pair: %s", strerror(errno));
		if (q != NULL)
			free_queue(q);
		return CW_E_IO;
	}
	q->pkey = p->conf.pkey;
	q->next = v->queue;
	v->queue = q;
	v->nqueue++;
	p->qpn = q->qp->qp_num;
	if (stations_grouped(&v->s))
		change_group(v, q, v->s.group.o, 0, true);
	return CW_OK;
}

static void verbs_close_qp(struct hca *h, struct ipport *p)
{
	struct verbs *v = h->priv;
	struct queue **at, *q;

	for (at = &v->queue; (q = *at) != NULL && q->qp->qp_num != p->qpn; at = &q->next)
		;
	if (q == NULL)
		return;
	if (stations_grouped(&v->s))
		change_group(v, q, v->s.group.o, 0, false);
	*at = q->next;
	v->nqueue--;
	free_queue(q);
}

static void verbs_up(struct hca *h, const struct ipport *p, uint32_t qkey, uint32_t mtu)
{
	struct verbs *v = h->priv;
	struct queue *q = queue_of(v, p->qpn);
	struct ibv_qp_attr a = {.qkey = qkey};
	uint32_t most = 128u << v->attr.active_mtu;

	if (q == NULL)
		return;
	q->qkey = qkey;
	if (ibv_modify_qp(q->qp, &a, IBV_QP_QKEY) != 0)
		cw_log(CW_LOG_ERROR, "port %s: Q_Key: %s", p->name, strerror(errno));
	if (mtu + CW_SIZE_IPOIB > most)
		cw_log(CW_LOG_WARNING,
		       "port %s: %s sends datagrams of %u octets; an MTU of %u needs %u", p->name,
		       v->device, most, mtu, mtu + CW_SIZE_IPOIB);
}

/* At RoCEv2 ports one IP group stands for all. */
static void verbs_attach(struct hca *h, const struct ipport *p, const uint8_t mgid[16],
			 uint16_t mlid, bool attached)
{
	struct verbs *v = h->priv;
	const struct queue *q = queue_of(v, p->qpn);

	if (q != NULL && !v->roce)
		change_group(v, q, mgid, mlid, attached);
}

/* ---- Sending ------------------------------------------------------------------------------- */

static void reap(struct hca *h, struct queue *q)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(q->sent, 1, &wc) == 1) {
		q->idle[q->nidle++] = (uint16_t)wc.wr_id;
		carrier_sent(h, wc.status == IBV_WC_SUCCESS ? 0 : -1);
	}
}

static bool all_sent(struct hca *h, struct verbs *v)
{
	struct queue *q;

	for (q = v->queue; q != NULL; q = q->next) {
		reap(h, q);
		if (q->nidle != SENDS)
			return false;
	}
	return true;
}

static uint32_t hash_of(const struct ibv_ah_attr *a)
{
	static const uint8_t key[16] = {0};

	return (uint32_t)cw_siphash(key, a, sizeof(*a)) % HANDLES;
}

/* A handle that a packet under way has may not go. */
static struct ibv_ah *handle_for(struct hca *h, struct verbs *v, struct ibv_ah_attr *attr)
{
	struct handle *k = &v->handle[hash_of(attr)];
	/* Made in zeroed memory, and hashed as octets, too: padding that differs only makes a
	 * handle anew. NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
	bool same = memcmp(&k->attr, attr, sizeof(*attr)) == 0;

	if (same && (k->ah != NULL || h->now < k->retry))
		return k->ah;
	if (k->ah != NULL && (!all_sent(h, v) || ibv_destroy_ah(k->ah) != 0))
		return NULL;
	k->attr = *attr;
	if ((k->ah = ibv_create_ah(v->pd, attr)) == NULL)
		k->retry = h->now + HANDLE_RETRY_MS;
	return k->ah;
}

static struct ibv_ah *handle_ib(struct hca *h, struct verbs *v, const struct cw_ipoib_tx *tx)
{
	struct ibv_ah_attr a;

	memset(&a, 0, sizeof(a)); /* compared as octets */
	a.dlid = tx->dlid;
	a.sl = tx->sl;
	a.port_num = v->port;
	a.is_global = tx->grh;
	if (tx->grh) {
		memcpy(a.grh.dgid.raw, tx->dgid, 16);
		a.grh.flow_label = tx->flow_label;
		a.grh.hop_limit = tx->hop_limit;
		a.grh.traffic_class = tx->tclass;
	}
	return handle_for(h, v, &a);
}

static struct ibv_ah *handle_roce(struct hca *h, struct verbs *v, const struct cw_ipoib_tx *tx,
				  const struct cw_gid *to)
{
	struct ibv_ah_attr a;

	memset(&a, 0, sizeof(a));
	a.port_num = v->port;
	a.is_global = 1;
	memcpy(a.grh.dgid.raw, to->o, 16);
	a.grh.sgid_index = v->sgid_index;
	a.grh.flow_label = tx->flow_label;
	a.grh.hop_limit = HOPS;
	a.grh.traffic_class = tx->tclass;
	return handle_for(h, v, &a);
}

static void post_send(struct hca *h, struct queue *q, struct ibv_ah *ah,
		      const struct cw_ipoib_tx *tx, const uint8_t *data, size_t len)
{
	struct ibv_sge sge = {.length = (uint32_t)len, .lkey = q->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.ud = {ah, tx->dqpn, tx->qkey}},
			   *bad;

	reap(h, q);
	if (ah == NULL || q->nidle == 0 || len > SLOT) {
		h->n.tx_errors++;
		return;
	}
	wr.wr_id = q->idle[--q->nidle];
	memcpy(q->buf + wr.wr_id * SLOT, data, len);
	sge.addr = (uintptr_t)(q->buf + wr.wr_id * SLOT);
	if (ibv_post_send(q->qp, &wr, &bad) != 0) {
		q->nidle++;
		h->n.tx_errors++;
	}
}

static void verbs_send(struct hca *h, const struct cw_ipoib_tx *tx, uint32_t psn,
		       const uint8_t *data, size_t len)
{
	struct verbs *v = h->priv;
	struct queue *q = queue_of(v, tx->sqpn);
	const struct cw_gid *to[CARRIER_STATIONS];
	unsigned i, n = v->roce ? stations_for(&v->s, tx, to) : 0;

	(void)psn; /* the adapter counts */
	if (q == NULL || (v->roce && n == 0))
		h->n.tx_errors++;
	else if (!v->roce)
		post_send(h, q, handle_ib(h, v, tx), tx, data, len);
	for (i = 0; q != NULL && i < n; i++)
		post_send(h, q, handle_roce(h, v, tx, to[i]), tx, data, len);
}

static bool verbs_station(const struct hca *h, uint16_t lid, struct sa_umad_to *to)
{
	const struct verbs *v = h->priv;
	unsigned i;

	for (i = 0; i < v->s.n && v->s.at[i].lid != lid; i++)
		;
	if (!v->roce || i == v->s.n)
		return !v->roce;
	to->global = true;
	to->sgid_index = v->sgid_index;
	memcpy(to->gid, v->s.at[i].addr.o, sizeof(to->gid));
	return true;
}

/* ---- Receiving ----------------------------------------------------------------------------- */

/* Before a datagram there are 40 octets: a GRH, or an IPv4 header in the last 20 of them. */
static void take_addresses(const struct verbs *v, struct cw_ipoib_tx *rx, const uint8_t *grh)
{
	const uint8_t *ip = grh + CW_SIZE_GRH - CW_SIZE_IPV4;

	if (v->roce && cw_gid_is_v4(&v->s.own)) {
		struct cw_gid from = cw_gid_of(4, cw_ipv4_src(ip));
		struct cw_gid to = cw_gid_of(4, cw_ipv4_dst(ip));

		memcpy(rx->sgid, from.o, 16);
		memcpy(rx->dgid, to.o, 16);
	} else {
		memcpy(rx->sgid, cw_grh_sgid(grh), 16);
		memcpy(rx->dgid, cw_grh_dgid(grh), 16);
	}
}

static void received_roce(struct hca *h, struct verbs *v, struct cw_ipoib_tx *rx,
			  const uint8_t *data, size_t len)
{
	if (memcmp(rx->sgid, v->s.own.o, 16) == 0)
		return; /* what goes to the IP group comes back */
	rx->slid = stations_lid(&v->s, rx->sgid);
	rx->dlid = h->conf.lid;
	if (rx->slid == 0) {
		h->n.rx_forbidden++;
		return;
	}
	if (memcmp(rx->dgid, v->s.own.o, 16) != 0)
		rx->dqpn = CW_IB_QPN_MCAST;
	if (rx->dqpn == CW_IB_QPN_MCAST && !stations_mgid(h, rx, data, len))
		h->n.rx_no_partition++;
	else
		hca_datagram(h, rx, data, len);
}

static void received_ib(struct hca *h, struct cw_ipoib_tx *rx, uint16_t slid, const uint8_t *data,
			size_t len)
{
	rx->slid = slid;
	rx->dlid = h->conf.lid;
	if (rx->grh && rx->dgid[0] == 0xff) {
		rx->dqpn = CW_IB_QPN_MCAST;
		rx->dlid = CW_IB_LID_MCAST;
	}
	hca_datagram(h, rx, data, len);
}

static void received(struct hca *h, struct verbs *v, const struct queue *q, const struct ibv_wc *wc)
{
	const uint8_t *buf = q->buf + wc->wr_id * SLOT;
	struct cw_ipoib_tx rx = {.pkey = q->pkey,
				 .qkey = q->qkey,
				 .sl = wc->sl,
				 .dqpn = q->qp->qp_num,
				 .sqpn = wc->src_qp,
				 .grh = (wc->wc_flags & IBV_WC_GRH) != 0};

	if (wc->status != IBV_WC_SUCCESS || wc->byte_len < CW_SIZE_GRH) {
		h->n.rx_bad++;
		return;
	}
	if (rx.grh)
		take_addresses(v, &rx, buf);
	if (v->roce)
		received_roce(h, v, &rx, buf + CW_SIZE_GRH, wc->byte_len - CW_SIZE_GRH);
	else
		received_ib(h, &rx, wc->slid, buf + CW_SIZE_GRH, wc->byte_len - CW_SIZE_GRH);
}

/* As many as the queue holds: what is there after those came later than the request to be told, so
 * the descriptor is readable again. */
static void verbs_receive(struct hca *h)
{
	struct verbs *v = h->priv;
	struct ibv_cq *cq;
	struct ibv_wc wc;
	struct queue *q;
	void *ctx;
	int i;

	if (ibv_get_cq_event(v->events, &cq, &ctx) != 0)
		return;
	ibv_ack_cq_events(cq, 1);
	if (ibv_req_notify_cq(cq, 0) != 0)
		cw_log(CW_LOG_ERROR, "verbs: %s: %s", v->device, strerror(errno));
	for (i = 0; i < cq->cqe && ibv_poll_cq(cq, 1, &wc) == 1; i++) {
		if ((q = queue_of(v, wc.qp_num)) == NULL)
			continue;
		received(h, v, q, &wc);
		post_recv(q, wc.wr_id);
	}
}

const struct carrier_ops carrier_verbs = {
	.prefix = "verbs:",
	.open = verbs_open,
	.close = verbs_close,
	.send = verbs_send,
	.receive = verbs_receive,
	.open_qp = verbs_open_qp,
	.close_qp = verbs_close_qp,
	.up = verbs_up,
	.attach = verbs_attach,
	.station = verbs_station,
};
