/* ospf.c - OSPFv2 by the API of FRR's ospfd: Extended Prefix Opaque LSAs out and in.
 *
 * The client connects from port P, and ospfd connects back to P + 1; requests and replies go over
 * the first connection, notifications come over the second. One LSA announces the proxy's host
 * prefix (flags N and P), the next ones the prefixes behind it. ospfd flushes all of them when the
 * connection ends.
 * Spec: Fast CNP proxy 5.2, RFC 7684, RFC 9792; the API as FRR 8.4 speaks it. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "daemon/log.h"
#include "daemon/peers/int.h"

enum {
	API_PORT = 2607,
	FIRST_PORT = 45000,
	LAST_PORT = 45900,
	HEAD = 8,
	MESSAGE_MAX = 4096,
	RETRY_MS = 2000,
	AGAIN_MS = 1000, /* until an origination is tried again */
	MAX_AGE = 3600,
	PREFIXES_IN_LSA = 50,

	REGISTER_OPAQUE = 1,
	REGISTER_EVENT = 3,
	SYNC_LSDB = 4,
	ORIGINATE = 5,
	DELETE = 6,
	REPLY = 10,
	READY = 11,
	LSA_UPDATE = 12,
	LSA_DELETE = 13,

	NOT_READY = -7
};

enum state { CLOSED, CONNECTING, OPEN };

struct stream {
	int fd;
	uint8_t in[2 * (HEAD + MESSAGE_MAX)];
	size_t len;
};

/* An LSA that was heard: its prefixes belong to the advertising router. */
struct lsa {
	struct lsa *next;
	uint32_t key[3]; /* area (0 of AS scope), link state ID, router */
	uint8_t type;
	size_t len;
	uint8_t body[];
};

static struct {
	enum state state;
	int listener;
	struct stream sync, async;
	uint32_t seq;
	uint64_t due_ms, generation;
	unsigned announced;      /* LSAs of ours that ospfd has */
	bool registered, wanted; /* wanted: originate when it is due */
	struct lsa *lsas;
	struct sockaddr_in server;
} o = {.listener = -1, .sync.fd = -1, .async.fd = -1};

/* ---- Connections --------------------------------------------------------------------------- */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd); /* epoll forgets it */
	*fd = -1;
}

static void watch(int fd, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.fd = fd};

	if (epoll_ctl(cw_peers.epoll, EPOLL_CTL_ADD, fd, &ev) != 0)
		(void)epoll_ctl(cw_peers.epoll, EPOLL_CTL_MOD, fd, &ev);
}

static const char *router_name(uint32_t router, char buf[INET_ADDRSTRLEN])
{
	struct in_addr a = {htonl(router)};

	return inet_ntop(AF_INET, &a, buf, INET_ADDRSTRLEN);
}

static void forget_all(uint64_t now)
{
	struct lsa *l;
	unsigned i;

	while ((l = o.lsas) != NULL) {
		o.lsas = l->next;
		free(l);
	}
	for (i = 0; i < cw_peers.nsessions; i++) {
		if (cw_peers.sessions[i]->source == CW_PROXY_OSPF2)
			cw_peer_state(cw_peers.sessions[i], false, now);
	}
}

static void shut(const char *why, uint64_t now)
{
	if (o.state == OPEN)
		cw_log(CW_LOG_WARNING, "ospfd: %s", why);
	close_fd(&o.listener);
	close_fd(&o.sync.fd);
	close_fd(&o.async.fd);
	o.sync.len = o.async.len = 0;
	o.registered = o.wanted = false;
	o.announced = 0;
	if (o.state == OPEN)
		forget_all(now);
	o.state = CLOSED;
	o.due_ms = now + RETRY_MS;
}

static int bound_socket(uint16_t port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;

	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof(a)) != 0)
		close_fd(&fd);
	return fd;
}

/* Two ports in a row: the socket that connects, the one that ospfd connects to. */
static bool take_ports(void)
{
	static uint16_t next = FIRST_PORT; /* not the pair of before: it may be in TIME_WAIT */
	unsigned tries;

	for (tries = 0; tries < (LAST_PORT - FIRST_PORT) / 2; tries++) {
		uint16_t port = next;

		next = next + 2 >= LAST_PORT ? FIRST_PORT : (uint16_t)(next + 2);
		o.listener = bound_socket(port + 1);
		o.sync.fd = o.listener >= 0 ? bound_socket(port) : -1;
		if (o.sync.fd >= 0 && listen(o.listener, 1) == 0)
			return true;
		close_fd(&o.listener);
		close_fd(&o.sync.fd);
	}
	return false;
}

