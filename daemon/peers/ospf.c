/* ospf.c - OSPFv2 by the API of FRR's ospfd: Extended Prefix Opaque LSAs out and in.
 *
 * The client connects from port P, and ospfd connects back to P + 1; requests and replies go over
 * the first connection, notifications come over the second. One LSA announces the proxy's host
 * prefix (flags N and P), the next ones the prefixes behind it; beside a border router more of them
 * announce what other areas have. ospfd flushes all of them when the connection ends.
 * Spec: Fast CNP proxy 5.2, RFC 7684, RFC 9792; the API as FRR 8.4 speaks it. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "causeway/wire/ospf3.h"
#include "daemon/log.h"
#include "daemon/peers/ospf_lsdb.h"

enum {
	API_PORT = 2607,
	FIRST_PORT = 45000,
	LAST_PORT = 45900,
	HEAD = 8,
	MESSAGE_MAX = 4096,
	RETRY_MS = 2000,
	AGAIN_MS = 1000, /* until an origination is tried again */
	SYNC_MS = 2000,
	PREFIXES_IN_LSA = 50,
	LSA_BODY = 1400,          /* octets of a border router's LSAs */
	FIRST_SUMMARY = 0x010000, /* opaque IDs of these */
	AREAS = 64,

	REGISTER_OPAQUE = 1,
	REGISTER_EVENT = 3,
	SYNC_LSDB = 4,
	ORIGINATE = 5,
	DELETE = 6,
	SYNC_REACHABLE = 7,
	SYNC_ISM = 8,
	REPLY = 10,
	READY = 11,
	LSA_UPDATE = 12,
	LSA_DELETE = 13,
	NEW_INTERFACE = 14,
	INTERFACE_CHANGE = 16,
	REACHABLE_CHANGE = 18,

	NOT_READY = -7
};

enum state { CLOSED, CONNECTING, OPEN };

struct stream {
	int fd;
	uint8_t in[2 * (HEAD + MESSAGE_MAX)];
	size_t len;
};

/* Where a border router announces what other areas have: what ospfd was given there. */
struct target {
	uint32_t area; /* CW_OSPF2_AS: with AS scope */
	uint8_t *tlvs;
	size_t len;
	unsigned lsas;
	size_t external; /* flagged prefixes that don't go there */
};

/* What a connection is for: another one needs another connection. */
struct purpose {
	uint8_t scope;
	struct cw_addr area, server;
};

static struct {
	enum state state;
	struct purpose purpose;
	int listener;
	struct stream sync, async;
	uint32_t seq;
	uint64_t due_ms, generation;
	unsigned announced;   /* LSAs of ours that ospfd has */
	bool wanted;          /* originate when it is due */
	uint64_t complete_ms; /* ospfd has told all by then; UINT64_MAX: done */
	struct target target[AREAS];
	unsigned targets;
	uint32_t stub[AREAS]; /* that LSAs of AS scope don't reach */
	unsigned stubs;
	struct cw_teller teller;
	struct sockaddr_in server;
} o = {.listener = -1, .sync.fd = -1, .async.fd = -1, .teller.source = CW_PROXY_OSPF2};

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

static void forget_all(uint64_t now)
{
	unsigned i;

	for (i = 0; i < o.targets; i++)
		free(o.target[i].tlvs);
	o.targets = o.stubs = 0;
	cw_ospf_lsdb_forget();
	cw_teller_lose(&o.teller, now);
}

