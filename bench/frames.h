/* frames.h - the packets that every benchmark feeds: RTP Write requests of a chosen payload, as
 * native UB on the emulated link and as UBoE with a VLAN tag, and the peers' frames of the same
 * size. All of one kind and payload have one length; they differ in flow. Made here octet by octet,
 * not by the code that is measured. */
#ifndef BENCH_FRAMES_H
#define BENCH_FRAMES_H

#include <stddef.h>
#include <stdint.h>

enum bench_kind {
	BENCH_UB,    /* EtherType 0x88B6, LPH .. ICRC */
	BENCH_UBOE,  /* 802.1Q, IP, UDP 4792 .. ICRC */
	BENCH_PLAIN, /* IPv4, UDP: as long as BENCH_UB; what OVS encapsulates */
	BENCH_VXLAN, /* VXLAN around such a frame: as long as BENCH_UBOE; what OVS decapsulates */
};

#define BENCH_ROOM      9728 /* octets that hold any frame of 8 KB payload, and headroom */
#define BENCH_VID       101  /* partition and VLAN of all packets */
#define BENCH_UB_HEAD   24   /* in front of IP: Ethernet 14, LPH 4, CCI 2, NPI 4 */
#define BENCH_UBOE_HEAD 18   /* in front of IP: Ethernet 14, tag 4 */

/* Route r of a table as large as a real one: /24s 73 apart, from 1.0.0.0 to 112.99.32.0, so that no
 * two share a cache line of the lookup table; or /48s that follow each other. Flow f takes route
 * BENCH_ROUTE(f), so that flows beside each other have routes far apart. */
#define BENCH_ROUTES   100000u
#define BENCH_ROUTE(f) ((f)*7919u % BENCH_ROUTES)
#define BENCH_NET4(r)  ((0x10000u + (r)*73u) << 8)
#define BENCH_DST4(f)  (BENCH_NET4(BENCH_ROUTE(f)) | 9u)
void bench_net6(uint8_t net[16], unsigned route);
void bench_dst6(uint8_t dst[16], unsigned flow);

/* Build one frame in buf (BENCH_ROOM octets); returns its length. `version` is 4 or 6 (the peers'
 * kinds: 4 only). */
size_t bench_frame(uint8_t *buf, enum bench_kind kind, unsigned version, unsigned payload,
		   unsigned flow);

#endif
