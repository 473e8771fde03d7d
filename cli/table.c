/* table.c - JSON as tables for people. */
#include <stdlib.h>
#include <string.h>
#include "cli/table.h"

enum { COLUMNS = 16, CELL = 80, NUMBER = 24 };

/* ---- Cells ---------------------------------------------------------------------------------- */

/* "1234567" -> "1.23 M"; three digits and an SI prefix. */
static const char *scaled(double v, char buf[NUMBER])
{
	static const char prefixes[] = " kMGTPE";
	unsigned i = 0;

	while (v >= 999.5 && prefixes[i + 1] != '\0') {
		v /= 1000;
		i++;
	}
	if (i == 0)
		(void)snprintf(buf, NUMBER, v < 9.995 && v != (double)(int)v ? "%.2f" : "%.0f", v);
	else
		(void)snprintf(buf, NUMBER, "%.*f %c",
			       v < 9.995   ? 2
			       : v < 99.95 ? 1
					   : 0,
			       v, prefixes[i]);
	return buf;
}

static void duration(json_int_t ms, char *buf, size_t size)
{
	long long s = ms / 1000;

	if (s < 60)
		(void)snprintf(buf, size, "%lld.%03lld s", s, (long long)(ms % 1000));
	else if (s < 86400)
		(void)snprintf(buf, size, "%02lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
	else
		(void)snprintf(buf, size, "%lld d %02lld:%02lld:%02lld", s / 86400, s / 3600 % 24,
			       s / 60 % 60, s % 60);
}

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n >= m && strcmp(name + n - m, end) == 0;
}

static void cell(const char *name, const json_t *v, char *buf, size_t size)
{
	char number[NUMBER];

	if (json_is_string(v))
		(void)snprintf(buf, size, "%s", json_string_value(v));
	else if (json_is_boolean(v))
		(void)snprintf(buf, size, "%s", json_is_true(v) ? "yes" : "no");
	else if (json_is_integer(v) && ends_in(name, "_ms"))
		duration(json_integer_value(v), buf, size);
	else if (json_is_integer(v) && ends_in(name, "octets") && json_integer_value(v) >= 100000)
		(void)snprintf(buf, size, "%sB", scaled((double)json_integer_value(v), number));
	else if (json_is_integer(v))
		(void)snprintf(buf, size, "%lld", (long long)json_integer_value(v));
	else if (json_is_real(v))
		(void)snprintf(buf, size, "%.3f", json_real_value(v));
	else
		(void)snprintf(buf, size, "-");
}

/* "rx_packets" -> "rx packets", "age_ms" -> "age". */
static void title(const char *name, char *buf, size_t size)
{
	char *c;

	(void)snprintf(buf, size, "%s", name);
	if (ends_in(buf, "_ms"))
		buf[strlen(buf) - 3] = '\0';
	for (c = buf; *c != '\0'; c++) {
		if (*c == '_')
			*c = ' ';
	}
}

static bool is_scalar(const json_t *v)
{
	return !json_is_object(v) && !json_is_array(v);
}

/* ---- Tables --------------------------------------------------------------------------------- */

struct column {
	const char *name;
	int width;
	bool right; /* numbers stand at the right */
};