static void shut(const char *why, uint64_t now)
{
	if (o.state == OPEN)
		cw_log(CW_LOG_WARNING, "ospfd: %s", why);
	close_fd(&o.listener);
	close_fd(&o.sync.fd);
	close_fd(&o.async.fd);
	o.sync.len = o.async.len = 0;
	o.wanted = false;
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

static struct purpose purpose_now(void)
{
	const struct cw_pnc_config *c = cw_peers.conf;

	return (struct purpose){c->ospf2_scope, c->ospf2_area, c->ospf2_server};
}

static bool is_other_purpose(void)
{
	struct purpose p = purpose_now();

	return memcmp(&p, &o.purpose, sizeof(p)) != 0; /* nothing but octets */
}

static void begin(uint64_t now)
{
	o.purpose = purpose_now();
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

/* Opaque, Summary- and Router-LSAs of any origin: a bit for each LS type. */
static const uint8_t events_wanted[4] = {0x07, 0x05, 2, 0};

/* The body of requests that have none: without octets, ospfd 8.4 aborts (stream_new of nothing). */
static const uint8_t nothing[4];

static void greet(uint64_t now)
{
	const uint8_t opaque[4] = {cw_peers.conf->ospf2_scope, CW_OSPF2_OPAQUE_PREFIX};
	char text[CW_ADDR_TEXT];

	cw_log(CW_LOG_NOTICE, "ospfd: connected to %s",
	       cw_addr_format(&cw_peers.conf->ospf2_server, text));
	o.state = OPEN;
	o.generation = 0;
	o.complete_ms = now + SYNC_MS;
	(void)(request(REGISTER_OPAQUE, opaque, sizeof(opaque), now) &&
	       request(REGISTER_EVENT, events_wanted, sizeof(events_wanted), now) &&
	       request(SYNC_REACHABLE, nothing, sizeof(nothing), now) &&
	       request(SYNC_ISM, nothing, sizeof(nothing), now) &&
	       request(SYNC_LSDB, events_wanted, sizeof(events_wanted), now));
}

static void put_prefix(struct cw_wr *w, const struct cw_prefix *p, bool node)
{
	struct cw_pnc_prefix e = {.prefix = *p, .pnc = true, .node = node};

	/* An area's LSA describes an intra-area route; of AS scope the type is left open. */
	e.kind = cw_peers.conf->ospf2_scope == CW_OSPF2_OPAQUE_AREA ? CW_OSPF2_INTRA : 0;
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

static uint32_t own_area(void)
{
	const struct cw_pnc_config *c = cw_peers.conf;

	return c->ospf2_scope == CW_OSPF2_OPAQUE_AREA ? cw_be32(c->ospf2_area.addr) : CW_OSPF2_AS;
}

/* Interface, area, LSA header, body. ospfd fills in what it owns. */
static bool originate(uint32_t area, uint32_t id, const uint8_t *body, size_t len, uint64_t now)
{
	uint8_t m[MESSAGE_MAX] = {0}, *lsa = m + 8;

	if (area != CW_OSPF2_AS)
		cw_put_be32(m + 4, area);
	cw_ospf2_lsa_set_type(lsa, cw_peers.conf->ospf2_scope);
	cw_ospf2_lsa_set_opaque_type(lsa, CW_OSPF2_OPAQUE_PREFIX);
	cw_ospf2_lsa_set_opaque_id(lsa, id);
	cw_ospf2_lsa_set_length(lsa, (uint32_t)(CW_SIZE_OSPF2_LSA + len));
	memcpy(lsa + CW_SIZE_OSPF2_LSA, body, len);
	return request(ORIGINATE, m, 8 + CW_SIZE_OSPF2_LSA + len, now);
}

static void delete_lsa(uint32_t area, uint32_t id, uint64_t now)
{
	uint8_t m[12] = {0};

	if (area != CW_OSPF2_AS)
		cw_put_be32(m, area);
	m[4] = cw_peers.conf->ospf2_scope;
	m[5] = CW_OSPF2_OPAQUE_PREFIX;
	cw_put_be32(m + 8, id);
	(void)request(DELETE, m, sizeof(m), now);
}

static bool originate_own(unsigned n, uint64_t now)
{
	uint8_t body[MESSAGE_MAX - 8 - CW_SIZE_OSPF2_LSA];
	struct cw_wr w = cw_wr_init(body, sizeof(body));

	return fill_lsa(&w, n) && w.err == CW_OK &&
	       originate(own_area(), n + 1, body, (size_t)(w.p - body), now);
}

/* Octets of whole TLVs that fit into an LSA: at least one. */
static size_t lsa_of(const uint8_t *tlvs, size_t len)
{
	size_t n = 0, next;

	while (n < len) {
		next = n + CW_SIZE_OSPF_TLV + cw_ospf_tlv_length(tlvs + n);
		if (n > 0 && next > LSA_BODY)
			break;
		n = next;
	}
	return n;
}

/* `tlvs` is the target's from now on. */
static void originate_summaries(struct target *t, uint8_t *tlvs, size_t len, uint64_t now)
{
	unsigned had = t->lsas;
	size_t at, n;

	free(t->tlvs);
	t->tlvs = tlvs;
	t->len = len;
	t->lsas = 0;
	for (at = 0; o.state == OPEN && at < len; at += n) {
		n = lsa_of(tlvs + at, len - at);
		if (!originate(t->area, FIRST_SUMMARY + t->lsas, tlvs + at, n, now))
			return;
		t->lsas++;
	}
	for (n = t->lsas; o.state == OPEN && n < had; n++)
		delete_lsa(t->area, FIRST_SUMMARY + (uint32_t)n, now);
}

/* Those of an NSSA would have to be translated (RFC 3101 3.2), and nobody else would say so. */
static void note_external(struct target *t, size_t n)
{
	uint8_t area[4];
	char id[CW_OSPF3_ID_TEXT];

	cw_put_be32(area, t->area);
	if (n > t->external)
		cw_log(CW_LOG_WARNING,
		       "ospfd: %zu flagged external prefixes stay in their area, and are not "
		       "announced "
		       "%s%s: translation is not built",
		       n, t->area == CW_OSPF2_AS ? "with AS scope" : "in area ",
		       t->area == CW_OSPF2_AS ? "" : cw_ospf3_id_format(area, id));
	t->external = n;
}

/* Draft 5.2: "an ABR MUST originate an Extended Prefix Opaque LSA including the received PNC
 * setting". What ospfd has is not given to it again, unless `anew`. */
static void summarise(bool anew, uint64_t now)
{
	size_t len, external;
	uint8_t *tlvs;
	unsigned i;

	for (i = 0; i < o.targets && o.state == OPEN; i++) {
		struct target *t = &o.target[i];

		tlvs = NULL;
		len = external = 0;
		if (cw_peers.conf->ospf2_reoriginate &&
		    !cw_ospf_lsdb_summaries(t->area, &tlvs, &len, &external)) {
			free(tlvs);
			continue;
		}
		note_external(t, external);
		if (!anew && len == t->len && (len == 0 || memcmp(tlvs, t->tlvs, len) == 0))
			free(tlvs);
		else
			originate_summaries(t, tlvs, len, now);
	}
}

static void add_target(uint32_t area)
{
	bool as = cw_peers.conf->ospf2_scope == CW_OSPF2_OPAQUE_AS;
	unsigned i;

	if (as)
		area = CW_OSPF2_AS;
	for (i = 0; i < o.targets; i++) {
		if (o.target[i].area == area)
			return;
	}
	if (o.targets < AREAS)
		o.target[o.targets++] = (struct target){.area = area};
}

static void originate_all(uint64_t now)
{
	unsigned n = 0, had = o.announced;

	o.wanted = false;
	while (o.state == OPEN && originate_own(n, now))
		n++;
	o.announced = n;
	for (; o.state == OPEN && n < had; n++)
		delete_lsa(own_area(), n + 1, now);
	summarise(true, now);
}

/* ---- Replies and notifications ------------------------------------------------------------- */

/* What ospfd's own Router-LSA says of an area: without E it is a stub area or an NSSA, and LSAs of
 * AS scope neither come in nor leave (RFC 2328 A.2, RFC 5250 3.1). Nobody else would say why
 * proxies are not found. */
static void note_area(const uint8_t *area, bool stub)
{
	bool matters = cw_peers.conf->ospf2_scope == CW_OSPF2_OPAQUE_AS, known;
	char id[CW_OSPF3_ID_TEXT];
	unsigned i = 0;

	while (i < o.stubs && o.stub[i] != cw_be32(area))
		i++;
	known = i < o.stubs;
	if (known == stub || (stub && o.stubs == AREAS))
		return;
	if (known)
		o.stub[i] = o.stub[--o.stubs];
	else
		o.stub[o.stubs++] = cw_be32(area);
	if (stub && matters)
		cw_log(CW_LOG_WARNING,
		       "ospfd: area %s is a stub area or NSSA: LSAs of AS scope neither come in "
		       "nor "
		       "leave, so proxies on its other side are not found; see pnc/ospfv2/scope",
		       cw_ospf3_id_format(area, id));
	else if (matters)
		cw_log(CW_LOG_NOTICE, "ospfd: area %s takes LSAs of AS scope now",
		       cw_ospf3_id_format(area, id));
}

/* Interface, area, self, LSA: an LSA came or went. */
static void take_lsa(const uint8_t *m, size_t len, bool gone, uint64_t now)
{
	const uint8_t *lsa = m + 12;

	if (len < 12 + CW_SIZE_OSPF2_LSA || cw_ospf2_lsa_length(lsa) < CW_SIZE_OSPF2_LSA ||
	    cw_ospf2_lsa_length(lsa) > len - 12)
		return;
	if (m[8] == 0)
		cw_ospf_lsdb_take(cw_be32(m + 4), lsa, cw_ospf2_lsa_length(lsa), gone, now);
	else if (cw_ospf2_lsa_type(lsa) == CW_OSPF2_ROUTER && !gone)
		note_area(m + 4, (cw_ospf2_lsa_options(lsa) & CW_OSPF2_OPT_E) == 0);
}

/* How many came, how many went, who. */
static void take_reachable(const uint8_t *m, size_t len)
{
	size_t added = len >= 4 ? cw_be16(m) : 0, removed = len >= 4 ? cw_be16(m + 2) : 0;

	if (len >= 4 + 4 * (added + removed))
		cw_ospf_lsdb_reach(m + 4, added, m + 4 + 4 * added, removed);
}

static void take_message(uint8_t type, const uint8_t *m, size_t len, uint64_t now)
{
	int8_t code = len > 0 ? (int8_t)m[0] : 0;

	if (type == REPLY && code == NOT_READY) {
		o.wanted = true;
		o.due_ms = now + AGAIN_MS;
	} else if (type == REPLY && code != 0) {
		cw_log(CW_LOG_WARNING, "ospfd: refuses a request, error %d%s", code,
		       code == -5
			       ? ": it keeps this opaque type to itself; docs/routing.md, OSPFv2, "
				 "has a module that frees it"
			       : "");
	} else if (type == READY) {
		o.wanted = true;
		o.due_ms = now;
	} else if (type == LSA_UPDATE || type == LSA_DELETE) {
		take_lsa(m, len, type == LSA_DELETE, now);
	} else if (type == REACHABLE_CHANGE) {
		take_reachable(m, len);
	} else if ((type == NEW_INTERFACE || type == INTERFACE_CHANGE) && len >= 8) {
		add_target(cw_be32(m + 4));
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

static void learn(uint64_t now)
{
	bool all = now >= o.complete_ms || o.complete_ms == UINT64_MAX;
	bool changed = cw_ospf_lsdb_changed();

	if (all && o.complete_ms != UINT64_MAX) {
		o.complete_ms = UINT64_MAX;
		changed = true;
	}
	if (!changed)
		return;
	cw_ospf_lsdb_tell(&o.teller, all, now);
	summarise(false, now);
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
	if (o.state == OPEN)
		learn(now);
}

uint64_t cw_ospf_run(uint64_t now)
{
	if (!cw_peers.conf->ospf2) {
		cw_ospf_stop(now);
		return UINT64_MAX;
	}
	if (o.state != CLOSED && is_other_purpose()) {
		shut("another scope, area or server is configured", now);
		o.due_ms = now;
	}
	if (o.state == CLOSED && now >= o.due_ms)
		begin(now);
	if (o.state == CONNECTING)
		check_connecting(now);
	if (o.state == OPEN)
		run_open(now);
	if (o.state != OPEN)
		return o.due_ms;
	return o.wanted && o.due_ms < o.complete_ms ? o.due_ms : o.complete_ms;
}

void cw_ospf_stop(uint64_t now)
{
	if (o.state != CLOSED)
		shut("no longer wanted", now);
	o.due_ms = 0;
}
