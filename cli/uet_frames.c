/* uet_frames.c - the UET engine over a port of DPDK: Ethernet, IP and UDP are made and read here.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "causeway/wire/eth.h"
#include "causeway/bits.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/uec.h"
#include "cli/clock.h"
#include "cli/io.h"
#include "cli/uet.h"

enum { FIRST_PORT = 49152, TTL = 64, IDLE_NS = 20000 };
#define ASK_NS 5000000000u /* for an answer, before giving up */

struct uet_frames {
	struct io *io;
	unsigned version;
	uint32_t head; /* octets in front of the UDP payload */
	uint8_t own[16], hop[6];
	bool has_hop, asks; /* the latter: the port asks for it again and again */
	uint16_t port;      /* of path 0; server: of all */
	size_t len[IO_BURST];
};

static const uint8_t *address_of(const struct sockaddr_in6 *a, unsigned version)
{
	return (const uint8_t *)&a->sin6_addr + (version == 4 ? 12 : 0);
}

/* ---- Open ------------------------------------------------------------------------------------ */

/* A client takes what comes to its paths' ports and to the receiver's: path_of(), is_return(). */
static int open_port(struct uet_io *io, const struct uet_opts *o)
{
	struct uet_frames *f = io->frames;
	struct io_opts opts = {.device = o->dpdk,
			       .dpdk = true,
			       .ethertype = f->version == 4 ? CW_ETHERTYPE_IP4 : CW_ETHERTYPE_IP6,
			       .udp_first = io->server ? f->port : 0,
			       .udp_last = io->server ? f->port : 0,
			       .frame_max = f->head + CW_UET_HEAD_MAX + uet_mtu(o) + CW_UEC_CRC_LEN,
			       .ip_version = f->version};
	unsigned fits, needs = f->head - CW_SIZE_ETH + CW_UET_HEAD_MAX + uet_mtu(o);

	memcpy(opts.address, f->own, 16);
	needs += o->crc ? CW_UEC_CRC_LEN : 0;
	if (io_open(&f->io, &opts, io->err) < 0)
		return -1;
	fits = io_mtu(f->io);
	if (fits >= needs)
		return 0;
	(void)snprintf(io->err, sizeof(io->err),
		       "%.100s: packets of %u octets do not fit its MTU of %u: --mtu %u", o->dpdk,
		       needs, fits, uet_mtu(o) - (needs - fits));
	return -1;
}

/* Nothing is sent before the other end's link address is known. */
static int find_hop(struct uet_io *io, const struct uet_opts *o)
{
	struct uet_frames *f = io->frames;
	uint64_t until = clock_now_ns() + ASK_NS;
	struct timespec idle = {.tv_nsec = IDLE_NS};
	struct io_frame in[IO_BURST];

	io_ask(f->io, address_of(&io->far[0].path[0], f->version));
	while (io_hop(f->io, f->hop) != 1) {
		if (io_recv(f->io, in, IO_BURST) == 0)
			(void)nanosleep(&idle, NULL);
		if (clock_now_ns() < until)
			continue;
		(void)snprintf(io->err, sizeof(io->err),
			       "%.80s: %.60s does not answer %s; if a router is between, name it: "
			       "--hop",
			       o->dpdk, o->to, f->version == 4 ? "ARP" : "neighbour discovery");
		return -1;
	}
	f->has_hop = f->asks = true;
	return 0;
}

int uet_frames_open(struct uet_io *io, const struct uet_opts *o, unsigned paths)
{
	struct uet_frames *f = io->frames = calloc(1, sizeof(*io->frames));
	struct sockaddr_in6 own;
	unsigned i;

	if (f == NULL)
		return uet_io_complain(io, "port", "out of memory");
	if (uet_io_resolve(io, o->address, o->port, &own) < 0)
		return -1;
	f->version = IN6_IS_ADDR_V4MAPPED(&own.sin6_addr) ? 4 : 6;
	f->head = CW_SIZE_ETH + (f->version == 4 ? CW_SIZE_IPV4 : CW_SIZE_IPV6) + CW_SIZE_UDP;
	memcpy(f->own, address_of(&own, f->version), f->version == 4 ? 4 : 16);
	f->port = io->server ? o->port : o->source_port != 0 ? o->source_port : FIRST_PORT;
	f->has_hop = o->has_hop;
	memcpy(f->hop, o->hop, 6);
	if (!io->server && IN6_IS_ADDR_V4MAPPED(&io->far[0].path[0].sin6_addr) != (f->version == 4))
		return uet_io_complain(io, o->address, "not of the receiver's IP version");
	for (i = 0; i < paths && !io->server; i++)
		io->port[i] = (uint16_t)(f->port + i);
	if (open_port(io, o) < 0)
		return -1;
	return io->server || f->has_hop ? 0 : find_hop(io, o);
}

void uet_frames_close(struct uet_frames *f)
{
	if (f == NULL)
		return;
	io_close(f->io);
	free(f);
}

