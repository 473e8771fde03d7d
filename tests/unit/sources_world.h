/* sources_world.h - the daemon's sources of proxies, with a clock of the test's, and questions to
 * them. */
#ifndef TESTS_UNIT_SOURCES_WORLD_H
#define TESTS_UNIT_SOURCES_WORLD_H

#include <jansson.h>
#include <unistd.h>
#include "daemon/log.h"
#include "daemon/peers/peers.h"
#include "tests/unit/test.h"

static struct {
	uint64_t now;
	struct cw_config *conf, *old;
	char dir[64], file[128], text[4096];
	int log;
} w;

/* The daemon's clock. */
uint64_t cw_now_ms(void);
uint64_t cw_now_ms(void)
{
	return w.now;
}

static inline int begin(void **state)
{
	(void)state;
	memset(&w, 0, sizeof(w));
	w.log = -1;
	(void)strcpy(w.dir, "/tmp/cw-peers-XXXXXX");
	if (mkdtemp(w.dir) == NULL)
		return -1;
	(void)snprintf(w.file, sizeof(w.file), "%s/proxies", w.dir);
	cw_log_set_level(CW_LOG_WARNING);
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	cw_peers_stop();
	cw_config_free(w.conf);
	(void)unlink(w.file);
	return rmdir(w.dir);
}

/* Use a configuration's `pnc`. */
static inline void use(const char *pnc)
{
	struct cw_config *old = w.conf;
	struct cw_diag diag = {0};
	char text[2048];

	(void)snprintf(text, sizeof(text), "{\"causeway:causeway\": {\"pnc\": %s}}", pnc);
	if (cw_config_parse(&w.conf, text, strlen(text), &diag) != CW_OK)
		fail_msg("%s: %s: %s", diag.path, diag.value, diag.reason);
	assert_int_equal(cw_peers_apply(&w.conf->pnc, w.now), CW_OK);
	cw_config_free(old);
	(void)cw_peers_run(w.now);
}

/* It is so late now, in milliseconds. */
static inline void at(uint64_t now)
{
	w.now = now;
	(void)cw_peers_run(now);
}

/* ---- Questions ----------------------------------------------------------------------------- */

static inline json_t *shown(void)
{
	struct cw_diag diag = {0};
	json_t *o = cw_peers_show((void *)cw_now_ms, NULL, &diag);

	assert_non_null(o);
	return o;
}

static inline const char *member(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));

	return s != NULL ? s : "";
}

static inline void assert_member(const json_t *o, const char *name, const char *value)
{
	assert_string_equal(member(o, name), value);
}

/* The table is PREFIX=PROXY of each entry in order, " stale" behind it where its session is lost.
 */
static inline void assert_table(const char *want)
{
	json_t *all = shown();
	const json_t *p;
	size_t i, n = 0;

	w.text[0] = '\0';
	json_array_foreach(json_object_get(all, "proxies"), i, p) n += (size_t)snprintf(
		w.text + n, sizeof(w.text) - n, "%s%s=%s%s", i > 0 ? " " : "", member(p, "prefix"),
		member(p, "proxy"), json_is_true(json_object_get(p, "stale")) ? " stale" : "");
	json_decref(all);
	assert_string_equal(w.text, want);
}

static inline json_int_t age(const char *prefix)
{
	json_t *all = shown();
	json_int_t ms = -1;
	const json_t *p;
	size_t i;

	json_array_foreach(json_object_get(all, "proxies"), i, p)
	{
		if (strcmp(member(p, "prefix"), prefix) == 0)
			ms = json_integer_value(json_object_get(p, "age_ms"));
	}
	json_decref(all);
	return ms;
}

static inline void assert_used(const char *prefix, const char *proxy)
{
	json_t *all = shown();
	const json_t *p;
	unsigned used = 0;
	size_t i;

	json_array_foreach(json_object_get(all, "proxies"), i, p)
	{
		if (strcmp(member(p, "prefix"), prefix) != 0 ||
		    !json_is_true(json_object_get(p, "used")))
			continue;
		assert_member(p, "proxy", proxy);
		used++;
	}
	assert_int_equal(used, 1);
	json_decref(all);
}

