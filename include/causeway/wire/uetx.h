/* uetx.h - the 20-octet UET header of the article "UET Header" (UDP port 4792).
 *
 * It is not Ultra Ethernet as published: that one is wire/uec.h. The article gives field widths
 * and the size, and the two do not agree; docs/decisions.md says how they are read here. Data
 * packets have 20 octets, Ack and Nack have 24 with the Acknowledgement field behind. The literal
 * sum of the article's widths, 22 octets in every packet, is header uetx_literal and has to be
 * asked for (cw_dissect_opts.port_4792).
 * Deviations: opcode values, the meaning of the flags in Ack and Nack, and the body of a Nack are
 * the project's, the article does not give them.
 */
#ifndef CAUSEWAY_WIRE_UETX_H
#define CAUSEWAY_WIRE_UETX_H

#include "causeway/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CW_UETX_PORT    4792
#define CW_UETX_VERSION 1

/* Numbers of UE 1.0 where there is one (SES requests, PDS ACK and NACK), private ones above. */
enum cw_uetx_opcode {
	CW_UETX_WRITE = 0x01,
	CW_UETX_READ = 0x02,
	CW_UETX_SEND = 0x05,
	CW_UETX_ACK = 0x07,
	CW_UETX_NACK = 0x0a,
	CW_UETX_FENCE = 0x40,
	CW_UETX_READ_RESPONSE = 0x41,
};

/* Why a packet was refused: first octet of a Nack's body. A Nack without body is a packet that the
 * network sent back to its sender (profile "uetx" of BTS). */
enum cw_uetx_reason {
	CW_UETX_NO_BUFFER = 1, /* no receive was posted: try again later */
	CW_UETX_TOO_LONG,      /* longer than the posted buffer */
	CW_UETX_NO_CONTEXT,    /* DCID unknown, or SCID is not its peer's */
	CW_UETX_CONFLICT,      /* overlaps other bytes */
	CW_UETX_GEOMETRY,      /* offset and length fit no segmentation of this message */
	CW_UETX_NO_MEMORY,     /* out of memory for this peer: try again later */
	CW_UETX_ABANDONED,     /* the message was given up */
	CW_UETX_ACCESS,        /* outside the exposed memory, or not allowed there */
	CW_UETX_UNSUPPORTED,   /* opcode */
	CW_UETX_ID_WINDOW,     /* message id too far from those in use: try again later */
};

// clang-format off
#define CW_SIZE_UETX 20
#define CW_TABLE_UETX(U, W, B)                                                                     \
	U(uetx, version,    0,  4, DEC,  1,       none,        "UET article", "UEC version, 1")    \
	U(uetx, opcode,     4,  8, NAME, CW_AUTO, uetx_opcode, "UET article", "message type")      \
	U(uetx, ec,        12,  1, FLAG, 0,       none,        "UET article", "data: ECN-capable; Ack, Nack: CE was seen") \
	U(uetx, s,         13,  1, FLAG, 0,       none,        "UET article", "solicited; Ack, Nack: of a read response") \
	U(uetx, f,         14,  1, FLAG, 0,       none,        "UET article", "first packet of the message") \
	U(uetx, l,         15,  1, FLAG, 0,       none,        "UET article", "last packet; Ack: the message is complete") \
	U(uetx, dcid,      16, 24, HEX,  0,       none,        "UET article", "destination context") \
	U(uetx, scid,      40, 24, HEX,  0,       none,        "UET article", "source context")    \
	U(uetx, msg_id,    64, 32, DEC,  0,       none,        "UET article", "message, counted per source context") \
	U(uetx, offset,    96, 32, DEC,  0,       none,        "UET article", "of the first data octet in the message") \
	U(uetx, length,   128, 16, DEC,  CW_AUTO, none,        "UET article", "data octets in this packet") \
	U(uetx, reserved, 144, 16, HEX,  0,       none,        "project",     "zero; fills the article's 20 octets")

