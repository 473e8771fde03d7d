/* port.c - an IPoIB port: a link machine between an hca and what is above it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <arpa/inet.h>
#include "causeway/wire/sa.h"
#include "daemon/ipoib/int.h"
#include "daemon/log.h"

/* ---- What the machine wants done ----------------------------------------------------------- */

static const char *status_text(uint16_t status)
{
	switch (status) {
	case 0:
		return "no answer";
	case CW_SA_NO_RESOURCES:
		return "no resources";
	case CW_SA_REQ_INVALID:
		return "request invalid";
	case CW_SA_NO_RECORDS:
		return "no records";
	case CW_SA_INSUFFICIENT:
		return "insufficient components";
	default:
		return "refused";
	}
}

/* RFC 4391 12: a failed operation may cost packets in silence, so it is told. */
static void log_group(struct ipport *p, const struct cw_ipoib_out *o)
{
	char mgid[INET6_ADDRSTRLEN];

	(void)inet_ntop(AF_INET6, o->mgid, mgid, sizeof(mgid));
	cw_log(CW_LOG_WARNING, "port %s: multicast group %s: %s: status 0x%04x, %s", p->name, mgid,
	       o->reason, o->status, status_text(o->status));
}

/* An address that is another's is none of the host's: what it sent from there, the other would get
 * the answers to. */
static void duplicate(struct ipport *p, const struct cw_ipoib_out *o)
{
	struct address a = {.v6 = o->len == 16};
	char text[INET6_ADDRSTRLEN];
	bool lost = o->status == 1;

	memcpy(a.addr, o->data, o->len);
	(void)inet_ntop(a.v6 ? AF_INET6 : AF_INET, a.addr, text, sizeof(text));
	cw_log(lost ? CW_LOG_ERROR : CW_LOG_WARNING, "port %s: address %s: another node has it%s",
	       p->name, text, lost ? ", it is not used" : ", too");
	if (lost && p->host != NULL)
		host_duplicate(p, &a);
}

static void link_up(struct ipport *p)
{
	struct cw_ipoib_info i;

	cw_ipoib_info(p->link, &i);
	p->n.link_up++;
	cw_log(CW_LOG_NOTICE,
	       "port %s: link up: MTU %" PRIu32 ", Q_Key 0x%08" PRIx32 "%s, MLID 0x%04x, SL %u",
	       p->name, i.mtu, i.qkey, i.controlled ? " (controlled)" : "", i.mlid, i.sl);
	if (p->hca->ops->up != NULL)
		p->hca->ops->up(p->hca, p, i.qkey, i.mtu);
	if (p->host != NULL)
		host_link(p, true, i.mtu);
}

static void link_down(struct ipport *p)
{
	cw_log(CW_LOG_WARNING, "port %s: link down: its broadcast group is gone", p->name);
	if (p->host != NULL)
		host_link(p, false, 0);
}

static void run_event(struct ipport *p, const struct cw_ipoib_out *o)
{
	switch (o->what) {
	case CW_IPOIB_UP:
		link_up(p);
		break;
	case CW_IPOIB_DOWN:
		link_down(p);
		break;
	case CW_IPOIB_MAD:
		hca_send_mad(p->hca, p, &o->tx, o->data);
		break;
	case CW_IPOIB_SEND:
		p->hca->ops->send(p->hca, &o->tx, p->psn++ & 0xffffff, o->data, o->len);
		break;
	case CW_IPOIB_DELIVER:
		if (p->host != NULL)
			host_deliver(p, o->data, o->len);
		else if (p->router != NULL)
			router_deliver(p, o->data, o->len);
		break;
	case CW_IPOIB_UNRESOLVED: /* the kernel above host mode has a route, and waits in vain */
		if (p->router != NULL)
			router_unresolved(p, p->hca->now, o->data, o->len);
		break;
	case CW_IPOIB_DUPLICATE:
		duplicate(p, o);
		break;
	case CW_IPOIB_LOG:
		log_group(p, o);
		break;
	case CW_IPOIB_ATTACH: /* most carriers bring every group; the machine picks its own */
	case CW_IPOIB_DETACH:
		if (p->hca->ops->attach != NULL)
			p->hca->ops->attach(p->hca, p, o->mgid, o->mlid,
					    o->what == CW_IPOIB_ATTACH);
		break;
	}
}

/* The built-in subnet administration answers at once, so this may be entered again: then the walk
 * that is under way does the new work too. */
void port_pump(struct ipport *p, uint64_t now)
{
	struct cw_ipoib_out o;

	if (p->pumping)
		return;
	p->pumping = true;
	p->hca->now = now;
	while (cw_ipoib_next(p->link, &o))
		run_event(p, &o);
	p->pumping = false;
}

void port_tick(struct ipport *p, uint64_t now)
{
	cw_ipoib_tick(p->link, now);
	if (p->host != NULL)
		host_tick(p, now);
	port_pump(p, now);
}

/* ---- Life ---------------------------------------------------------------------------------- */

static uint32_t choose_qpn(const struct cw_ipoib_conf *c)
{
	uint32_t qpn = c->qpn;

	while (qpn < 2 || qpn >= 0xffffff) {
		if (getrandom(&qpn, sizeof(qpn), 0) != sizeof(qpn))
			return 0x48;
		qpn &= 0xffffff;
	}
	return qpn;
}

