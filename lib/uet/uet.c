/* uet.c - the engine's life, peers, contexts, input and events. */
#include <stdlib.h>
#include "causeway/wire/uec.h"
#include "lib/uet/uet_int.h"

#define MS 1000000ull
enum { AHEAD = 8, NACK_TRIMMED = 1, NACK_TRIMMED_LAST_HOP = 2 };

static const struct cw_uet_settings defaults = {
	.mtu = 4096,
	.id_window = 4096,
	.max_window = 256,
	.reorder = 3,
	.ack_every = 1,
	.ack_delay = MS / 20,
	.rto_min = 2 * MS,
	.rto_max = 1000 * MS,
	.retry_delay = MS,
	.reap_after = 10000 * MS,
	.give_up_after = 10000 * MS,
	.memory_per_peer = 64ull << 20,
	.messages_per_peer = 131072,
};

static void set_defaults(struct cw_uet_settings *s)
{
#define DEFAULT(member) s->member = s->member != 0 ? s->member : defaults.member
	DEFAULT(mtu);
	DEFAULT(id_window);
	DEFAULT(max_window);
	DEFAULT(reorder);
	DEFAULT(ack_every);
	DEFAULT(ack_delay);
	DEFAULT(rto_min);
	DEFAULT(rto_max);
	DEFAULT(retry_delay);
	DEFAULT(reap_after);
	DEFAULT(give_up_after);
	DEFAULT(memory_per_peer);
	DEFAULT(messages_per_peer);
#undef DEFAULT
}

static bool is_power_of_two(uint32_t n)
{
	return n != 0 && (n & (n - 1)) == 0;
}

static bool settings_ok(const struct cw_uet_settings *s)
{
	return s->mtu >= UET_MTU_MIN && s->mtu <= 65535 && is_power_of_two(s->id_window) &&
	       s->id_window >= 64 && s->id_window <= 1u << 24 && is_power_of_two(s->max_window) &&
	       s->max_window <= 4096 && s->ack_every <= 16 && s->rto_min <= s->rto_max &&
	       s->spray <= CW_UET_HASH;
}

static int init_maps(struct cw_uet *u)
{
	if (uet_map_init(&u->ctxs, 64) < 0 || uet_map_init(&u->tx, 1024) < 0 ||
	    uet_map_init(&u->reads, 64) < 0)
		return CW_E_NOMEM;
	return CW_OK;
}

int cw_uet_new(struct cw_uet **out, const struct cw_uet_settings *s)
{
	struct cw_uet *u = calloc(1, sizeof(*u));
	unsigned i;
	int err;

	if (u == NULL)
		return CW_E_NOMEM;
	if (s != NULL)
		u->s = *s;
	set_defaults(&u->s);
	u->pool.memory = u->s.memory;
	uet_link_init(&u->tx_age);
	uet_link_init(&u->rx_age);
	for (i = 0; i < UET_HOLDS; i++)
		uet_link_init(&u->held[i]);
	uet_link_init(&u->tx_events);
	uet_link_init(&u->rx_events);
	err = settings_ok(&u->s) ? init_maps(u) : CW_E_RANGE;
	if (err < 0)
		cw_uet_free(u);
	else
		*out = u;
	return err;
}

/* ---- Peers --------------------------------------------------------------------------------- */

static void free_paths(struct uet_path *paths, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		free(paths[i].fifo);
	free(paths);
}

/* The elements of `from`, behind their new head. */
static void move_list(struct uet_link *to, struct uet_link *from)
{
	uet_link_init(to);
	if (!uet_linked(from))
		return;
	uet_append(from, to);
	uet_unlink(from);
}

/* Lists keep pointers to their heads inside the peers, so the array's move has to mend them. */
static int more_peers(struct cw_uet *u)
{
	struct uet_peer *more = calloc(u->npeers + 1, sizeof(*more));
	unsigned i;

	if (more == NULL)
		return CW_E_NOMEM;
	for (i = 0; i < u->npeers; i++) {
		more[i] = u->peers[i];
		move_list(&more[i].queue, &u->peers[i].queue);
		move_list(&more[i].lost, &u->peers[i].lost);
	}
	free(u->peers);
	u->peers = more;
	return CW_OK;
}

