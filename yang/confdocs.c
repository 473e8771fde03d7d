/* confdocs.c - docs/configuration.md from the schema.
 *
 * usage: confdocs TEMPLATE >docs/configuration.md
 * The template's line @SETTINGS@ becomes the reference of every container, list and leaf.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "daemon/control/config_int.h"

/* A description's text on one line, with what a table cell must not hold escaped. */
static void put_text(const char *text)
{
	bool blank = false;

	for (; text != NULL && *text != '\0'; text++) {
		if (isspace((unsigned char)*text)) {
			blank = true;
			continue;
		}
		if (blank)
			putchar(' ');
		blank = false;
		if (*text == '|' || *text == '*')
			putchar('\\');
		putchar(*text);
	}
}

static void put_range(const struct lysc_range *r, const char *what)
{
	LY_ARRAY_COUNT_TYPE i;

	if (r == NULL)
		return;
	LY_ARRAY_FOR(r->parts, i)
	printf("%s%llu..%llu%s", i == 0 ? " " : " or ", (unsigned long long)r->parts[i].min_u64,
	       (unsigned long long)r->parts[i].max_u64, what);
}

static void put_enums(const struct lysc_type_enum *t)
{
	LY_ARRAY_COUNT_TYPE i;

	LY_ARRAY_FOR(t->enums, i)
	printf("%s`%s`", i > 0 ? ", " : "", t->enums[i].name);
}

static void put_type(const struct lysc_node *n)
{
	const struct lysc_type *t = ((const struct lysc_node_leaf *)n)->type;
	const char *name = ((const struct lysp_node_leaf *)n->priv)->type.name;

	if (n->nodetype == LYS_LEAFLIST)
		printf("list of ");
	switch (t->basetype) {
	case LY_TYPE_BOOL:
		printf("`true`, `false`");
		break;
	case LY_TYPE_ENUM:
		put_enums((const struct lysc_type_enum *)t);
		break;
	case LY_TYPE_LEAFREF:
		printf("name of a port");
		break;
	case LY_TYPE_STRING:
		printf("%s", strchr(name, ':') != NULL ? strchr(name, ':') + 1 : name);
		put_range(((const struct lysc_type_str *)t)->length, " octets");
		break;
	case LY_TYPE_UNION:
		printf("%s", strchr(name, ':') != NULL ? strchr(name, ':') + 1 : name);
		break;
	default:
		printf("number");
		put_range(((const struct lysc_type_num *)t)->range, "");
	}
	if (((const struct lysc_node_leaf *)n)->units != NULL)
		printf(" %s", ((const struct lysc_node_leaf *)n)->units);
}

static void put_default(const struct lysc_node *n)
{
	const struct lysc_node_leaf *leaf = (const struct lysc_node_leaf *)n;

	if (n->nodetype == LYS_LEAF && leaf->dflt != NULL)
		printf("`%s`", leaf->dflt->_canonical);
	else if (lysc_is_key(n))
		printf("key");
	else
		printf("%s", (n->flags & LYS_MAND_TRUE) != 0 ? "required" : "none");
}

static void put_enum_meanings(const struct lysc_node *n)
{
	const struct lysc_type *t = ((const struct lysc_node_leaf *)n)->type;
	LY_ARRAY_COUNT_TYPE i;

	if (t->basetype != LY_TYPE_ENUM)
		return;
	LY_ARRAY_FOR(((const struct lysc_type_enum *)t)->enums, i)
	{
		const struct lysc_type_bitenum_item *e =
			&((const struct lysc_type_enum *)t)->enums[i];

		if (e->dsc == NULL)
			continue;
		printf("<br>`%s`: ", e->name);
		put_text(e->dsc);
	}
}

static void put_condition(const struct lysc_node *n)
{
	struct lysc_when **when = lysc_node_when(n);

	if (when != NULL)
		printf(" Exists only when `%s`.", lyxp_get_expr(when[0]->cond));
}

static void put_leaf(const struct lysc_node *n)
{
	printf("| `%s` | ", n->name);
	put_type(n);
	printf(" | ");
	put_default(n);
	printf(" | ");
	put_text(n->dsc);
	put_condition(n);
	put_enum_meanings(n);
	printf(" |\n");
}

static bool is_leaf(const struct lysc_node *n)
{
	return (n->nodetype & (LYS_LEAF | LYS_LEAFLIST)) != 0;
}

static void put_section(const struct lysc_node *parent)
{
	const struct lysc_node *n;
	char path[256];
	bool head = false;

	lysc_path(parent, LYSC_PATH_DATA, path, sizeof(path));
	printf("\n### `%s`%s\n\n", path + strlen("/causeway:"),
	       parent->nodetype == LYS_LIST ? " (list)" : "");
	put_text(parent->dsc);
	put_condition(parent);
	printf("\n");
	LY_LIST_FOR(lysc_node_child(parent), n)
	{
		if (!is_leaf(n))
			continue;
		if (!head)
			printf("\n| setting | value | default | meaning |\n|---|---|---|---|\n");
		head = true;
		put_leaf(n);
	}
	LY_LIST_FOR(lysc_node_child(parent), n)
	{
		if (!is_leaf(n))
			put_section(n);
	}
}

int main(int argc, char **argv)
{
	struct cw_config_schema s;
	char line[1024];
	FILE *f;

	if (argc != 2 || (f = fopen(argv[1], "r")) == NULL ||
	    cw_config_schema_open(&s, NULL) != CW_OK) {
		fprintf(stderr, "usage: confdocs TEMPLATE\n");
		return 2;
	}
	while (fgets(line, sizeof(line), f) != NULL) {
		const struct lysc_node *n;

		if (strcmp(line, "@SETTINGS@\n") != 0) {
			fputs(line, stdout);
			continue;
		}
		LY_LIST_FOR(lysc_node_child(s.top), n)
		put_section(n);
	}
	fclose(f);
	cw_config_schema_close(&s);
	return 0;
}
