/* knobs.c - settings of the transport by name. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/knobs.h"

_Static_assert(KNOB_COUNT <= 64, "knobs.set has a bit for each");

static const struct {
	const char *name;
	uint64_t min, max;
	const char *text;
} table[] = {
#define CW_X(id, name, min, max, text, set) {name, min, max, text},
	KNOBS(CW_X)
#undef CW_X
};

static int fail(char err[KNOBS_ERROR_MAX], const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static int fail(char err[KNOBS_ERROR_MAX], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(err, KNOBS_ERROR_MAX, fmt, ap);
	va_end(ap);
	return -1;
}

static int find(const char *name, size_t len)
{
	int i;

	for (i = 0; i < KNOB_COUNT; i++) {
		if (strlen(table[i].name) == len && memcmp(table[i].name, name, len) == 0)
			return i;
	}
	return -1;
}

static int take(struct knobs *k, int i, uint64_t v, char err[KNOBS_ERROR_MAX])
{
	if (v < table[i].min || v > table[i].max)
		return fail(err, "%s is %" PRIu64 ", not between %" PRIu64 " and %" PRIu64,
			    table[i].name, v, table[i].min, table[i].max);
	k->value[i] = v;
	k->set |= 1ull << i;
	return 0;
}

static int parse_one(struct knobs *k, const char *text, size_t len, char err[KNOBS_ERROR_MAX])
{
	const char *eq = memchr(text, '=', len);
	size_t name = eq != NULL ? (size_t)(eq - text) : len;
	char *end;
	uint64_t v;
	int i = find(text, name);

	if (i < 0)
		return fail(err, "'%.*s' is no setting (-o help lists them)",
			    (int)(name < 40 ? name : 40), text);
	if (eq == NULL || eq[1] < '0' || eq[1] > '9')
		return fail(err, "%s needs a number: %s=%" PRIu64, table[i].name, table[i].name,
			    table[i].min);
	errno = 0;
	v = strtoull(eq + 1, &end, 10);
	if (errno != 0 || end != text + len)
		return fail(err, "%s: '%.*s' is not a number", table[i].name,
			    (int)(len - name - 1 < 40 ? len - name - 1 : 40), eq + 1);
	return take(k, i, v, err);
}

int knobs_parse(struct knobs *k, const char *text, char err[KNOBS_ERROR_MAX])
{
	struct knobs got = *k;
	size_t len;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		if (parse_one(&got, text, len, err) < 0)
			return -1;
		if (text[len] == '\0')
			break;
	}
	*k = got;
	return 0;
}

json_t *knobs_json(const struct knobs *k)
{
	json_t *o = json_object();
	int i;

	for (i = 0; i < KNOB_COUNT; i++) {
		if (k->set >> i & 1)
			(void)json_object_set_new(o, table[i].name,
						  json_integer((json_int_t)k->value[i]));
	}
	return o;
}

int knobs_from_json(struct knobs *k, const json_t *object, char err[KNOBS_ERROR_MAX])
{
	struct knobs got = {0};
	const char *name;
	json_t *v;

	if (object != NULL && !json_is_object(object))
		return fail(err, "the settings are not an object");
	json_object_foreach((json_t *)object, name, v)
	{
		int i = find(name, strlen(name));

		if (i < 0)
			return fail(err, "the setting '%.40s' is not known here", name);
		if (!json_is_integer(v) || json_integer_value(v) < 0)
			return fail(err, "the setting %s is not a number", table[i].name);
		if (take(&got, i, (uint64_t)json_integer_value(v), err) < 0)
			return -1;
	}
	*k = got;
	return 0;
}

void knobs_apply(const struct knobs *k, struct cw_uboe_tp_opts *t, struct cw_uboe_tpg_opts *g)
{
	struct cw_uboe_tp_opts tp = CW_UBOE_TP_OPTS;
	struct cw_uboe_tpg_opts tpg = CW_UBOE_TPG_OPTS;
	uint64_t v;

	t = t != NULL ? t : &tp;
	g = g != NULL ? g : &tpg;
#define CW_X(id, name, min, max, text, assign) \
	if (k->set >> KNOB_##id & 1) {         \
		v = k->value[KNOB_##id];       \
		assign;                        \
	}
	KNOBS(CW_X)
#undef CW_X
	/* what the library would refuse where only one of two was given */
	if (t->ack_delay >= t->rto_base)
		t->ack_delay = t->rto_base - 1;
	if (t->ack_every > t->window / 2)
		t->ack_every = t->window / 2;
	if (t->min_rate > t->line_rate)
		t->min_rate = t->line_rate;
	if (t->ldcp_max < t->ldcp_min)
		t->ldcp_max = t->ldcp_min;
}

void knobs_list(void (*line)(const char *text))
{
	char text[128];
	int i;

	for (i = 0; i < KNOB_COUNT; i++) {
		(void)snprintf(text, sizeof(text), "  %-15s %" PRIu64 "-%-9" PRIu64 " %s",
			       table[i].name, table[i].min, table[i].max, table[i].text);
		line(text);
	}
}