int cw_uet_peer(struct cw_uet *u, unsigned paths)
{
	struct uet_peer *p;
	struct uet_path *all;
	unsigned i;

	if (paths == 0 || paths > CW_UET_PATHS_MAX)
		return CW_E_ARG;
	if ((all = calloc(paths, sizeof(*all))) == NULL)
		return CW_E_NOMEM;
	for (i = 0; i < paths; i++) {
		if (uet_path_init(&all[i], i, &u->s) < 0)
			break;
	}
	if (i < paths || more_peers(u) < 0) {
		free_paths(all, paths);
		return CW_E_NOMEM;
	}
	p = &u->peers[u->npeers];
	memset(p, 0, sizeof(*p));
	p->paths = all;
	p->npaths = paths;
	uet_link_init(&p->queue);
	uet_link_init(&p->lost);
	return (int)u->npeers++;
}

/* ---- Contexts ------------------------------------------------------------------------------ */

static struct uet_ctx *find_ctx(const struct cw_uet *u, uint32_t id)
{
	return uet_map_find(&u->ctxs, id);
}

static void free_ctx(struct uet_ctx *c)
{
	struct uet_recv *r;

	while (uet_linked(&c->recvs)) {
		r = UET_OF(struct uet_recv, link, c->recvs.next);
		uet_unlink(&r->link);
		free(r);
	}
	free(c->ids);
	free(c->dead);
	free(c);
}

int cw_uet_open(struct cw_uet *u, const struct cw_uet_context *conf)
{
	struct uet_ctx *c;

	if (conf->id >> 24 != 0 || conf->remote_id >> 24 != 0 || conf->peer >= u->npeers)
		return CW_E_ARG;
	if (find_ctx(u, conf->id) != NULL)
		return CW_E_CONFLICT;
	if ((c = calloc(1, sizeof(*c))) == NULL)
		return CW_E_NOMEM;
	c->c = *conf;
	c->next_id = conf->first_tx;
	c->rx_base = conf->first_rx;
	uet_link_init(&c->waiting);
	uet_link_init(&c->unfinished);
	uet_link_init(&c->recvs);
	uet_link_init(&c->answers);
	c->ids = calloc(u->s.id_window, sizeof(*c->ids));
	c->dead = calloc(u->s.id_window / 32, 8);
	if (c->ids != NULL && c->dead != NULL && uet_map_add(&u->ctxs, conf->id, c) == CW_OK)
		return CW_OK;
	free_ctx(c);
	return CW_E_NOMEM;
}

/* Messages that never began have no id's place; they end in the order in which they were posted. */
static void close_tx(struct cw_uet *u, struct uet_ctx *c)
{
	struct uet_link *l, *next;

	c->closing = true; /* start nothing more */
	while (uet_linked(&c->unfinished))
		uet_tx_finish(u, UET_OF(struct uet_tx, order, c->unfinished.next), CW_UET_CLOSED);
	while (uet_linked(&c->waiting))
		uet_tx_finish(u, UET_OF(struct uet_tx, queue, c->waiting.next), CW_UET_CLOSED);
	while (uet_linked(&c->answers))
		uet_tx_finish(u, UET_OF(struct uet_tx, order, c->answers.next), CW_UET_CLOSED);
	for (l = u->rx_age.next; l != &u->rx_age; l = next) {
		struct uet_rx_rest *r = UET_OF(struct uet_rx_rest, age, l);

		next = l->next;
		if (r->ctx == c)
			uet_rx_finish(u, r->rx, CW_UET_CLOSED);
	}
}

/* Buffers that nothing was received in come back as events too. */
static void return_buffers(struct cw_uet *u, struct uet_ctx *c)
{
	while (uet_linked(&c->recvs)) {
		struct uet_recv *r = UET_OF(struct uet_recv, link, c->recvs.next);
		struct uet_rx *m = uet_pool_get(&u->pool);

		uet_unlink(&r->link);
		if (m != NULL) {
			m->op = CW_UETX_SEND;
			m->buf = r->buf;
			m->rest->cookie = r->cookie;
			m->rest->status = CW_UET_CLOSED;
			m->rest->context = c->c.id;
			uet_append(&u->rx_events, &m->rest->age);
		}
		free(r);
	}
}

