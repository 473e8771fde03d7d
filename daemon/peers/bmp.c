/* bmp.c - BGP by routers that connect and send what their peers told them.
 *
 * A router is known by its address and has one connection. Each of its peers is a session for each
 * view (before or after the router's policy, or what the router uses) that it sends. A peer that
 * goes down, and a connection that ends, leave their entries for the hold time. What a router tells
 * its peers (Adj-RIB-Out) is no source.
 * Spec: RFC 7854, RFC 8671, RFC 9069, Fast CNP proxy 5.4. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "causeway/wire/bmp.h"
#include "daemon/log.h"
#include "daemon/peers/int.h"

enum {
	ROUTERS = 16,
	BUFFER = CW_BMP_MESSAGE_MAX + 65536,
	READS = 16, /* of a router, before others have their turn */
	RETRY_MS = 2000,
	INITIATION_MS = 30000, /* until the first message */
	IDLE_S = 10,           /* then TCP asks whether the router is there, */
	ASK_S = 5,             /* so often, */
	ASKS = 3,              /* and so many times */
	TEXT = 128
};

struct router {
	int fd;
	struct cw_addr addr;
	char name[CW_ADDR_TEXT], sys_name[TEXT], sys_descr[TEXT];
	bool initiated;
	uint64_t since_ms;
	uint8_t *in; /* NULL: a free place */
	size_t len;
	unsigned last; /* the peer of the message before */
	struct {
		uint64_t type[CW_BMP_NTYPES], unknown, malformed, no_peer, other_view, no_room;
	} n;
};

/* A BGP peer of a router. It stays when it is down, until its place is needed. */
struct peer {
	struct cw_addr router, addr;
	uint8_t type, distinguisher[8];
	bool up;
	uint64_t since_ms;
	struct cw_peer_session *view[CW_BMP_NVIEWS]; /* NULL: nothing seen of it */
};

static struct {
	int listener;
	struct cw_addr listen; /* what the listener was made for */
	uint16_t port;
	uint64_t due_ms, generation, refused;
	struct router router[ROUTERS];
	struct peer *peers;
	unsigned npeers;
} b = {.listener = -1};

/* ---- Peers --------------------------------------------------------------------------------- */

static void peer_state(struct peer *p, bool up, uint64_t now)
{
	unsigned v;

	p->up = up;
	p->since_ms = now;
	for (v = 0; v < CW_BMP_NVIEWS; v++) {
		if (p->view[v] != NULL)
			cw_peer_state(p->view[v], up, now);
	}
}

static bool same_addr(const struct cw_addr *a, const struct cw_addr *c)
{
	return memcmp(a, c, sizeof(*a)) == 0;
}

static bool is_peer(const struct peer *p, const struct router *r, const struct cw_bmp *m)
{
	return same_addr(&p->addr, &m->peer) && p->type == m->peer_type &&
	       memcmp(p->distinguisher, m->distinguisher, 8) == 0 &&
	       same_addr(&p->router, &r->addr);
}

static struct peer *find_peer(struct router *r, const struct cw_bmp *m)
{
	unsigned i;

	if (r->last < b.npeers && is_peer(&b.peers[r->last], r, m))
		return &b.peers[r->last];
	for (i = 0; i < b.npeers; i++) {
		if (is_peer(&b.peers[i], r, m)) {
			r->last = i;
			return &b.peers[i];
		}
	}
	return NULL;
}

/* A place for a new peer: behind the others, or that of the one which is down for the longest time,
 * whose entries go at once. NULL: there is none. */
static struct peer *take_place(void)
{
	struct peer *more, *oldest = NULL;
	unsigned i, v;

	if (b.npeers < cw_peers.conf->bmp.peers &&
	    (more = realloc(b.peers, (b.npeers + 1) * sizeof(*more))) != NULL) {
		b.peers = more;
		memset(&b.peers[b.npeers], 0, sizeof(*more));
		return &b.peers[b.npeers++];
	}
	for (i = 0; i < b.npeers; i++) {
		if (!b.peers[i].up && (oldest == NULL || b.peers[i].since_ms < oldest->since_ms))
			oldest = &b.peers[i];
	}
	for (v = 0; oldest != NULL && v < CW_BMP_NVIEWS; v++) {
		if (oldest->view[v] != NULL)
			(void)cw_proxies_lost(cw_peers.table, CW_PROXY_BMP, oldest->view[v]->id, 0,
					      0);
	}
	return oldest;
}

