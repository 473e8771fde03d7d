/* filter.c - which packets are wanted. Grammar: cli/filter.h. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "causeway/bits.h"
#include "causeway/err.h"
#include "causeway/show.h"
#include "cli/filter.h"

enum { NODES_MAX = 64, NESTING_MAX = 32, WORD_MAX = 600 };

enum op { OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE };

struct test;

/* A key compares some part of the packet with the test's value. */
struct key {
	const char *name;
	bool ordered; /* takes < <= > >= */
	int (*parse)(struct test *t, const char *text);
	bool (*match)(const struct test *t, const struct cw_packet *p);
	const char *takes; /* said when the value cannot be read */
};

struct test {
	const struct key *key;
	enum op op;
	uint64_t number;
	const char *name;         /* a static string: of a family, an error, an ICRC state */
	const struct cw_hdr *hdr; /* layer= and LAYER.FIELD */
	const struct cw_field *field;
	uint8_t addr[16], addr_len; /* 4, 16, or 6 for a MAC address */
	uint8_t plen;               /* bits that must be equal */
	uint8_t scratch[512];       /* LAYER.FIELD of octets: a header that holds the value */
};

enum node_kind { NODE_TEST, NODE_NOT, NODE_AND, NODE_OR };

struct node {
	enum node_kind kind;
	unsigned left, right; /* indices */
	struct test test;
};

struct filter {
	unsigned n, root;
	struct node nodes[NODES_MAX];
};

/* ---- Matching ----------------------------------------------------------------------------- */

static bool compare(enum op op, uint64_t a, uint64_t b)
{
	switch (op) {
	case OP_LT:
		return a < b;
	case OP_LE:
		return a <= b;
	case OP_GT:
		return a > b;
	case OP_GE:
		return a >= b;
	default:
		return a == b; /* OP_NE is turned round by the caller */
	}
}

/* Does a field called `name` compare well, of any layer or of those called `layer`? */
static bool any_number(const struct test *t, const struct cw_packet *p, const char *layer,
		       const char *name)
{
	const struct cw_field *f;
	unsigned i;

	for (i = 0; i < p->nlayers; i++) {
		if (layer != NULL && strcmp(p->layers[i].hdr->name, layer) != 0)
			continue;
		f = cw_field_find(p->layers[i].hdr, name);
		if (f != NULL && cw_field_is_int(f) &&
		    compare(t->op, cw_field_get(f, cw_layer_data(p, i)), t->number))
			return true;
	}
	return false;
}

static enum cw_show show_of_addr(const struct test *t)
{
	return t->addr_len == 4 ? CW_SHOW_IP4 : t->addr_len == 16 ? CW_SHOW_IP6 : CW_SHOW_MAC;
}

static bool any_addr(const struct test *t, const struct cw_packet *p, const char *name)
{
	const struct cw_field *f;
	unsigned i;

	for (i = 0; i < p->nlayers; i++) {
		f = cw_field_find(p->layers[i].hdr, name);
		if (f != NULL && f->show == show_of_addr(t) &&
		    cw_bits_equal(cw_layer_data(p, i) + f->bit / 8, t->addr, t->plen))
			return true;
	}
	return false;
}

static bool match_src(const struct test *t, const struct cw_packet *p)
{
	return any_addr(t, p, "src");
}

static bool match_dst(const struct test *t, const struct cw_packet *p)
{
	return any_addr(t, p, "dst");
}

static bool match_addr(const struct test *t, const struct cw_packet *p)
{
	return match_src(t, p) || match_dst(t, p);
}

static bool match_sport(const struct test *t, const struct cw_packet *p)
{
	return any_number(t, p, NULL, "sport");
}

static bool match_dport(const struct test *t, const struct cw_packet *p)
{
	return any_number(t, p, NULL, "dport");
}

static bool match_port(const struct test *t, const struct cw_packet *p)
{
	return match_sport(t, p) || match_dport(t, p);
}

/* Of native UB: the Partition ID, whatever the Permission bit in front of it says. */
static bool match_npi(const struct test *t, const struct cw_packet *p)
{
	return any_number(t, p, "npi", "id");
}

static bool match_vlan(const struct test *t, const struct cw_packet *p)
{
	return any_number(t, p, "vlan", "vid");
}

