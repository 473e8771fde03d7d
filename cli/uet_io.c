/* uet_io.c - the UET engine over UDP sockets. A path is a source port: one socket each. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "causeway/bits.h"
#include "causeway/crc.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/uec.h"
#include "causeway/wire/uetx.h"
#include "cli/clock.h"
#include "cli/uet.h"
#include "daemon/huge.h"

enum { BATCH = 32, PACKET_MAX = 65536, BUFFER = 8 << 20 };

int uet_io_complain(struct uet_io *io, const char *what, const char *why)
{
	(void)snprintf(io->err, sizeof(io->err), "%s: %s", what, why);
	return -1;
}

/* IPv4 goes over the same sockets as mapped addresses. */
int uet_io_resolve(struct uet_io *io, const char *host, uint16_t port, struct sockaddr_in6 *out)
{
	struct addrinfo hints = {.ai_family = AF_INET6,
				 .ai_socktype = SOCK_DGRAM,
				 .ai_flags = AI_V4MAPPED | AI_ALL},
			*list;
	int rc = getaddrinfo(host, NULL, &hints, &list);

	if (rc != 0)
		return uet_io_complain(io, host, gai_strerror(rc));
	memcpy(out, list->ai_addr, sizeof(*out));
	out->sin6_port = htons(port);
	freeaddrinfo(list);
	return 0;
}

/* ---- CRC ------------------------------------------------------------------------------------ */

/* CRC-32C behind a packet: over the addresses, the UDP header with checksum zero, and what it
 * holds, as UE 1.0 has it. */
static uint32_t crc_of(const struct sockaddr_in6 *src, const struct sockaddr_in6 *dst,
		       const struct iovec *v, unsigned n)
{
	unsigned off = IN6_IS_ADDR_V4MAPPED(&dst->sin6_addr) ? 12 : 0, i;
	uint8_t head[16 + 16 + CW_SIZE_UDP] = {0}, *udp = head + 2 * (16 - off);
	size_t len = CW_SIZE_UDP + CW_UEC_CRC_LEN;
	uint32_t crc;

	for (i = 0; i < n; i++)
		len += v[i].iov_len;
	memcpy(head, src->sin6_addr.s6_addr + off, 16 - off);
	memcpy(head + 16 - off, dst->sin6_addr.s6_addr + off, 16 - off);
	cw_udp_set_sport(udp, ntohs(src->sin6_port));
	cw_udp_set_dport(udp, ntohs(dst->sin6_port));
	cw_udp_set_length(udp, (uint32_t)len);
	crc = cw_crc32c(0, head, (size_t)(udp + CW_SIZE_UDP - head));
	for (i = 0; i < n; i++)
		crc = cw_crc32c(crc, v[i].iov_base, v[i].iov_len);
	return crc;
}

/* Without a UDP checksum, which would have to cover the CRC and be covered by it. */
static int use_crc(struct uet_io *io, int s)
{
	int on = 1;

	if (setsockopt(s, SOL_SOCKET, SO_NO_CHECK, &on, sizeof(on)) < 0 ||
	    setsockopt(s, IPPROTO_UDP, UDP_NO_CHECK6_TX, &on, sizeof(on)) < 0 ||
	    setsockopt(s, IPPROTO_UDP, UDP_NO_CHECK6_RX, &on, sizeof(on)) < 0 ||
	    setsockopt(s, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof(on)) < 0)
		return uet_io_complain(io, "--crc", strerror(errno));
	return 0;
}

/* The address that packets to the receiver leave from. */
static int find_own(struct uet_io *io, unsigned path)
{
	socklen_t len = sizeof(io->own[path]);

	if (connect(io->sock[path], (struct sockaddr *)&io->far[0].path[path],
		    sizeof(io->far[0].path[path])) < 0 ||
	    getsockname(io->sock[path], (struct sockaddr *)&io->own[path], &len) < 0)
		return uet_io_complain(io, "--crc", strerror(errno));
	return 0;
}

/* Where the packet was sent to. */
static void own_of(const struct uet_io *io, struct msghdr *m, unsigned sock,
		   struct sockaddr_in6 *own)
{
	struct cmsghdr *c;
	struct in6_pktinfo info;

