/* uet_allreduce.c - causeway uet allreduce: a ring all-reduce over ranks in this process.
 *
 * Each rank has an engine of its own, a context to the right neighbour and one to the left. Packets
 * go from engine to engine in a shuffled order, some are lost. 2 (N - 1) steps: in the first N - 1
 * each rank adds what comes from the left to its own, in the others it takes it over.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "causeway/bits.h"
#include "cli/uet.h"

enum { RIGHT = 0, LEFT = 1, POOL = 4096 };

struct packet {
	unsigned rank, peer, path, len;
	uint8_t *data;
};

struct rank {
	struct cw_uet *u;
	int64_t *v;
	uint8_t **in;     /* a buffer a step */
	uint8_t *arrived; /* by step */
	uint8_t **out;    /* what was sent a step */
	unsigned step, acknowledged;
};

struct ring {
	const struct uet_opts *o;
	unsigned n, steps;
	uint64_t chunk; /* elements, the last may be short */
	struct rank *ranks;
	struct packet pool[POOL];
	unsigned npool;
	uint64_t now, seed, packets, lost, ooo;
	const char *why;
};

static uint32_t rnd(struct ring *r)
{
	r->seed = r->seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(r->seed >> 33);
}

static int64_t element(const struct ring *r, unsigned rank, uint64_t i)
{
	return (int64_t)((i + 1) * 2654435761u % 1000003 * (rank + 1) + r->o->seed) - 500000;
}

static uint64_t chunk_len(const struct ring *r, unsigned c)
{
	uint64_t at = c * r->chunk;

	if (at >= r->o->elements)
		return 0;
	return r->o->elements - at < r->chunk ? r->o->elements - at : r->chunk;
}

static unsigned chunk_of(const struct ring *r, unsigned rank, unsigned step)
{
	return (rank + 2 * r->n - step) % r->n;
}

static int send_step(struct ring *r, unsigned i)
{
	struct rank *k = &r->ranks[i];
	unsigned c = chunk_of(r, i, k->step);
	uint64_t n = chunk_len(r, c), j;
	uint8_t *p = malloc(8 * n + 1);

	if (p == NULL)
		return CW_E_NOMEM;
	for (j = 0; j < n; j++)
		cw_put_be64(p + 8 * j, (uint64_t)k->v[c * r->chunk + j]);
	k->out[k->step] = p;
	return cw_uet_send(k->u, RIGHT, p, (uint32_t)(8 * n), false, k->step);
}

static void take_step(struct ring *r, unsigned i)
{
	struct rank *k = &r->ranks[i];
	unsigned c = chunk_of(r, i, k->step + 1);
	const uint8_t *p = k->in[k->step];
	uint64_t n = chunk_len(r, c), j;

	for (j = 0; j < n; j++) {
		int64_t v = (int64_t)cw_be64(p + 8 * j), *at = &k->v[c * r->chunk + j];

		*at = k->step < r->n - 1 ? *at + v : v;
	}
	k->step++;
}

/* Each message of the left neighbour is one step; a later one may be whole before an earlier one.
 */
static int handle_events(struct ring *r, unsigned i)
{
	struct rank *k = &r->ranks[i];
	struct cw_uet_event e;
	int err = CW_OK;

	while (cw_uet_event(k->u, &e)) {
		if (e.status != CW_UET_OK) {
			r->why = cw_uet_status_name(e.status);
			return CW_E_STATE;
		}
		if (e.kind == CW_UET_SENT) {
			k->acknowledged++;
		} else {
			k->arrived[e.msg_id] = 1;
			k->in[e.msg_id] = e.buffer;
		}
	}
	while (err == CW_OK && k->step < r->steps && k->arrived[k->step]) {
		take_step(r, i);
		if (k->step < r->steps)
			err = send_step(r, i);
	}
	return err;
}

static void collect(struct ring *r, unsigned i)
{
	struct cw_uet_packet p;

	while (r->npool < POOL && cw_uet_output(r->ranks[i].u, r->now, &p)) {
		struct packet *w = &r->pool[r->npool];

		r->packets++;
		if (rnd(r) % 1000000 < r->o->loss * 10000) {
			r->lost++;
			continue;
		}
		w->len = p.head_len + p.payload_len;
		if ((w->data = malloc(w->len)) == NULL)
			continue; /* as good as lost */
		memcpy(w->data, p.head, p.head_len);
		if (p.payload_len > 0)
			memcpy(w->data + p.head_len, p.payload, p.payload_len);
		w->rank = (p.peer == RIGHT ? i + 1 : i + r->n - 1) % r->n;
		w->peer = p.peer == RIGHT ? LEFT : RIGHT;
		w->path = p.path;
		r->npool++;
	}
}

/* Deliver one packet: of any path, but of a path the oldest. */
static void deliver(struct ring *r)
{
	unsigned k = rnd(r) % r->npool, i;
	struct packet w;

	for (i = 0; i < k; i++) {
		if (r->pool[i].rank == r->pool[k].rank && r->pool[i].peer == r->pool[k].peer &&
		    r->pool[i].path == r->pool[k].path)
			k = i;
	}
	w = r->pool[k];
	memmove(&r->pool[k], &r->pool[k + 1], (r->npool - k - 1) * sizeof(w));
	r->npool--;
	(void)cw_uet_input(r->ranks[w.rank].u, r->now,
			   &(struct cw_uet_arrival){
				   .peer = w.peer, .path = w.path, .data = w.data, .len = w.len});
	free(w.data);
}

