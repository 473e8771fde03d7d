/* craft.h - build a packet from layers and fields, the inverse of cw_dissect().
 *
 * Layers are appended outermost first. Fields that are set are kept as given, right or wrong;
 * fields left out get their default, and lengths, checksums and ICRC are computed at the end.
 */
#ifndef CAUSEWAY_CRAFT_H
#define CAUSEWAY_CRAFT_H

#include "causeway/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cw_craft {
	uint8_t *data; /* the caller's buffer */
	uint32_t size, len;
	unsigned nlayers;
	struct cw_layer layers[CW_MAX_LAYERS];
	uint64_t given[CW_MAX_LAYERS]; /* bit i: field i of the layer was set by the caller */
	uint32_t payload_off, payload_len;
	uint32_t pad_len;
	bool pad_given;
	bool icrc_given, icrc_none; /* a wire value was given; no ICRC is wanted */
	bool icrc_wanted;           /* one is, if the family may go without */
	uint32_t icrc_wire;
	uint32_t end; /* of the packet proper: the trailer begins here */
	/* Layers behind this one end with the payload, in front of pad and ICRC. */
	unsigned cover;
	struct cw_dissect_opts opts;
};

/* An empty packet in `buf`, which is borrowed and has room for `size` octets. */
void cw_craft_init(struct cw_craft *c, void *buf, size_t size);

/* Append a layer with `tail` octets behind the fixed part, all fields at their defaults.
 * CW_E_SPACE or CW_E_DEPTH. */
int cw_craft_layer(struct cw_craft *c, const struct cw_hdr *hdr, const void *tail, size_t tail_len);

/* Set a field of the last layer from text. CW_E_NAME, CW_E_SYNTAX, CW_E_RANGE. */
int cw_craft_field(struct cw_craft *c, const char *field, const char *text);

/* Append the payload, once, behind the last layer. */
int cw_craft_payload(struct cw_craft *c, const void *data, size_t len);

/* Append explicit pad octets behind the payload (len 0: no padding at all). */
int cw_craft_pad(struct cw_craft *c, const void *data, size_t len);

/* Use this ICRC value instead of the computed one. */
void cw_craft_icrc(struct cw_craft *c, uint32_t wire);

/* Have an ICRC, though the family may go without (the article's UET). */
void cw_craft_want_icrc(struct cw_craft *c);

/* Leave the ICRC out, though the family has one. */
void cw_craft_no_icrc(struct cw_craft *c);

/* Compute what was left out, from the innermost layer outwards, then append `trailer`; NULL: what
 * the family puts behind its ICRC, if anything. CW_E_SPACE. c->len is the length of the frame. */
int cw_craft_finish(struct cw_craft *c, const void *trailer, size_t trailer_len);

/* ---- For fix() and seal() ---------------------------------------------------------------- */

/* The octets of a layer, to be written to. */
CW_INLINE uint8_t *cw_craft_data(struct cw_craft *c, unsigned layer)
{
	return c->data + c->layers[layer].off;
}

/* Was the field (by name) given by the caller? */
bool cw_craft_given(const struct cw_craft *c, unsigned layer, const char *field);

/* Octets from the start of `layer` to the end of the packet proper (ICRC included), or to the end
 * of the payload for layers inside a family that covers them. */
CW_INLINE uint32_t cw_craft_span(const struct cw_craft *c, unsigned layer)
{
	uint32_t end = layer > c->cover ? c->payload_off + c->payload_len : c->end;

	return end - c->layers[layer].off;
}

#ifdef __cplusplus
}
#endif
#endif