static bool family_has(const char *family, const struct cw_hdr *hdr)
{
	const struct cw_family *const *f;
	const struct cw_hdr *const *h;

	for (f = cw_families; *f != NULL; f++) {
		if (strcmp((*f)->name, family) != 0)
			continue;
		for (h = (*f)->hdrs; *h != NULL; h++) {
			if (*h == hdr)
				return true;
		}
	}
	return false;
}

static bool match_family(const struct test *t, const struct cw_packet *p)
{
	unsigned i;

	if (strcmp(p->family, t->name) == 0)
		return true;
	for (i = 0; i < p->nlayers; i++) {
		if (family_has(t->name, p->layers[i].hdr))
			return true;
	}
	return false;
}

static bool match_layer(const struct test *t, const struct cw_packet *p)
{
	return cw_packet_find(p, t->hdr, 0) >= 0;
}

static bool match_verdict(const struct test *t, const struct cw_packet *p)
{
	return strcmp(cw_err_name(p->verdict), t->name) == 0;
}

static bool match_icrc(const struct test *t, const struct cw_packet *p)
{
	return strcmp(cw_icrc_status_name(p->icrc.status), t->name) == 0;
}

static bool match_field(const struct test *t, const struct cw_packet *p)
{
	const struct cw_field *f = t->field;
	const uint8_t *at;
	int i = -1;

	while ((i = cw_packet_find(p, t->hdr, (unsigned)(i + 1))) >= 0) {
		at = cw_layer_data(p, (unsigned)i);
		if (cw_field_is_int(f)
			    ? compare(t->op, cw_field_get(f, at), t->number)
			    : memcmp(at + f->bit / 8, t->scratch + f->bit / 8, f->width / 8u) == 0)
			return true;
	}
	return false;
}

static bool match_node(const struct filter *f, unsigned i, const struct cw_packet *p)
{
	const struct node *n = &f->nodes[i];

	switch (n->kind) {
	case NODE_AND:
		return match_node(f, n->left, p) && match_node(f, n->right, p);
	case NODE_OR:
		return match_node(f, n->left, p) || match_node(f, n->right, p);
	case NODE_NOT:
		return !match_node(f, n->left, p);
	default:
		return n->test.key->match(&n->test, p) != (n->test.op == OP_NE);
	}
}

bool filter_match(const struct filter *f, const struct cw_packet *p)
{
	return match_node(f, f->root, p);
}

/* ---- Values ------------------------------------------------------------------------------- */

static int parse_number(const char *text, uint64_t max, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return CW_E_SYNTAX;
	*out = strtoull(text, &end,
			text[0] == '0' && tolower((unsigned char)text[1]) == 'x' ? 16 : 10);
	if (*end != '\0')
		return CW_E_SYNTAX;
	return *out > max ? CW_E_RANGE : CW_OK;
}

static int parse_u16(struct test *t, const char *text)
{
	return parse_number(text, 0xffff, &t->number);
}

static int parse_u12(struct test *t, const char *text)
{
	return parse_number(text, 0xfff, &t->number);
}

static int parse_u24(struct test *t, const char *text)
{
	return parse_number(text, 0xffffff, &t->number);
}

static int parse_addr(struct test *t, const char *text)
{
	char buf[CW_ADDR_TEXT + 4], *slash;
	uint64_t plen;

	if (strlen(text) >= sizeof(buf))
		return CW_E_SYNTAX;
	memcpy(buf, text, strlen(text) + 1);
	if ((slash = strchr(buf, '/')) != NULL)
		*slash = '\0';
	if (cw_ip4_parse(buf, t->addr) == CW_OK)
		t->addr_len = 4;
	else if (cw_mac_parse(buf, t->addr) == CW_OK)
		t->addr_len = 6;
	else if (cw_ip6_parse(buf, t->addr) == CW_OK)
		t->addr_len = 16;
	else
		return CW_E_SYNTAX;
	plen = 8u * t->addr_len;
	if (slash != NULL) {
		int err = parse_number(slash + 1, plen, &plen);

		if (err < 0)
			return err;
	}
	t->plen = (uint8_t)plen;
	return CW_OK;
}

static int parse_family(struct test *t, const char *text)
{
	const struct cw_family *const *f;

	t->name = "unknown";
	if (strcmp(text, t->name) == 0)
		return CW_OK;
	for (f = cw_families; *f != NULL; f++) {
		t->name = (*f)->name;
		if (strcmp(text, t->name) == 0)
			return CW_OK;
	}
	return CW_E_NAME;
}

static int parse_layer(struct test *t, const char *text)
{
	t->hdr = cw_hdr_find(text);
	return t->hdr != NULL ? CW_OK : CW_E_NAME;
}