int cw_uet_close(struct cw_uet *u, uint32_t id)
{
	struct uet_ctx *c = find_ctx(u, id);

	if (c == NULL)
		return CW_E_NAME;
	close_tx(u, c);
	return_buffers(u, c);
	uet_map_del(&u->ctxs, id);
	free_ctx(c);
	return CW_OK;
}

int cw_uet_post(struct cw_uet *u, uint32_t ctx, void *buf, uint32_t size, uint64_t cookie)
{
	struct uet_ctx *c = find_ctx(u, ctx);
	struct uet_recv *r;

	if (c == NULL)
		return CW_E_NAME;
	if ((r = calloc(1, sizeof(*r))) == NULL)
		return CW_E_NOMEM;
	uet_link_init(&r->link);
	r->buf = buf;
	r->size = size;
	r->cookie = cookie;
	uet_append(&c->recvs, &r->link);
	return CW_OK;
}

int cw_uet_expose(struct cw_uet *u, uint32_t ctx, void *base, uint32_t size, unsigned access)
{
	struct uet_ctx *c = find_ctx(u, ctx);

	if (c == NULL)
		return CW_E_NAME;
	c->region = base;
	c->region_size = size;
	c->access = access;
	return CW_OK;
}

void cw_uet_free(struct cw_uet *u)
{
	struct cw_uet_event e;
	unsigned i;

	if (u == NULL)
		return;
	for (i = 0; u->ctxs.slots != NULL && i <= u->ctxs.mask; i++) {
		while (u->ctxs.slots[i].value != NULL)
			(void)cw_uet_close(u, (uint32_t)u->ctxs.slots[i].key);
	}
	while (cw_uet_event(u, &e))
		;
	for (i = 0; i < u->npeers; i++) {
		struct uet_path *p = u->peers[i].paths;
		unsigned k;

		for (k = 0; k < u->peers[i].npaths; k++)
			uet_path_infer(u, &p[k]); /* lets go of messages that are over */
		free_paths(p, u->peers[i].npaths);
	}
	free(u->peers);
	free(u->ctxs.slots);
	free(u->tx.slots);
	free(u->reads.slots);
	uet_pool_free(&u->pool);
	free(u);
}

/* ---- Input --------------------------------------------------------------------------------- */

static int bad_packet(struct cw_uet *u, const uint8_t *p, size_t len)
{
	int err = cw_uetx_check(p, len);

	if (err == CW_E_SHORT)
		uet_inc(u, CW_UET_E_SHORT);
	else if (err == CW_E_VERSION)
		uet_inc(u, CW_UET_E_VERSION);
	else if (err == CW_E_RESERVED)
		uet_inc(u, CW_UET_E_OPCODE);
	else if (err == CW_E_LENGTH)
		uet_inc(u, CW_UET_E_LENGTH);
	return err;
}

static int input(struct cw_uet *u, const struct cw_uet_arrival *a)
{
	const uint8_t *p = a->data;
	struct uet_ctx *c;
	unsigned path;
	int err;

	if (a->peer >= u->npeers)
		return CW_E_ARG;
	if ((err = bad_packet(u, p, a->len)) < 0)
		return err;
	c = find_ctx(u, cw_uetx_dcid(p));
	if (c == NULL || c->c.peer != a->peer || c->c.remote_id != cw_uetx_scid(p)) {
		uet_inc(u, CW_UET_E_CONTEXT);
		return CW_E_FORBIDDEN;
	}
	path = a->path % u->peers[a->peer].npaths;
	if (cw_uetx_opcode(p) == CW_UETX_ACK)
		return uet_ack_input(u, c, path, p);
	if (cw_uetx_opcode(p) == CW_UETX_NACK)
		return uet_nack_input(u, c, p, a->len);
	return uet_data_input(u, &(struct uet_in){.ctx = c, .path = path, .ce = a->ce, .p = p});
}

int cw_uet_input(struct cw_uet *u, uint64_t now, const struct cw_uet_arrival *a)
{
	u->now = now;
	return input(u, a);
}

/* The context of a packet whose header is there. */
static struct uet_ctx *ctx_of(const struct cw_uet *u, const struct cw_uet_arrival *a)
{
	return a->len < CW_SIZE_UETX ? NULL : find_ctx(u, cw_uetx_dcid(a->data));
}

static bool is_answer(const uint8_t *p)
{
	return cw_uetx_opcode(p) == CW_UETX_ACK || cw_uetx_opcode(p) == CW_UETX_NACK;
}

