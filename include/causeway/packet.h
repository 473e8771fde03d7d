/* packet.h - a packet taken apart: its layers, payload, ICRC and verdict.
 *
 * cw_dissect() walks the families of the registry. Nothing is copied: offsets point into the
 * caller's bytes. A packet that stops being understood keeps the layers found so far; the rest is
 * payload and `verdict` says why.
 */
#ifndef CAUSEWAY_PACKET_H
#define CAUSEWAY_PACKET_H

#include "causeway/cursor.h"
#include "causeway/field.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CW_MAX_LAYERS 32

/* What a frame begins with. Values are libpcap's LINKTYPE numbers. */
enum cw_link {
	CW_LINK_ETHERNET = 1,
	CW_LINK_UB = 147,    /* USER0: LPH .. ICRC */
	CW_LINK_ERF = 197,   /* Endace records */
	CW_LINK_IPOIB = 242, /* GRH (zeros without one), encapsulation header, datagram */
	CW_LINK_IB = 247,    /* LRH .. VCRC */
};

struct cw_layer {
	const struct cw_hdr *hdr;
	uint32_t off, len;
};

enum cw_icrc_status { CW_ICRC_ABSENT, CW_ICRC_OK, CW_ICRC_BAD, CW_ICRC_UNCHECKED };

/* Byte order of an ICRC on the wire. Little-endian is what Ethernet's FCS and RoCE use and the
 * default for UB (UB 2.0 5.3.7 leaves it open). */
enum cw_icrc_order { CW_ICRC_LE, CW_ICRC_BE };

struct cw_icrc {
	enum cw_icrc_status status;
	uint32_t off;            /* of the four ICRC octets, valid unless ABSENT */
	uint32_t wire, computed; /* values, byte order undone */
};

struct cw_packet {
	const uint8_t *data;
	uint32_t len;
	uint32_t nlayers;
	struct cw_layer layers[CW_MAX_LAYERS];
	uint32_t payload_off, payload_len; /* behind the last layer, in front of pad and ICRC */
	uint32_t pad_len;                  /* zero octets that align the payload (UB 2.0 6.2.1) */
	uint32_t trailer_off, trailer_len; /* behind the packet: Ethernet padding, an FCS */
	struct cw_icrc icrc;
	const char *family; /* name of the innermost family that took part */
	int verdict;        /* CW_OK or the first error */
	uint32_t verdict_off;
};

#define CW_UB_PORT 4792 /* UDP: draft 4.1, IANA */

/* What packets to UDP port 4792 are taken for: UB, article UET and misdirected UE 1.0 share it. */
enum cw_4792 { CW_4792_BY_CONTENT, CW_4792_UB, CW_4792_UETX, CW_4792_UETX_LITERAL };

/* What packets to UDP port 4792 from or to a prefix are taken for, where content can't tell:
 * encrypted or cut captures. IPv4 prefixes use the first four octets of `addr`. */
struct cw_pin_4792 {
	uint8_t version, plen;
	uint8_t addr[16];
	enum cw_4792 family;
};

/* The longest prefix that the destination is in, else the source; NULL: neither is in one.
 * Addresses of 4 or 16 octets. */
const struct cw_pin_4792 *cw_pin_4792_find(const struct cw_pin_4792 *pins, unsigned n,
					   unsigned version, const uint8_t *src,
					   const uint8_t *dst);

/* Settings of a dissection; zero is the default of every member. */
struct cw_dissect_opts {
	enum cw_icrc_order icrc_order;
	bool no_icrc;     /* leave ICRCs UNCHECKED: the payload is not read */
	bool cetph_caqm;  /* CETPH of opcodes 3 and 6 is the CAQM form, not LDCP */
	uint16_t ub_port; /* UDP port of UB; 0 means 4792 */
	enum cw_4792 port_4792;
	bool uetx_crc; /* article UET packets end in a CRC-32C, over what that of UE 1.0 covers */
	/* The longest prefix that the destination is in, else the source, beats port_4792. */
	const struct cw_pin_4792 *pins;
	unsigned npins;
};

/* Take a frame apart. `opts` may be NULL. Returns out->verdict. */
int cw_dissect(struct cw_packet *out, enum cw_link link, const void *data, size_t len,
	       const struct cw_dissect_opts *opts);