static int parse_verdict(struct test *t, const char *text)
{
	static const char *const names[] = {"ok",
#define CW_X(id, name, num, scope, text) name,
					    CW_ERRORS(CW_X)
#undef CW_X
	};
	unsigned i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		t->name = names[i];
		if (strcmp(text, t->name) == 0)
			return CW_OK;
	}
	return CW_E_NAME;
}

static int parse_icrc(struct test *t, const char *text)
{
	int i;

	for (i = CW_ICRC_ABSENT; i <= CW_ICRC_UNCHECKED; i++) {
		t->name = cw_icrc_status_name((enum cw_icrc_status)i);
		if (strcmp(text, t->name) == 0)
			return CW_OK;
	}
	return CW_E_NAME;
}

static int parse_field(struct test *t, const char *text)
{
	int err = cw_field_parse(t->field, t->scratch, text);

	if (err == CW_OK && cw_field_is_int(t->field))
		t->number = cw_field_get(t->field, t->scratch);
	return err;
}

static const struct key keys[] = {
	{"family", false, parse_family, match_family, "the name of a packet family"},
	{"layer", false, parse_layer, match_layer, "the name of a header"},
	{"addr", false, parse_addr, match_addr, "an IP or MAC address, or a prefix"},
	{"src", false, parse_addr, match_src, "an IP or MAC address, or a prefix"},
	{"dst", false, parse_addr, match_dst, "an IP or MAC address, or a prefix"},
	{"port", true, parse_u16, match_port, "a port number, 0 to 65535"},
	{"sport", true, parse_u16, match_sport, "a port number, 0 to 65535"},
	{"dport", true, parse_u16, match_dport, "a port number, 0 to 65535"},
	{"npi", true, parse_u24, match_npi, "a partition ID, 0 to 0xffffff"},
	{"vlan", true, parse_u12, match_vlan, "a VLAN identifier, 0 to 4095"},
	{"verdict", false, parse_verdict, match_verdict, "ok or the name of an error"},
	{"icrc", false, parse_icrc, match_icrc, "ok, bad, absent or unchecked"},
};

static const struct key field_keys[] = {
	{"number field", true, parse_field, match_field, "a value of this field"},
	{"other field", false, parse_field, match_field, "a value of this field"},
};

/* ---- Parsing ------------------------------------------------------------------------------ */

struct parser {
	const char *at;
	char word[WORD_MAX];
	struct filter *f;
	unsigned nesting;
	char *err;
};

static int complain(struct parser *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int complain(struct parser *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(s->err, FILTER_ERROR_MAX, fmt, ap);
	va_end(ap);
	return -1;
}

/* Length of the next token: a parenthesis, an operator, or a word. 0 at the end. */
static size_t token(struct parser *s)
{
	while (isspace((unsigned char)*s->at))
		s->at++;
	if (*s->at == '(' || *s->at == ')')
		return 1;
	if (strncmp(s->at, "&&", 2) == 0 || strncmp(s->at, "||", 2) == 0)
		return 2;
	if (strchr("!<>=", *s->at) != NULL && *s->at != '\0')
		return s->at[1] == '=' ? 2 : 1;
	return strcspn(s->at, " \t\r\n()!<>=&|");
}

static bool accept(struct parser *s, const char *what)
{
	size_t n = token(s);

	if (n != strlen(what) || strncmp(s->at, what, n) != 0)
		return false;
	s->at += n;
	return true;
}

/* The next word into s->word; `what` is missing otherwise. */
static int take_word(struct parser *s, const char *what)
{
	size_t n = token(s);

	if (n == 0)
		return complain(s, "the expression ends where %s is expected", what);
	if (strchr("()!<>=&|", *s->at) != NULL)
		return complain(s, "'%.*s' where %s is expected", (int)n, s->at, what);
	if (n >= WORD_MAX)
		return complain(s, "a word of %zu characters", n);
	memcpy(s->word, s->at, n);
	s->word[n] = '\0';
	s->at += n;
	return 0;
}

static int add_node(struct parser *s, enum node_kind kind, unsigned left, unsigned right)
{
	struct node *n = &s->f->nodes[s->f->n];

	if (s->f->n == NODES_MAX)
		return complain(s, "more than %d tests and operators", NODES_MAX);
	n->kind = kind;
	n->left = left;
	n->right = right;
	return (int)s->f->n++;
}

/* LAYER.FIELD */
static int find_field(struct parser *s, struct test *t)
{
	char *dot = strchr(s->word, '.');

	*dot = '\0';
	if ((t->hdr = cw_hdr_find(s->word)) == NULL)
		return complain(s, "there is no header '%s'", s->word);
	if ((t->field = cw_field_find(t->hdr, dot + 1)) == NULL)
		return complain(s, "header '%s' has no field '%s'", s->word, dot + 1);
	if (t->hdr->size > sizeof(t->scratch))
		return complain(s, "fields of header '%s' can't be compared", s->word);
	t->key = &field_keys[cw_field_is_int(t->field) ? 0 : 1];
	return 0;
}

static int find_key(struct parser *s, struct test *t)
{
	unsigned i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(keys[i].name, s->word) == 0) {
			t->key = &keys[i];
			return 0;
		}
	}
	if (strchr(s->word, '.') != NULL)
		return find_field(s, t);
	return complain(s,
			"unknown key '%s'; keys are family, layer, addr, src, dst, port, sport, "
			"dport, npi, vlan, verdict, icrc and LAYER.FIELD",
			s->word);
}