static void begin(uint64_t now)
{
	o.server = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(API_PORT)};
	memcpy(&o.server.sin_addr, cw_peers.conf->ospf2_server.addr, 4);
	o.due_ms = now + RETRY_MS;
	if (!take_ports())
		return;
	if (connect(o.sync.fd, (struct sockaddr *)&o.server, sizeof(o.server)) != 0 &&
	    errno != EINPROGRESS) {
		shut(strerror(errno), now);
		return;
	}
	o.state = CONNECTING;
	watch(o.listener, EPOLLIN);
}

/* ---- Requests ------------------------------------------------------------------------------ */

static bool request(uint8_t type, const void *body, size_t len, uint64_t now)
{
	uint8_t m[HEAD + MESSAGE_MAX] = {1, type};

	cw_put_be16(m + 2, (uint16_t)len);
	cw_put_be32(m + 4, ++o.seq);
	memcpy(m + HEAD, body, len);
	if (send(o.sync.fd, m, HEAD + len, MSG_NOSIGNAL) == (ssize_t)(HEAD + len))
		return true;
	shut("does not take requests", now);
	return false;
}

/* Opaque LSAs of any origin; a bit for each LS type. */
static const uint8_t events_wanted[4] = {0x07, 0x00, 2, 0};

static void greet(uint64_t now)
{
	const uint8_t opaque[4] = {cw_peers.conf->ospf2_scope, CW_OSPF2_OPAQUE_PREFIX};
	char text[CW_ADDR_TEXT];

	cw_log(CW_LOG_NOTICE, "ospfd: connected to %s",
	       cw_addr_format(&cw_peers.conf->ospf2_server, text));
	o.state = OPEN;
	o.generation = 0;
	if (request(REGISTER_OPAQUE, opaque, sizeof(opaque), now) &&
	    request(REGISTER_EVENT, events_wanted, sizeof(events_wanted), now))
		(void)request(SYNC_LSDB, events_wanted, sizeof(events_wanted), now);
}

static void put_prefix(struct cw_wr *w, const struct cw_prefix *p, bool node)
{
	struct cw_pnc_prefix e = {.prefix = *p, .pnc = true, .node = node};

	/* An area's LSA describes an intra-area route; of AS scope the type is left open. */
	e.kind = cw_peers.conf->ospf2_scope == CW_OSPF2_OPAQUE_AREA ? 1 : 0;
	cw_ospf2_prefix_put(w, &cw_peers.conf->codes, &e);
}

/* What LSA number `n` says: 0 the proxy itself, then its senders. False: there is no such LSA. */
static bool fill_lsa(struct cw_wr *w, unsigned n)
{
	const struct cw_pnc_config *c = cw_peers.conf;
	struct cw_prefix self = {.version = 4, .plen = 32};
	unsigned i, seen = 0, from = n > 0 ? (n - 1) * PREFIXES_IN_LSA : 0;

	if (c->proxy[0].version == 0)
		return false;
	if (n == 0) {
		memcpy(self.addr, c->proxy[0].addr, 4);
		put_prefix(w, &self, true);
		return true;
	}
	for (i = 0; i < c->nprefix; i++) {
		if (c->prefix[i].version != 4)
			continue;
		if (seen >= from && seen < from + PREFIXES_IN_LSA)
			put_prefix(w, &c->prefix[i], false);
		seen++;
	}
	return seen > from;
}

/* Interface, area, LSA header, body. ospfd fills in what it owns. */
static bool originate_lsa(unsigned n, uint64_t now)
{
	const struct cw_pnc_config *c = cw_peers.conf;
	uint8_t m[MESSAGE_MAX] = {0}, *lsa = m + 8;
	struct cw_wr w = cw_wr_init(lsa + CW_SIZE_OSPF2_LSA, sizeof(m) - 8 - CW_SIZE_OSPF2_LSA);

	if (!fill_lsa(&w, n) || w.err != CW_OK)
		return false;
	if (c->ospf2_scope == CW_OSPF2_OPAQUE_AREA)
		memcpy(m + 4, c->ospf2_area.addr, 4);
	cw_ospf2_lsa_set_type(lsa, c->ospf2_scope);
	cw_ospf2_lsa_set_opaque_type(lsa, CW_OSPF2_OPAQUE_PREFIX);
	cw_ospf2_lsa_set_opaque_id(lsa, n + 1);
	cw_ospf2_lsa_set_length(lsa, (uint32_t)(w.p - lsa));
	return request(ORIGINATE, m, (size_t)(w.p - m), now);
}