static void name_session(char name[CW_PEER_NAME], const struct router *r, const struct peer *p,
			 enum cw_bmp_view view)
{
	static const uint8_t none[8];
	char addr[CW_ADDR_TEXT], rd[24] = "";

	if (memcmp(p->distinguisher, none, 8) != 0)
		(void)snprintf(rd, sizeof(rd), " rd %08x%08x", cw_be32(p->distinguisher),
			       cw_be32(p->distinguisher + 4));
	(void)snprintf(name, CW_PEER_NAME, "%s/%s%s%s", r->name,
		       view == CW_BMP_LOC_RIB ? "loc-rib" : cw_addr_format(&p->addr, addr), rd,
		       view == CW_BMP_POST_POLICY ? " post-policy" : "");
}

/* Sessions that the former peer of this place left behind are this one's now. */
static void rename_sessions(const struct router *r, const struct peer *p)
{
	unsigned v;

	for (v = 0; v < CW_BMP_NVIEWS; v++) {
		if (p->view[v] == NULL)
			continue;
		memset(&p->view[v]->n, 0, sizeof(p->view[v]->n));
		name_session(p->view[v]->name, r, p, (enum cw_bmp_view)v);
	}
}

/* The session of a view. */
static struct cw_peer_session *session_of(const struct router *r, struct peer *p,
					  enum cw_bmp_view view, uint64_t now)
{
	struct cw_peer_session *s = p->view[view];
	char name[CW_PEER_NAME];

	if (s == NULL) {
		name_session(name, r, p, view);
		p->view[view] = s = cw_peer_session(CW_PROXY_BMP, name, now);
	}
	if (s != NULL)
		cw_peer_state(s, true, now);
	return s;
}

/* ---- Routers ------------------------------------------------------------------------------- */

static void lose_peers(const struct router *r, uint64_t now)
{
	unsigned i;

	for (i = 0; i < b.npeers; i++) {
		if (b.peers[i].up && same_addr(&b.peers[i].router, &r->addr))
			peer_state(&b.peers[i], false, now);
	}
}

static void drop_router(struct router *r, const char *why, uint64_t now)
{
	cw_log(CW_LOG_NOTICE, "bmp: router %s: %s", r->name, why);
	close(r->fd); /* epoll forgets it */
	free(r->in);
	lose_peers(r, now);
	*r = (struct router){0};
}

static bool allowed(const struct cw_addr *a)
{
	const struct cw_pnc_bmp *c = &cw_peers.conf->bmp;
	struct cw_prefix p;
	unsigned i;

	for (i = 0; i < c->nrouter; i++) {
		p = (struct cw_prefix){.version = a->version, .plen = c->router[i].plen};
		if (a->version != c->router[i].version)
			continue;
		memcpy(p.addr, a->addr, sizeof(p.addr));
		cw_prefix_clean(&p);
		if (memcmp(&p, &c->router[i], sizeof(p)) == 0)
			return true;
	}
	return false;
}

/* An IPv4 address may come as ::ffff:a.b.c.d. */
static void from_socket(const struct sockaddr_storage *from, struct cw_addr *out)
{
	struct sockaddr_in6 six;

	*out = (struct cw_addr){.version = 4};
	if (from->ss_family == AF_INET) {
		memcpy(out->addr, &((const struct sockaddr_in *)from)->sin_addr, 4);
		return;
	}
	memcpy(&six, from, sizeof(six));
	if (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr)) {
		memcpy(out->addr, six.sin6_addr.s6_addr + 12, 4);
	} else {
		out->version = 6;
		memcpy(out->addr, &six.sin6_addr, 16);
	}
}