static int take_op(struct parser *s, struct test *t, const char *key)
{
	static const struct {
		const char *text;
		enum op op;
	} ops[] = {{"=", OP_EQ},  {"==", OP_EQ}, {"!=", OP_NE}, {"<", OP_LT},
		   {"<=", OP_LE}, {">", OP_GT},  {">=", OP_GE}};
	unsigned i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (!accept(s, ops[i].text))
			continue;
		t->op = ops[i].op;
		if (t->op > OP_NE && !t->key->ordered)
			return complain(s, "'%s' takes = and != only", key);
		return 0;
	}
	return complain(s, "'%s' needs =, != or a comparison behind it", key);
}

static int parse_test(struct parser *s)
{
	struct test *t;
	char key[WORD_MAX];
	int i = add_node(s, NODE_TEST, 0, 0), err;

	if (i < 0 || take_word(s, "a key") < 0)
		return -1;
	t = &s->f->nodes[i].test;
	memcpy(key, s->word, sizeof(key));
	if (find_key(s, t) < 0 || take_op(s, t, key) < 0 || take_word(s, "a value") < 0)
		return -1;
	if ((err = t->key->parse(t, s->word)) < 0)
		return complain(s, "%s: '%s': %s; it takes %s", key, s->word, cw_strerror(err),
				t->key->takes);
	return i;
}

static int parse_or(struct parser *s);

static int parse_not(struct parser *s)
{
	int i;

	if (++s->nesting > NESTING_MAX)
		return complain(s, "nested deeper than %d", NESTING_MAX);
	if (accept(s, "not") || accept(s, "!")) {
		i = parse_not(s);
		i = i < 0 ? -1 : add_node(s, NODE_NOT, (unsigned)i, 0);
	} else if (accept(s, "(")) {
		i = parse_or(s);
		if (i >= 0 && !accept(s, ")"))
			return complain(s, "')' is missing");
	} else {
		i = parse_test(s);
	}
	s->nesting--;
	return i;
}

static int parse_chain(struct parser *s, const char *word, const char *sign, enum node_kind kind,
		       int (*operand)(struct parser *s))
{
	int left = operand(s), right;

	while (left >= 0 && (accept(s, word) || accept(s, sign))) {
		right = operand(s);
		left = right < 0 ? -1 : add_node(s, kind, (unsigned)left, (unsigned)right);
	}
	return left;
}

static int parse_and(struct parser *s)
{
	return parse_chain(s, "and", "&&", NODE_AND, parse_not);
}

static int parse_or(struct parser *s)
{
	return parse_chain(s, "or", "||", NODE_OR, parse_and);
}

int filter_new(struct filter **out, const char *expr, char err[FILTER_ERROR_MAX])
{
	struct parser s = {.at = expr, .err = err, .f = calloc(1, sizeof(struct filter))};
	int root;
	size_t n;

	if (s.f == NULL)
		return complain(&s, "out of memory");
	root = parse_or(&s);
	if (root >= 0 && (n = token(&s)) != 0)
		root = complain(&s, "'%.*s' where 'and', 'or' or the end is expected", (int)n,
				s.at);
	if (root < 0) {
		filter_free(s.f);
		return -1;
	}
	s.f->root = (unsigned)root;
	*out = s.f;
	return 0;
}

void filter_free(struct filter *f)
{
	free(f);
}
