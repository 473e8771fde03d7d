/* config_tree.c - reading a validated tree: nodes, values, addresses (see config_tree.h). */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/control/config_tree.h"

/* ---- Nodes ---------------------------------------------------------------------------------- */

const struct lyd_node *tree_child(const struct lyd_node *parent, const char *name)
{
	size_t n = strcspn(name, "/");
	const struct lyd_node *c;

	LY_LIST_FOR(lyd_child(parent), c)
	{
		if (strncmp(c->schema->name, name, n) == 0 && c->schema->name[n] == '\0')
			return name[n] == '/' ? tree_child(c, name + n + 1) : c;
	}
	return NULL;
}

uint32_t tree_number(const struct lyd_node *leaf)
{
	const struct lyd_value *v = &((const struct lyd_node_term *)leaf)->value;

	switch (v->realtype->basetype) {
	case LY_TYPE_BOOL:
		return v->boolean != 0;
	case LY_TYPE_ENUM:
		return (uint32_t)v->enum_item->value;
	default:
		return (uint32_t)strtoul(lyd_get_value(leaf), NULL, 10);
	}
}

static void parse_mac(const char *text, uint8_t *mac)
{
	unsigned i;

	for (i = 0; i < 6; i++)
		mac[i] = (uint8_t)strtoul(text + (size_t)3 * i, NULL, 16);
}

static void store_number(void *at, size_t size, uint64_t v)
{
	uint32_t v32 = (uint32_t)v;
	uint16_t v16 = (uint16_t)v;
	uint8_t v8 = (uint8_t)v;

	if (size == 1)
		memcpy(at, &v8, 1);
	else if (size == 2)
		memcpy(at, &v16, 2);
	else if (size == 4)
		memcpy(at, &v32, 4);
	else
		memcpy(at, &v, 8);
}

void tree_leaves(void *out, const struct lyd_node *from, const struct leaf *leaves, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const struct lyd_node *leaf = tree_child(from, leaves[i].name);
		uint8_t *at = (uint8_t *)out + leaves[i].off;

		if (leaf == NULL)
			continue;
		if (leaves[i].form == NUMBER)
			store_number(at, leaves[i].size, tree_number(leaf));
		else if (leaves[i].form == HEX)
			store_number(at, leaves[i].size, strtoull(lyd_get_value(leaf), NULL, 16));
		else if (leaves[i].form == MAC)
			parse_mac(lyd_get_value(leaf), at);
		else
			(void)snprintf((char *)at, leaves[i].size, "%s", lyd_get_value(leaf));
	}
}

unsigned tree_count(const struct lyd_node *parent, const char *name)
{
	const struct lyd_node *c;
	unsigned n = 0;

	LY_LIST_FOR(lyd_child(parent), c)
	n += strcmp(c->schema->name, name) == 0;
	return n;
}

const struct lyd_node *tree_next(const struct lyd_node *e)
{
	return e->next != NULL && e->next->schema == e->schema ? e->next : NULL;
}

int tree_error(struct cw_diag *diag, int err, const struct lyd_node *n, const char *reason)
{
	char path[512] = "";

	(void)lyd_path(n, LYD_PATH_STD, path, sizeof(path));
	return cw_diag_set(diag, err, path, lyd_get_value(n), "%s", reason);
}

int tree_nomem(struct cw_diag *diag)
{
	return cw_diag_set(diag, CW_E_NOMEM, NULL, NULL, "out of memory");
}

int tree_array(const struct lyd_node *parent, const char *name, size_t size, void *out, unsigned *n,
	       struct cw_diag *diag)
{
	void *p;

	*n = tree_count(parent, name);
	if (*n == 0)
		return CW_OK;
	if ((p = calloc(*n, size)) == NULL) {
		*n = 0;
		return tree_nomem(diag);
	}
	memcpy(out, &p, sizeof(p));
	return CW_OK;
}

int tree_list(const struct cw_config *c, const struct lyd_node *parent, const struct list *l,
	      void *out, unsigned *n, struct cw_diag *diag)
{
	const struct lyd_node *e = tree_child(parent, l->name);
	char *to;
	int err;

	if ((err = tree_array(parent, l->name, l->size, out, n, diag)) != CW_OK)
		return err;
	memcpy(&to, out, sizeof(to));
	for (; e != NULL; e = tree_next(e), to += l->size) {
		tree_leaves(to, e, l->leaves, l->nleaves);
		if (l->more != NULL && (err = l->more(c, to, e, diag)) != CW_OK)
			return err;
	}
	return CW_OK;
}