/* ---- Out ------------------------------------------------------------------------------------- */

static void put_ip(const struct uet_frames *f, uint8_t *ip, const uint8_t *dst, uint32_t udp_len,
		   bool ect)
{
	if (f->version == 4) {
		memset(ip, 0, CW_SIZE_IPV4);
		cw_ipv4_set_version(ip, 4);
		cw_ipv4_set_ihl(ip, 5);
		cw_ipv4_set_ecn(ip, ect ? CW_ECN_ECT0 : CW_ECN_NOT_ECT);
		cw_ipv4_set_length(ip, CW_SIZE_IPV4 + udp_len);
		cw_ipv4_set_df(ip, 1);
		cw_ipv4_set_ttl(ip, TTL);
		cw_ipv4_set_proto(ip, CW_IPPROTO_UDP);
		memcpy(ip + 12, f->own, 4);
		memcpy(ip + 16, dst, 4);
		cw_ipv4_set_checksum(ip, cw_ipv4_compute(ip));
		return;
	}
	memset(ip, 0, CW_SIZE_IPV6);
	cw_ipv6_set_version(ip, 6);
	cw_ipv6_set_ecn(ip, ect ? CW_ECN_ECT0 : CW_ECN_NOT_ECT);
	cw_ipv6_set_length(ip, udp_len);
	cw_ipv6_set_next_header(ip, CW_IPPROTO_UDP);
	cw_ipv6_set_hop_limit(ip, TTL);
	memcpy(ip + 8, f->own, 16);
	memcpy(ip + 24, dst, 16);
}

static size_t put_frame(const struct uet_io *io, uint8_t *frame, const struct cw_uet_packet *p)
{
	const struct uet_frames *f = io->frames;
	const struct sockaddr_in6 *to = &io->far[p->peer].path[p->path];
	uint8_t *udp = frame + f->head - CW_SIZE_UDP;
	uint32_t trailer = io->crc ? CW_UEC_CRC_LEN : 0, crc = 0;
	uint32_t len = CW_SIZE_UDP + p->head_len + p->payload_len + trailer;

	cw_eth_set_type(frame, f->version == 4 ? CW_ETHERTYPE_IP4 : CW_ETHERTYPE_IP6);
	memcpy(frame, f->hop, 6);
	memcpy(frame + 6, io_mac(f->io), 6);
	put_ip(f, frame + CW_SIZE_ETH, address_of(to, f->version), len, p->ect);
	memcpy(udp + CW_SIZE_UDP, p->head, p->head_len);
	if (p->payload_len > 0)
		memcpy(udp + CW_SIZE_UDP + p->head_len, p->payload, p->payload_len);
	cw_udp_set_sport(udp, io->server ? f->port : f->port + p->path);
	cw_udp_set_dport(udp, ntohs(to->sin6_port));
	cw_udp_set_length(udp, len);
	cw_udp_set_checksum(udp, 0);
	if (io->crc) {
		(void)cw_uec_crc(frame + CW_SIZE_ETH,
				 f->head - CW_SIZE_ETH - CW_SIZE_UDP + len - trailer, &crc);
		cw_put_le32(udp + len - trailer, crc);
	} else {
		cw_udp_set_checksum(udp, cw_udp_compute(frame + CW_SIZE_ETH, udp, len));
	}
	return f->head - CW_SIZE_UDP + len;
}

/* Packets that are due, a burst at most: how many, or -1. */
static int send_burst(struct uet_io *io, uint64_t now)
{
	struct uet_frames *f = io->frames;
	struct cw_uet_packet p;
	unsigned n = 0;
	uint8_t *room;

	if (f->asks)
		(void)io_hop(f->io, f->hop);
	/* room first: what the engine gives out counts as sent */
	while (n < IO_BURST && f->has_hop && (room = io_room(f->io, n)) != NULL &&
	       cw_uet_output(io->u, now, &p)) {
		if (p.path < io->far[p.peer].known)
			f->len[n++] = put_frame(io, room, &p);
	}
	return n == 0 || io_send(f->io, f->len, n, io->err) == 0 ? (int)n : -1;
}

/* ---- In -------------------------------------------------------------------------------------- */

/* The UDP header of a whole packet to this end, with its peer's address; NULL: it is none. */
static const uint8_t *udp_of(const struct uet_frames *f, const struct io_frame *in,
			     struct sockaddr_in6 *from, bool *ce)
{
	const uint8_t *ip = in->data + CW_SIZE_ETH, *udp = in->data + f->head - CW_SIZE_UDP;
	uint32_t head = f->head - CW_SIZE_ETH, len, alen = f->version == 4 ? 4 : 16;
	const uint8_t *src = ip + (f->version == 4 ? 12 : 8);

