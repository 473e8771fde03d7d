/* hca.c - a port of a host channel adapter: its carrier, its queue pairs, its way to the subnet
 * administration. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "causeway/wire/ib.h"
#include "causeway/wire/ipoib.h"
#include "causeway/wire/mad.h"
#include "causeway/wire/sa.h"
#include "daemon/ipoib/int.h"
#include "daemon/log.h"

enum { SMALL_SA_GROUPS = 1024 };

static const struct carrier_ops *const carriers[] = {
	&carrier_ethernet, &carrier_udp, &carrier_roce, &carrier_file, &carrier_verbs,
};

/* ---- Queue pair 1 -------------------------------------------------------------------------- */

/* An answer is of the partition that its request was of: who asked may be in no other. */
static void send_gsi(struct hca *h, uint16_t dlid, const uint8_t mad[256])
{
	struct cw_ipoib_tx tx = {.slid = h->conf.lid,
				 .dlid = dlid,
				 .pkey = cw_mad_response(mad) ? h->asked_pkey : 0xffff,
				 .dqpn = CW_MAD_QPN_GSI,
				 .sqpn = CW_MAD_QPN_GSI,
				 .qkey = CW_MAD_QKEY_GSI};

	h->ops->send(h, &tx, h->psn++ & 0xffffff, mad, CW_MAD_OCTETS);
}

/* TIDs of different links must differ: the upper half says whose one is, as an agent's number does
 * in Linux. Only 16 bits of it: ibsim overwrites the others. */
static uint16_t agent_of(const uint8_t *mad)
{
	return (uint16_t)(cw_mad_tid(mad) >> 32);
}

/* An answer goes to the link that asked, a report to all. */
static void to_links(struct hca *h, const uint8_t *mad, size_t len)
{
	bool answer = cw_mad_response(mad) != 0;
	unsigned i;

	h->answered = false;
	for (i = 0; i < h->nport; i++) {
		if (answer && h->port[i]->agent != agent_of(mad))
			continue;
		(void)cw_ipoib_mad(h->port[i]->link, h->now, mad, len);
		port_pump(h->port[i], h->now);
	}
}

static void learn_node(struct hca *h, uint16_t lid, const uint8_t gid[16])
{
	if (!h->conf.learn || lid == 0 || lid >= CW_IB_LID_MCAST ||
	    cw_sa_lid_of(h->small, gid) != 0 || cw_sa_port(h->small, gid, lid) < 0)
		return;
	h->n.nodes_learnt++;
	cw_log(CW_LOG_INFO, "hca %s: node %u learnt, LID %u", h->conf.name,
	       (unsigned)h->n.nodes_learnt, lid);
}

static void serve(struct hca *h, uint16_t lid, const uint8_t *mad, size_t len)
{
	if (cw_mad_mgmt_class(mad) != CW_MAD_CLASS_SA || cw_mad_response(mad))
		return;
	/* Who joins is there: its GID is in the request, its LID in the packet that carried it. */
	if (cw_mad_attribute(mad) == CW_SA_MCMEMBER && cw_mad_method(mad) == CW_SA_SET)
		learn_node(h, lid, cw_mcmember_port_gid(mad + CW_SA_DATA));
	h->n.sa_served++;
	(void)cw_sa_request(h->small, lid, mad, len);
}

/* The built-in subnet administration answers. */
static void small_send(void *ctx, uint16_t lid, const uint8_t mad[256])
{
	struct hca *h = ctx;

	if (lid == h->conf.lid)
		to_links(h, mad, CW_MAD_OCTETS);
	else
		send_gsi(h, lid, mad);
}

/* Only who may use QP1's Q_Key speaks for a subnet administration, or to one. */
static void receive_mad(struct hca *h, const struct cw_ipoib_tx *rx, const uint8_t *mad, size_t len)
{
	if (len < CW_MAD_OCTETS || rx->qkey != CW_MAD_QKEY_GSI || rx->dlid != h->conf.lid) {
		h->n.rx_forbidden++;
		return;
	}
	h->asked_pkey = rx->pkey | CW_IPOIB_PKEY_FULL;
	if (h->small != NULL)
		serve(h, rx->slid, mad, len);
	else if (h->conf.sa == CW_HCA_SA_IN_BAND && rx->slid == h->conf.sm_lid)
		to_links(h, mad, len);
	else
		h->n.rx_forbidden++;
}

static void send_umad(struct hca *h, uint16_t dlid, const uint8_t mad[256])
{
	struct sa_umad_to to = {.lid = dlid};

	if (h->ops->station != NULL && !h->ops->station(h, dlid, &to))
		h->n.tx_errors++;
	else if (sa_umad_send(h->umad, &to, mad) < 0)
		h->n.tx_errors++;
}