	*own = io->server ? (struct sockaddr_in6){.sin6_port = htons(io->port[0])} : io->own[sock];
	for (c = CMSG_FIRSTHDR(m); c != NULL && io->server; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
			memcpy(&info, CMSG_DATA(c), sizeof(info));
			own->sin6_addr = info.ipi6_addr;
		}
	}
}

/* Is the CRC right? Then without it. */
static bool crc_ok(struct uet_io *io, struct mmsghdr *m, unsigned sock)
{
	struct iovec v = {m->msg_hdr.msg_iov->iov_base, m->msg_len};
	struct sockaddr_in6 own;

	own_of(io, &m->msg_hdr, sock, &own);
	if (v.iov_len >= CW_UEC_CRC_LEN) {
		v.iov_len -= CW_UEC_CRC_LEN;
		if (crc_of(m->msg_hdr.msg_name, &own, &v, 1) ==
		    cw_le32((uint8_t *)v.iov_base + v.iov_len)) {
			m->msg_len -= CW_UEC_CRC_LEN;
			return true;
		}
	}
	io->bad_crc++;
	return false;
}

static int open_socket(struct uet_io *io, const struct sockaddr_in6 *local)
{
	int s = socket(AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1, off = 0;
	int size = BUFFER, ect = CW_ECN_ECT0;
	struct sockaddr_in6 at = {0};
	socklen_t len = sizeof(at);

	if (s < 0)
		return uet_io_complain(io, "socket", strerror(errno));
	(void)setsockopt(s, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
		(void)setsockopt(s, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	(void)setsockopt(s, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	(void)setsockopt(s, IPPROTO_IPV6, IPV6_RECVTCLASS, &on, sizeof(on));
	(void)setsockopt(s, IPPROTO_IP, IP_RECVTOS, &on, sizeof(on));
	(void)setsockopt(s, IPPROTO_IPV6, IPV6_TCLASS, &ect, sizeof(ect));
	(void)setsockopt(s, IPPROTO_IP, IP_TOS, &ect, sizeof(ect));
	if (io->crc && use_crc(io, s) < 0) {
		(void)close(s);
		return -1;
	}
	if (bind(s, (const struct sockaddr *)local, sizeof(*local)) < 0) {
		(void)uet_io_complain(io, "bind", strerror(errno));
		(void)close(s);
		return -1;
	}
	if (getsockname(s, (struct sockaddr *)&at, &len) == 0)
		io->port[io->nsock] = ntohs(at.sin6_port);
	io->sock[io->nsock++] = s;
	return 0;
}

static int make_engine(struct uet_io *io, const struct uet_opts *o, unsigned paths)
{
	struct cw_uet_settings s = o->s;

	s.memory = cw_ask_for_huge_pages;
	if (o->json)
		io->samples = calloc(1, sizeof(*io->samples));
	if (cw_uet_new(&io->u, &s) < 0 || cw_uet_peer(io->u, paths) < 0 ||
	    (o->json && io->samples == NULL))
		return uet_io_complain(io, "engine", "out of memory");
	return 0;
}

/* There is no set-up: the sender makes up an id, both ends' context has it, and the first message
 * is 0. */
static int open_context(struct uet_io *io, unsigned far, uint32_t id)
{
	struct cw_uet_context c = {.id = id, .remote_id = id, .peer = far};

	io->far[far].id = id;
	io->far[far].used = true;
	return cw_uet_open(io->u, &c);
}

static int make_client(struct uet_io *io, const struct uet_opts *o)
{
	uint32_t id;

	if (make_engine(io, o, o->paths) < 0)
		return -1;
	io->nfar = 1;
	if (getrandom(&id, sizeof(id), 0) != sizeof(id) || open_context(io, 0, id & 0xffffff) < 0)
		return uet_io_complain(io, "engine", "no context");
	return 0;
}

/* What the network sends back keeps the ports of the packet it speaks of: it comes to the
 * receiver's port on this host, from the path's source port. When the receiver has answered, one of
 * this host has its port already and keeps it. */
static void open_returns(struct uet_io *io)
{
	struct sockaddr_in6 local = {.sin6_family = AF_INET6,
				     .sin6_port = io->far[0].path[0].sin6_port};
	int s = socket(AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), off = 0;

	io->tried_returns = true;
	if (s < 0)
		return;
	(void)setsockopt(s, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	io->has_returns = bind(s, (struct sockaddr *)&local, sizeof(local)) == 0;
	if (io->has_returns)
		io->returns = s;
	else /* a receiver of this host has it */
		(void)close(s);
}

int uet_io_client(struct uet_io *io, const struct uet_opts *o)
{
	struct sockaddr_in6 local = {.sin6_family = AF_INET6};
	unsigned i;

	memset(io, 0, sizeof(*io));
	io->crc = o->crc;
	for (i = 0; i < o->paths && o->dpdk != NULL; i++) {
		if (uet_io_resolve(io, o->to, o->port, &io->far[0].path[i]) < 0)
			return -1;
	}
	io->far[0].known = o->paths;
	if (o->dpdk != NULL)
		return uet_frames_open(io, o, o->paths) < 0 ? -1 : make_client(io, o);
	for (i = 0; i < o->paths; i++) {
		if (o->source_port != 0)
			local.sin6_port = htons((uint16_t)(o->source_port + i));
		if (uet_io_resolve(io, o->to, o->port, &io->far[0].path[i]) < 0 ||
		    open_socket(io, &local) < 0 || (io->crc && find_own(io, i) < 0))
			return -1;
	}
	return make_client(io, o);
}

int uet_io_server(struct uet_io *io, const struct uet_opts *o)
{
	struct sockaddr_in6 local = {.sin6_family = AF_INET6, .sin6_port = htons(o->port)};

	io->server = true;
	io->crc = o->crc;
	if (o->dpdk != NULL)
		return uet_frames_open(io, o, UET_PATHS) < 0 ? -1 : make_engine(io, o, UET_PATHS);
	if (o->bind != NULL && uet_io_resolve(io, o->bind, o->port, &local) < 0)
		return -1;
	if (open_socket(io, &local) < 0)
		return -1;
	return make_engine(io, o, UET_PATHS);
}

void uet_io_close(struct uet_io *io)
{
	if (io->has_returns)
		(void)close(io->returns);
	io->has_returns = false;
	while (io->nsock > 0)
		(void)close(io->sock[--io->nsock]);
	uet_frames_close(io->frames);
	io->frames = NULL;
	cw_uet_free(io->u);
	free(io->samples);
	io->u = NULL;
	io->samples = NULL;
}

static int port_of(struct uet_far *f, const struct sockaddr_in6 *from)
{
	unsigned i;

	for (i = 0; i < f->known; i++) {
		if (f->path[i].sin6_port == from->sin6_port)
			return (int)i;
	}
	if (f->known == UET_PATHS)
		return -1;
	f->path[f->known] = *from;
	return (int)f->known++;
}

/* The first message of what nobody has finished. Others of it come again when it is known. */
static bool is_first(const struct uet_io *io, const uint8_t *data, size_t len)
{
	unsigned i;

	if (cw_uetx_check(data, len) != CW_OK || cw_uetx_msg_id(data) != 0 ||
	    cw_uetx_dcid(data) != cw_uetx_scid(data))
		return false;
	switch (cw_uetx_opcode(data)) {
	case CW_UETX_SEND:
	case CW_UETX_WRITE:
	case CW_UETX_READ:
		break;
	default:
		return false;
	}
	for (i = 0; i < UET_GONE && i < io->ngone; i++) {
		if (io->gone[i] == cw_uetx_scid(data))
			return false;
	}
	return true;
}

/* A place for a new sender, or -1: all are in use. */
static int new_far(struct uet_io *io, uint32_t id)
{
	unsigned k = 0;

	while (k < io->nfar && io->far[k].used)
		k++;
	if (k == UET_SENDERS || (k > 0 && k == io->nfar && cw_uet_peer(io->u, UET_PATHS) < 0))
		return -1;
	io->nfar += k == io->nfar;
	io->far[k].known = 0;
	io->far[k].packets = 0;
	if (open_context(io, k, id) < 0) {
		io->far[k].used = false;
		return -1;
	}
	if (io->opened(io->arg, k) == 0)
		return (int)k;
	uet_io_leave(io, k);
	return -1;
}

int uet_io_path_of(struct uet_io *io, const struct sockaddr_in6 *from, const uint8_t *data,
		   size_t len, unsigned *far)
{
	uint32_t id = len >= CW_SIZE_UETX ? cw_uetx_scid(data) : 0;
	int k = 0, path;

	while (k < (int)io->nfar &&
	       (!io->far[k].used || io->far[k].id != id || len < CW_SIZE_UETX ||
		memcmp(&io->far[k].path[0].sin6_addr, &from->sin6_addr, 16) != 0))
		k++;
	if (k == (int)io->nfar)
		k = is_first(io, data, len) ? new_far(io, id) : -1;
	path = k < 0 ? -1 : port_of(&io->far[k], from);
	if (path >= 0)
		io->far[k].packets++;
	io->strangers += path < 0;
	*far = (unsigned)k;
	return path;
}

void uet_io_leave(struct uet_io *io, unsigned far)
{
	(void)cw_uet_close(io->u, io->far[far].id);
	io->gone[io->ngone++ % UET_GONE] = io->far[far].id;
	io->far[far].used = false;
}

static bool is_marked(struct msghdr *m)
{
	struct cmsghdr *c;
	int v = 0;

	for (c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS)
			memcpy(&v, CMSG_DATA(c), sizeof(v));
		else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS)
			v = *CMSG_DATA(c);
	}
	return (v & 3) == CW_ECN_CE;
}

void uet_io_returned(struct uet_io *io, const struct sockaddr_in6 *from, const uint8_t *data,
		     size_t len)
{
	const struct uet_far *far = &io->far[0];
	uint64_t now = clock_now_ns();
	unsigned k = 0;

	while (k < far->known && io->port[k] != ntohs(from->sin6_port))
		k++;
	if (k == far->known || memcmp(&from->sin6_addr, &far->path[0].sin6_addr, 16) != 0)
		io->strangers++;
	else if (cw_uet_returned(io->u, now, 0, k, data, len) == CW_E_RESERVED)
		(void)cw_uet_input(io->u, now,
				   &(struct cw_uet_arrival){.path = k, .data = data, .len = len});
}

static void take_returns(struct uet_io *io)
{
	uint8_t data[PACKET_MAX];
	struct sockaddr_in6 from = {0};
	socklen_t size = sizeof(from);
	ssize_t n;

	while ((n = recvfrom(io->returns, data, sizeof(data), MSG_DONTWAIT,
			     (struct sockaddr *)&from, &size)) >= 0) {
		uet_io_returned(io, &from, data, (size_t)n);
		size = sizeof(from);
	}
}

static void take_in(struct uet_io *io, unsigned sock, bool *any)
{
	static uint8_t data[BATCH][PACKET_MAX], control[BATCH][128];
	struct sockaddr_in6 from[BATCH];
	struct mmsghdr m[BATCH];
	struct iovec v[BATCH];
	struct cw_uet_arrival a[BATCH];
	unsigned k = 0;
	int i, n;

	for (i = 0; i < BATCH; i++) {
		v[i] = (struct iovec){data[i], PACKET_MAX};
		m[i].msg_hdr = (struct msghdr){.msg_name = &from[i],
					       .msg_namelen = sizeof(from[i]),
					       .msg_iov = &v[i],
					       .msg_iovlen = 1,
					       .msg_control = control[i],
					       .msg_controllen = sizeof(control[i])};
	}
	n = recvmmsg(io->sock[sock], m, BATCH, MSG_DONTWAIT, NULL);
	for (i = 0; i < n; i++) {
		unsigned far = 0;
		int path = io->crc && !crc_ok(io, &m[i], sock) ? -1
			   : io->server ? uet_io_path_of(io, &from[i], data[i], m[i].msg_len, &far)
					: (int)sock;

		if (path >= 0 && io->crc && io->server)
			own_of(io, &m[i].msg_hdr, sock, &io->far[far].own);
		if (path >= 0)
			a[k++] = (struct cw_uet_arrival){.peer = far,
							 .path = (unsigned)path,
							 .ce = is_marked(&m[i].msg_hdr),
							 .data = data[i],
							 .len = m[i].msg_len};
		*any = true;
	}
	(void)cw_uet_input_burst(io->u, clock_now_ns(), a, k);
}

/* The answer's source is what was sent to, which its CRC covers. */
static void send_from(struct msghdr *m, void *room, size_t size, const struct sockaddr_in6 *own)
{
	struct in6_pktinfo info = {.ipi6_addr = own->sin6_addr};
	struct cmsghdr *c = memset(room, 0, size);

	m->msg_control = room;
	m->msg_controllen = size;
	c->cmsg_level = IPPROTO_IPV6;
	c->cmsg_type = IPV6_PKTINFO;
	c->cmsg_len = CMSG_LEN(sizeof(info));
	memcpy(CMSG_DATA(c), &info, sizeof(info));
}

/* A full socket is waited for; a peer that is not there yet is no error (ICMP comes back). */
static int send_one(struct uet_io *io, const struct cw_uet_packet *p)
{
	struct uet_far *far = &io->far[p->peer];
	struct iovec v[3] = {{(void *)p->head, p->head_len}, {(void *)p->payload, p->payload_len}};
	unsigned n = p->payload_len > 0 ? 2 : 1;
	union {
		struct cmsghdr align;
		uint8_t room[CMSG_SPACE(sizeof(struct in6_pktinfo))];
	} control;
	uint8_t crc[CW_UEC_CRC_LEN];
	struct msghdr m = {.msg_name = &io->far[p->peer].path[p->path],
			   .msg_namelen = sizeof(io->far[0].path[0]),
			   .msg_iov = v,
			   .msg_iovlen = n + io->crc};
	int s = io->sock[io->server ? 0 : p->path];
	struct pollfd wait = {.fd = s, .events = POLLOUT};

	if (io->crc) {
		cw_put_le32(crc, crc_of(io->server ? &far->own : &io->own[p->path],
					&far->path[p->path], v, n));
		v[n] = (struct iovec){crc, sizeof(crc)};
	}
	if (io->crc && io->server)
		send_from(&m, control.room, sizeof(control.room), &far->own);
	while (sendmsg(s, &m, 0) < 0) {
		if (errno == EAGAIN || errno == ENOBUFS)
			(void)poll(&wait, 1, 10);
		else if (errno == EMSGSIZE)
			return uet_io_complain(io, "send",
					       "packet is larger than the path takes: --mtu");
		else if (errno != ECONNREFUSED && errno != EINTR)
			return 0; /* an unreachable path is a lossy path */
	}
	return 0;
}

int uet_io_turn(struct uet_io *io, uint64_t wait_ns)
{
	struct pollfd fds[UET_PATHS];
	struct cw_uet_packet p;
	struct timespec t;
	uint64_t now = clock_now_ns(), at;
	unsigned i, burst;
	bool any = false;

	if (io->frames != NULL)
		return uet_frames_turn(io);
	for (burst = 0; burst < 2 * BATCH && cw_uet_output(io->u, now, &p); burst++) {
		if (p.path < io->far[p.peer].known && send_one(io, &p) < 0)
			return -1;
	}
	for (i = 0; i < io->nsock; i++)
		take_in(io, i, &any);
	if (!io->server && !io->tried_returns && cw_uet_count(io->u, CW_UET_RX_ACK) > 0)
		open_returns(io);
	if (io->has_returns)
		take_returns(io);
	uet_sample(io, now);
	if (any || burst == 2 * BATCH)
		return 0;
	at = cw_uet_deadline(io->u);
	now = clock_now_ns();
	if (at <= now)
		return 0;
	wait_ns = at - now < wait_ns ? at - now : wait_ns;
	t = (struct timespec){(time_t)(wait_ns / 1000000000u), (long)(wait_ns % 1000000000u)};
	for (i = 0; i < io->nsock; i++)
		fds[i] = (struct pollfd){.fd = io->sock[i], .events = POLLIN};
	(void)ppoll(fds, io->nsock, &t, NULL);
	return 0;
}
