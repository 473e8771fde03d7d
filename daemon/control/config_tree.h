/* config_tree.h - reading a validated tree. What the schema has checked isn't checked again.
 * Functions that can fail return CW_OK or an error with a diagnosis of the node. */
#ifndef DAEMON_CONTROL_CONFIG_TREE_H
#define DAEMON_CONTROL_CONFIG_TREE_H

#include <stddef.h>
#include "daemon/control/config_int.h"

/* A leaf and the member it goes to. `name` may lead through containers ("udp/port"). */
struct leaf {
	const char *name;
	size_t off, size;
	enum { NUMBER, TEXT, MAC, HEX } form; /* booleans and enumerations are numbers too */
};

#define LEAF(name, type, member, form)                                                        \
	{                                                                                     \
		name, offsetof(struct type, member), sizeof(((struct type *)0)->member), form \
	}
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* First child of that name; `name` may be a path. NULL if there is none. */
const struct lyd_node *tree_child(const struct lyd_node *parent, const char *name);

/* The next entry of the same list; NULL behind the last one. */
const struct lyd_node *tree_next(const struct lyd_node *e);

unsigned tree_count(const struct lyd_node *parent, const char *name);
uint32_t tree_number(const struct lyd_node *leaf);

/* Whichever of `n` leaves there are, into the members of `out`. */
void tree_leaves(void *out, const struct lyd_node *from, const struct leaf *leaves, size_t n);

/* An array for the entries of `name`, elements of `size` octets, into the pointer at `out`; that
 * stays as it is if there are none. */
int tree_array(const struct lyd_node *parent, const char *name, size_t size, void *out, unsigned *n,
	       struct cw_diag *diag);

/* What becomes of the entries of a list: members by the leaves, then what leaves can't say. Either
 * may be NULL. */
struct list {
	const char *name;
	size_t size; /* octets an entry */
	const struct leaf *leaves;
	size_t nleaves;
	int (*more)(const struct cw_config *c, void *to, const struct lyd_node *e,
		    struct cw_diag *diag);
};

/* As tree_array(), and the entries are filled. */
int tree_list(const struct cw_config *c, const struct lyd_node *parent, const struct list *l,
	      void *out, unsigned *n, struct cw_diag *diag);

/* "ADDRESS" or "ADDRESS/LENGTH". */
int tree_ip(struct cw_ip_addr *a, const struct lyd_node *leaf, struct cw_diag *diag);
int tree_addr(struct cw_addr *a, const struct lyd_node *leaf, struct cw_diag *diag);
int tree_prefix(struct cw_prefix *p, const struct lyd_node *leaf, struct cw_diag *diag);
/* NULL: stays as it is. */
int tree_gid(struct cw_gid *g, const struct lyd_node *leaf, struct cw_diag *diag);

/* A leaf-list with at most one address of each family: IPv4, IPv6. */
int tree_pair(struct cw_addr pair[2], const struct lyd_node *e, struct cw_diag *diag);
int tree_prefixes(struct cw_prefix **out, unsigned *n, const struct lyd_node *parent,
		  const char *name, struct cw_diag *diag);

/* `err` with this diagnosis. */
int tree_error(struct cw_diag *diag, int err, const struct lyd_node *n, const char *reason);
int tree_nomem(struct cw_diag *diag);

/* The port that a leaf names, and that of the leaf "port" of an entry. */
unsigned tree_port(const struct cw_config *c, const struct lyd_node *leaf);

#endif
