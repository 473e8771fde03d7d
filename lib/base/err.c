/* err.c - texts, names and scopes of the error list. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "causeway/err.h"

struct row {
	int err;
	enum cw_err_scope scope;
	const char *name, *text;
};

static const struct row rows[] = {
#define CW_X(id, name, num, scope, text) {-(num), CW_SCOPE_##scope, name, text},
	CW_ERRORS(CW_X)
#undef CW_X
};

static const struct row *find(int err)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].err == err)
			return &rows[i];
	}
	return NULL;
}

const char *cw_strerror(int err)
{
	const struct row *r = find(err);

	if (err == CW_OK)
		return "ok";
	return r != NULL ? r->text : "unknown error";
}

const char *cw_err_name(int err)
{
	const struct row *r = find(err);

	if (err == CW_OK)
		return "ok";
	return r != NULL ? r->name : "unknown";
}

enum cw_err_scope cw_err_scope(int err)
{
	const struct row *r = find(err);

	return r != NULL ? r->scope : CW_SCOPE_NONE;
}

int cw_diag_set(struct cw_diag *d, int err, const char *path, const char *value, const char *fmt,
		...)
{
	va_list ap;

	if (d == NULL)
		return err;
	d->err = err;
	(void)snprintf(d->path, sizeof(d->path), "%s", path != NULL ? path : "");
	(void)snprintf(d->value, sizeof(d->value), "%s", value != NULL ? value : "");
	va_start(ap, fmt);
	(void)vsnprintf(d->reason, sizeof(d->reason), fmt, ap);
	va_end(ap);
	return err;
}