/* A session of `show proxy-sources`; the caller gives `*all` back. */
static inline const json_t *session(const char *peer, json_t **all)
{
	struct cw_diag diag = {0};
	const json_t *s;
	size_t i;

	*all = cw_peers_show_sources((void *)cw_now_ms, NULL, &diag);
	json_array_foreach(json_object_get(*all, "sessions"), i, s)
	{
		if (strcmp(member(s, "peer"), peer) == 0)
			return s;
	}
	return NULL;
}

/* 0: there is no such session. */
static inline json_int_t counter(const char *peer, const char *name)
{
	json_t *all;
	const json_t *s = session(peer, &all);
	json_int_t n = json_integer_value(json_object_get(s, name));

	assert_true(s == NULL || json_is_integer(json_object_get(s, name)));
	json_decref(all);
	return n;
}

static inline bool is_up(const char *peer)
{
	json_t *all;
	bool up = strcmp(member(session(peer, &all), "state"), "up") == 0;

	json_decref(all);
	return up;
}

/* ---- The helper of ExaBGP ------------------------------------------------------------------ */

static inline json_t *ask(const char *op, const char *name, json_int_t generation,
			  const char *event, struct cw_diag *diag)
{
	json_t *events = json_array(), *request, *o;

	if (event != NULL)
		json_array_append_new(events, json_loads(event, 0, NULL));
	request = json_pack("{s:s, s:s, s:I, s:o}", "op", op, "helper", name, "generation",
			    generation, "events", events);
	o = cw_peers_bgp((void *)cw_now_ms, request, diag);
	json_decref(request);
	return o;
}

static inline json_t *helper(const char *op, const char *name, json_int_t generation,
			     const char *event)
{
	struct cw_diag diag = {0};
	json_t *o = ask(op, name, generation, event, &diag);

	if (o == NULL)
		fail_msg("%s of %s is refused: %s", op, name, diag.reason);
	return o;
}

static inline void refused(const char *op, const char *name, const char *why)
{
	struct cw_diag diag = {0};

	assert_null(ask(op, name, 0, NULL, &diag));
	assert_string_equal(diag.reason, why);
}

/* The helper `exabgp` brings an UPDATE of neighbour 10.0.0.1. */
static inline void update(const char *attrs, const char *nlri)
{
	char hex[1024], event[1200];
	size_t na, nn, i, n;
	uint8_t *a = hex_block(attrs, &na), *l = hex_block(nlri, &nn);

	n = (size_t)snprintf(hex, sizeof(hex), "0x0000%04zx", na);
	for (i = 0; i < na + nn; i++)
		n += (size_t)snprintf(hex + n, sizeof(hex) - n, "%02x", i < na ? a[i] : l[i - na]);
	(void)snprintf(event, sizeof(event), "{\"peer\": \"10.0.0.1\", \"update\": \"%s\"}", hex);
	json_decref(helper("poll", "exabgp", 0, event));
	free(a);
	free(l);
}

/* ---- The file, and the log ----------------------------------------------------------------- */

static inline const char *file_name(void)
{
	return w.file;
}

/* As an operator's tool should: write aside, rename. */
static inline const char *file_with(const char *text)
{
	char aside[160];
	FILE *f;

	(void)snprintf(aside, sizeof(aside), "%s.new", w.file);
	f = fopen(aside, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(rename(aside, w.file), 0);
	return w.file;
}

/* From now on the log goes to a pipe. */
static inline void listen_to_log(void)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	w.log = dup(STDERR_FILENO);
	assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
	close(ends[1]);
	/* what is read from is kept where the log was: see assert_log() */
	assert_true(dup2(ends[0], 100) == 100);
	close(ends[0]);
}

/* It said this, in this order, and goes where it went before. */
static inline void assert_log(const char *a, const char *b, const char *c)
{
	ssize_t n;
	char *at;

	assert_true(dup2(w.log, STDERR_FILENO) >= 0);
	close(w.log);
	n = read(100, w.text, sizeof(w.text) - 1);
	close(100);
	assert_true(n > 0);
	w.text[n] = '\0';
	at = strstr(w.text, a);
	at = at != NULL ? strstr(at, b) : NULL;
	if (at == NULL || strstr(at, c) == NULL)
		fail_msg("the log has not \"%s ... %s%s\": %s", a, b, c, w.text);
}

#endif