static bool finished(const struct ring *r)
{
	unsigned i;

	for (i = 0; i < r->n; i++) {
		if (r->ranks[i].step < r->steps || r->ranks[i].acknowledged < r->steps)
			return false;
	}
	return true;
}

static int run_ring(struct ring *r)
{
	unsigned i, k;
	int err;

	for (i = 0; i < r->n; i++) {
		if ((err = send_step(r, i)) < 0)
			return err;
	}
	while (!finished(r)) {
		for (i = 0; i < r->n; i++)
			collect(r, i);
		for (k = 0; k < 16 && r->npool > 0; k++)
			deliver(r);
		r->now += r->npool > 0 ? 1000 : 100000;
		for (i = 0; i < r->n; i++) {
			if ((err = handle_events(r, i)) < 0)
				return err;
		}
	}
	return CW_OK;
}

static int open_rank(struct ring *r, unsigned i)
{
	struct rank *k = &r->ranks[i];
	struct cw_uet_context right = {.id = RIGHT, .remote_id = LEFT, .peer = RIGHT};
	struct cw_uet_context left = {.id = LEFT, .remote_id = RIGHT, .peer = LEFT};
	uint64_t j;
	unsigned s;

	k->v = malloc(r->o->elements * sizeof(*k->v));
	k->in = calloc(2 * r->steps, sizeof(*k->in));
	k->out = calloc(r->steps, sizeof(*k->out));
	k->arrived = calloc(r->steps, 1);
	if (cw_uet_new(&k->u, &r->o->s) < 0 || k->v == NULL || k->in == NULL || k->out == NULL ||
	    k->arrived == NULL || cw_uet_peer(k->u, r->o->paths) < 0 ||
	    cw_uet_peer(k->u, r->o->paths) < 0 || cw_uet_open(k->u, &right) < 0 ||
	    cw_uet_open(k->u, &left) < 0)
		return CW_E_NOMEM;
	for (j = 0; j < r->o->elements; j++)
		k->v[j] = element(r, i, j);
	for (s = 0; s < r->steps; s++) {
		uint8_t *b = k->in[r->steps + s] = malloc(8 * r->chunk + 1);

		if (b == NULL || cw_uet_post(k->u, LEFT, b, (uint32_t)(8 * r->chunk), s) < 0)
			return CW_E_NOMEM;
	}
	return CW_OK;
}

static void close_rank(struct ring *r, struct rank *k)
{
	unsigned s;

	cw_uet_free(k->u);
	for (s = 0; s < r->steps; s++) {
		if (k->in != NULL)
			free(k->in[r->steps + s]);
		if (k->out != NULL)
			free(k->out[s]);
	}
	free(k->v);
	free(k->in);
	free(k->out);
	free(k->arrived);
}

static uint64_t wrong_elements(const struct ring *r)
{
	uint64_t i, wrong = 0;
	unsigned k;

	for (i = 0; i < r->o->elements; i++) {
		int64_t sum = 0;

		for (k = 0; k < r->n; k++)
			sum += element(r, k, i);
		for (k = 0; k < r->n; k++)
			wrong += r->ranks[k].v[i] != sum;
	}
	return wrong;
}

static void report(const struct ring *r, uint64_t wrong)
{
	uint64_t again = 0, ooo = 0;
	unsigned i;

	for (i = 0; i < r->n; i++) {
		again += cw_uet_count(r->ranks[i].u, CW_UET_RETRANSMITS);
		ooo += cw_uet_count(r->ranks[i].u, CW_UET_RX_OOO);
	}
	printf(r->o->json ? "{\"ranks\":%u,\"elements\":%llu,\"wrong\":%llu,\"packets\":%llu,"
			    "\"lost\":%llu,\"retransmits\":%llu,\"out_of_order\":%llu}\n"
			  : "%u ranks, %llu elements, %llu wrong; %llu packets, %llu lost, "
			    "%llu sent again, %llu out of order\n",
	       r->n, (unsigned long long)r->o->elements, (unsigned long long)wrong,
	       (unsigned long long)r->packets, (unsigned long long)r->lost,
	       (unsigned long long)again, (unsigned long long)ooo);
}

int uet_allreduce(const struct uet_opts *o)
{
	struct ring *r = calloc(1, sizeof(*r));
	uint64_t wrong = 0;
	unsigned i;
	int err = r != NULL ? CW_OK : CW_E_NOMEM;

	if (r == NULL || (r->ranks = calloc(o->ranks, sizeof(*r->ranks))) == NULL)
		err = CW_E_NOMEM;
	if (err == CW_OK) {
		r->o = o;
		r->n = o->ranks;
		r->steps = 2 * (r->n - 1);
		r->chunk = o->elements / r->n + (o->elements % r->n != 0);
		r->seed = o->seed;
		for (i = 0; err == CW_OK && i < r->n; i++)
			err = open_rank(r, i);
		err = err == CW_OK ? run_ring(r) : err;
		if (err == CW_OK)
			report(r, wrong = wrong_elements(r));
		while (r->npool > 0)
			free(r->pool[--r->npool].data);
		for (i = 0; i < r->n; i++)
			close_rank(r, &r->ranks[i]);
	}
	if (err < 0)
		fprintf(stderr, "causeway uet allreduce: %s\n",
			r != NULL && r->why != NULL ? r->why : cw_strerror(err));
	if (r != NULL)
		free(r->ranks);
	free(r);
	if (err < 0)
		return EXIT_USAGE;
	return wrong == 0 ? EXIT_DONE : EXIT_DATA;
}