/* A free place, unless the router is connected already. */
static struct router *place_for(const struct cw_addr *addr)
{
	struct router *empty = NULL;
	unsigned i;

	for (i = 0; i < ROUTERS; i++) {
		if (b.router[i].in == NULL)
			empty = &b.router[i];
		else if (same_addr(&b.router[i].addr, addr))
			return NULL;
	}
	return empty;
}

/* A station never sends, so TCP has to find out that a router is gone. */
static void keep_alive(int fd)
{
	const int on = 1, idle = IDLE_S, ask = ASK_S, asks = ASKS;

	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &ask, sizeof(ask));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &asks, sizeof(asks));
}

static void add_router(int fd, const struct cw_addr *addr, uint64_t now)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.fd = fd};
	struct router *r = allowed(addr) ? place_for(addr) : NULL;
	char name[CW_ADDR_TEXT];
	uint8_t *in = r != NULL ? malloc(BUFFER) : NULL;

	(void)cw_addr_format(addr, name);
	if (in == NULL || epoll_ctl(cw_peers.epoll, EPOLL_CTL_ADD, fd, &ev) != 0) {
		cw_log(CW_LOG_INFO, "bmp: %s is refused: %s", name,
		       !allowed(addr) ? "not one of pnc/bmp/router"
				      : "connected already, or too many routers");
		b.refused++;
		free(in);
		close(fd);
		return;
	}
	keep_alive(fd);
	*r = (struct router){.fd = fd, .addr = *addr, .in = in, .since_ms = now};
	memcpy(r->name, name, sizeof(name));
	cw_log(CW_LOG_NOTICE, "bmp: router %s is connected", name);
}

