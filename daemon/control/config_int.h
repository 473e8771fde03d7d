/* config_int.h - what the parts of the configuration loader share. */
#ifndef DAEMON_CONTROL_CONFIG_INT_H
#define DAEMON_CONTROL_CONFIG_INT_H

#include <jansson.h>
#include <libyang/libyang.h>
#include "daemon/control/config.h"

#define CW_CONFIG_ROOT "/causeway:causeway"

extern const char cw_config_yang[]; /* text of causeway.yang */

/* A libyang context with causeway.yang in it. */
struct cw_config_schema {
	struct ly_ctx *ctx;
	const struct lys_module *module;
	const struct lysc_node *top; /* container causeway */
};
int cw_config_schema_open(struct cw_config_schema *s, struct cw_diag *diag);
void cw_config_schema_close(struct cw_config_schema *s);

/* Compare JSON with the schema: names, kinds, types, keys, what is required. libyang checks the
 * same and more; this walk knows the instance path of whatever is wrong. */
int cw_config_walk(const struct cw_config_schema *s, const json_t *root, struct cw_diag *diag);

/* Turn libyang's last error into a diagnosis; `tree` (may be NULL) supplies the value. */
int cw_config_error(const struct cw_config_schema *s, const struct lyd_node *tree,
		    struct cw_diag *diag);

/* Why `value` is not one of `leaf`'s, in `buf`. Call right after lyd_value_validate(). */
const char *cw_config_type_error(const struct cw_config_schema *s, const struct lysc_node *leaf,
				 const char *value, char *buf, size_t size);

/* Copy a validated tree into `c` (zeroed before). */
int cw_config_fill(struct cw_config *c, const struct lyd_node *top, struct cw_diag *diag);

/* Parts of it: a port's congestion point; the proxy. */
int cw_config_point(struct cw_point_config *p, const struct lyd_node *from, struct cw_diag *diag);
int cw_config_fast_cnp(struct cw_config *c, const struct lyd_node *from, struct cw_diag *diag);

/* What YANG can't express. */
int cw_config_check(const struct cw_config *c, struct cw_diag *diag);
int cw_config_check_pnc(const struct cw_config *c, struct cw_diag *diag);
int cw_config_check_fast_cnp(const struct cw_config *c, struct cw_diag *diag);

/* For these rules and notes. An address as text, in `buf`. */
const char *cw_config_ip_text(const struct cw_ip_addr *a, char *buf, size_t size);
/* The same with its length. */
const char *cw_config_prefix_text(const struct cw_ip_addr *a, char *buf, size_t size);
/* NULL if a station may have this address, else what it is. */
const char *cw_config_not_unicast(const struct cw_ip_addr *a);
/* The port that has this address, or NULL; addresses from (port, i) on are not looked at. */
const struct cw_port_config *cw_config_owner(const struct cw_config *c, const struct cw_ip_addr *a,
					     unsigned port, unsigned i);

#endif
