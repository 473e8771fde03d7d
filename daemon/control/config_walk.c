/* config_walk.c - JSON against the schema, with the exact instance path of whatever is wrong. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/control/config_int.h"

struct walk {
	const struct cw_config_schema *s;
	struct cw_diag *diag;
	size_t len;
	char path[512];
};

/* Lengthen the path; the caller takes it back by restoring w->len. */
static void push(struct walk *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void push(struct walk *w, const char *fmt, ...)
{
	size_t room = sizeof(w->path) - w->len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(w->path + w->len, room, fmt, ap);
	va_end(ap);
	if (n > 0)
		w->len += (size_t)n < room ? (size_t)n : room - 1;
}

/* A value as people wrote it. */
static const char *value_text(const json_t *v, char *buf, size_t size)
{
	char *dump;

	if (json_is_string(v)) {
		(void)snprintf(buf, size, "%s", json_string_value(v));
		return buf;
	}
	dump = json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);
	(void)snprintf(buf, size, "%s", dump != NULL ? dump : "");
	free(dump);
	return buf;
}

static int fail(struct walk *w, int err, const json_t *v, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static int fail(struct walk *w, int err, const json_t *v, const char *fmt, ...)
{
	char value[sizeof(w->diag->value)], reason[256];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(reason, sizeof(reason), fmt, ap);
	va_end(ap);
	w->path[w->len] = '\0';
	return cw_diag_set(w->diag, err, w->path,
			   v != NULL ? value_text(v, value, sizeof(value)) : NULL, "%s", reason);
}

/* ---- Names ---------------------------------------------------------------------------------- */

static const char *bare_name(const char *name)
{
	return strncmp(name, "causeway:", 9) == 0 ? name + 9 : name;
}

static json_t *member(const json_t *obj, const char *name)
{
	char qualified[80];
	json_t *v = json_object_get(obj, name);

	(void)snprintf(qualified, sizeof(qualified), "causeway:%s", name);
	return v != NULL ? v : json_object_get(obj, qualified);
}

/* Edit distance of two short names, for "did you mean". */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[40], i, j, n = (unsigned)strlen(b);

	if (n >= 40 || strlen(a) >= 40)
		return 99;
	for (j = 0; j <= n; j++)
		row[j] = j;
	for (i = 1; a[i - 1] != '\0'; i++) {
		unsigned corner = row[0];

		row[0] = i;
		for (j = 1; j <= n; j++) {
			unsigned best = corner + (a[i - 1] != b[j - 1]);

			corner = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[n];
}

static int unknown(struct walk *w, const struct lysc_node *parent, const char *name,
		   const json_t *v)
{
	const struct lysc_node *c;
	const char *near = NULL;
	unsigned best = 3, d;
	char hint[96] = "";

	LY_LIST_FOR(lysc_node_child(parent), c)
	{
		if ((d = distance(name, c->name)) < best) {
			best = d;
			near = c->name;
		}
	}
	if (near != NULL)
		(void)snprintf(hint, sizeof(hint), "; did you mean '%s'?", near);
	push(w, "/%s", name);
	return fail(w, CW_E_NAME, v, "there is no such setting in '%s'%s", parent->name, hint);
}

/* ---- Leaves --------------------------------------------------------------------------------- */

/* RFC 7951 section 6: which JSON type a base type is written as. */
static int kind_check(struct walk *w, const struct lysc_node *n, const json_t *v)
{
	const struct lysc_type *t = ((const struct lysc_node_leaf *)n)->type;

	if (t->basetype == LY_TYPE_LEAFREF)
		t = ((const struct lysc_type_leafref *)t)->realtype;
	switch (t->basetype) {
	case LY_TYPE_UINT8:
	case LY_TYPE_UINT16:
	case LY_TYPE_UINT32:
		return json_is_number(v) ? CW_OK
					 : fail(w, CW_E_SYNTAX, v, "a number is expected here");
	case LY_TYPE_BOOL:
		return json_is_boolean(v)
			       ? CW_OK
			       : fail(w, CW_E_SYNTAX, v, "true or false is expected here");
	default:
		return json_is_string(v) ? CW_OK
					 : fail(w, CW_E_SYNTAX, v, "a string is expected here");
	}
}

/* Check one value; *canon (if asked for) is its canonical text, to be removed from the dictionary
 * by the caller, or NULL. */
static int walk_value(struct walk *w, const struct lysc_node *n, const json_t *v,
		      const char **canon)
{
	char text[512], why[256];
	LY_ERR r;
	int err;

	if ((err = kind_check(w, n, v)) != CW_OK)
		return err;
	value_text(v, text, sizeof(text));
	r = lyd_value_validate(w->s->ctx, n, text, strlen(text), NULL, NULL, canon);
	if (r == LY_SUCCESS || r == LY_EINCOMPLETE)
		return CW_OK;
	return fail(w, CW_E_RANGE, v, "%s", cw_config_type_error(w->s, n, text, why, sizeof(why)));
}

/* Enter what an entry is known by; two of the same are an error. */
static int walk_seen(struct walk *w, json_t *seen, const char *id, const json_t *v)
{
	if (json_object_get(seen, id) != NULL)
		return fail(w, CW_E_CONFLICT, v, "is listed twice");
	if (json_object_set_new(seen, id, json_true()) != 0)
		return fail(w, CW_E_NOMEM, NULL, "out of memory");
	return CW_OK;
}

static int walk_item(struct walk *w, const struct lysc_node *n, const json_t *item, json_t *seen)
{
	const char *canon = NULL;
	char text[80];
	int err;

	push(w, "[.='%s']", value_text(item, text, sizeof(text)));
	if ((err = walk_value(w, n, item, &canon)) == CW_OK)
		err = walk_seen(w, seen, canon != NULL ? canon : text, item);
	lydict_remove(w->s->ctx, canon);
	return err;
}

static int walk_leaf_list(struct walk *w, const struct lysc_node *n, const json_t *v)
{
	size_t i, len = w->len;
	json_t *item, *seen;
	int err = CW_OK;

	if (!json_is_array(v))
		return fail(w, CW_E_SYNTAX, v, "an array is expected here");
	if ((seen = json_object()) == NULL)
		return fail(w, CW_E_NOMEM, NULL, "out of memory");
	json_array_foreach(v, i, item)
	{
		if ((err = walk_item(w, n, item, seen)) != CW_OK)
			break;
		w->len = len;
	}
	json_decref(seen);
	return err;
}

/* ---- Containers and lists ------------------------------------------------------------------- */

static int walk_node(struct walk *w, const struct lysc_node *n, const json_t *v);

static int walk_members(struct walk *w, const struct lysc_node *parent, const json_t *obj)
{
	const struct lysc_node *n;
	size_t len = w->len;
	const char *key;
	json_t *v;
	int err;

	json_object_foreach((json_t *)obj, key, v)
	{
		const char *name = bare_name(key);

		n = lys_find_child(parent, w->s->module, name, 0, 0, 0);
		if (n == NULL)
			return unknown(w, parent, name, v);
		push(w, "/%s", name);
		if (name != key && json_object_get(obj, name) != NULL)
			return fail(w, CW_E_CONFLICT, v, "is given twice");
		/* walk_keys() has looked at keys. */
		if (!lysc_is_key(n) && (err = walk_node(w, n, v)) != CW_OK)
			return err;
		w->len = len;
	}
	return CW_OK;
}

/* Lengthen the path by the entry's keys; append their canonical values to `id`. */
static int walk_keys(struct walk *w, const struct lysc_node *list, const json_t *item, size_t i,
		     char *id, size_t size)
{
	const struct lysc_node *k;
	size_t len = w->len;
	char predicates[256] = "", text[80];
	const char *canon;
	json_t *v;
	int err;

	for (k = lysc_node_child(list); k != NULL && lysc_is_key(k); k = k->next) {
		size_t n = strlen(predicates), m = strlen(id);

		if ((v = member(item, k->name)) == NULL) {
			push(w, "[%zu]/%s", i + 1, k->name);
			return fail(w, CW_E_NAME, NULL, "is required, and missing");
		}
		push(w, "[%zu]/%s", i + 1, k->name);
		canon = NULL;
		if ((err = walk_value(w, k, v, &canon)) != CW_OK)
			return err;
		w->len = len;
		value_text(v, text, sizeof(text));
		(void)snprintf(predicates + n, sizeof(predicates) - n, "[%s='%s']", k->name, text);
		(void)snprintf(id + m, size - m, "%s|", canon != NULL ? canon : text);
		lydict_remove(w->s->ctx, canon);
	}
	push(w, "%s", predicates);
	return CW_OK;
}

static int check_required(struct walk *w, const struct lysc_node *list, const json_t *item)
{
	const struct lysc_node *n;

	LY_LIST_FOR(lysc_node_child(list), n)
	{
		if ((n->flags & LYS_MAND_TRUE) != 0 && member(item, n->name) == NULL) {
			push(w, "/%s", n->name);
			return fail(w, CW_E_NAME, NULL, "is required, and missing");
		}
	}
	return CW_OK;
}

static int walk_entry(struct walk *w, const struct lysc_node *list, const json_t *item, size_t i,
		      json_t *seen)
{
	char id[256] = "";
	int err;

	if (!json_is_object(item)) {
		push(w, "[%zu]", i + 1);
		return fail(w, CW_E_SYNTAX, item, "an object is expected here");
	}
	if ((err = walk_keys(w, list, item, i, id, sizeof(id))) != CW_OK)
		return err;
	if ((err = walk_seen(w, seen, id, NULL)) != CW_OK)
		return err;
	if ((err = check_required(w, list, item)) != CW_OK)
		return err;
	return walk_members(w, list, item);
}

static int walk_list(struct walk *w, const struct lysc_node *n, const json_t *v)
{
	uint32_t max = ((const struct lysc_node_list *)n)->max; /* 0: any number */
	size_t i, len = w->len;
	json_t *item, *seen;
	int err = CW_OK;

	if (!json_is_array(v))
		return fail(w, CW_E_SYNTAX, v, "an array is expected here");
	if (max > 0 && json_array_size(v) > max)
		return fail(w, CW_E_RANGE, NULL, "has %zu entries; at most %u are possible",
			    json_array_size(v), max);
	if ((seen = json_object()) == NULL)
		return fail(w, CW_E_NOMEM, NULL, "out of memory");
	json_array_foreach(v, i, item)
	{
		if ((err = walk_entry(w, n, item, i, seen)) != CW_OK)
			break;
		w->len = len;
	}
	json_decref(seen);
	return err;
}

static int walk_node(struct walk *w, const struct lysc_node *n, const json_t *v)
{
	switch (n->nodetype) {
	case LYS_CONTAINER:
		if (!json_is_object(v))
			return fail(w, CW_E_SYNTAX, v, "an object is expected here");
		return walk_members(w, n, v);
	case LYS_LIST:
		return walk_list(w, n, v);
	case LYS_LEAFLIST:
		return walk_leaf_list(w, n, v);
	default:
		return walk_value(w, n, v, NULL);
	}
}

int cw_config_walk(const struct cw_config_schema *s, const json_t *root, struct cw_diag *diag)
{
	struct walk w = {.s = s, .diag = diag};
	const char *key;
	json_t *v;
	int err;

	if (!json_is_object(root))
		return fail(&w, CW_E_SYNTAX, NULL, "the file is not one JSON object");
	json_object_foreach((json_t *)root, key, v)
	{
		w.len = 0;
		push(&w, "/%s", key);
		if (strcmp(key, "causeway:causeway") != 0)
			return fail(&w, CW_E_NAME, NULL,
				    "the only member at the top is \"causeway:causeway\"");
		if ((err = walk_node(&w, s->top, v)) != CW_OK)
			return err;
	}
	return CW_OK;
}
