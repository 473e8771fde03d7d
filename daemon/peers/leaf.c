/* leaf.c - the life of a leaf. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include "daemon/control/current.h"
#include "daemon/log.h"
#include "daemon/peers/leaf.h"

enum {
	RETRY_MS = 2000,
	LOOK_MS = 2000, /* the interface is looked at so often */
	STOP_POLL_MS = 10
};

/* ---- What is learnt ------------------------------------------------------------------------ */

static void renew(struct cw_leaf *l, uint64_t now)
{
	cw_teller_begin(&l->teller, l->complete, now);
	l->ops->tell(l, now);
	cw_teller_end(&l->teller, l->complete, now);
}

static void look(struct cw_leaf *l, uint64_t now)
{
	struct cw_leaf_view v = {0};

	l->ops->view(l, &v);
	if (v.up && !l->up)
		cw_log(CW_LOG_NOTICE, "%s: adjacency with %s is %s", l->ops->name, v.neighbour,
		       l->ops->up);
	if (!v.up && l->up) {
		cw_log(CW_LOG_NOTICE, "%s: adjacency is lost", l->ops->name);
		cw_teller_lose(&l->teller, now);
	}
	l->up = v.up;
	if (!v.up || (v.generation == l->learnt && v.complete == l->complete))
		return;
	l->complete = v.complete;
	l->learnt = v.generation;
	renew(l, now);
}

/* ---- Opening and closing ------------------------------------------------------------------- */

static void close_leaf(struct cw_leaf *l, uint64_t now)
{
	l->ops->close(l);
	l->open = l->up = l->complete = false;
	l->fd = -1;
	l->due_ms = now + RETRY_MS;
	cw_teller_lose(&l->teller, now);
}

static void fail(struct cw_leaf *l, const char *why, uint64_t now)
{
	if (!l->complained)
		cw_log(CW_LOG_WARNING, "%s: %s: %s", l->ops->name, l->interface, why);
	l->complained = true;
	close_leaf(l, now);
}

static void announce(struct cw_leaf *l, uint64_t now)
{
	if (l->ops->announce(l, now))
		l->config = cw_peers.generation;
}

static void begin(struct cw_leaf *l, uint64_t now)
{
	struct epoll_event ev = {.events = EPOLLIN};
	const char *why;

	l->teller.source = l->ops->source;
	if ((why = l->ops->open(l, now)) != NULL) {
		fail(l, why, now);
		return;
	}
	ev.data.fd = l->fd;
	(void)epoll_ctl(cw_peers.epoll, EPOLL_CTL_ADD, l->fd, &ev);
	l->open = true;
	l->complained = l->up = l->complete = false;
	l->learnt = 0;
	l->look_ms = now + LOOK_MS;
	announce(l, now);
	cw_log(CW_LOG_NOTICE, "%s: speaking on %s", l->ops->name, l->interface);
}

void cw_leaf_stop(struct cw_leaf *l)
{
	struct pollfd p = {.fd = l->fd, .events = POLLIN};
	uint64_t now = cw_now_ms(), begun = now;
	struct cw_leaf_view v = {0};

	if (!l->open)
		return;
	l->ops->stop(l, now);
	for (; now < begun + l->ops->stop_ms; now = cw_now_ms()) {
		(void)l->ops->tick(l, now);
		l->ops->output(l, now);
		l->ops->view(l, &v);
		if (v.stopped)
			break;
		(void)poll(&p, 1, STOP_POLL_MS);
		l->ops->input(l, now);
	}
	close_leaf(l, now);
	l->due_ms = 0;
}

/* ---- Running ------------------------------------------------------------------------------- */

static void check(struct cw_leaf *l, uint64_t now)
{
	const char *why;

	if (now < l->look_ms)
		return;
	l->look_ms = now + LOOK_MS;
	if ((why = l->ops->check(l, now)) != NULL)
		fail(l, why, now);
}

static uint64_t run_open(struct cw_leaf *l, uint64_t now)
{
	uint64_t due;

	if (l->config != cw_peers.generation)
		announce(l, now);
	l->ops->input(l, now);
	due = l->ops->tick(l, now);
	l->ops->output(l, now);
	look(l, now);
	return due < l->look_ms ? due : l->look_ms;
}

uint64_t cw_leaf_run(struct cw_leaf *l, bool enabled, bool changed, uint64_t now)
{
	if (l->open && changed)
		cw_leaf_stop(l);
	if (!enabled)
		return UINT64_MAX;
	if (!l->open && now >= l->due_ms)
		begin(l, now);
	if (l->open)
		check(l, now);
	return l->open ? run_open(l, now) : l->due_ms;
}
