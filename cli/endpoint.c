/* endpoint.c - a software UB endpoint on a real interface. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include "cli/clock.h"
#include "cli/endpoint.h"
#include "cli/interrupt.h"

#define BURST     64
#define HOP_AGAIN (5 * SECOND)
#define PEER_MS   10000
#define HOP_MS    3500  /* a neighbour's answer */
#define SOON      20000 /* ns: sleeping would take longer */
#define OVERHEAD  178   /* headers around the payload at most, IPv6 and all extensions */

static int fail(struct endpoint *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int fail(struct endpoint *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(e->err, sizeof(e->err), fmt, ap);
	va_end(ap);
	return -1;
}

/* ---- The local half ------------------------------------------------------------------------- */

/* An IPv4 connection to a socket of both families is IPv4. */
static unsigned from_sockaddr(const struct sockaddr_storage *ss, uint8_t out[16])
{
	const struct sockaddr_in *a4 = (const void *)ss;
	const struct sockaddr_in6 *a6 = (const void *)ss;

	memset(out, 0, 16);
	if (ss->ss_family == AF_INET) {
		memcpy(out, &a4->sin_addr, 4);
		return 4;
	}
	if (IN6_IS_ADDR_V4MAPPED(&a6->sin6_addr)) {
		memcpy(out, (const uint8_t *)&a6->sin6_addr + 12, 4);
		return 4;
	}
	memcpy(out, &a6->sin6_addr, 16);
	return 6;
}

static int own_address(struct endpoint *e)
{
	struct sockaddr_storage own, peer;
	unsigned version;

	if (e->o.address != NULL) {
		(void)ep_address(e->o.address, e->src, &version);
	} else {
		rdv_addresses(e->rdv, &own, &peer);
		version = from_sockaddr(&own, e->src);
	}
	if (e->o.ip_version != 0 && e->o.ip_version != version)
		return fail(e, "the data shall be IPv%u but the own address is IPv%u: give -a",
			    e->o.ip_version, version);
	e->o.ip_version = version;
	return 0;
}

static bool is_address(const struct ifaddrs *i, const struct endpoint *e)
{
	struct sockaddr_storage ss = {0};
	uint8_t a[16];

	if (i->ifa_addr == NULL ||
	    (i->ifa_addr->sa_family != AF_INET && i->ifa_addr->sa_family != AF_INET6))
		return false;
	memcpy(&ss, i->ifa_addr,
	       i->ifa_addr->sa_family == AF_INET ? sizeof(struct sockaddr_in)
						 : sizeof(struct sockaddr_in6));
	return from_sockaddr(&ss, a) == e->o.ip_version && memcmp(a, e->src, 16) == 0;
}

/* The interface that was given, or the one that has the address. */
static int own_interface(struct endpoint *e)
{
	struct ifaddrs *list = NULL, *i;
	char text[INET6_ADDRSTRLEN];

	const char *given = e->o.dpdk != NULL ? e->o.dpdk : e->o.ifname;

	if (given != NULL) {
		(void)snprintf(e->ifname, sizeof(e->ifname), "%s", given);
		return 0;
	}
	if (getifaddrs(&list) < 0)
		return fail(e, "addresses of this machine: %s", strerror(errno));
	for (i = list; i != NULL && e->ifname[0] == '\0'; i = i->ifa_next) {
		if (is_address(i, e))
			(void)snprintf(e->ifname, sizeof(e->ifname), "%s", i->ifa_name);
	}
	freeifaddrs(list);
	if (e->ifname[0] == '\0' && e->o.ip_version == 4 && e->src[0] == 127)
		(void)snprintf(e->ifname, sizeof(e->ifname), "lo");
	if (e->ifname[0] != '\0')
		return 0;
	(void)inet_ntop(e->o.ip_version == 4 ? AF_INET : AF_INET6, e->src, text, sizeof(text));
	return fail(e, "no interface has the address %s: give -i", text);
}

static int choose_mtu(struct endpoint *e)
{
	unsigned room = epnet_mtu(e->net), mtu = e->o.mtu != 0 ? e->o.mtu : 4096;

	while (e->o.mtu == 0 && mtu > 256 && mtu + OVERHEAD > room)
		mtu /= 2;
	if (mtu + OVERHEAD > room)
		return fail(e, "%s: packets of %u octets of payload do not fit its MTU of %u",
			    e->ifname, mtu, room);
	e->o.mtu = mtu;
	return 0;
}

static int make_local(struct endpoint *e)
{
	struct cw_uboe_dev_opts d = CW_UBOE_DEV_OPTS;
	struct epnet_opts n = {
		.native = e->o.native, .dpdk = e->o.dpdk != NULL, .udp_port = d.udp_port};

	if (own_address(e) < 0 || own_interface(e) < 0)
		return -1;
	n.ifname = e->ifname;
	n.ip_version = e->o.ip_version;
	memcpy(n.src, e->src, 16);
	if (epnet_open(&e->net, &n, e->err) < 0 || choose_mtu(e) < 0)
		return -1;
	if (getrandom(&d.seed, sizeof(d.seed), 0) != sizeof(d.seed))
		return fail(e, "no random numbers: %s", strerror(errno));
	return cw_uboe_dev_new(&e->dev, &d) == CW_OK ? 0 : fail(e, "out of memory");
}

static double cpu_seconds(void)
{
	struct rusage u = {0};

	(void)getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

int ep_begin(struct endpoint *e, const struct ep_opts *o, int listener, const char *service)
{
	int family = AF_UNSPEC, rc;

	memset(e, 0, sizeof(*e));
	e->o = *o;
	e->cpu_before = cpu_seconds();
	if (o->ip_version != 0 && o->address == NULL)
		family = o->ip_version == 4 ? AF_INET : AF_INET6;
	(void)prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
	if (o->server)
		rc = rdv_accept(&e->rdv, listener, &o->key, service, e->err);
	else
		rc = rdv_connect(&e->rdv, o->host, o->port, family, &o->key, service, e->err);
	if (rc < 0)
		return -1;
	if (make_local(e) < 0) {
		rdv_refuse(e->rdv, e->err);
		return -1;
	}
	return 0;
}

void ep_end(struct endpoint *e)
{
	cw_uboe_dev_free(e->dev);
	epnet_close(e->net);
	rdv_close(e->rdv);
	e->dev = NULL;
	e->net = NULL;
	e->rdv = NULL;
}

void ep_server_failed(const struct endpoint *e, const char *command, bool keep)
{
	if (e->rdv != NULL || !interrupted())
		fprintf(stderr, "causeway %s: %s\n", command, e->err);
	else if (!keep)
		fprintf(stderr, "causeway %s: interrupted, and no client came\n", command);
}

/* ---- The peer -------------------------------------------------------------------------------- */

/* DPDK has no kernel below it that knows routes: the frames go to the peer, or where --hop says. */
static int dpdk_hop(struct endpoint *e)
{
	if (e->o.hop_kind == EP_HOP_MAC) {
		epnet_set_hop(e->net, e->o.hop);
		return 0;
	}
	if (e->o.hop_kind == EP_HOP_IP && e->o.hop_version != e->o.ip_version)
		return fail(e, "--hop has an IPv%u address, the data are IPv%u", e->o.hop_version,
			    e->o.ip_version);
	return epnet_find_hop(e->net, e->o.hop_kind == EP_HOP_IP ? e->o.hop : e->dst, HOP_MS,
			      e->err);
}

static int find_hop(struct endpoint *e)
{
	uint8_t mac[6];

	if (e->o.native) /* the other end of the link takes everything */
		return 0;
	if (e->o.dpdk != NULL)
		return dpdk_hop(e);
	if (epnet_route(&e->route, e->o.ip_version, e->dst, e->ifname, e->err) < 0)
		return -1;
	if (strcmp(e->route.ifname, e->ifname) != 0)
		return fail(e, "the route to the peer leads over %s, not over %s", e->route.ifname,
			    e->ifname);
	if (epnet_resolve(&e->route, e->o.ip_version, e->dst, HOP_MS, mac, e->err) < 0)
		return -1;
	epnet_set_hop(e->net, mac);
	e->ask_hop_at = clock_now_ns() + HOP_AGAIN;
	return 0;
}

/* Link addresses change (a router that is replaced): the kernel knows. */
static void refresh_hop(struct endpoint *e, uint64_t now)
{
	char err[IO_ERROR_MAX];
	uint8_t mac[6];

	if (e->o.native || e->o.dpdk != NULL || e->route.no_hop || now < e->ask_hop_at)
		return;
	if (epnet_resolve(&e->route, e->o.ip_version, e->dst, 0, mac, err) == 0)
		epnet_set_hop(e->net, mac);
	e->ask_hop_at = now + HOP_AGAIN;
}

static struct cw_uboe_tp_opts tp_opts(const struct endpoint *e, unsigned channel)
{
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;

	t.form = e->o.native ? CW_UBOE_FORM_NATIVE : CW_UBOE_FORM_UBOE;
	t.ip_version = (uint8_t)e->o.ip_version;
	memcpy(t.src, e->src, 16);
	memcpy(t.dst, e->dst, 16);
	t.dscp = (uint8_t)e->o.dscp;
	t.npi = e->o.npi;
	t.mtu = e->o.mtu;
	t.window = e->o.window;
	t.reorder = e->o.window < 1024 ? e->o.window : 1024;
	t.sport = (uint16_t)(0xc000 + (channel << e->o.sport_bits));
	t.ack_sport = t.sport;
	t.sport_bits = (uint8_t)e->o.sport_bits;
	t.spray = e->o.spray;
	/* Packets on many paths overtake each other: that is no loss (UB 2.0 6.4). */
	t.fast = t.fast && !(t.sport_bits > 0 && t.spray == CW_UBOE_BY_PACKET);
	t.retx = e->o.retx;
	t.cc = e->o.cc;
	t.rto_base = 16000000; /* a busy machine sleeps longer than a network takes */
	t.retries = 10;        /* 32 s, for a stalled disk; that a peer died the rendezvous tells */
	/* an end on Ethernet sees CE only, and a light mark that crossed a gateway may be one */
	t.two_levels = e->o.native;
	t.line_rate = e->o.line_rate;
	if (t.dcqcn_hai > t.line_rate)
		t.dcqcn_hai = t.line_rate;
	if (t.dcqcn_ai > t.line_rate)
		t.dcqcn_ai = t.line_rate;
	knobs_apply(&e->o.knobs, &t, NULL);
	return t;
}

static int make_channels(struct endpoint *e, struct ep_depth depth)
{
	struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
	struct cw_uboe_jetty_opts j = CW_UBOE_JETTY_OPTS;
	struct cw_diag diag = {0};
	unsigned i;

	g.service = e->o.service;
	g.spread = e->o.spread;
	g.ta_retries = 0;
	knobs_apply(&e->o.knobs, NULL, &g);
	if (cw_uboe_tpg_new(e->dev, &g, &e->tpg) != CW_OK)
		return fail(e, "out of memory");
	for (i = 0; i < e->o.channels; i++) {
		struct cw_uboe_tp_opts t = tp_opts(e, i);

		if (cw_uboe_tp_new(e->tpg, &t, &e->tp[i], &diag) != CW_OK)
			return fail(e, "channel option %s: %s", diag.path, diag.reason);
	}
	j.send_depth = depth.send;
	j.recv_depth = depth.recv;
	if (cw_uboe_jetty_new(e->dev, &j, &e->jetty) != CW_OK)
		return fail(e, "out of memory for a jetty");
	return 0;
}

static json_t *describe(const struct endpoint *e)
{
	char text[INET6_ADDRSTRLEN];

	(void)inet_ntop(e->o.ip_version == 4 ? AF_INET : AF_INET6, e->src, text, sizeof(text));
	return json_pack("{s:s,s:s,s:i,s:i,s:i,s:s,s:s,s:s,s:s,s:s,s:o}", "address", text, "form",
			 e->o.native ? "native" : "uboe", "mtu", (int)e->o.mtu, "window",
			 (int)e->o.window, "channels", (int)e->o.channels, "cc", ep_cc[e->o.cc],
			 "retx", ep_retx[e->o.retx], "service", ep_service[e->o.service], "spread",
			 ep_spread[e->o.spread], "spray", ep_spread[e->o.spray], "settings",
			 knobs_json(&e->o.knobs));
}

static json_t *describe_tps(const struct endpoint *e)
{
	json_t *list = json_array();
	struct cw_uboe_tp_peer p;
	unsigned i;

	for (i = 0; i < e->o.channels; i++) {
		cw_uboe_tp_local(e->tp[i], &p);
		(void)json_array_append_new(
			list, json_pack("{s:I,s:I,s:I,s:I}", "tpn", (json_int_t)p.tpn, "psn",
					(json_int_t)p.psn, "mtu", (json_int_t)p.mtu, "window",
					(json_int_t)p.window));
	}
	return list;
}

static int set_peer(struct endpoint *e, json_t *peer)
{
	const char *address = "";
	unsigned version = 0;

	(void)json_unpack(peer, "{s?s}", "address", &address);
	if (!ep_address(address, e->dst, &version))
		return fail(e, "the peer's address '%.60s' is none", address);
	if (version != e->o.ip_version)
		return fail(e, "the peer's address %s is IPv%u, the own one IPv%u", address,
			    version, e->o.ip_version);
	return find_hop(e);
}

static int connect_tps(struct endpoint *e, json_t *list, json_int_t jetty)
{
	unsigned i;
	int rc;

	if (json_array_size(list) != e->o.channels)
		return fail(e, "the peer has %zu channels, not %u", json_array_size(list),
			    e->o.channels);
	for (i = 0; i < e->o.channels; i++) {
		json_int_t tpn = -1, psn = -1, mtu = -1, window = -1;
		struct cw_uboe_tp_peer p;

		if (json_unpack(json_array_get(list, i), "{s:I,s:I,s:I,s:I}", "tpn", &tpn, "psn",
				&psn, "mtu", &mtu, "window", &window) < 0 ||
		    tpn < 0 || tpn > 0xffffff || psn < 0 || psn > 0xffffff || mtu < 256 ||
		    mtu > 8192 || window < 1 || window > 2048)
			return fail(e, "the peer's channel %u is not described well", i);
		p = (struct cw_uboe_tp_peer){(uint32_t)tpn, (uint32_t)psn, (uint32_t)mtu,
					     (uint32_t)window};
		/* UTP has no state to agree on. */
		rc = e->o.service != CW_UBOE_UNO ? cw_uboe_tp_connect(e->tp[i], &p) : CW_OK;
		if (rc != CW_OK)
			return fail(e, "connecting channel %u: %s", i, cw_strerror(rc));
	}
	if (jetty < 0 || jetty > 0xfffff)
		return fail(e, "the peer's jetty is not described well");
	if (cw_uboe_import(e->jetty, e->tpg, (uint32_t)jetty, 0, &e->to) != CW_OK)
		return fail(e, "out of memory");
	return 0;
}

static unsigned take_packets(struct endpoint *e, uint64_t now)
{
	enum cw_uboe_form form = e->o.native ? CW_UBOE_FORM_NATIVE : CW_UBOE_FORM_UBOE;
	const uint8_t *p;
	unsigned n = 0;
	size_t len;

	while (n < BURST && epnet_recv(e->net, &p, &len)) {
		(void)cw_uboe_input(e->dev, form, p, len, now); /* it counts what it drops */
		n++;
	}
	return n;
}

/* A port of DPDK is polled meanwhile: the peer's kernel may be asking for its link address. */
static int await_reply(struct endpoint *e, json_t **msg)
{
	uint64_t until = clock_now_ns() + PEER_MS * 1000000ull;
	int rc;

	do {
		rc = rdv_recv(e->rdv, msg, e->o.dpdk != NULL ? 1 : PEER_MS, e->err);
		if (rc == 0)
			(void)take_packets(e, clock_now_ns());
	} while (rc == 0 && clock_now_ns() < until);
	return rc == 0 ? fail(e, "the peer does not answer") : rc < 0 ? -1 : 0;
}

int ep_offer(struct endpoint *e, json_t *extra)
{
	return rdv_send(e->rdv, json_pack("{s:o,s:o*}", "endpoint", describe(e), "test", extra),
			e->err);
}

/* The client's choice of what both ends must have in common. */
static int adopt(struct endpoint *e, json_t *peer)
{
	const char *cc = "", *retx = "", *service = "roi", *spread = "packet", *spray = "flow";
	char err[KNOBS_ERROR_MAX];
	int channels = 0, window = 0, k, r, s, by, ports;

	(void)json_unpack(peer, "{s?s,s?s,s?i,s?i,s?s,s?s,s?s}", "cc", &cc, "retx", &retx,
			  "channels", &channels, "window", &window, "service", &service, "spread",
			  &spread, "spray", &spray);
	k = ep_one_of(cc, ep_cc, 3);
	r = ep_one_of(retx, ep_retx, 2);
	s = ep_one_of(service, ep_service, 4);
	by = ep_one_of(spread, ep_spread, 2);
	ports = ep_one_of(spray, ep_spread, 2);
	if (k < 0 || r < 0 || s < 0 || by < 0 || ports < 0 || channels < 1 ||
	    channels > EP_CHANNELS_MAX || window < 128 || window > 2048 ||
	    (window & (window - 1)) != 0)
		return fail(e,
			    "the offer is not understood: cc '%.20s', retx '%.20s', service "
			    "'%.20s', spread '%.20s', spray '%.20s', %d channels, window %d",
			    cc, retx, service, spread, spray, channels, window);
	if (knobs_from_json(&e->o.knobs, json_object_get(peer, "settings"), err) < 0)
		return fail(e, "the offer is refused: %s", err);
	e->o.cc = (enum cw_uboe_cc)k;
	e->o.retx = (enum cw_uboe_retx)r;
	e->o.service = (enum cw_uboe_service)s;
	e->o.spread = (enum cw_uboe_spread)by;
	e->o.spray = (enum cw_uboe_spread)ports;
	e->o.channels = (unsigned)channels;
	e->o.window = (uint32_t)window;
	return 0;
}

int ep_await_offer(struct endpoint *e, struct ep_depth depth, json_t **msg)
{
	json_t *peer;

	if (await_reply(e, msg) < 0)
		return -1;
	peer = json_object_get(*msg, "endpoint");
	if (adopt(e, peer) == 0 && set_peer(e, peer) == 0 && make_channels(e, depth) == 0)
		return 0;
	json_decref(*msg);
	*msg = NULL;
	rdv_refuse(e->rdv, e->err);
	return -1;
}

int ep_answer(struct endpoint *e, json_t *extra)
{
	return rdv_send(e->rdv,
			json_pack("{s:o,s:o,s:I,s:o*}", "endpoint", describe(e), "tps",
				  describe_tps(e), "jetty", (json_int_t)cw_uboe_jetty_id(e->jetty),
				  "test", extra),
			e->err);
}

static int finish_connect(struct endpoint *e, json_t *msg)
{
	json_int_t jetty = -1;
	json_t *tps = NULL;

	(void)json_unpack(msg, "{s?o,s?I}", "tps", &tps, "jetty", &jetty);
	if (connect_tps(e, tps, jetty) == 0)
		return 0;
	rdv_refuse(e->rdv, e->err);
	return -1;
}

static int answer_taken(struct endpoint *e, struct ep_depth depth, json_t *msg)
{
	json_t *ready = NULL;

	if (set_peer(e, json_object_get(msg, "endpoint")) < 0 || make_channels(e, depth) < 0) {
		rdv_refuse(e->rdv, e->err);
		return -1;
	}
	if (finish_connect(e, msg) < 0 ||
	    rdv_send(e->rdv,
		     json_pack("{s:o,s:I}", "tps", describe_tps(e), "jetty",
			       (json_int_t)cw_uboe_jetty_id(e->jetty)),
		     e->err) < 0 ||
	    await_reply(e, &ready) < 0)
		return -1;
	json_decref(ready);
	return 0;
}

int ep_await_answer(struct endpoint *e, struct ep_depth depth, json_t **msg)
{
	if (await_reply(e, msg) < 0)
		return -1;
	if (answer_taken(e, depth, *msg) == 0)
		return 0;
	json_decref(*msg);
	*msg = NULL;
	return -1;
}

int ep_await_connect(struct endpoint *e)
{
	json_t *msg;
	int rc;

	if (await_reply(e, &msg) < 0)
		return -1;
	rc = finish_connect(e, msg);
	json_decref(msg);
	return rc < 0 ? -1 : rdv_send(e->rdv, json_pack("{s:b}", "ready", 1), e->err);
}

/* ---- Packets and time ------------------------------------------------------------------------ */

static int send_packets(struct endpoint *e, uint64_t now, unsigned *n)
{
	size_t len[IO_BURST], room;
	int got = 0;

	e->no_room = false;
	for (*n = 0; *n < IO_BURST; (*n)++) {
		uint8_t *p = epnet_room(e->net, *n, &room);

		e->no_room = p == NULL;
		if (p == NULL || (got = cw_uboe_output(e->dev, p, room, now, NULL)) <= 0)
			break;
		len[*n] = (size_t)got;
	}
	if (got < 0)
		return fail(e, "building a packet: %s", cw_strerror(got));
	return *n == 0 ? 0 : epnet_send(e->net, len, *n, e->err);
}

/* 1 when the peer says something. */
static int wait_events(struct endpoint *e, uint64_t ns)
{
	struct timespec ts = {(time_t)(ns / SECOND), (long)(ns % SECOND)};
	struct pollfd fds[2] = {{.fd = epnet_fd(e->net), .events = POLLIN},
				{.fd = rdv_fd(e->rdv), .events = POLLIN}};

	if (rdv_pending(e->rdv))
		return 1;
	if (ppoll(fds, 2, &ts, NULL) < 0)
		return errno == EINTR ? 0 : fail(e, "poll: %s", strerror(errno));
	if (fds[0].revents & POLLERR)
		return fail(e, "%s: the interface is down", e->ifname);
	return fds[1].revents != 0;
}

unsigned ep_take(struct endpoint *e)
{
	return take_packets(e, clock_now_ns());
}

int ep_send(struct endpoint *e, unsigned taken, uint64_t wait_ns)
{
	uint64_t now = clock_now_ns(), next;
	unsigned out;

	if (send_packets(e, now, &out) < 0)
		return -1;
	if (taken + out > 0 || e->no_room) {
		e->busy_at = now;
		return 0;
	}
	refresh_hop(e, now);
	next = cw_uboe_next_timer(e->dev);
	if (next != CW_UBOE_NEVER && next < now + wait_ns)
		wait_ns = next > now ? next - now : 0;
	if (wait_ns < SOON || now - e->busy_at < e->o.spin_us * 1000ull || e->o.dpdk != NULL)
		wait_ns = 0;
	return wait_events(e, wait_ns);
}

int ep_step(struct endpoint *e, uint64_t wait_ns)
{
	return ep_send(e, ep_take(e), wait_ns);
}

int ep_await(struct endpoint *e, json_t **msg, uint64_t timeout_ns)
{
	uint64_t until = clock_now_ns() + timeout_ns;
	int rc;

	while (clock_now_ns() < until) {
		rc = ep_step(e, SECOND / 10);
		if (rc > 0)
			rc = rdv_recv(e->rdv, msg, 0, e->err);
		if (rc != 0)
			return rc < 0 ? -1 : 0;
	}
	return fail(e, "the peer does not answer");
}

/* ---- Report ---------------------------------------------------------------------------------- */

json_t *ep_report(struct endpoint *e)
{
	json_t *r = json_object(), *list = json_array(), *counters = json_object();
	struct cw_uboe_tp_info info;
	unsigned i;

	for (i = 0; i < CW_UBOE_COUNTER_COUNT; i++) {
		uint64_t n = cw_uboe_dev_count(e->dev, (enum cw_uboe_counter)i);

		if (n != 0)
			(void)json_object_set_new(counters,
						  cw_uboe_counter_name((enum cw_uboe_counter)i),
						  json_integer((json_int_t)n));
	}
	for (i = 0; i < e->o.channels && e->tp[i] != NULL; i++) {
		cw_uboe_tp_get_info(e->tp[i], &info);
		(void)json_array_append_new(
			list, json_pack("{s:I,s:I,s:I,s:I,s:I}", "tpn", (json_int_t)info.tpn, "rtx",
					(json_int_t)info.counters[CW_UBOE_C_RTX], "srtt_ns",
					(json_int_t)info.srtt, "rate", (json_int_t)info.rate,
					"cwnd", (json_int_t)info.cwnd));
	}
	(void)json_object_set_new(r, "cpu_seconds", json_real(cpu_seconds() - e->cpu_before));
	(void)json_object_set_new(r, "counters", counters);
	(void)json_object_set_new(r, "channels", list);
	(void)json_object_set_new(r, "ring_drops", json_integer((json_int_t)epnet_drops(e->net)));
	return r;
}
