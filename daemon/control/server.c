/* server.c - the control socket: request lines in, response lines out. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/control/server.h"
#include "daemon/control/stream.h"

struct cw_control_server {
	struct cw_unix_listener listener;
	struct cw_stream_server *stream;
	const struct cw_control_provider *table;
	unsigned n;
};

/* ---- Responses ------------------------------------------------------------------------------ */

/* Takes `data` and `id` over. */
static char *response(json_t *id, const char *member, json_t *data)
{
	json_t *r = json_pack("{s:o, s:b, s:o}", "id", id, "ok", strcmp(member, "data") == 0,
			      member, data);
	char *text = r != NULL ? json_dumps(r, JSON_COMPACT | JSON_PRESERVE_ORDER) : NULL;

	json_decref(r);
	return text;
}

/* Text from outside may be cut in the middle of a UTF-8 sequence by the diagnosis: then jansson
 * refuses it. */
static json_t *safe_string(const char *s)
{
	json_t *v = json_string(s);
	char ascii[256];
	size_t i;

	if (v != NULL)
		return v;
	(void)snprintf(ascii, sizeof(ascii), "%s", s);
	for (i = 0; ascii[i] != '\0'; i++) {
		if ((unsigned char)ascii[i] >= 0x80)
			ascii[i] = '?';
	}
	return json_string(ascii);
}

static json_t *diag_json(const struct cw_diag *d)
{
	return json_pack("{s:s, s:o, s:o, s:o}", "code", cw_err_name(d->err), "path",
			 safe_string(d->path), "value", safe_string(d->value), "reason",
			 safe_string(d->reason));
}

/* ---- Commands ------------------------------------------------------------------------------- */

static json_t *version(void)
{
	return json_pack("{s:s, s:i}", "version", CW_VERSION, "protocol", CW_CONTROL_PROTOCOL);
}

static json_t *help(const struct cw_control_provider *table, unsigned n)
{
	json_t *list = json_array();
	unsigned i;

	for (i = 0; i < n; i++)
		json_array_append_new(list,
				      json_pack("{s:s, s:s?, s:s?}", "cmd", table[i].cmd, "what",
						table[i].what, "brief", table[i].brief));
	return list;
}

static const struct cw_control_provider *find(const struct cw_control_provider *table, unsigned n,
					      const char *cmd, const char *what, bool *known)
{
	unsigned i;

	*known = false;
	for (i = 0; i < n; i++) {
		if (strcmp(table[i].cmd, cmd) != 0)
			continue;
		*known = true;
		if (table[i].what == NULL || (what != NULL && strcmp(table[i].what, what) == 0))
			return &table[i];
	}
	return NULL;
}

static json_t *unknown(const struct cw_control_provider *table, unsigned n, bool known,
		       const char *cmd, const char *what, struct cw_diag *d)
{
	char names[192] = "";
	unsigned i;

	if (!known) {
		cw_diag_set(d, CW_E_NAME, "cmd", cmd, "no such command");
		return NULL;
	}
	for (i = 0; i < n; i++) {
		size_t len = strlen(names);

		if (strcmp(table[i].cmd, cmd) == 0)
			(void)snprintf(names + len, sizeof(names) - len, "%s%s",
				       len > 0 ? ", " : "", table[i].what);
	}
	cw_diag_set(d, CW_E_NAME, "what", what, "not one of %s", names);
	return NULL;
}

static json_t *run(const struct cw_control_provider *table, unsigned n, const json_t *request,
		   struct cw_diag *d)
{
	const char *cmd = json_string_value(json_object_get(request, "cmd"));
	const char *what = json_string_value(json_object_get(request, "what"));
	const struct cw_control_provider *p;
	json_t *data;
	bool known;

	if (cmd == NULL) {
		cw_diag_set(d, CW_E_SYNTAX, "cmd", NULL, "is required: a string");
		return NULL;
	}
	if (strcmp(cmd, "version") == 0)
		return version();
	if (strcmp(cmd, "help") == 0)
		return help(table, n);
	if ((p = find(table, n, cmd, what, &known)) == NULL)
		return unknown(table, n, known, cmd, what, d);
	data = p->run(p->arg, request, d);
	if (data == NULL && d->err == CW_OK)
		cw_diag_set(d, CW_E_NOMEM, NULL, NULL, "out of memory");
	return data;
}

