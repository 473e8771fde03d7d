/* metrics.h - counters as Prometheus text over HTTP.
 *
 * A GET of /metrics calls the walk, which writes families and their samples. Loopback address or
 * UNIX socket; nothing else is served.
 */
#ifndef DAEMON_CONTROL_METRICS_H
#define DAEMON_CONTROL_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "causeway/err.h"

struct cw_metrics_text; /* grows; a failed allocation turns the whole answer into a 503 */

struct cw_label {
	const char *name, *value;
};

/* Begin a family: names are [a-zA-Z_:][a-zA-Z0-9_:]*; `type` is "counter" (name ends in _total) or
 * "gauge". Its samples follow. */
void cw_metrics_family(struct cw_metrics_text *t, const char *name, const char *type,
		       const char *help);

/* A sample of the family begun last. Label values are escaped. */
void cw_metrics_sample(struct cw_metrics_text *t, const struct cw_label *labels, unsigned nlabels,
		       uint64_t value);
void cw_metrics_sample_real(struct cw_metrics_text *t, const struct cw_label *labels,
			    unsigned nlabels, double value);

typedef void cw_metrics_walk(void *arg, struct cw_metrics_text *t);

/* What the walk writes, as text that the caller frees; NULL: out of memory. */
char *cw_metrics_render(cw_metrics_walk *walk, void *arg, size_t *len);

struct cw_metrics_server;

/* Listen on "ADDRESS:PORT", "[IPV6]:PORT" or "unix:PATH" (mode 0660). CW_E_FORBIDDEN: not a
 * loopback address, and allow_remote is false. CW_E_CONFLICT: taken. CW_E_IO. */
int cw_metrics_server_new(struct cw_metrics_server **out, const char *where, bool allow_remote,
			  cw_metrics_walk *walk, void *arg, struct cw_diag *diag);
int cw_metrics_server_fd(const struct cw_metrics_server *s); /* readable: call run */
void cw_metrics_server_run(struct cw_metrics_server *s);     /* never blocks */
void cw_metrics_server_free(struct cw_metrics_server *s);    /* NULL is fine */

/* Is it one of the three forms? And one that other machines can't reach? */
bool cw_metrics_is_address(const char *where);
bool cw_metrics_is_loopback(const char *where);

#endif
