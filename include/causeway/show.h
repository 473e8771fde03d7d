/* show.h - a dissected packet as a tree for people and as JSON for programs.
 *
 * Both come from the field tables. The JSON names every field, so that cw_craft_*() fed with it
 * gives the same bytes back.
 */
#ifndef CAUSEWAY_SHOW_H
#define CAUSEWAY_SHOW_H

#include "causeway/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where text goes: called with pieces, in order. */
struct cw_sink {
	void (*put)(void *ctx, const char *text, size_t len);
	void *ctx;
};

/* The members of a packet's JSON object, without the braces around them:
 *	"family"; "layers", an array in wire order: "layer" is the header's name, then its fields,
 *	"tail" as hex if there is one; "payload_length", "payload" (hex);
 *	"pad" (hex), if present, and empty where the family pads and this packet is not padded;
 *	"trailer" (hex), if present; "icrc" with "status", "wire", "computed";
 *	"verdict", "ok" or the error's name; for errors "error" (text) and "error_offset".
 * Fields are numbers. Those shown in hex or wider than 53 bits, addresses and octets are strings.
 */
void cw_show_json(const struct cw_packet *p, const struct cw_sink *out);

/* A tree: one line a layer, one indented line a field with names of values; reserved fields only
 * when they are not zero. */
void cw_show_text(const struct cw_packet *p, const struct cw_sink *out);

/* The same in a few words, for lists: "npi 7, fecn markable, RTP psn 5, Write tassn 1, payload 8,
 * ICRC ok", and the error. Layers in front of number `first` are left out, and those that only
 * carry others. No newline. */
void cw_show_line(const struct cw_packet *p, unsigned first, const struct cw_sink *out);

/* "10.1.0.1 > 10.2.0.1": source and destination of the innermost header that has some; nothing when
 * there is none. */
void cw_show_ends(const struct cw_packet *p, const struct cw_sink *out);

/* "absent", "ok", "bad", "unchecked". */
const char *cw_icrc_status_name(enum cw_icrc_status s);

#ifdef __cplusplus
}
#endif
#endif
