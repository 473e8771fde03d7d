/* config.c - loading a configuration: JSON text -> checked, immutable struct cw_config. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "causeway/bits.h"
#include "daemon/control/config_int.h"
#include "daemon/control/plain.h"

enum { FILE_MAX = 64 << 20 /* octets; some 800,000 routes */ };

int cw_config_schema_open(struct cw_config_schema *s, struct cw_diag *diag)
{
	struct lys_module *m;

	*s = (struct cw_config_schema){0};
	/* Errors go to the context only. Not ly_temp_log_options(): libyang's own union and leafref
	 * code resets it. */
	ly_log_options(LY_LOSTORE);
	if (ly_ctx_new(NULL,
		       LY_CTX_NO_YANGLIBRARY | LY_CTX_DISABLE_SEARCHDIRS | LY_CTX_SET_PRIV_PARSED,
		       &s->ctx) != LY_SUCCESS ||
	    lys_parse_mem(s->ctx, cw_config_yang, LYS_IN_YANG, &m) != LY_SUCCESS) {
		cw_config_schema_close(s);
		return cw_diag_set(diag, CW_E_NOMEM, NULL, NULL, "libyang can't load the schema");
	}
	s->module = m;
	s->top = m->compiled->data;
	return CW_OK;
}

void cw_config_schema_close(struct cw_config_schema *s)
{
	ly_ctx_destroy(s->ctx);
	s->ctx = NULL;
}

/* Text that the walk has passed -> tree with defaults -> *out. */
static int build(const struct cw_config_schema *s, const char *text, struct cw_config *c,
		 struct cw_diag *diag)
{
	struct lyd_node *tree = NULL;
	int err;

	if (lyd_parse_data_mem(s->ctx, text, LYD_JSON, LYD_PARSE_STRICT | LYD_PARSE_ONLY, 0,
			       &tree) != LY_SUCCESS ||
	    lyd_validate_all(&tree, s->ctx, LYD_VALIDATE_NO_STATE, NULL) != LY_SUCCESS)
		err = cw_config_error(s, tree, diag);
	else if (lyd_print_mem(&c->json, tree, LYD_JSON,
			       LYD_PRINT_WITHSIBLINGS | LYD_PRINT_WD_ALL) != LY_SUCCESS)
		err = cw_diag_set(diag, CW_E_NOMEM, NULL, NULL, "out of memory");
	else
		err = cw_config_fill(c, tree, diag);
	lyd_free_all(tree);
	return err;
}

static int load_json(struct cw_config **out, const json_t *root, struct cw_diag *diag)
{
	struct cw_config *c = calloc(1, sizeof(*c));
	char *text = json_dumps(root, JSON_COMPACT);
	struct cw_config_schema s;
	int err;

	if (c == NULL || text == NULL) {
		err = cw_diag_set(diag, CW_E_NOMEM, NULL, NULL, "out of memory");
	} else if ((err = cw_config_schema_open(&s, diag)) == CW_OK) {
		if ((err = cw_config_walk(&s, root, diag)) == CW_OK &&
		    (err = build(&s, text, c, diag)) == CW_OK)
			err = cw_config_check(c, diag);
		cw_config_schema_close(&s);
	}
	free(text);
	if (err != CW_OK)
		cw_config_free(c);
	else
		*out = c;
	return err;
}

int cw_config_parse(struct cw_config **out, const char *json, size_t len, struct cw_diag *diag)
{
	json_error_t e;
	json_t *root = json_loadb(json, len, JSON_REJECT_DUPLICATES, &e);
	int err;

	if (root == NULL)
		return cw_diag_set(diag, CW_E_SYNTAX, NULL, NULL, "line %d, column %d: %s", e.line,
				   e.column, e.text);
	err = load_json(out, root, diag);
	json_decref(root);
	return err;
}

/* The whole file in a block that the caller frees; 0, or an errno. Closes it. */
static int read_file(FILE *f, char **text, size_t *len)
{
	char *buf;
	int err;

	if ((buf = malloc(FILE_MAX + 1)) == NULL) {
		fclose(f);
		return ENOMEM;
	}
	*len = fread(buf, 1, FILE_MAX + 1, f);
	err = ferror(f) ? errno : *len > FILE_MAX ? EFBIG : 0;
	fclose(f);
	if (err != 0)
		free(buf);
	else
		*text = buf;
	return err;
}