/* Behind the header of Ack and Nack. */
#define CW_SIZE_UETX_ACK 4
#define CW_TABLE_UETX_ACK(U, W, B)                                                                 \
	U(uetx_ack, cumulative, 0, 16, DEC, 0, none, "UET article", "packets received without a gap, modulo 2^16") \
	U(uetx_ack, sack,      16, 16, HEX, 0, none, "UET article", "bit i: packet i of the 16 around the offset is there")

/* Body of a Nack that an endpoint sends. */
#define CW_SIZE_UETX_NACK 4
#define CW_TABLE_UETX_NACK(U, W, B)                                                                \
	U(uetx_nack, reason,   0,  8, NAME, 0, uetx_reason, "project", "why the packet was refused") \
	U(uetx_nack, reserved, 8, 24, HEX,  0, none,        "project", "zero")

/* The article's widths as they are listed: 176 bits. */
#define CW_SIZE_UETX_LITERAL 22
#define CW_TABLE_UETX_LITERAL(U, W, B)                                                             \
	U(uetx_literal, version,      0,  4, DEC,  1,       none,        "UET article", "UEC version, 1") \
	U(uetx_literal, opcode,       4,  8, NAME, 5,       uetx_opcode, "UET article", "message type") \
	U(uetx_literal, ec,          12,  1, FLAG, 0,       none,        "UET article", "ECN-capable, or CE") \
	U(uetx_literal, s,           13,  1, FLAG, 0,       none,        "UET article", "solicited") \
	U(uetx_literal, f,           14,  1, FLAG, 0,       none,        "UET article", "first packet of the message") \
	U(uetx_literal, l,           15,  1, FLAG, 0,       none,        "UET article", "last packet of the message") \
	U(uetx_literal, dcid,        16, 24, HEX,  0,       none,        "UET article", "destination context") \
	U(uetx_literal, scid,        40, 24, HEX,  0,       none,        "UET article", "source context") \
	U(uetx_literal, msg_id,      64, 32, DEC,  0,       none,        "UET article", "message") \
	U(uetx_literal, offset,      96, 32, DEC,  0,       none,        "UET article", "of the first data octet in the message") \
	U(uetx_literal, length,     128, 16, DEC,  CW_AUTO, none,        "UET article", "data octets in this packet") \
	U(uetx_literal, cumulative, 144, 16, DEC,  0,       none,        "UET article", "cumulative acknowledgement") \
	U(uetx_literal, sack,       160, 16, HEX,  0,       none,        "UET article", "selective acknowledgement")
// clang-format on

CW_HDR_ACCESSORS(CW_TABLE_UETX)
CW_HDR_ACCESSORS(CW_TABLE_UETX_ACK)
CW_HDR_ACCESSORS(CW_TABLE_UETX_NACK)
CW_HDR_ACCESSORS(CW_TABLE_UETX_LITERAL)

extern const struct cw_hdr cw_hdr_uetx, cw_hdr_uetx_ack, cw_hdr_uetx_nack, cw_hdr_uetx_literal;
extern const struct cw_name cw_names_uetx_opcode[], cw_names_uetx_reason[];

/* Octets in front of the data of a packet with this opcode: 20, or 24 for Ack and Nack; 0 for an
 * opcode that is not assigned. */
CW_INLINE unsigned cw_uetx_header_len(uint32_t opcode)
{
	switch (opcode) {
	case CW_UETX_WRITE:
	case CW_UETX_READ:
	case CW_UETX_SEND:
	case CW_UETX_FENCE:
	case CW_UETX_READ_RESPONSE:
		return CW_SIZE_UETX;
	case CW_UETX_ACK:
	case CW_UETX_NACK:
		return CW_SIZE_UETX + CW_SIZE_UETX_ACK;
	default:
		return 0;
	}
}

/* Is the UDP payload of `len` octets at `p` an article UET packet? CW_OK, or why not: CW_E_SHORT,
 * CW_E_VERSION, CW_E_RESERVED (opcode, reserved field), CW_E_LENGTH (header + Payload Length must
 * be the whole UDP payload). This is also the test that tells it from UE 1.0 on port 4792. */
int cw_uetx_check(const uint8_t *p, size_t len);

#ifdef __cplusplus
}
#endif
#endif