static int text_width(const char *s)
{
	int n = 0;

	for (; *s != '\0'; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80; /* not a continuation octet of UTF-8 */
	return n;
}

static void put_cell(FILE *f, const struct column *c, const char *text, bool last)
{
	int pad = c->width - text_width(text);

	if (c->right)
		(void)fprintf(f, "%*s%s%s", pad, "", text, last ? "\n" : "  ");
	else if (last)
		(void)fprintf(f, "%s\n", text);
	else
		(void)fprintf(f, "%s%*s", text, pad + 2, "");
}

static bool is_hidden(const json_t *row)
{
	const json_t *packets = json_object_get(row, "packets");

	return json_is_integer(packets) && json_integer_value(packets) == 0 &&
	       json_object_get(row, "reason") != NULL;
}

/* Columns in the order of their first appearance. */
static unsigned find_columns(const json_t *rows, struct column *cols)
{
	char text[CELL];
	const char *key;
	unsigned i, n = 0;
	json_t *row, *v;
	size_t r;

	json_array_foreach(rows, r, row)
	{
		json_object_foreach(row, key, v)
		{
			if (!is_scalar(v))
				continue;
			for (i = 0; i < n && strcmp(cols[i].name, key) != 0; i++)
				;
			if (i == n && n == COLUMNS)
				continue;
			if (i == n) {
				title(key, text, sizeof(text));
				cols[n++] = (struct column){key, text_width(text), true};
			}
			cell(key, v, text, sizeof(text));
			if (text_width(text) > cols[i].width)
				cols[i].width = text_width(text);
			cols[i].right = cols[i].right && (json_is_number(v) || json_is_null(v));
		}
	}
	return n;
}

/* Nested objects of a row, one line each: "eth0 drops: mtu 3, ttl 1". */
static void print_nested(FILE *f, const json_t *row, const char *id)
{
	const char *key, *name;
	json_t *v, *n;
	char text[CELL];
	bool first;

	json_object_foreach((json_t *)row, key, v)
	{
		if (!json_is_object(v) || json_object_size(v) == 0)
			continue;
		(void)fprintf(f, "%s %s:", id, key);
		first = true;
		json_object_foreach(v, name, n)
		{
			cell(name, n, text, sizeof(text));
			(void)fprintf(f, "%s %s %s", first ? "" : ",", name, text);
			first = false;
		}
		(void)fputc('\n', f);
	}
}

static void print_row(FILE *f, const json_t *row, const struct column *cols, unsigned n)
{
	char text[CELL];
	unsigned i;

	for (i = 0; i < n; i++) {
		cell(cols[i].name, json_object_get(row, cols[i].name), text, sizeof(text));
		put_cell(f, &cols[i], text, i + 1 == n);
	}
}

/* Without rows, `name` says what there is none of. */
static void print_table(FILE *f, const char *name, const json_t *rows, bool all)
{
	struct column cols[COLUMNS];
	unsigned i, n = find_columns(rows, cols);
	char text[CELL];
	unsigned shown = 0;
	json_t *row;
	size_t r;

	for (i = 0; i < n; i++) {
		title(cols[i].name, text, sizeof(text));
		put_cell(f, &cols[i], text, i + 1 == n);
	}
	json_array_foreach(rows, r, row)
	{
		if (!all && is_hidden(row))
			continue;
		print_row(f, row, cols, n);
		shown++;
	}
	if (shown == 0) {
		title(name, text, sizeof(text));
		(void)fprintf(f, "%s%s(none)\n", n == 0 ? text : "", n == 0 ? " " : "");
	}
	json_array_foreach(rows, r, row)
	{
		cell("", json_object_get(row, n > 0 ? cols[0].name : ""), text, sizeof(text));
		print_nested(f, row, text);
	}
}

/* ---- Lists ---------------------------------------------------------------------------------- */

static void print_list(FILE *f, const json_t *o, const char *indent)
{
	char text[CELL], name[CELL];
	const char *key;
	int width = 0;
	json_t *v;

	json_object_foreach((json_t *)o, key, v)
	{
		title(key, name, sizeof(name));
		if (is_scalar(v) && text_width(name) > width)
			width = text_width(name);
	}
	json_object_foreach((json_t *)o, key, v)
	{
		if (!is_scalar(v))
			continue;
		title(key, name, sizeof(name));
		cell(key, v, text, sizeof(text));
		(void)fprintf(f, "%s%s%*s  %s\n", indent, name, width - text_width(name), "", text);
	}
}

void table_print(FILE *f, const json_t *data, bool all)
{
	char name[CELL];
	const char *key;
	json_t *v;

	print_list(f, data, "");
	json_object_foreach((json_t *)data, key, v)
	{
		if (json_is_array(v)) {
			print_table(f, key, v, all);
		} else if (json_is_object(v) && json_object_size(v) > 0) {
			title(key, name, sizeof(name));
			(void)fprintf(f, "%s:\n", name);
			print_list(f, v, "  ");
		}
	}
}

/* ---- Rates ---------------------------------------------------------------------------------- */

/* The row of before that has the same `key`. */
static const json_t *same_row(const json_t *rows, const json_t *like, const char *key)
{
	const json_t *name = json_object_get(like, key);
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		if (json_equal(json_object_get(row, key), name))
			return row;
	}
	return NULL;
}

/* A counter that went back (the gateway was started anew) has no rate. */
static double rate(const json_t *before, const json_t *after, const char *name, double seconds)
{
	json_int_t a = json_integer_value(json_object_get(before, name));
	json_int_t b = json_integer_value(json_object_get(after, name));

	return b > a && seconds > 0 ? (double)(b - a) / seconds : 0;
}

static void set_rate(json_t *row, const char *column, double v, const char *unit)
{
	char number[NUMBER], text[CELL];

	(void)snprintf(text, sizeof(text), "%s%s", scaled(v, number), unit);
	json_object_set_new(row, column, json_string(text));
}

/* Reasons that counted since: per second. */
static json_t *reason_rates(const json_t *before, const json_t *after, const char *what,
			    double seconds)
{
	json_t *out = json_object();
	const char *key;
	json_t *v;

	json_object_foreach(json_object_get(after, what), key, v)
	{
		double r = rate(json_object_get(before, what), json_object_get(after, what), key,
				seconds);

		if (r > 0)
			set_rate(out, key, r, "/s");
	}
	return out;
}

static json_t *port_rates(const json_t *b, const json_t *a, double s)
{
	json_t *row = json_object();

	json_object_set(row, "port", json_object_get(a, "port"));
	set_rate(row, "rx packet/s", rate(b, a, "rx_packets", s), "");
	set_rate(row, "rx bit/s", 8 * rate(b, a, "rx_octets", s), "");
	set_rate(row, "tx packet/s", rate(b, a, "tx_packets", s), "");
	set_rate(row, "tx bit/s", 8 * rate(b, a, "tx_octets", s), "");
	set_rate(row, "drop/s", rate(b, a, "dropped", s), "");
	json_object_set(row, "dropped", json_object_get(a, "dropped"));
	json_object_set_new(row, "drops", reason_rates(b, a, "drops", s));
	json_object_set_new(row, "notes", reason_rates(b, a, "notes", s));
	return row;
}

static json_t *drop_rates(const json_t *b, const json_t *a, double s)
{
	json_t *row = json_copy((json_t *)a);

	set_rate(row, "packet/s", rate(b, a, "packets", s), "");
	return row;
}

/* Rows that both answers have under `name`, with the same `key`. */
static void print_rates(FILE *f, const char *name, const char *key,
			json_t *row_of(const json_t *before, const json_t *after, double seconds),
			const json_t *before, const json_t *after, double seconds)
{
	json_t *rows = json_array(), *row;
	size_t i;

	json_array_foreach(json_object_get(after, name), i, row)
	{
		const json_t *b = same_row(json_object_get(before, name), row, key);

		if (b != NULL)
			json_array_append_new(rows, row_of(b, row, seconds));
	}
	print_table(f, name, rows, false);
	json_decref(rows);
}

void table_print_rates(FILE *f, const json_t *before, const json_t *after, double seconds)
{
	if (json_object_get(after, "drops") != NULL)
		print_rates(f, "drops", "reason", drop_rates, before, after, seconds);
	else
		print_rates(f, "ports", "port", port_rates, before, after, seconds);
}