/* `f` is closed. `file` is its name where a diagnosis is to have it, or NULL. */
static int load_stream(struct cw_config **out, FILE *f, const char *file, struct cw_diag *diag)
{
	char *text = NULL;
	size_t len = 0;
	int err = read_file(f, &text, &len);

	if (err == EFBIG)
		return cw_diag_set(diag, CW_E_IO, NULL, file, "larger than %d octets", FILE_MAX);
	if (err != 0)
		return cw_diag_set(diag, CW_E_IO, NULL, file, "%s", strerror(err));
	err = cw_config_parse(out, text, len, diag);
	free(text);
	return err;
}

int cw_config_load(struct cw_config **out, const char *file, struct cw_diag *diag)
{
	FILE *f = fopen(file, "re");

	if (f == NULL)
		return cw_diag_set(diag, CW_E_IO, NULL, NULL, "%s", strerror(errno));
	return load_stream(out, f, NULL, diag);
}

int cw_config_load_plain(struct cw_config **out, const char *file, struct cw_diag *diag)
{
	const char *why;
	FILE *f = cw_plain_open(file, &why);

	if (f == NULL)
		return cw_diag_set(diag, CW_E_IO, NULL, file, "%s", why);
	return load_stream(out, f, file, diag);
}

int cw_config_default(struct cw_config **out)
{
	return cw_config_parse(out, "{}", 2, NULL);
}

void cw_config_free(struct cw_config *c)
{
	unsigned i;

	if (c == NULL)
		return;
	for (i = 0; i < c->nports; i++) {
		free(c->ports[i].npi_filter);
		free(c->ports[i].addr);
		free(c->ports[i].addr_vid);
		free(c->ports[i].point.nrp);
	}
	free(c->ports);
	free(c->routes);
	free(c->neighbours);
	free(c->npi);
	free(c->pins);
	free(c->partitions);
	free(c->pnc.prefix);
	free(c->pnc.bmp.router);
	free(c->pnc.statics);
	free(c->hcas);
	free(c->fast_cnp.allowed);
	free(c->fast_cnp.senders);
	free(c->fast_cnp.nrps);
	free(c->fast_cnp.vpns);
	free(c->fast_cnp.statics);
	free(c->json);
	free(c);
}

const char *cw_config_json(const struct cw_config *c)
{
	return c->json;
}

const char *cw_config_diag_text(const struct cw_diag *d, char *buf, size_t size)
{
	bool path = d->path[0] != '\0', value = d->value[0] != '\0';

	(void)snprintf(buf, size, "%s%s%s%s%s%s", d->path, path ? ": " : "", value ? "\"" : "",
		       d->value, value ? "\": " : "", d->reason);
	return buf;
}

bool cw_config_covers(const struct cw_ip_addr *p, uint8_t version, const uint8_t *addr)
{
	return p->version == version && cw_bits_equal(p->a, addr, p->plen);
}

/* An IPv6 address that maps an IPv4 one is no key of its own in a table of GIDs. */
static bool is_mapped(uint8_t version, const struct cw_gid *a)
{
	return version == 6 && cw_gid_is_v4(a);
}

int cw_config_route_table(struct cw_lpm **out, const struct cw_config *c)
{
	int err = cw_lpm_new(out);
	unsigned i;

	for (i = 0; i < c->nroutes && err == CW_OK; i++) {
		const struct cw_ip_addr *p = &c->routes[i].prefix;
		struct cw_gid g = cw_gid_of(p->version, p->a);

		if (!is_mapped(p->version, &g))
			err = cw_lpm_add(*out, &g, p->plen, i + 1);
	}
	return err;
}

static const struct cw_route_config *scan(const struct cw_config *c, uint8_t version,
					  const uint8_t *addr)
{
	const struct cw_route_config *best = NULL;
	unsigned i;

	for (i = 0; i < c->nroutes; i++) {
		const struct cw_route_config *r = &c->routes[i];

		if (cw_config_covers(&r->prefix, version, addr) &&
		    (best == NULL || r->prefix.plen > best->prefix.plen))
			best = r;
	}
	return best;
}

const struct cw_route_config *cw_config_route(const struct cw_config *c, const struct cw_lpm *table,
					      uint8_t version, const uint8_t *addr)
{
	struct cw_gid g = cw_gid_of(version, addr);
	uint32_t found;

	if (is_mapped(version, &g))
		return scan(c, version, addr);
	found = cw_lpm_find(table, &g);
	return found > 0 ? &c->routes[found - 1] : NULL;
}
