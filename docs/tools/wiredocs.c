/* wiredocs.c - write docs/wire from the field tables, or say where it is out of date.
 *
 * usage: wiredocs DIR          write DIR/FAMILY.md for each packet family, and DIR/README.md
 *        wiredocs --check DIR  compare instead; exit 1 if a page differs
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "causeway/packet.h"

#define MADE_BY "<!-- Made by wiredocs from the field tables of the library; do not edit. -->\n\n"

static void bits_text(const struct cw_field *f, FILE *out)
{
	if (f->width == 1)
		fprintf(out, "%u", f->bit);
	else
		fprintf(out, "%u-%u", f->bit, f->bit + f->width - 1);
}

static void default_text(const struct cw_field *f, FILE *out)
{
	if (f->def == CW_AUTO)
		fputs("computed", out);
	else if (!cw_field_is_int(f))
		fputs("zeros", out);
	else if (f->show == CW_SHOW_HEX)
		fprintf(out, "0x%llx", (unsigned long long)f->def);
	else
		fprintf(out, "%llu", (unsigned long long)f->def);
}

static void values_text(const struct cw_field *f, FILE *out)
{
	const struct cw_name *n;

	for (n = f->names; n != NULL && n->name != NULL; n++) {
		const char *comma = n == f->names ? "" : ", ";

		if (f->show == CW_SHOW_HEX || f->width > 5)
			fprintf(out, "%s0x%02llx %s", comma, (unsigned long long)n->value, n->name);
		else
			fprintf(out, "%s%llu %s", comma, (unsigned long long)n->value, n->name);
	}
}

static void write_field(const struct cw_field *f, FILE *out)
{
	fputs("| ", out);
	bits_text(f, out);
	fprintf(out, " | `%s` | ", f->name);
	default_text(f, out);
	fputs(" | ", out);
	values_text(f, out);
	fprintf(out, " | %s | %s |\n", f->clause, f->text);
}

static void write_header(const struct cw_hdr *h, FILE *out)
{
	unsigned i;

	fprintf(out, "\n## `%s`: %s\n\n", h->name, h->title);
	if (h->nfields == 0) {
		fprintf(out, "%s. No fixed fields: all of it is the `tail`.\n", h->clause);
		return;
	}
	fprintf(out, "%s. %u octet%s.\n\n", h->clause, h->size, h->size == 1 ? "" : "s");
	fputs("| bits | field | default | values | clause | meaning |\n", out);
	fputs("|---|---|---|---|---|---|\n", out);
	for (i = 0; i < h->nfields; i++)
		write_field(&h->fields[i], out);
}

static void write_claim(const struct cw_claim *c, FILE *out)
{
	switch (c->sel) {
	case CW_SEL_LINK:
		fprintf(out, "- captures with link type %u\n", c->value);
		break;
	case CW_SEL_ETHERTYPE:
		fprintf(out, "- EtherType 0x%04x\n", c->value);
		break;
	case CW_SEL_IPPROTO:
		fprintf(out, "- IP protocol %u\n", c->value);
		break;
	case CW_SEL_UDP_PORT:
		fprintf(out, "- UDP port %u%s\n", c->value,
			c->value == 4792 ? " (unless `--ub-port` moves it)" : "");
		break;
	case CW_SEL_QPN:
		fprintf(out, "- unreliable datagrams to queue pair %u\n", c->value);
		break;
	case CW_SEL_UD:
		fputs("- unreliable datagrams to any other queue pair\n", out);
		break;
	}
}

static void write_family(const struct cw_family *f, FILE *out)
{
	const struct cw_hdr *const *h;
	unsigned i;

	fputs(MADE_BY, out);
	fprintf(out, "# %s (`%s`)\n", f->title, f->name);
	if (f->nclaims > 0)
		fprintf(out, "\nTaken for this family%s:\n\n",
			f->mine != NULL ? " if the first octets fit" : "");
	for (i = 0; i < f->nclaims; i++)
		write_claim(&f->claims[i], out);
	for (h = f->hdrs; *h != NULL; h++)
		write_header(*h, out);
}

static void write_index(FILE *out)
{
	const struct cw_family *const *f;
	const struct cw_hdr *const *h;

	fputs(MADE_BY, out);
	fputs("# Headers on the wire\n\n"
	      "Every header that Causeway knows, as its field table has it. Names are those of\n"
	      "`causeway decode -j` and `causeway craft`. Bit 0 is the most significant bit of a\n"
	      "header's first octet. A default is what craft writes when a field is left out;\n"
	      "*computed* ones follow from other layers. What a header has behind its fixed "
	      "fields\n"
	      "is its `tail`.\n\n"
	      "| family | headers |\n|---|---|\n",
	      out);
	for (f = cw_families; *f != NULL; f++) {
		fprintf(out, "| [%s](%s.md) |", (*f)->title, (*f)->name);
		for (h = (*f)->hdrs; *h != NULL; h++)
			fprintf(out, "%s `%s`", h == (*f)->hdrs ? "" : ",", (*h)->name);
		fputs(" |\n", out);
	}
}

/* A page as text; f NULL is the index. The caller frees it. */
static char *page(const struct cw_family *f, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	if (out == NULL)
		return NULL;
	if (f != NULL)
		write_family(f, out);
	else
		write_index(out);
	return fclose(out) == 0 ? text : NULL;
}