	if (in->len < f->head)
		return NULL;
	if (f->version == 4 &&
	    (cw_ipv4_version(ip) != 4 || cw_ipv4_ihl(ip) != 5 ||
	     cw_ipv4_proto(ip) != CW_IPPROTO_UDP || cw_ipv4_mf(ip) || cw_ipv4_frag_off(ip) != 0 ||
	     cw_ipv4_checksum(ip) != cw_ipv4_compute(ip)))
		return NULL;
	if (f->version == 6 &&
	    (cw_ipv6_version(ip) != 6 || cw_ipv6_next_header(ip) != CW_IPPROTO_UDP))
		return NULL;
	len = f->version == 4 ? cw_ipv4_length(ip) : CW_SIZE_IPV6 + cw_ipv6_length(ip);
	if (len < head || len > in->len - CW_SIZE_ETH ||
	    cw_udp_length(udp) != len - (head - CW_SIZE_UDP) ||
	    memcmp(src + alen, f->own, alen) != 0)
		return NULL;
	if (cw_udp_checksum(udp) != 0 &&
	    cw_udp_checksum(udp) != cw_udp_compute(ip, udp, cw_udp_length(udp)))
		return NULL;
	*ce = (f->version == 4 ? cw_ipv4_ecn(ip) : cw_ipv6_ecn(ip)) == CW_ECN_CE;
	*from = (struct sockaddr_in6){.sin6_family = AF_INET6,
				      .sin6_port = htons((uint16_t)cw_udp_sport(udp))};
	memcpy((uint8_t *)&from->sin6_addr + (f->version == 4 ? 12 : 0), src, alen);
	if (f->version == 4)
		memset((uint8_t *)&from->sin6_addr + 10, 0xff, 2);
	return udp;
}

/* Octets of a packet's UDP data, without CRC; -1: its CRC is wrong. */
static int data_of(struct uet_io *io, const struct io_frame *in, const uint8_t *udp)
{
	const uint8_t *ip = in->data + CW_SIZE_ETH;
	uint32_t len = cw_udp_length(udp) - CW_SIZE_UDP, crc;

	if (!io->crc)
		return (int)len;
	if (len >= CW_UEC_CRC_LEN &&
	    cw_uec_crc(ip, (size_t)(udp - ip) + CW_SIZE_UDP + len - CW_UEC_CRC_LEN, &crc) ==
		    CW_OK &&
	    crc == cw_le32(udp + CW_SIZE_UDP + len - CW_UEC_CRC_LEN))
		return (int)(len - CW_UEC_CRC_LEN);
	io->bad_crc++;
	return -1;
}

/* Which path; -1: not the peer. The server's way back is where the first packet came from. */
static int path_of(struct uet_io *io, const uint8_t *udp, int len, const struct sockaddr_in6 *from,
		   unsigned *far)
{
	uint32_t k = cw_udp_dport(udp) - io->frames->port;

	if (io->server)
		return uet_io_path_of(io, from, udp + CW_SIZE_UDP, (size_t)len, far);
	if (k < io->far[0].known &&
	    memcmp(&from->sin6_addr, &io->far[0].path[0].sin6_addr, 16) == 0)
		return (int)k;
	io->strangers++;
	return -1;
}

static bool is_return(const struct uet_io *io, const uint8_t *udp)
{
	uint32_t port = cw_udp_dport(udp);

	return !io->server && port == ntohs(io->far[0].path[0].sin6_port) &&
	       port - io->frames->port >= io->far[0].known;
}

static unsigned receive_burst(struct uet_io *io)
{
	struct uet_frames *f = io->frames;
	struct io_frame in[IO_BURST];
	struct cw_uet_arrival a[IO_BURST];
	unsigned n = io_recv(f->io, in, IO_BURST), i, k = 0;

	for (i = 0; i < n; i++) {
		struct sockaddr_in6 from;
		bool ce;
		const uint8_t *udp = udp_of(f, &in[i], &from, &ce);
		unsigned far = 0;
		int len, path;

		if (udp != NULL && is_return(io, udp)) {
			uet_io_returned(io, &from, udp + CW_SIZE_UDP,
					cw_udp_length(udp) - CW_SIZE_UDP);
			continue;
		}
		len = udp != NULL ? data_of(io, &in[i], udp) : -1;
		path = len >= 0 ? path_of(io, udp, len, &from, &far) : -1;
		if (path < 0)
			continue;
		if (!f->has_hop) {
			memcpy(f->hop, in[i].data + 6, 6);
			f->has_hop = true;
		}
		a[k++] = (struct cw_uet_arrival){.peer = far,
						 .path = (unsigned)path,
						 .ce = ce,
						 .data = udp + CW_SIZE_UDP,
						 .len = (size_t)len};
	}
	(void)cw_uet_input_burst(io->u, clock_now_ns(), a, k);
	return n;
}

int uet_frames_turn(struct uet_io *io)
{
	uint64_t now = clock_now_ns();
	int sent = send_burst(io, now);

	if (sent < 0)
		return -1;
	uet_sample(io, now);
	if (receive_burst(io) == 0 && sent == 0) {
		struct timespec idle = {.tv_nsec = IDLE_NS};

		(void)nanosleep(&idle, NULL);
	}
	return 0;
}
