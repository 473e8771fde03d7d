/* cut.h - packets of which a capture kept no more than the beginning. */
#ifndef CAUSEWAY_CUT_H
#define CAUSEWAY_CUT_H

#include "causeway/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Take apart a frame of `len` octets of which the first `caplen` are in `data` (a snap length).
 * Layers that are whole are found as in the whole frame; everything behind them is payload, an ICRC
 * that was cut off is ABSENT, one that was not UNCHECKED, and the verdict tells of errors in what
 * is there only. `room` of `len` octets is overwritten. Everything else, and a frame that is not
 * cut, as by cw_dissect(). */
int cw_dissect_cut(struct cw_packet *out, enum cw_link link, const void *data, size_t caplen,
		   size_t len, void *room, const struct cw_dissect_opts *opts);

#ifdef __cplusplus
}
#endif
#endif
