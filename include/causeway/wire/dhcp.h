/* dhcp.h - DHCP, with what it looks like over InfiniBand.
 * Spec: RFC 2131 2, RFC 2132; over InfiniBand RFC 4390, its client identifier RFC 4361 6.1.
 * Deviations: options are type, length and octets, but for that identifier; options in the fields
 * sname and file are not looked for.
 */
#ifndef CAUSEWAY_WIRE_DHCP_H
#define CAUSEWAY_WIRE_DHCP_H

#include "causeway/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CW_DHCP_SERVER    67
#define CW_DHCP_CLIENT    68
#define CW_DHCP_COOKIE    0x63825363u
#define CW_DHCP_CLIENT_ID 61

// clang-format off
#define CW_SIZE_DHCP 240
#define CW_TABLE_DHCP(U, W, B)                                                                     \
	U(dhcp, op,          0,    8, NAME, 1, dhcp_op,    "RFC 2131 2", "request or reply")       \
	U(dhcp, htype,       8,    8, DEC,  1, dhcp_htype, "RFC 4390 2.1", "hardware type; 32 over InfiniBand") \
	U(dhcp, hlen,       16,    8, DEC,  6, none,       "RFC 4390 2.1", "octets in chaddr; 0 over InfiniBand") \
	U(dhcp, hops,       24,    8, DEC,  0, none,       "RFC 2131 2", "relays passed")          \
	U(dhcp, xid,        32,   32, HEX,  0, none,       "RFC 2131 2", "transaction")            \
	U(dhcp, secs,       64,   16, DEC,  0, none,       "RFC 2131 2", "seconds since it began") \
	U(dhcp, broadcast,  80,    1, FLAG, 0, none,       "RFC 4390 2.1", "answer by broadcast; set over InfiniBand") \
	U(dhcp, reserved1,  81,   15, HEX,  0, none,       "RFC 2131 2", "must be zero")           \
	B(dhcp, ciaddr,     96,   32, IP4,  0, none,       "RFC 2131 2", "client's address")       \
	B(dhcp, yiaddr,    128,   32, IP4,  0, none,       "RFC 2131 2", "address for the client") \
	B(dhcp, siaddr,    160,   32, IP4,  0, none,       "RFC 2131 2", "next server")            \
	B(dhcp, giaddr,    192,   32, IP4,  0, none,       "RFC 2131 2", "relay")                  \
	B(dhcp, chaddr,    224,  128, OCTETS, 0, none,     "RFC 4390 2.1", "hardware address; zeros over InfiniBand") \
	B(dhcp, sname,     352,  512, OCTETS, 0, none,     "RFC 2131 2", "server's name")          \
	B(dhcp, file,      864, 1024, OCTETS, 0, none,     "RFC 2131 2", "boot file")              \
	U(dhcp, cookie,   1888,   32, HEX,  0x63825363, none, "RFC 2131 3", "options follow")

#define CW_SIZE_DHCP_OPT 2
#define CW_TABLE_DHCP_OPT(U, W, B)                                                                 \
	U(dhcp_opt, code,   0, 8, NAME, 0,       dhcp_opt, "RFC 2132", "option; its value is the tail") \
	U(dhcp_opt, length, 8, 8, DEC,  CW_AUTO, none,     "RFC 2132", "octets of the value")

/* Client identifier in the form that RFC 4390 asks for. */
#define CW_SIZE_DHCP_IAID 9
#define CW_TABLE_DHCP_IAID(U, W, B)                                                                \
	U(dhcp_iaid, code,      0,  8, NAME, 61,      dhcp_opt,  "RFC 4390 2.1", "client identifier") \
	U(dhcp_iaid, length,    8,  8, DEC,  CW_AUTO, none,      "RFC 4361 6.1", "octets that follow") \
	U(dhcp_iaid, type,     16,  8, HEX,  0xff,    none,      "RFC 4361 6.1", "0xff")           \
	U(dhcp_iaid, iaid,     24, 32, HEX,  0,       none,      "RFC 4361 6.1", "identity association") \
	U(dhcp_iaid, duid,     56, 16, NAME, 3,       dhcp_duid, "RFC 8415 11",  "type of the DUID, which is the tail")
// clang-format on

CW_HDR_ACCESSORS(CW_TABLE_DHCP)
CW_HDR_ACCESSORS(CW_TABLE_DHCP_OPT)
CW_HDR_ACCESSORS(CW_TABLE_DHCP_IAID)

extern const struct cw_hdr cw_hdr_dhcp, cw_hdr_dhcp_opt, cw_hdr_dhcp_iaid;
extern const struct cw_name cw_names_dhcp_op[], cw_names_dhcp_htype[], cw_names_dhcp_opt[],
	cw_names_dhcp_duid[];

#ifdef __cplusplus
}
#endif
#endif
