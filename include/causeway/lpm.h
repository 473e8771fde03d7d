/* lpm.h - longest prefix match over IPv4 and IPv6 addresses.
 *
 * Binary tries, one for each version (::/0 says nothing of IPv4), of as many steps as prefixes of
 * the table contain an address or part from it. For tables that are built by the control side and
 * asked once a notification.
 */
#ifndef CAUSEWAY_LPM_H
#define CAUSEWAY_LPM_H

#include "causeway/gid.h"
#include "causeway/err.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cw_lpm;

/* CW_E_NOMEM. Free with cw_lpm_free(). */
CW_MUST_USE int cw_lpm_new(struct cw_lpm **out);
void cw_lpm_free(struct cw_lpm *t); /* NULL is fine */

/* Enter or replace a prefix of `len` bits, 0 to 32 for IPv4 addresses, else 0 to 128. Bits behind
 * it do not matter. `value` is not 0. CW_E_RANGE, CW_E_NOMEM. */
CW_MUST_USE int cw_lpm_add(struct cw_lpm *t, const struct cw_gid *prefix, unsigned len,
			   uint32_t value);

/* CW_E_UNKNOWN when the prefix is not there. */
int cw_lpm_remove(struct cw_lpm *t, const struct cw_gid *prefix, unsigned len);

/* Value of the longest prefix of an address, 0 for none. `t` may be NULL: an empty table. */
uint32_t cw_lpm_find(const struct cw_lpm *t, const struct cw_gid *a);

#ifdef __cplusplus
}
#endif
#endif
