/* filter.h - which packets are wanted: a small exact language.
 *
 *	expr = and { ("or" | "||") and }
 *	and  = not { ("and" | "&&") not }
 *	not  = ("not" | "!") not | "(" expr ")" | test
 *	test = key op value
 *	op   = "=" | "==" | "!=" | "<" | "<=" | ">" | ">="
 *
 * Keys: family, layer, addr, src, dst, port, sport, dport, npi, vlan, verdict, icrc, and
 * LAYER.FIELD for every field of every header. "a != b" is "not a = b".
 */
#ifndef CLI_FILTER_H
#define CLI_FILTER_H

#include "causeway/packet.h"

#define FILTER_ERROR_MAX 256

struct filter;

/* Compile. -1 with the reason in `err`. Free with filter_free(). */
int filter_new(struct filter **out, const char *expr, char err[FILTER_ERROR_MAX]);
void filter_free(struct filter *f);

bool filter_match(const struct filter *f, const struct cw_packet *p);

/* What `--help` says about it. */
#define FILTER_HELP                                                                          \
	"filter expressions:\n"                                                              \
	"  KEY=VALUE, KEY!=VALUE, for numbers also < <= > >=; joined by and, or, not, ( )\n" \
	"  family=NAME layer=NAME   packet family or header that takes part\n"               \
	"  addr= src= dst=          IP or MAC address, or prefix (10.0.0.0/8)\n"             \
	"  port= sport= dport=      UDP port\n"                                              \
	"  npi=ID                   UB partition (of native packets)\n"                      \
	"  vlan=VID                 VLAN\n"                                                  \
	"  verdict=NAME             ok, short, length, checksum, ...\n"                      \
	"  icrc=STATE               ok, bad, absent, unchecked\n"                            \
	"  LAYER.FIELD=VALUE        any field of any header, named as in the JSON\n"

#endif