static void delete_lsa(unsigned n, uint64_t now)
{
	const struct cw_pnc_config *c = cw_peers.conf;
	uint8_t m[12] = {0};

	if (c->ospf2_scope == CW_OSPF2_OPAQUE_AREA)
		memcpy(m, c->ospf2_area.addr, 4);
	m[4] = c->ospf2_scope;
	m[5] = CW_OSPF2_OPAQUE_PREFIX;
	cw_put_be32(m + 8, n + 1);
	(void)request(DELETE, m, sizeof(m), now);
}

static void originate_all(uint64_t now)
{
	unsigned n = 0, had = o.announced;

	o.wanted = false;
	while (o.state == OPEN && originate_lsa(n, now))
		n++;
	o.announced = n;
	for (; o.state == OPEN && n < had; n++)
		delete_lsa(n, now);
}

/* ---- Replies and notifications ------------------------------------------------------------- */

struct router {
	struct cw_prefix best; /* host prefix that is the proxy's address; version 0: none yet */
	bool best_node;
	uint32_t id;
	struct cw_peer_session *session;
	struct cw_addr proxy;
	uint64_t now;
};

/* A host prefix with the N flag before one without, then the lowest (docs/decisions.md). */
static int find_proxy(void *arg, const struct cw_pnc_prefix *p)
{
	struct router *r = arg;

	if (!p->pnc || p->unreachable || p->prefix.plen != 32)
		return 0;
	if (r->best.version == 0 || (p->node && !r->best_node) ||
	    (p->node == r->best_node && memcmp(p->prefix.addr, r->best.addr, 4) < 0)) {
		r->best = p->prefix;
		r->best_node = p->node;
	}
	return 0;
}

static int use_prefix(void *arg, const struct cw_pnc_prefix *p)
{
	struct router *r = arg;

	if (p->pnc && !p->unreachable)
		cw_peer_set(r->session, &p->prefix, &r->proxy, r->now);
	return 0;
}

static void each_prefix(struct router *r, cw_pnc_fn *fn)
{
	const struct lsa *l;

	for (l = o.lsas; l != NULL; l = l->next) {
		if (l->key[2] == r->id &&
		    cw_ospf2_walk(&cw_peers.conf->codes, l->body, l->len, fn, r, NULL) != CW_OK)
			r->session->n.malformed++;
	}
}

/* All that a router announces, anew: its proxy's address may have changed. */
static void renew(uint32_t router, uint64_t now)
{
	struct router r = {.id = router, .now = now, .proxy.version = 4};
	char name[INET_ADDRSTRLEN];

	r.session = cw_peer_session(CW_PROXY_OSPF2, router_name(router, name), now);
	if (r.session == NULL)
		return;
	cw_peer_state(r.session, true, now);
	r.session->n.updates++;
	(void)cw_proxies_lost(cw_peers.table, CW_PROXY_OSPF2, r.session->id, now, UINT32_MAX);
	each_prefix(&r, find_proxy);
	if (r.best.version != 0) {
		memcpy(r.proxy.addr, r.best.addr, 4);
		each_prefix(&r, use_prefix);
	}
	r.session->n.withdrawn += cw_proxies_synced(cw_peers.table, CW_PROXY_OSPF2, r.session->id);
}

static struct lsa **find_lsa(const uint32_t key[3], uint8_t type)
{
	struct lsa **at = &o.lsas;

	while (*at != NULL && (memcmp((*at)->key, key, 12) != 0 || (*at)->type != type))
		at = &(*at)->next;
	return at;
}

