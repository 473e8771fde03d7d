/* config_error.c - what is wrong with a value, in words for people. */
#include <stdio.h>
#include <string.h>
#include "daemon/control/config_int.h"

/* Append to buf, as far as there is room. */
static void add(char *buf, size_t size, const char *text)
{
	size_t n = strlen(buf);

	if (n < size)
		(void)snprintf(buf + n, size - n, "%s", text);
}

static const char *range_error(const struct lysc_range *r, const char *what, char *buf, size_t size)
{
	char part[48];
	LY_ARRAY_COUNT_TYPE i;

	(void)snprintf(buf, size, "%s ", what);
	LY_ARRAY_FOR(r->parts, i)
	{
		(void)snprintf(part, sizeof(part), "%s%llu..%llu", i > 0 ? " | " : "",
			       (unsigned long long)r->parts[i].min_u64,
			       (unsigned long long)r->parts[i].max_u64);
		add(buf, size, part);
	}
	return buf;
}

static const char *enum_error(const struct lysc_type_enum *t, char *buf, size_t size)
{
	LY_ARRAY_COUNT_TYPE i;

	(void)snprintf(buf, size, "not one of ");
	LY_ARRAY_FOR(t->enums, i)
	{
		add(buf, size, i > 0 ? ", " : "");
		add(buf, size, t->enums[i].name);
	}
	return buf;
}

static const char *number_error(const struct lysc_type *type, const char *value, char *buf,
				size_t size)
{
	static const char *const whole[] = {
		[LY_TYPE_UINT8] = "0..255",
		[LY_TYPE_UINT16] = "0..65535",
		[LY_TYPE_UINT32] = "0..4294967295",
	};
	const struct lysc_type_num *t = (const struct lysc_type_num *)type;

	if (value[strspn(value, "-0123456789")] != '\0')
		return "not an integer";
	if (t->range != NULL)
		return range_error(t->range, "value out of range", buf, size);
	(void)snprintf(buf, size, "value out of range %s", whole[type->basetype]);
	return buf;
}

/* Types that libyang refuses with a regular expression or "no subtype": say what is expected. */
static const char *typedef_error(const struct lysc_node *leaf)
{
	static const struct {
		const char *type, *text;
	} known[] = {
		{"inet:ip-prefix", "not an IPv4 or IPv6 prefix, such as 192.0.2.0/24"},
		{"inet:ip-address-no-zone", "not an IPv4 or IPv6 address"},
		{"yang:mac-address", "not a MAC address, such as 02:00:00:00:00:01"},
	};
	const struct lysp_node_leaf *parsed = leaf->priv;
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(parsed->type.name, known[i].type) == 0)
			return known[i].text;
	}
	return NULL;
}

static const char *string_error(const struct cw_config_schema *s, const struct lysc_type *type,
				const char *value, char *buf, size_t size)
{
	const struct lysc_type_str *t = (const struct lysc_type_str *)type;
	const struct ly_err_item *e = ly_err_last(s->ctx);
	size_t n = strlen(value);

	if (t->length != NULL &&
	    (n < t->length->parts[0].min_u64 || n > t->length->parts[0].max_u64))
		return range_error(t->length, "length in octets is not", buf, size);
	(void)snprintf(buf, size, "%s", e != NULL ? e->msg : "not allowed here");
	return buf;
}

const char *cw_config_type_error(const struct cw_config_schema *s, const struct lysc_node *leaf,
				 const char *value, char *buf, size_t size)
{
	const struct lysc_type *t = ((const struct lysc_node_leaf *)leaf)->type;
	const char *known = typedef_error(leaf);

	if (known != NULL)
		return known;
	switch (t->basetype) {
	case LY_TYPE_UINT8:
	case LY_TYPE_UINT16:
	case LY_TYPE_UINT32:
		return number_error(t, value, buf, size);
	case LY_TYPE_ENUM:
		return enum_error((const struct lysc_type_enum *)t, buf, size);
	case LY_TYPE_STRING:
		return string_error(s, t, value, buf, size);
	default:
		return "not allowed here";
	}
}

/* The quoted text after `label` in libyang's path or message; false if there is none. The text of
 * a location ends at its last quote that is followed by ',' or ')' or the end. */
static bool quoted(const char *text, const char *label, const char *end, char *buf, size_t size)
{
	const char *from = text != NULL ? strstr(text, label) : NULL, *to;

	if (from == NULL)
		return false;
	from += strlen(label);
	to = strstr(from, end);
	if (to == NULL)
		return false;
	(void)snprintf(buf, size, "%.*s", (int)(to - from), from);
	return true;
}

static int report(const struct ly_err_item *e, const char *path, const char *value,
		  struct cw_diag *diag)
{
	char text[256];

	if (quoted(e->msg, "When condition \"", "\" not satisfied", text, sizeof(text)))
		return cw_diag_set(diag, CW_E_CONFLICT, path, value, "allowed only when %s", text);
	if (quoted(e->msg, "no target instance \"", "\"", text, sizeof(text)))
		return cw_diag_set(diag, CW_E_NAME, path, value, "refers to no existing %s", text);
	return cw_diag_set(diag, CW_E_CONFLICT, path, value, "%s", e->msg);
}

int cw_config_error(const struct cw_config_schema *s, const struct lyd_node *tree,
		    struct cw_diag *diag)
{
	const struct ly_err_item *e = ly_err_last(s->ctx);
	struct lyd_node *node = NULL;
	struct ly_err_item copy;
	char path[512] = "", msg[512], where[512];
	const char *value = NULL;

	if (e == NULL)
		return cw_diag_set(diag, CW_E_NOMEM, NULL, NULL, "out of memory");
	/* looking the value up may add to the list of errors */
	(void)snprintf(msg, sizeof(msg), "%s", e->msg != NULL ? e->msg : "");
	(void)snprintf(where, sizeof(where), "%s", e->path != NULL ? e->path : "");
	copy = (struct ly_err_item){.msg = msg};
	if (!quoted(where, "Data location \"", "\"", path, sizeof(path)))
		(void)quoted(where, "Schema location \"", "\"", path, sizeof(path));
	if (tree != NULL && path[0] == '/' && lyd_find_path(tree, path, 0, &node) == LY_SUCCESS &&
	    (node->schema->nodetype & (LYS_LEAF | LYS_LEAFLIST)) != 0)
		value = lyd_get_value(node);
	return report(&copy, path, value, diag);
}