/* First layer with this descriptor at or behind index `from`; -1 if there is none. */
int cw_packet_find(const struct cw_packet *p, const struct cw_hdr *hdr, unsigned from);

/* Where layer `i` (below p->nlayers) begins in the caller's octets. */
CW_INLINE const uint8_t *cw_layer_data(const struct cw_packet *p, unsigned i)
{
	return p->data + p->layers[i].off;
}

/* ---- For families ------------------------------------------------------------------------ */

/* What a family can be announced by. */
enum cw_sel {
	CW_SEL_LINK,
	CW_SEL_ETHERTYPE,
	CW_SEL_IPPROTO,
	CW_SEL_UDP_PORT,
	CW_SEL_QPN, /* destination queue pair of an IB datagram */
	CW_SEL_UD,  /* 0: an IB datagram to any other queue pair */
};

struct cw_dissector {
	struct cw_packet *pkt;
	struct cw_rd rd; /* what is left of the innermost layer's own length */
	struct cw_dissect_opts opts;
};

#define CW_CRAFT_TRAILER_MAX 4

struct cw_claim {
	enum cw_sel sel;
	uint32_t value;
};

/* A packet family: one pair of files, one line in the registry (lib/wire/registry.c). */
struct cw_family {
	const char *name, *title;
	const struct cw_hdr *const *hdrs; /* NULL-terminated */
	const struct cw_claim *claims;
	unsigned nclaims;
	/* Families that share a claim are asked in registry order; NULL says yes to all. */
	bool (*mine)(const struct cw_dissector *d);
	/* Consume headers from d->rd, push layers, hand on. Returns CW_OK or an error. */
	int (*dissect)(struct cw_dissector *d);
	/* For craft, asked of the family of the innermost layer: the payload is padded with zeros
	 * to a multiple of `pad_align` (0: never), and with seal() four octets are kept behind it
	 * for an ICRC, which seal() computes when everything else is final. */
	unsigned pad_align;
	/* Instead of pad_align, if not NULL: how many pad octets a packet of c->len octets so far
	 * needs; and whether this packet has an ICRC at all. */
	unsigned (*pad)(const struct cw_craft *c);
	bool (*sealed)(const struct cw_craft *c);
	uint32_t (*seal)(const struct cw_craft *c);
	bool seal_optional; /* without an ICRC, UDP in front has a checksum */
	bool icrc_le;       /* its ICRC is little-endian whatever the settings say (RoCE) */
	/* Pad and ICRC belong to this family also when layers of others stand inside it: they end
	 * in front of both. */
	bool covers;
	/* Octets behind the ICRC (a VCRC), made from the finished packet; with `covers` only. */
	unsigned (*trailer)(const struct cw_craft *c, uint8_t out[CW_CRAFT_TRAILER_MAX]);
};

/* The registry: NULL-terminated, in order of precedence. */
extern const struct cw_family *const cw_families[];

/* Header by name ("udp") over all families, or NULL. */
const struct cw_hdr *cw_hdr_find(const char *name);

/* The family that a header belongs to, or NULL. */
const struct cw_family *cw_hdr_family(const struct cw_hdr *hdr);

/* Push a layer of `len` octets (at least hdr->size) and move past it. *at (may be NULL) is its
 * first octet. CW_E_SHORT or CW_E_DEPTH; then nothing moved. */
CW_MUST_USE int cw_dissect_push(struct cw_dissector *d, const struct cw_hdr *hdr, size_t len,
				const uint8_t **at);

/* Hand the rest to whichever family claims (sel, value). CW_OK with the rest as payload when
 * nobody does. */
int cw_dissect_next(struct cw_dissector *d, enum cw_sel sel, uint32_t value);

/* The family that pads and seals a packet of these layers: the outermost that covers what it
 * carries, else the innermost; NULL without layers. *layer (may be NULL) is the first of its
 * layers. */
const struct cw_family *cw_layers_sealer(const struct cw_layer *layers, unsigned n,
					 unsigned *layer);

/* Cut the rest to its first `len` octets; what is behind becomes the packet's trailer, or pad where
 * an ICRC was found behind it.
 * CW_E_LENGTH when fewer are there. */
CW_MUST_USE int cw_dissect_limit(struct cw_dissector *d, size_t len);

#ifdef __cplusplus
}
#endif
#endif
