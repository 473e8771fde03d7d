/* field.h - the field-table engine: each header is written down once.
 *
 * A header is an X-macro with one row a field. From it come the inline accessors, the descriptor
 * that drives decoder, JSON, craft, the Wireshark plugin, and docs/wire. A table looks like this:
 *
 *	#define CW_TABLE_UDP(U, W, B)                                                     \
 *		U(udp, sport,  0, 16, DEC, 0,       none, "RFC 768", "source port")       \
 *		U(udp, length, 32, 16, DEC, CW_AUTO, none, "RFC 768", "header and data")
 *	#define CW_SIZE_UDP 8
 *	CW_HDR_ACCESSORS(CW_TABLE_UDP)	  in the header file: cw_udp_sport(p), cw_udp_set_sport(p,
 *v) CW_HDR_DEFINE(udp, "UDP", CW_SIZE_UDP, CW_TABLE_UDP, "RFC 768", fix) in the .c file: cw_hdr_udp
 *
 * Row columns: header, field, first bit, bits, show, default, names, clause, text.
 *	U  an integer of up to 32 bits      W  an integer of 33 to 64 bits
 *	B  octets (bit and bits are multiples of 8); the accessor returns a pointer
 * show: DEC HEX FLAG NAME (integers); IP4 IP6 MAC OCTETS (B rows; IP4 is a B row of 32 bits).
 * default: what craft writes when the field is left out; CW_AUTO = the header's fix() computes it.
 * names: `none`, or x for the array `const struct cw_name cw_names_x[]`, ended by a NULL name.
 */
#ifndef CAUSEWAY_FIELD_H
#define CAUSEWAY_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "causeway/bits.h"
#include "causeway/err.h"