static int complain(const char *path, const char *what)
{
	fprintf(stderr, "wiredocs: %s: %s\n", path, what);
	return 2;
}

static int write_page(const char *path, const char *text, size_t len)
{
	FILE *out = fopen(path, "w");
	size_t n;

	if (out == NULL)
		return complain(path, strerror(errno));
	n = fwrite(text, 1, len, out);
	return fclose(out) == 0 && n == len ? 0 : complain(path, "cannot be written");
}

static int check_page(const char *path, const char *text, size_t len)
{
	char *have = malloc(len + 1);
	FILE *in = fopen(path, "r");
	size_t n = in != NULL && have != NULL ? fread(have, 1, len + 1, in) : 0;
	int same = have != NULL && n == len && memcmp(have, text, len) == 0;

	if (in != NULL)
		(void)fclose(in);
	free(have);
	if (!same)
		fprintf(stderr, "wiredocs: %s is out of date: run build/wiredocs docs/wire\n",
			path);
	return same ? 0 : 1;
}

static int do_page(const char *dir, const struct cw_family *f, int check)
{
	char path[1024], *text;
	size_t len;
	int err;

	(void)snprintf(path, sizeof(path), "%s/%s.md", dir, f != NULL ? f->name : "README");
	if ((text = page(f, &len)) == NULL)
		return complain(path, "out of memory");
	err = check ? check_page(path, text, len) : write_page(path, text, len);
	free(text);
	return err;
}

int main(int argc, char **argv)
{
	int check = argc == 3 && strcmp(argv[1], "--check") == 0, worst, err;
	const struct cw_family *const *f;

	if (argc != 2 + check || argv[1 + check][0] == '-') {
		fputs("usage: wiredocs [--check] DIR\n\nWrite a page for each packet family from "
		      "its field tables, or check them.\nexit code: 0 done, 1 a page is out of "
		      "date, 2 usage or I/O\n\nexample:\n  build/wiredocs docs/wire\n",
		      argc == 2 && strcmp(argv[1], "--help") == 0 ? stdout : stderr);
		return argc == 2 && strcmp(argv[1], "--help") == 0 ? 0 : 2;
	}
	worst = do_page(argv[1 + check], NULL, check);
	for (f = cw_families; *f != NULL; f++) {
		err = do_page(argv[1 + check], *f, check);
		worst = err > worst ? err : worst;
	}
	return worst;
}