void hca_send_mad(struct hca *h, const struct ipport *from, const struct cw_ipoib_tx *tx,
		  const uint8_t mad[256])
{
	uint8_t m[CW_MAD_OCTETS];

	memcpy(m, mad, sizeof(m));
	/* Every link has heard the report, one acknowledges it; with the TID that it came with. */
	if (cw_mad_response(m)) {
		if (h->answered)
			return;
		h->answered = true;
	} else {
		cw_mad_set_tid(m, (uint64_t)from->agent << 32 | (uint32_t)cw_mad_tid(mad));
	}
	if (h->small != NULL)
		serve(h, h->conf.lid, m, sizeof(m));
	else if (h->sim.fd >= 0)
		(void)ibsim_send(&h->sim, tx->dlid, m);
	else if (h->umad != NULL)
		send_umad(h, tx->dlid, m);
	else
		send_gsi(h, tx->dlid, m);
}

/* ---- Other queue pairs --------------------------------------------------------------------- */

/* Groups of a partition go to its port, which knows to which it is attached. */
static void receive_group(struct hca *h, const struct cw_ipoib_tx *rx, const uint8_t *data,
			  size_t len)
{
	unsigned i;

	/* So is who sends to a group. Linux joins again only when QP0 asks for it: after a restart
	 * of this gateway there are no joins to learn its hosts from. */
	if (h->small != NULL && rx->grh && memcmp(rx->sgid, h->gid, 8) == 0)
		learn_node(h, rx->slid, rx->sgid);
	for (i = 0; i < h->nport; i++) {
		if (((h->port[i]->conf.pkey ^ rx->pkey) & 0x7fff) != 0)
			continue;
		(void)cw_ipoib_recv(h->port[i]->link, h->now, rx, data, len);
		port_pump(h->port[i], h->now);
		return;
	}
	h->n.rx_no_partition++;
}

static void receive_unicast(struct hca *h, const struct cw_ipoib_tx *rx, const uint8_t *data,
			    size_t len)
{
	unsigned i;

	for (i = 0; i < h->nport; i++) {
		if (h->port[i]->qpn != rx->dqpn)
			continue;
		(void)cw_ipoib_recv(h->port[i]->link, h->now, rx, data, len);
		port_pump(h->port[i], h->now);
		return;
	}
	h->n.rx_no_queue_pair++;
}

void hca_datagram(struct hca *h, const struct cw_ipoib_tx *rx, const uint8_t *data, size_t len)
{
	h->n.rx_packets++;
	if (rx->dlid != h->conf.lid && rx->dlid < CW_IB_LID_MCAST)
		h->n.rx_other_lid++;
	else if (rx->dqpn == CW_MAD_QPN_GSI)
		receive_mad(h, rx, data, len);
	else if (rx->dqpn == CW_IB_QPN_MCAST)
		receive_group(h, rx, data, len);
	else
		receive_unicast(h, rx, data, len);
}

void hca_frame(struct hca *h, const uint8_t *frame, size_t len)
{
	struct cw_ipoib_tx rx;
	const uint8_t *data;
	size_t n;

	if (cw_ipoib_frame_parse(frame, len, &rx, &data, &n) < 0)
		h->n.rx_bad++;
	else
		hca_datagram(h, &rx, data, n);
}

/* ---- Life ---------------------------------------------------------------------------------- */

unsigned hca_fds(const struct hca *h, struct pollfd fds[2])
{
	fds[0] = (struct pollfd){.fd = h->fd, .events = POLLIN};
	fds[1] = (struct pollfd){.fd = h->umad != NULL ? sa_umad_fd(h->umad) : h->sim.fd,
				 .events = POLLIN};
	return fds[1].fd >= 0 ? 2 : 1;
}

void hca_run(struct hca *h, uint64_t now)
{
	uint8_t mad[CW_MAD_OCTETS];
	unsigned i;

	h->now = now;
	h->ops->receive(h);
	for (i = 0; i < BURST && h->sim.fd >= 0 && ibsim_recv(&h->sim, mad, 0) == 1; i++)
		to_links(h, mad, sizeof(mad));
	for (i = 0; i < BURST && h->umad != NULL && sa_umad_recv(h->umad, mad) == 1; i++)
		to_links(h, mad, sizeof(mad));
}

static int open_small(struct hca *h)
{
	const struct cw_hca_config *c = &h->conf;
	uint8_t gid[16];
	unsigned i;
	int err;

	if ((err = cw_sa_new(&h->small, c->lid, SMALL_SA_GROUPS, small_send, h)) < 0 ||
	    (err = cw_sa_port(h->small, h->gid, c->lid)) < 0)
		return err;
	for (i = 0; i < c->npartition; i++) {
		const struct cw_hca_partition *p = &c->partition[i];
		struct cw_sa_partition to = {.pkey = p->pkey | CW_IPOIB_PKEY_FULL,
					     .scope = p->scope,
					     .mtu = p->mtu,
					     .rate = p->rate,
					     .sl = p->sl,
					     .qkey = p->qkey};

		if ((err = cw_sa_partition(h->small, &to)) < 0)
			return err;
	}
	memcpy(gid, h->gid, 8);
	for (i = 0; i < c->nnode; i++) {
		cw_put_be64(gid + 8, c->node[i].guid);
		if ((err = cw_sa_port(h->small, gid, c->node[i].lid)) < 0)
			return err;
	}
	return CW_OK;
}