/* Interface, area, self, LSA: an LSA came or went. */
static void take_lsa(const uint8_t *m, size_t len, bool gone, uint64_t now)
{
	const uint8_t *lsa = m + 12;
	struct lsa **at, *l;
	uint32_t key[3];
	size_t n;

	if (len < 12 + CW_SIZE_OSPF2_LSA || m[8] != 0 ||
	    cw_ospf2_lsa_opaque_type(lsa) != CW_OSPF2_OPAQUE_PREFIX ||
	    cw_ospf2_lsa_length(lsa) < CW_SIZE_OSPF2_LSA || cw_ospf2_lsa_length(lsa) > len - 12)
		return;
	n = cw_ospf2_lsa_length(lsa) - CW_SIZE_OSPF2_LSA;
	key[0] = cw_ospf2_lsa_type(lsa) == CW_OSPF2_OPAQUE_AS ? 0 : cw_be32(m + 4);
	key[1] = cw_be32(lsa + 4);
	key[2] = cw_be32(lsa + 8);
	at = find_lsa(key, (uint8_t)cw_ospf2_lsa_type(lsa));
	if ((l = *at) != NULL) {
		*at = l->next;
		free(l);
	}
	gone = gone || cw_ospf2_lsa_age(lsa) >= MAX_AGE;
	if (!gone && (l = malloc(sizeof(*l) + n)) != NULL) {
		*l = (struct lsa){
			.next = o.lsas, .type = (uint8_t)cw_ospf2_lsa_type(lsa), .len = n};
		memcpy(l->key, key, sizeof(key));
		memcpy(l->body, lsa + CW_SIZE_OSPF2_LSA, n);
		o.lsas = l;
	}
	renew(key[2], now);
}

static void take_message(uint8_t type, const uint8_t *m, size_t len, uint64_t now)
{
	int8_t code = len > 0 ? (int8_t)m[0] : 0;

	if (type == REPLY && code == NOT_READY) {
		o.wanted = true;
		o.due_ms = now + AGAIN_MS;
	} else if (type == REPLY && code != 0) {
		cw_log(CW_LOG_WARNING, "ospfd: refuses a request, error %d%s", code,
		       code == -5 ? ": it keeps this opaque type to itself" : "");
	} else if (type == READY) {
		o.wanted = true;
		o.due_ms = now;
	} else if (type == LSA_UPDATE || type == LSA_DELETE) {
		take_lsa(m, len, type == LSA_DELETE, now);
	}
}

/* False: the connection ended. */
static bool read_stream(struct stream *s, uint64_t now)
{
	size_t n, used = 0;
	ssize_t got;

	while (s->fd >= 0) {
		got = recv(s->fd, s->in + s->len, sizeof(s->in) - s->len, 0);
		if (got <= 0)
			return got < 0 && (errno == EAGAIN || errno == EINTR);
		s->len += (size_t)got;
		for (used = 0; s->len - used >= HEAD; used += HEAD + n) {
			n = cw_be16(s->in + used + 2);
			if (n > MESSAGE_MAX)
				return false;
			if (s->len - used < HEAD + n)
				break;
			take_message(s->in[used + 1], s->in + used + HEAD, n, now);
			if (s->fd < 0)
				return true; /* shut meanwhile */
		}
		s->len -= used;
		memmove(s->in, s->in + used, s->len);
	}
	return true;
}

/* ---- Running ------------------------------------------------------------------------------- */

static void check_connecting(uint64_t now)
{
	int fd = accept4(o.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd >= 0) {
		o.async.fd = fd;
		close_fd(&o.listener);
		watch(o.sync.fd, EPOLLIN);
		watch(o.async.fd, EPOLLIN);
		greet(now);
	} else if (now >= o.due_ms) {
		shut("no answer", now);
	}
}

static void run_open(uint64_t now)
{
	if (!read_stream(&o.sync, now) || !read_stream(&o.async, now)) {
		shut("closed the connection", now);
		return;
	}
	if (o.state == OPEN && o.generation != cw_peers.generation) {
		o.generation = cw_peers.generation;
		o.wanted = true;
		o.due_ms = now;
	}
	if (o.state == OPEN && o.wanted && now >= o.due_ms)
		originate_all(now);
}

uint64_t cw_ospf_run(uint64_t now)
{
	if (!cw_peers.conf->ospf2) {
		cw_ospf_stop(now);
		return UINT64_MAX;
	}
	if (o.state == CLOSED && now >= o.due_ms)
		begin(now);
	if (o.state == CONNECTING)
		check_connecting(now);
	if (o.state == OPEN)
		run_open(now);
	return o.state == OPEN && !o.wanted ? UINT64_MAX : o.due_ms;
}

void cw_ospf_stop(uint64_t now)
{
	if (o.state != CLOSED)
		shut("no longer wanted", now);
	o.due_ms = 0;
}