char *cw_control_answer(const struct cw_control_provider *table, unsigned n, const char *line,
			size_t len)
{
	json_error_t e;
	json_t *request = json_loadb(line, len, JSON_REJECT_DUPLICATES, &e);
	json_t *id = json_object_get(request, "id"), *data = NULL;
	struct cw_diag d = {0};
	char *text;

	if (request == NULL)
		cw_diag_set(&d, CW_E_SYNTAX, NULL, NULL, "column %d: %s", e.column, e.text);
	else if (!json_is_object(request))
		cw_diag_set(&d, CW_E_SYNTAX, NULL, NULL, "a request is one JSON object");
	else if (id != NULL && !json_is_integer(id) && !json_is_string(id))
		cw_diag_set(&d, CW_E_SYNTAX, "id", NULL, "must be an integer or a string");
	else
		data = run(table, n, request, &d);
	id = json_is_integer(id) || json_is_string(id) ? json_incref(id) : json_null();
	text = data != NULL ? response(id, "data", data) : response(id, "error", diag_json(&d));
	json_decref(request);
	return text;
}

int cw_control_config(struct cw_config **out, const json_t *request, const char *default_file,
		      struct cw_diag *diag)
{
	const json_t *config = json_object_get(request, "config");
	const json_t *file = json_object_get(request, "file");
	const char *name = file != NULL ? json_string_value(file) : default_file;
	char *text;
	int err;

	if (file != NULL && name == NULL)
		return cw_diag_set(diag, CW_E_SYNTAX, "file", NULL, "must be a string");
	if (config != NULL && file != NULL)
		return cw_diag_set(diag, CW_E_CONFLICT, "file", NULL,
				   "config and file exclude each other");
	if (config == NULL) {
		if (name == NULL)
			return cw_diag_set(diag, CW_E_ARG, "file", NULL,
					   "no configuration file is known");
		if (name[0] != '/' && file != NULL)
			return cw_diag_set(diag, CW_E_ARG, "file", name, "not an absolute path");
		return cw_config_load_plain(out, name, diag);
	}
	if ((text = json_dumps(config, JSON_ENCODE_ANY | JSON_COMPACT)) == NULL)
		return cw_diag_set(diag, CW_E_NOMEM, NULL, NULL, "out of memory");
	err = cw_config_parse(out, text, strlen(text), diag);
	free(text);
	return err;
}

/* ---- The socket ----------------------------------------------------------------------------- */

static bool is_blank(const char *line, size_t len)
{
	size_t i;

	for (i = 0; i < len && strchr(" \t\r", line[i]) != NULL && line[i] != '\0'; i++)
		;
	return i == len;
}

static void reply_line(char *text, struct cw_reply *reply)
{
	size_t n = text != NULL ? strlen(text) : 0;

	reply->close = text == NULL;
	reply->data = text;
	if (text != NULL) {
		text[n] = '\n'; /* in place of the NUL: the length travels beside */
		reply->len = n + 1;
	}
}

static size_t input(void *arg, const char *in, size_t len, bool eof, struct cw_reply *reply)
{
	const struct cw_control_server *s = arg;
	const char *end = memchr(in, '\n', len);
	size_t line = end != NULL ? (size_t)(end - in) : len;

	if (end == NULL && !eof)
		return 0;
	if (!is_blank(in, line))
		reply_line(cw_control_answer(s->table, s->n, in, line), reply);
	return end != NULL ? line + 1 : line;
}

static void overflow(void *arg, struct cw_reply *reply)
{
	struct cw_diag d;

	cw_diag_set(&d, CW_E_RANGE, NULL, NULL, "a request has at most %d octets",
		    CW_CONTROL_REQUEST_MAX);
	reply_line(response(json_null(), "error", diag_json(&d)), reply);
}

static const struct cw_stream_ops ops = {
	.input = input,
	.overflow = overflow,
	.max_input = CW_CONTROL_REQUEST_MAX,
	.max_clients = CW_CONTROL_CLIENTS,
};

int cw_control_server_new(struct cw_control_server **out, const char *path,
			  const struct cw_control_provider *table, unsigned n, struct cw_diag *diag)
{
	struct cw_control_server *s = calloc(1, sizeof(*s));
	int err;

	if (s == NULL)
		return cw_diag_set(diag, CW_E_NOMEM, NULL, NULL, "out of memory");
	s->table = table;
	s->n = n;
	if ((err = cw_unix_listen(&s->listener, path, diag)) != CW_OK) {
		free(s);
		return err;
	}
	if ((err = cw_stream_server_new(&s->stream, s->listener.fd, &ops, s)) != CW_OK) {
		cw_diag_set(diag, err, NULL, path, "%s", strerror(errno));
		cw_unix_unlink(&s->listener);
		free(s);
		return err;
	}
	*out = s;
	return CW_OK;
}

int cw_control_server_fd(const struct cw_control_server *s)
{
	return cw_stream_server_fd(s->stream);
}

void cw_control_server_run(struct cw_control_server *s)
{
	cw_stream_server_run(s->stream);
}

void cw_control_server_free(struct cw_control_server *s)
{
	if (s == NULL)
		return;
	cw_unix_unlink(&s->listener);
	cw_stream_server_free(s->stream);
	free(s);
}
