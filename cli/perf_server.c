/* perf_server.c - causeway perf: the target. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cli/interrupt.h"
#include "cli/perf.h"

static int refuse(struct endpoint *e, const char *what)
{
	(void)snprintf(e->err, sizeof(e->err), "the client's offer: %s", what);
	return -1;
}

/* The operation that is asked for; `want` is what the server was started for, or NULL. */
static int read_op(struct perf *p, struct endpoint *e, const char *kind, const char *op,
		   const struct perf_kind *want)
{
	p->kind = perf_kind(kind);
	if (p->kind == NULL || (want != NULL && want != p->kind)) {
		(void)snprintf(e->err, sizeof(e->err), "the client measures '%.20s', this is '%s'",
			       kind, want != NULL ? want->name : "of no known kind");
		return -1;
	}
	p->op = p->kind->op;
	if (perf_is_atomic(p->op) && (p->op = perf_atomic(op)) == CW_UBOE_OPS)
		return refuse(e, "an atomic that is not known");
	return 0;
}

static int read_offer(struct perf *p, struct endpoint *e, json_t *offer,
		      const struct perf_kind *want, uint32_t *octets)
{
	json_int_t n = 0, depth = 1, iterations = 1, duration = 0, va = 0, id = 0, token = 0;
	const char *kind = "", *op = "";
	int both = 0, check = 0;

	(void)json_unpack(offer, "{s?{s?s,s?s,s?I,s?I,s?I,s?I,s?b,s?b,s?I,s?I,s?I}}", "test",
			  "kind", &kind, "op", &op, "octets", &n, "depth", &depth, "iterations",
			  &iterations, "duration", &duration, "both", &both, "check", &check, "va",
			  &va, "token_id", &id, "token", &token);
	if (read_op(p, e, kind, op, want) < 0)
		return -1;
	if (n < 1 || n > PERF_SIZE_MAX || depth < 1 || depth > PERF_DEPTH_MAX || iterations < 1 ||
	    duration < 0 || (check && (uint64_t)n * (uint64_t)depth > PERF_MEMORY_MAX))
		return refuse(e, "a size, depth or time out of range");
	*octets = (uint32_t)n;
	p->depth = (unsigned)depth;
	p->iterations = (uint64_t)iterations;
	p->duration = (uint64_t)duration;
	p->both = both;
	p->check = check;
	p->va = (uint64_t)va;
	p->token_id = (uint32_t)id;
	p->token_value = (uint32_t)token;
	return 0;
}

static json_t *counts(const struct perf *p, const struct endpoint *e, const struct perf_result *r)
{
	uint64_t received = p->op != CW_UBOE_OP_PREFETCH
				    ? p->received
				    : cw_uboe_dev_count(e->dev, CW_UBOE_C_PREFETCH) - p->prefetched;

	return json_pack("{s:I,s:I,s:I,s:I,s:I}", "received", (json_int_t)received, "wrong",
			 (json_int_t)p->bad, "cell", (json_int_t)perf_cell(p), "messages",
			 (json_int_t)r->done, "ns", (json_int_t)r->ns);
}

/* One message of the client: a size begins, or has ended ("used" slots), or all is over (1). */
static int obey(struct perf *p, struct endpoint *e, json_t *msg, struct perf_result *r)
{
	json_int_t size = 0, used = -1;

	(void)json_unpack(msg, "{s?I,s?I}", "size", &size, "used", &used);
	if (used >= 0) {
		perf_verify(p, (uint32_t)used);
		return rdv_send(e->rdv, counts(p, e, r), e->err);
	}
	if (size < 1)
		return 1;
	if (size > p->slot)
		return refuse(e, "a size above the largest one");
	memset(r, 0, sizeof(*r));
	r->size = (uint32_t)size;
	perf_prepare(p, e, r->size);
	if (rdv_send(e->rdv, json_pack("{s:b}", "ready", 1), e->err) < 0)
		return -1;
	return p->both ? perf_measure(p, e, r) : 0;
}

static int serve(struct perf *p, struct endpoint *e)
{
	static struct perf_result r;
	json_t *msg;
	int rc;

	memset(&r, 0, sizeof(r));
	do {
		rc = interrupted() ? 0 : perf_wait(p, e, &msg, UINT64_MAX);
		if (rc == 0) {
			(void)snprintf(e->err, sizeof(e->err), "interrupted");
			return -1;
		}
		if (rc > 0) {
			rc = obey(p, e, msg, &r);
			json_decref(msg);
		}
	} while (rc == 0);
	return rc > 0 ? 0 : -1;
}

/* What the other end did not hear yet (acknowledgements) gets a moment. */
static int report_and_part(struct perf *p, struct endpoint *e)
{
	json_t *report = ep_report(e), *bye;

	if (p->json) {
		json_incref(report);
		perf_print_json(report);
	} else {
		perf_text_end(p->kind->name, report);
	}
	(void)fflush(stdout);
	if (rdv_send(e->rdv, report, e->err) < 0)
		return -1;
	if (ep_await(e, &bye, SECOND) == 0)
		json_decref(bye);
	return 0;
}

static int serve_one(struct perf *p, struct endpoint *e, int listener, const struct perf_kind *want)
{
	uint32_t octets = 0;
	json_t *offer;
	int rc;

	if (ep_begin(e, &p->ep, listener, "perf") < 0 ||
	    ep_await_offer(e, (struct ep_depth){PERF_DEPTH_MAX, PERF_DEPTH_MAX}, &offer) < 0)
		return -1;
	rc = read_offer(p, e, offer, want, &octets);
	json_decref(offer);
	if (rc < 0 || perf_memory(p, e, octets) < 0) {
		rdv_refuse(e->rdv, e->err);
		return -1;
	}
	perf_post_inboxes(p, e);
	if (ep_answer(e, json_pack("{s:I,s:I,s:I}", "va", (json_int_t)cw_uboe_seg_va(p->seg),
				   "token_id", (json_int_t)cw_uboe_seg_token_id(p->seg), "token",
				   (json_int_t)p->own_token)) < 0 ||
	    ep_await_connect(e) < 0 || serve(p, e) < 0)
		return -1;
	return report_and_part(p, e);
}

int perf_serve(struct perf *p)
{
	static struct endpoint e;
	const struct perf_kind *want = p->kind;
	char err[RDV_ERROR_MAX];
	int family = p->ep.ip_version == 0 || p->ep.address != NULL ? AF_UNSPEC
		     : p->ep.ip_version == 4                        ? AF_INET
								    : AF_INET6;
	int listener = rdv_listen(p->ep.host, p->ep.port, family, err), rc;

	if (listener < 0) {
		fprintf(stderr, "causeway perf: %s\n", err);
		return EXIT_USAGE;
	}
	do {
		rc = serve_one(p, &e, listener, want);
		if (rc < 0)
			ep_server_failed(&e, "perf", p->keep);
		ep_end(&e);
		perf_memory_free(p);
	} while (p->keep && !interrupted());
	(void)close(listener);
	return rc < 0 && !p->keep ? EXIT_USAGE : EXIT_DONE;
}