static int open_ibsim(struct hca *h, char *why, size_t size)
{
	static uint32_t clients;
	char name[sizeof(h->conf.sa_device)], *node;

	memcpy(name, h->conf.sa_device, sizeof(name));
	if ((node = strchr(name, '/')) == NULL)
		return CW_E_SYNTAX;
	*node++ = '\0';
	if (ibsim_open(&h->sim, name, node, (uint32_t)getpid() * 16 + clients++ % 16) == 0)
		return CW_OK;
	(void)snprintf(why, size, "ibsim: %s", strerror(errno));
	return CW_E_IO;
}

static int open_carrier(struct hca *h, char *why, size_t size)
{
	const char *carrier = h->conf.carrier;
	unsigned i;

	for (i = 0; i < sizeof(carriers) / sizeof(carriers[0]); i++) {
		size_t n = strlen(carriers[i]->prefix);

		if (strncmp(carrier, carriers[i]->prefix, n) != 0)
			continue;
		h->ops = carriers[i];
		return h->ops->open(h, carrier + n, why, size);
	}
	(void)snprintf(why, size, "no such kind of carrier");
	return CW_E_NAME;
}

static int open_sa(struct hca *h, char *why, size_t size)
{
	if (h->conf.sa == CW_HCA_SA_IBSIM)
		return open_ibsim(h, why, size);
	if (h->conf.sa == CW_HCA_SA_UMAD)
		return sa_umad_open(&h->umad, h->conf.sa_device, h->conf.lid, why, size);
	if (h->conf.sa != CW_HCA_SA_BUILT_IN)
		return CW_OK;
	(void)snprintf(why, size, "no memory, or no room in the built-in subnet administration");
	return open_small(h);
}

int hca_open(struct hca **out, const struct cw_hca_config *conf, struct cw_diag *diag)
{
	struct hca *h = calloc(1, sizeof(*h));
	char path[128], why[256] = "";
	int err;

	(void)snprintf(path, sizeof(path), "/causeway:causeway/hca[name='%s']", conf->name);
	if (h == NULL)
		return cw_diag_set(diag, CW_E_NOMEM, path, NULL, "out of memory");
	h->conf = *conf;
	h->fd = h->sim.fd = h->sim.ctl = -1;
	cw_put_be64(h->gid, conf->subnet_prefix);
	cw_put_be64(h->gid + 8, conf->guid);
	if ((err = open_carrier(h, why, sizeof(why))) < 0)
		(void)cw_diag_set(diag, err, path, conf->carrier, "%s", why);
	else if ((err = open_sa(h, why, sizeof(why))) < 0)
		(void)cw_diag_set(diag, err, path, conf->sa_device, "%s", why);
	if (err < 0) {
		hca_close(h);
		return err;
	}
	*out = h;
	return CW_OK;
}

/* Not as octets: there is padding between. */
static bool partition_equal(const struct cw_hca_partition *a, const struct cw_hca_partition *b)
{
	return a->pkey == b->pkey && a->qkey == b->qkey && a->mtu == b->mtu && a->rate == b->rate &&
	       a->sl == b->sl && a->scope == b->scope;
}

bool hca_equal(const struct hca *h, const struct cw_hca_config *b)
{
	const struct cw_hca_config *a = &h->conf;
	unsigned i;

	if (strcmp(a->name, b->name) != 0 || strcmp(a->carrier, b->carrier) != 0 ||
	    a->guid != b->guid || a->subnet_prefix != b->subnet_prefix || a->sm_key != b->sm_key ||
	    a->lid != b->lid || a->sm_lid != b->sm_lid || a->sa != b->sa ||
	    strcmp(a->sa_device, b->sa_device) != 0 || a->learn != b->learn ||
	    a->npartition != b->npartition || a->nnode != b->nnode)
		return false;
	for (i = 0; i < a->npartition; i++) {
		if (!partition_equal(&a->partition[i], &b->partition[i]))
			return false;
	}
	for (i = 0; i < a->nnode; i++) {
		if (a->node[i].guid != b->node[i].guid || a->node[i].lid != b->node[i].lid)
			return false;
	}
	return true;
}

void hca_forget(struct hca *h, const struct ipport *p)
{
	unsigned i;

	for (i = 0; i < h->nport && h->port[i] != p; i++)
		;
	if (i < h->nport)
		h->port[i] = h->port[--h->nport];
}

void hca_close(struct hca *h)
{
	if (h == NULL)
		return;
	if (h->sim.fd >= 0)
		ibsim_close(&h->sim);
	sa_umad_close(h->umad);
	cw_sa_free(h->small);
	if (h->ops != NULL)
		h->ops->close(h);
	free(h);
}