/* ---- Addresses ------------------------------------------------------------------------------ */

/* "ADDRESS" or "ADDRESS/LENGTH". */
static bool parse_ip(const char *text, struct cw_ip_addr *a)
{
	const char *slash = strchr(text, '/');
	size_t n = slash != NULL ? (size_t)(slash - text) : strlen(text);
	char addr[INET6_ADDRSTRLEN];
	unsigned long plen;

	if (n >= sizeof(addr))
		return false;
	memcpy(addr, text, n);
	addr[n] = '\0';
	*a = (struct cw_ip_addr){.version = strchr(addr, ':') != NULL ? 6 : 4};
	if (inet_pton(a->version == 6 ? AF_INET6 : AF_INET, addr, a->a) != 1)
		return false;
	plen = a->version == 6 ? 128 : 32;
	a->plen = (uint8_t)plen;
	if (slash == NULL)
		return true;
	if (strtoul(slash + 1, NULL, 10) > plen)
		return false;
	a->plen = (uint8_t)strtoul(slash + 1, NULL, 10);
	return true;
}

int tree_ip(struct cw_ip_addr *a, const struct lyd_node *leaf, struct cw_diag *diag)
{
	if (parse_ip(lyd_get_value(leaf), a))
		return CW_OK;
	return tree_error(diag, CW_E_RANGE, leaf,
			  strchr(lyd_get_value(leaf), '/') != NULL
				  ? "not an IP address with a prefix length, such as 192.0.2.1/24"
				  : "not an IPv4 or IPv6 address");
}

/* libyang has checked both kinds of text, and zeroed what is behind a prefix. */
int tree_addr(struct cw_addr *a, const struct lyd_node *leaf, struct cw_diag *diag)
{
	if (cw_addr_parse(lyd_get_value(leaf), a) == CW_OK)
		return CW_OK;
	return tree_error(diag, CW_E_RANGE, leaf, "not an IPv4 or IPv6 address");
}

int tree_prefix(struct cw_prefix *p, const struct lyd_node *leaf, struct cw_diag *diag)
{
	if (cw_prefix_parse(lyd_get_value(leaf), p) == CW_OK)
		return CW_OK;
	return tree_error(diag, CW_E_RANGE, leaf, "not an IPv4 or IPv6 prefix");
}

int tree_pair(struct cw_addr pair[2], const struct lyd_node *e, struct cw_diag *diag)
{
	struct cw_addr a;
	int err;

	for (; e != NULL; e = tree_next(e)) {
		if ((err = tree_addr(&a, e, diag)) != CW_OK)
			return err;
		if (pair[a.version == 6].version != 0)
			return tree_error(diag, CW_E_CONFLICT, e,
					  "there is another one of this address family");
		pair[a.version == 6] = a;
	}
	return CW_OK;
}

int tree_gid(struct cw_gid *g, const struct lyd_node *leaf, struct cw_diag *diag)
{
	struct cw_addr a;
	int err;

	if (leaf == NULL)
		return CW_OK;
	if ((err = tree_addr(&a, leaf, diag)) == CW_OK)
		*g = cw_gid_of(a.version, a.addr);
	return err;
}

int tree_prefixes(struct cw_prefix **out, unsigned *n, const struct lyd_node *parent,
		  const char *name, struct cw_diag *diag)
{
	const struct lyd_node *e = tree_child(parent, name);
	struct cw_prefix *to;
	int err;

	if ((err = tree_array(parent, name, sizeof(**out), out, n, diag)) != CW_OK)
		return err;
	for (to = *out; e != NULL; e = tree_next(e), to++) {
		if ((err = tree_prefix(to, e, diag)) != CW_OK)
			return err;
	}
	return CW_OK;
}

/* libyang has made sure that it exists. */
unsigned tree_port(const struct cw_config *c, const struct lyd_node *leaf)
{
	const char *name = lyd_get_value(leaf);
	unsigned i;

	for (i = 0; i < c->nports && strcmp(c->ports[i].name, name) != 0; i++)
		;
	return i;
}