static void accept_all(uint64_t now)
{
	struct sockaddr_storage from = {0};
	socklen_t size = sizeof(from);
	struct cw_addr addr;
	int fd;

	while ((fd = accept4(b.listener, (struct sockaddr *)&from, &size,
			     SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		from_socket(&from, &addr);
		add_router(fd, &addr, now);
		size = sizeof(from);
	}
}

/* ---- Messages ------------------------------------------------------------------------------ */

/* What of a TLV can be shown. */
static void copy_text(char to[TEXT], const struct cw_bmp_tlv *t)
{
	size_t i, n = t->len < TEXT - 1 ? t->len : TEXT - 1;

	for (i = 0; i < n; i++)
		to[i] = (char)(t->value[i] >= ' ' && t->value[i] < 127 ? t->value[i] : '?');
	to[n] = '\0';
}

static void take_initiation(struct router *r, const struct cw_bmp *m)
{
	struct cw_rd tlvs = m->tlvs;
	struct cw_bmp_tlv t;

	r->initiated = true;
	while (cw_bmp_tlv_next(&tlvs, &t) == CW_OK) {
		if (t.type == CW_BMP_TLV_NAME)
			copy_text(r->sys_name, &t);
		else if (t.type == CW_BMP_TLV_DESCR)
			copy_text(r->sys_descr, &t);
	}
}

static void take_peer_up(struct router *r, const struct cw_bmp *m, uint64_t now)
{
	struct peer *p = find_peer(r, m);

	if (p == NULL && (p = take_place()) != NULL) {
		p->router = r->addr;
		p->addr = m->peer;
		p->type = m->peer_type;
		memcpy(p->distinguisher, m->distinguisher, 8);
		rename_sessions(r, p);
	}
	if (p == NULL) {
		r->n.no_room++;
		return;
	}
	peer_state(p, false, now); /* up twice: it was down in between */
	peer_state(p, true, now);
}

static void take_routes(struct router *r, const struct cw_bmp *m, uint64_t now)
{
	struct peer *p = find_peer(r, m);
	struct cw_peer_session *s;

	if (p == NULL || !p->up)
		r->n.no_peer++;
	else if (m->view == CW_BMP_ADJ_RIB_OUT)
		r->n.other_view++;
	else if ((s = session_of(r, p, m->view, now)) != NULL)
		cw_bgp_update(s, m->update.p, cw_rd_left(&m->update), now);
}

/* NULL, or why the connection ends. */
static const char *take_message(struct router *r, const uint8_t *data, size_t len, uint64_t now)
{
	struct cw_pnc_error e;
	struct cw_bmp m;
	struct peer *p;
	int err = cw_bmp_parse(&m, data, len, &e);

	if (err == CW_E_UNKNOWN) {
		r->n.unknown++;
		return NULL;
	}
	if (err != CW_OK) {
		/* Where the next one begins is known, so one bad message harms no other. */
		r->n.malformed++;
		cw_log(CW_LOG_INFO, "bmp: router %s: %s, octet %zu: %s", r->name,
		       cw_bmp_type_name(m.type), e.off, e.what);
		return NULL;
	}
	r->n.type[m.type]++;
	if (!r->initiated && m.type != CW_BMP_INITIATION)
		return "its first message is no Initiation";
	if (m.type == CW_BMP_TERMINATION)
		return "ends the session";
	if (m.type == CW_BMP_INITIATION)
		take_initiation(r, &m);
	else if (m.type == CW_BMP_PEER_UP)
		take_peer_up(r, &m, now);
	else if (m.type == CW_BMP_PEER_DOWN && (p = find_peer(r, &m)) != NULL)
		peer_state(p, false, now);
	else if (m.type == CW_BMP_ROUTE_MONITORING)
		take_routes(r, &m, now);
	return NULL;
}

/* All whole messages of the buffer. */
static const char *take_all(struct router *r, uint64_t now)
{
	const char *why = NULL;
	size_t used = 0;
	int n = 0;

	while (why == NULL && (n = cw_bmp_length(r->in + used, r->len - used)) > 0 &&
	       (size_t)n <= r->len - used) {
		why = take_message(r, r->in + used, (size_t)n, now);
		used += (size_t)n;
	}
	if (why == NULL && n < 0)
		why = n == CW_E_VERSION ? "does not speak BMP version 3"
					: "sends a message of no possible length";
	r->len -= used;
	memmove(r->in, r->in + used, r->len);
	return why;
}

static void read_router(struct router *r, uint64_t now)
{
	const char *why = NULL;
	unsigned i;
	ssize_t n;

	for (i = 0; i < READS && why == NULL; i++) {
		n = recv(r->fd, r->in + r->len, BUFFER - r->len, 0);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (n <= 0) {
			why = n == 0 ? "has closed the connection" : strerror(errno);
			break;
		}
		r->len += (size_t)n;
		why = take_all(r, now);
	}
	if (why == NULL && !r->initiated && now >= r->since_ms + INITIATION_MS)
		why = "says nothing";
	if (why != NULL)
		drop_router(r, why, now);
}

/* ---- The listener -------------------------------------------------------------------------- */

static socklen_t to_socket(const struct cw_addr *a, uint16_t port, struct sockaddr_storage *out)
{
	struct sockaddr_in *four = (struct sockaddr_in *)out;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;

	memset(out, 0, sizeof(*out));
	if (a->version == 4) {
		four->sin_family = AF_INET;
		four->sin_port = htons(port);
		memcpy(&four->sin_addr, a->addr, 4);
		return sizeof(*four);
	}
	six->sin6_family = AF_INET6;
	six->sin6_port = htons(port);
	memcpy(&six->sin6_addr, a->addr, 16);
	return sizeof(*six);
}

static void open_listener(uint64_t now)
{
	const struct cw_pnc_bmp *c = &cw_peers.conf->bmp;
	struct epoll_event ev = {.events = EPOLLIN};
	struct sockaddr_storage at;
	socklen_t size = to_socket(&c->listen, c->port, &at);
	int fd = socket(at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1,
	    off = 0;
	char text[CW_ADDR_TEXT];

	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (at.ss_family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	ev.data.fd = fd;
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, size) != 0 || listen(fd, ROUTERS) != 0 ||
	    epoll_ctl(cw_peers.epoll, EPOLL_CTL_ADD, fd, &ev) != 0) {
		cw_log(CW_LOG_WARNING, "bmp: can't listen on %s, port %u: %s",
		       cw_addr_format(&c->listen, text), c->port, strerror(errno));
		if (fd >= 0)
			close(fd);
		b.due_ms = now + RETRY_MS;
		return;
	}
	b.listener = fd;
	b.listen = c->listen;
	b.port = c->port;
}

static void stop(uint64_t now)
{
	unsigned i;

	if (b.listener < 0)
		return;
	for (i = 0; i < ROUTERS; i++) {
		if (b.router[i].in != NULL)
			drop_router(&b.router[i], "is no longer wanted", now);
	}
	close(b.listener);
	b.listener = -1;
}

/* Another configuration: routers may not be allowed any more, the listener may be another one. */
static void reconfigure(uint64_t now)
{
	const struct cw_pnc_bmp *c = &cw_peers.conf->bmp;
	unsigned i;

	b.generation = cw_peers.generation;
	b.due_ms = 0;
	if (b.listener >= 0 && (!same_addr(&b.listen, &c->listen) || b.port != c->port))
		stop(now);
	for (i = 0; i < ROUTERS; i++) {
		if (b.router[i].in != NULL && !allowed(&b.router[i].addr))
			drop_router(&b.router[i], "is not allowed any more", now);
	}
}

uint64_t cw_bmp_run(uint64_t now)
{
	uint64_t due = UINT64_MAX;
	unsigned i;

	if (!cw_peers.conf->bmp.enabled) {
		stop(now);
		return UINT64_MAX;
	}
	if (b.generation != cw_peers.generation)
		reconfigure(now);
	if (b.listener < 0 && now >= b.due_ms)
		open_listener(now);
	if (b.listener < 0)
		return b.due_ms;
	accept_all(now);
	for (i = 0; i < ROUTERS; i++) {
		struct router *r = &b.router[i];

		if (r->in != NULL)
			read_router(r, now);
		if (r->in != NULL && !r->initiated && r->since_ms + INITIATION_MS < due)
			due = r->since_ms + INITIATION_MS;
	}
	return due;
}

void cw_bmp_forget(void)
{
	stop(0);
	free(b.peers);
	b.peers = NULL;
	b.npeers = 0;
	b.due_ms = b.generation = b.refused = 0;
}

/* ---- show bmp ------------------------------------------------------------------------------ */

static json_t *num(uint64_t v)
{
	return json_integer((json_int_t)v);
}

static unsigned peers_up(const struct router *r)
{
	unsigned i, n = 0;

	for (i = 0; i < b.npeers; i++)
		n += b.peers[i].up && same_addr(&b.peers[i].router, &r->addr);
	return n;
}

static json_t *router_json(const struct router *r, uint64_t now)
{
	json_t *o = json_pack("{s:s, s:s, s:s, s:o, s:i}", "router", r->name, "name", r->sys_name,
			      "description", r->sys_descr, "age_ms", num(now - r->since_ms),
			      "peers", (int)peers_up(r));
	unsigned t;

	for (t = 0; t < CW_BMP_NTYPES; t++)
		json_object_set_new(o, cw_bmp_type_name((enum cw_bmp_type)t), num(r->n.type[t]));
	json_object_set_new(o, "unknown", num(r->n.unknown));
	json_object_set_new(o, "malformed", num(r->n.malformed));
	json_object_set_new(o, "no_peer", num(r->n.no_peer));
	json_object_set_new(o, "other_view", num(r->n.other_view));
	json_object_set_new(o, "no_room", num(r->n.no_room));
	return o;
}

json_t *cw_peers_show_bmp(void *arg, const json_t *request, struct cw_diag *diag)
{
	uint64_t (*clock)(void) = (uint64_t(*)(void))arg, now = clock();
	json_t *routers = json_array();
	unsigned i;

	(void)request;
	(void)diag;
	for (i = 0; i < ROUTERS; i++) {
		if (b.router[i].in != NULL)
			json_array_append_new(routers, router_json(&b.router[i], now));
	}
	return json_pack("{s:{s:b, s:o}, s:o}", "listener", "listening", b.listener >= 0, "refused",
			 num(b.refused), "routers", routers);
}