static int open_qp(struct ipport *p, char *why, size_t size)
{
	if (p->hca->ops->open_qp != NULL)
		return p->hca->ops->open_qp(p->hca, p, why, size);
	p->qpn = choose_qpn(&p->conf);
	return CW_OK;
}

static void close_qp(struct ipport *p)
{
	if (p->hca->ops->close_qp != NULL)
		p->hca->ops->close_qp(p->hca, p);
}

static void take_addresses(struct ipport *p, const struct cw_port_config *conf)
{
	for (; p->naddr < conf->naddr; p->naddr++) {
		struct address *a = &p->addr[p->naddr];

		a->v6 = conf->addr[p->naddr].version == 6;
		a->plen = conf->addr[p->naddr].plen;
		memcpy(a->addr, conf->addr[p->naddr].a, sizeof(a->addr));
	}
}

static int open_link(struct ipport *p)
{
	struct cw_ipoib_config c = {
		.qpn = p->qpn,
		.lid = p->hca->conf.lid,
		.sm_lid = p->hca->conf.sm_lid,
		.pkey = p->conf.pkey,
		.scope = p->conf.scope,
		.router = p->conf.mode == CW_IPOIB_ROUTER,
		.mtu = p->mtu,
		.sm_key = p->hca->conf.sm_key,
		.refresh_ms = 1000 * p->conf.refresh_s,
		.reachable_ms = 1000 * p->conf.reachable_s,
		.probes = p->conf.probes,
	};

	memcpy(c.gid, p->hca->gid, sizeof(c.gid));
	return cw_ipoib_new(&p->link, &c);
}

static int port_error(const struct cw_port_config *c, int err, const char *why, struct cw_diag *d)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "/causeway:causeway/port[name='%s']", c->name);
	return cw_diag_set(d, err, path, c->device, "%s", why);
}

int port_open(struct ipport **out, const struct cw_port_config *conf, struct hca *h,
	      struct cw_diag *diag)
{
	static uint16_t agents;
	struct ipport *p;
	char why[256];
	int err;

	if (conf->naddr > ADDRESSES)
		return port_error(conf, CW_E_RANGE, "has more than 7 addresses", diag);
	if ((p = calloc(1, sizeof(*p))) == NULL)
		return port_error(conf, CW_E_NOMEM, "out of memory", diag);
	(void)snprintf(p->name, sizeof(p->name), "%s", conf->name);
	p->conf = conf->ipoib;
	p->mtu = conf->mtu;
	p->multicast = conf->multicast;
	p->relay.n = conf->nrelay;
	memcpy(p->relay.server, conf->relay, sizeof(conf->relay));
	p->hca = h;
	p->agent = ++agents;
	take_addresses(p, conf);
	(void)snprintf(p->device, sizeof(p->device), "%s", conf->device);
	if ((err = open_qp(p, why, sizeof(why))) < 0) {
		free(p);
		return port_error(conf, err, why, diag);
	}
	if ((err = open_link(p)) == CW_OK && p->conf.mode == CW_IPOIB_ROUTER)
		err = router_open(p);
	if (err < 0) {
		close_qp(p);
		cw_ipoib_free(p->link);
		free(p);
		return port_error(conf, err, "the link can't be made", diag);
	}
	*out = p;
	return CW_OK;
}

void port_start(struct ipport *p, uint64_t now)
{
	char why[256];

	if (p->router != NULL)
		router_start(p, now);
	else if (host_open(p, why, sizeof(why)) < 0)
		cw_log(CW_LOG_ERROR, "port %s: interface %s: %s", p->name, p->conf.interface, why);
	port_tick(p, now);
}

void port_close(struct ipport *p, uint64_t now)
{
	host_close(p);
	cw_ipoib_shutdown(p->link, now);
	port_pump(p, now);
	hca_forget(p->hca, p);
	router_close(p);
	close_qp(p);
	cw_ipoib_free(p->link);
	free(p);
}

/* Not as octets: there is padding between. */
static bool conf_equal(const struct cw_ipoib_conf *a, const struct cw_ipoib_conf *b)
{
	return a->mode == b->mode && strcmp(a->interface, b->interface) == 0 &&
	       strcmp(a->hca, b->hca) == 0 && a->pkey == b->pkey && a->qpn == b->qpn &&
	       a->scope == b->scope && a->iid == b->iid && a->refresh_s == b->refresh_s &&
	       a->reachable_s == b->reachable_s && a->probes == b->probes;
}

bool port_equal(const struct ipport *p, const struct cw_port_config *conf)
{
	unsigned i;

	if (strcmp(p->name, conf->name) != 0 || strcmp(p->device, conf->device) != 0 ||
	    p->mtu != conf->mtu || p->multicast != conf->multicast || p->relay.n != conf->nrelay ||
	    memcmp(p->relay.server, conf->relay, sizeof(conf->relay)) != 0 ||
	    p->naddr != conf->naddr || !conf_equal(&p->conf, &conf->ipoib))
		return false;
	for (i = 0; i < p->naddr; i++) {
		if (p->addr[i].v6 != (conf->addr[i].version == 6) ||
		    p->addr[i].plen != conf->addr[i].plen ||
		    memcmp(p->addr[i].addr, conf->addr[i].a, sizeof(p->addr[i].addr)) != 0)
			return false;
	}
	return true;
}