#ifdef __cplusplus
extern "C" {
#endif

enum cw_show {
	CW_SHOW_DEC,
	CW_SHOW_HEX,
	CW_SHOW_FLAG,
	CW_SHOW_NAME,
	CW_SHOW_IP4,
	CW_SHOW_IP6,
	CW_SHOW_MAC,
	CW_SHOW_OCTETS
};

/* A named value of a field. */
struct cw_name {
	uint64_t value;
	const char *name;
};

#define CW_AUTO UINT64_MAX

struct cw_field {
	const char *name;
	uint16_t bit, width;
	enum cw_show show;
	uint64_t def;
	const struct cw_name *names;
	const char *clause, *text;
};

struct cw_craft;

/* A header's descriptor. `size` is the fixed part in octets; what a layer has beyond it (IPv4
 * options, a SACK bitmap) is its tail, shown as octets under the name "tail". */
struct cw_hdr {
	const char *name, *title, *clause;
	uint16_t size, nfields;
	const struct cw_field *fields;
	/* Fill the fields that depend on others and were not given (see craft.h); may be NULL. */
	void (*fix)(struct cw_craft *c, unsigned layer);
};

#define CW_ACCESSOR_U(h, f, bit, width, show, def, names, clause, text) \
	CW_INLINE uint32_t cw_##h##_##f(const uint8_t *p)               \
	{                                                               \
		return (uint32_t)cw_bits_get(p, bit, width);            \
	}                                                               \
	CW_INLINE void cw_##h##_set_##f(uint8_t *p, uint32_t v)         \
	{                                                               \
		cw_bits_set(p, bit, width, v);                          \
	}
#define CW_ACCESSOR_W(h, f, bit, width, show, def, names, clause, text) \
	CW_INLINE uint64_t cw_##h##_##f(const uint8_t *p)               \
	{                                                               \
		return cw_bits_get(p, bit, width);                      \
	}                                                               \
	CW_INLINE void cw_##h##_set_##f(uint8_t *p, uint64_t v)         \
	{                                                               \
		cw_bits_set(p, bit, width, v);                          \
	}
#define CW_ACCESSOR_B(h, f, bit, width, show, def, names, clause, text) \
	CW_INLINE const uint8_t *cw_##h##_##f(const uint8_t *p)         \
	{                                                               \
		return p + (bit) / 8;                                   \
	}                                                               \
	CW_INLINE void cw_##h##_set_##f(uint8_t *p, const void *v)      \
	{                                                               \
		memcpy(p + (bit) / 8, v, (width) / 8);                  \
	}
#define CW_HDR_ACCESSORS(table) table(CW_ACCESSOR_U, CW_ACCESSOR_W, CW_ACCESSOR_B)

#define cw_names_none NULL
#define CW_FIELD_ROW(h, f, bit, width, show, def, names, clause, text) \
	{#f, bit, width, CW_SHOW_##show, def, cw_names_##names, clause, text},
#define CW_FIELD_CHECK(h, f, bit, width, show, def, names, clause, text) \
	_Static_assert((bit) % 8 + (width) <= 64, #h "." #f " touches more than 8 octets");
#define CW_FIELD_CHECK_B(h, f, bit, width, show, def, names, clause, text) \
	_Static_assert((bit) % 8 == 0 && (width) % 8 == 0, #h "." #f " is not whole octets");

/* Define `const struct cw_hdr cw_hdr_<h>` from a table (C only). */
#define CW_HDR_DEFINE(h, title, size, table, clause, fix)                                    \
	table(CW_FIELD_CHECK, CW_FIELD_CHECK,                                                \
	      CW_FIELD_CHECK_B) static const struct cw_field fields_##h[] = {                \
		table(CW_FIELD_ROW, CW_FIELD_ROW, CW_FIELD_ROW)};                            \
	const struct cw_hdr cw_hdr_##h = {                                                   \
		#h,         title, clause, size, sizeof(fields_##h) / sizeof(fields_##h[0]), \
		fields_##h, fix};

/* The same for a header without fixed fields: all of it is tail. */
#define CW_HDR_DEFINE_OPAQUE(h, title, clause) \
	const struct cw_hdr cw_hdr_##h = {#h, title, clause, 0, 0, NULL, NULL};

CW_INLINE bool cw_field_is_int(const struct cw_field *f)
{
	return f->show <= CW_SHOW_NAME;
}

/* Integer fields: the value at header `p`. */
CW_INLINE uint64_t cw_field_get(const struct cw_field *f, const uint8_t *p)
{
	return cw_bits_get(p, f->bit, f->width);
}

/* Field of `h` by name, or NULL. */
const struct cw_field *cw_field_find(const struct cw_hdr *h, const char *name);

/* Name of a value of an integer field, or NULL. */
const char *cw_field_value_name(const struct cw_field *f, uint64_t value);

#define CW_FIELD_TEXT_MAX 80

/* Write the value of field `f` of the header at `p` as text: decimal, 0x hex, address, or hex
 * octets. Returns the length, or CW_E_SPACE. OCTETS fields need 2 characters an octet. */
int cw_field_format(const struct cw_field *f, const uint8_t *p, char *buf, size_t size);

/* Parse what cw_field_format writes (and value names, and 0x or decimal for every integer) into
 * the header at `p`. CW_E_SYNTAX, CW_E_RANGE; the header is untouched on error. */
int cw_field_parse(const struct cw_field *f, uint8_t *p, const char *text);

/* Hex octets: returns the number of octets written to `out`, CW_E_SYNTAX or CW_E_SPACE. */
int cw_hex_parse(const char *text, uint8_t *out, size_t size);

/* Address text. The parsers return CW_OK or CW_E_SYNTAX; the writers fill `buf` (46 octets are
 * enough for each) with the canonical form (RFC 5952 for IPv6). */
int cw_ip4_parse(const char *text, uint8_t out[4]);
int cw_ip6_parse(const char *text, uint8_t out[16]);
int cw_mac_parse(const char *text, uint8_t out[6]);
#define CW_ADDR_TEXT 46
void cw_ip4_format(const uint8_t *a, char buf[CW_ADDR_TEXT]);
void cw_ip6_format(const uint8_t *a, char buf[CW_ADDR_TEXT]);
void cw_mac_format(const uint8_t *a, char buf[CW_ADDR_TEXT]);

#ifdef __cplusplus
}
#endif
#endif