/* Where the packet's message is looked up will be asked for soon. */
static void prefetch_lookup(const struct cw_uet *u, const struct uet_ctx *c, const uint8_t *p)
{
	if (is_answer(p))
		uet_map_prefetch(&u->tx, uet_tx_key(c, p));
	else if (cw_uetx_opcode(p) != CW_UETX_READ_RESPONSE)
		__builtin_prefetch(&c->ids[cw_uetx_msg_id(p) & (u->s.id_window - 1)]);
}

/* The message's state is asked for; what was found. */
static const struct uet_rx *prefetch_state(const struct cw_uet *u, const struct uet_ctx *c,
					   const uint8_t *p)
{
	const struct uet_rx *m;

	if (is_answer(p)) {
		const char *tx = uet_map_find(&u->tx, uet_tx_key(c, p));

		__builtin_prefetch(tx, 1);
		__builtin_prefetch(tx + 64, 1);
		return NULL;
	}
	m = uet_rx_find(u, c, p);
	__builtin_prefetch(m, 1);
	return m;
}

/* With many messages open everything a packet touches is far away: the id's place in the window,
 * the message, and the place in its buffer, each known only when the one before is there. So they
 * are asked for in steps, each AHEAD packets in front of the next, and the last of them is the
 * packet's input: memory is waited for beside the work on other packets. */
unsigned cw_uet_input_burst(struct cw_uet *u, uint64_t now, const struct cw_uet_arrival *a,
			    unsigned n)
{
	const struct uet_ctx *c[AHEAD];
	const struct uet_rx *m[AHEAD];
	unsigned i, accepted = 0;

	u->now = now;
	if (n == 1)
		return input(u, a) == CW_OK;
	for (i = 0; i < n + 3 * AHEAD; i++) {
		unsigned at = i % AHEAD;

		if (i >= 3 * AHEAD)
			accepted += input(u, &a[i - 3 * AHEAD]) == CW_OK;
		if (i >= 2 * AHEAD && i < n + 2 * AHEAD && m[at] != NULL)
			uet_place_prefetch(m[at], a[i - 2 * AHEAD].data);
		if (i >= AHEAD && i < n + AHEAD)
			m[at] = c[at] != NULL ? prefetch_state(u, c[at], a[i - AHEAD].data) : NULL;
		if (i < n && (c[at] = ctx_of(u, &a[i])) != NULL)
			prefetch_lookup(u, c[at], a[i].data);
	}
	return accepted;
}

/* Does a PDS header of UE 1.0 say that the network cut or returned a packet? */
static bool says_returned(const uint8_t *p, size_t len)
{
	switch (cw_uec_req_type(p)) {
	case CW_PDS_RUD:
	case CW_PDS_ROD:
	case CW_PDS_RUD_CC:
	case CW_PDS_ROD_CC:
		return true;
	case CW_PDS_NACK:
	case CW_PDS_NACK_CCX:
		return len >= CW_SIZE_UEC_NACK && (cw_uec_nack_code(p) == NACK_TRIMMED ||
						   cw_uec_nack_code(p) == NACK_TRIMMED_LAST_HOP);
	default:
		return false;
	}
}

/* A trimmed packet's length is still that of the whole, so the length equation does not count. */
static bool is_article_data(const uint8_t *p, size_t len)
{
	return len >= CW_SIZE_UETX && cw_uetx_version(p) == CW_UETX_VERSION &&
	       cw_uetx_header_len(cw_uetx_opcode(p)) == CW_SIZE_UETX && cw_uetx_reserved(p) == 0;
}

int cw_uet_returned(struct cw_uet *u, uint64_t now, unsigned peer, unsigned path, const void *data,
		    size_t len)
{
	const uint8_t *p = data;
	struct uet_ctx *c;

	u->now = now;
	if (peer >= u->npeers)
		return CW_E_ARG;
	if (len < CW_SIZE_UEC_REQ)
		return CW_E_SHORT;
	if (is_article_data(p, len)) {
		c = find_ctx(u, cw_uetx_scid(p));
		if (c == NULL || c->c.peer != peer || c->c.remote_id != cw_uetx_dcid(p)) {
			uet_inc(u, CW_UET_E_CONTEXT);
			return CW_E_FORBIDDEN;
		}
		uet_inc(u, CW_UET_BTS);
		return uet_returned_input(u, c, p);
	}
	if (!says_returned(p, len))
		return CW_E_RESERVED;
	uet_inc(u, CW_UET_BTS);
	uet_path_returned(&u->peers[peer].paths[path % u->peers[peer].npaths]);
	return CW_OK;
}

/* ---- Events and numbers -------------------------------------------------------------------- */

static void sent_event(const struct uet_tx *m, struct cw_uet_event *e)
{
	e->kind = m->op == CW_UETX_FENCE ? CW_UET_FENCED : CW_UET_SENT;
	e->buffer = (void *)m->data;
	e->len = m->len;
	e->context = (uint32_t)(m->key >> 33);
	e->msg_id = m->id;
	e->status = m->status;
	e->solicited = m->solicited;
	e->cookie = m->cookie;
}

static void received_event(const struct uet_rx *m, struct cw_uet_event *e)
{
	e->kind = m->op == CW_UETX_SEND    ? CW_UET_RECEIVED
		  : m->op == CW_UETX_WRITE ? CW_UET_WRITTEN
					   : CW_UET_READ_DONE;
	e->buffer = m->op == CW_UETX_WRITE ? NULL : m->buf;
	e->len = m->rest->status == CW_UET_OK ? m->total : 0;
	e->context = m->rest->context;
	e->msg_id = m->rest->id;
	e->status = m->rest->status;
	e->solicited = m->solicited;
	e->cookie = m->rest->cookie;
}

bool cw_uet_event(struct cw_uet *u, struct cw_uet_event *e)
{
	if (uet_linked(&u->rx_events)) {
		struct uet_rx_rest *r = UET_OF(struct uet_rx_rest, age, u->rx_events.next);

		received_event(r->rx, e);
		uet_unlink(&r->age);
		uet_rx_release(u, r->rx);
		return true;
	}
	if (uet_linked(&u->tx_events)) {
		struct uet_tx *m = UET_OF(struct uet_tx, age, u->tx_events.next);

		sent_event(m, e);
		uet_unlink(&m->age);
		uet_tx_release(m);
		return true;
	}
	return false;
}

uint64_t cw_uet_count(const struct cw_uet *u, enum cw_uet_counter c)
{
	return c < CW_UET_NCOUNTERS ? u->counters[c] : 0;
}

uint64_t cw_uet_late(const struct cw_uet *u, unsigned k)
{
	return k < CW_UET_LATE ? u->late[k] : 0;
}

int cw_uet_path(const struct cw_uet *u, unsigned peer, unsigned path, struct cw_uet_path_info *i)
{
	const struct uet_path *p;

	if (peer >= u->npeers || path >= u->peers[peer].npaths)
		return CW_E_ARG;
	p = &u->peers[peer].paths[path];
	i->window = p->window;
	i->in_flight = p->in_flight;
	i->rtt = p->srtt;
	i->sent = p->sent;
	i->acked = p->acked;
	i->lost = p->lost;
	i->marked = p->marked;
	i->down = p->down;
	return CW_OK;
}

uint64_t cw_uet_memory(const struct cw_uet *u, unsigned peer)
{
	return peer < u->npeers ? u->peers[peer].memory : 0;
}

uint32_t cw_uet_open_messages(const struct cw_uet *u, unsigned peer)
{
	return peer < u->npeers ? u->peers[peer].open : 0;
}

static const struct {
	const char *name, *text;
} counters[] = {
#define CW_X(id, name, text) {name, text},
	CW_UET_COUNTERS(CW_X)
#undef CW_X
};

const char *cw_uet_counter_name(enum cw_uet_counter c)
{
	return c < CW_UET_NCOUNTERS ? counters[c].name : "unknown";
}

const char *cw_uet_counter_text(enum cw_uet_counter c)
{
	return c < CW_UET_NCOUNTERS ? counters[c].text : "unknown";
}

const char *cw_uet_status_name(unsigned status)
{
	const struct cw_name *n;

	if (status == CW_UET_OK)
		return "ok";
	if (status == CW_UET_TIMED_OUT)
		return "timed-out";
	if (status == CW_UET_CLOSED)
		return "closed";
	for (n = cw_names_uetx_reason; n->name != NULL; n++) {
		if (n->value == status)
			return n->name;
	}
	return "unknown";
}
