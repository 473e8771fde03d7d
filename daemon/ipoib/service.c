/* service.c - the thread of IPoIB, and what the control thread does with it. See ipoib.h. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "causeway/bits.h"
#include "daemon/control/current.h"
#include "daemon/ipoib/int.h"
#include "daemon/ipoib/ipoib.h"
#include "daemon/ipoib/service.h"
#include "daemon/log.h"

enum { TICK_MS = 50 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static bool running, end;
static int wake_fd = -1, watch_fd = -1;
static uint64_t polling; /* the set whose descriptors are waited for, by its generation; 0: none */
static pthread_cond_t polled = PTHREAD_COND_INITIALIZER;
static struct ibd_set now_set;

/* ---- The thread ---------------------------------------------------------------------------- */

static struct ipport *find_ifindex(int ifindex)
{
	unsigned i;

	for (i = 0; i < now_set.nport; i++) {
		if (host_ifindex(now_set.port[i]) == ifindex)
			return now_set.port[i];
	}
	return NULL;
}

static void forget_routes(void)
{
	unsigned i;

	for (i = 0; i < now_set.nport; i++) {
		if (now_set.port[i]->host != NULL)
			host_routes(now_set.port[i]);
	}
}

static int port_fd(const struct ipport *p)
{
	return p->router != NULL ? router_fd(p) : host_fd(p);
}

static void run_ready(const struct pollfd *fds, uint64_t now)
{
	unsigned i, at = 2;

	if (fds[1].revents != 0)
		nl_read(watch_fd, find_ifindex, forget_routes, now);
	for (i = 0; i < now_set.nhca; i++) {
		struct pollfd own[2];
		unsigned n = hca_fds(now_set.hca[i], own);

		if (fds[at].revents != 0 || (n == 2 && fds[at + 1].revents != 0))
			hca_run(now_set.hca[i], now);
		at += n;
	}
	for (i = 0; i < now_set.nport; i++) {
		struct ipport *p = now_set.port[i];

		if (port_fd(p) < 0 || fds[at++].revents == 0)
			continue;
		if (p->router != NULL)
			router_read(p, now);
		else
			host_read(p, now);
	}
}

static unsigned collect(struct pollfd *fds)
{
	unsigned i, n = 2;

	fds[0] = (struct pollfd){.fd = wake_fd, .events = POLLIN};
	fds[1] = (struct pollfd){.fd = watch_fd, .events = POLLIN};
	for (i = 0; i < now_set.nhca; i++)
		n += hca_fds(now_set.hca[i], fds + n);
	for (i = 0; i < now_set.nport; i++) {
		if (port_fd(now_set.port[i]) >= 0)
			fds[n++] =
				(struct pollfd){.fd = port_fd(now_set.port[i]), .events = POLLIN};
	}
	return n;
}

static void tick(uint64_t now)
{
	static uint64_t due;
	unsigned i;

	if (now < due)
		return;
	due = now + TICK_MS;
	for (i = 0; i < now_set.nport; i++)
		port_tick(now_set.port[i], now);
	mroute_tick(now);
}

/* What is collected stays valid while the lock is let go only if nobody changed the set: its
 * generation tells. */
static void *thread_main(void *arg)
{
	struct pollfd fds[2 + 3 * IBD_MAX];
	uint64_t generation, count;
	unsigned n;

	(void)arg;
	pthread_mutex_lock(&lock);
	while (!end) {
		n = collect(fds);
		polling = generation = now_set.generation;
		pthread_mutex_unlock(&lock);
		(void)poll(fds, n, TICK_MS);
		pthread_mutex_lock(&lock);
		polling = 0;
		(void)pthread_cond_signal(&polled);
		if (fds[0].revents != 0 && read(wake_fd, &count, sizeof(count)) < 0)
			cw_log(CW_LOG_DEBUG, "ipoib: eventfd: %s", strerror(errno));
		if (end || generation != now_set.generation)
			continue;
		run_ready(fds, cw_now_ms());
		tick(cw_now_ms());
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void wake(void)
{
	uint64_t one = 1;

	if (write(wake_fd, &one, sizeof(one)) < 0)
		cw_log(CW_LOG_DEBUG, "ipoib: eventfd: %s", strerror(errno));
}

/* A device that is closed while it is waited for lives on until that ends: a TUN device of the same
 * name could not be made. */
static void leave_poll(void)
{
	if (!running)
		return;
	wake();
	while (polling != 0 && polling != now_set.generation)
		(void)pthread_cond_wait(&polled, &lock);
}

static void start_thread(void)
{
	wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	watch_fd = nl_watch();
	if (wake_fd < 0 || watch_fd < 0 || pthread_create(&thread, NULL, thread_main, NULL) != 0) {
		cw_log(CW_LOG_ERROR, "ipoib: %s", strerror(errno));
		return;
	}
	running = true;
}

const struct ibd_set *ibd_now(void)
{
	return &now_set;
}

const struct ibd_set *ibd_lock(void)
{
	pthread_mutex_lock(&lock);
	return &now_set;
}

void ibd_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

/* ---- Sets ---------------------------------------------------------------------------------- */

static bool has_hca(const struct ibd_set *s, const struct hca *h)
{
	unsigned i;

	for (i = 0; i < s->nhca && s->hca[i] != h; i++)
		;
	return i < s->nhca;
}

static bool has_port(const struct ibd_set *s, const struct ipport *p)
{
	unsigned i;

	for (i = 0; i < s->nport && s->port[i] != p; i++)
		;
	return i < s->nport;
}

/* Close what is in `old` and not in `kept`. */
static void close_rest(const struct ibd_set *old, const struct ibd_set *kept)
{
	unsigned i;

	for (i = 0; i < old->nport; i++) {
		if (!has_port(kept, old->port[i]))
			port_close(old->port[i], cw_now_ms());
	}
	for (i = 0; i < old->nhca; i++) {
		if (!has_hca(kept, old->hca[i]))
			hca_close(old->hca[i]);
	}
}

/* Which ports each hca has. */
static void connect_ports(struct ibd_set *s)
{
	unsigned i;

	for (i = 0; i < s->nhca; i++)
		s->hca[i]->nport = 0;
	for (i = 0; i < s->nport; i++) {
		struct hca *h = s->port[i]->hca;

		h->port[h->nport++] = s->port[i];
	}
}

struct cw_ibd_next {
	struct ibd_set set;
};

static int add_hca(struct ibd_set *s, const struct cw_hca_config *conf, struct cw_diag *diag)
{
	unsigned i;

	for (i = 0; i < now_set.nhca; i++) {
		if (hca_equal(now_set.hca[i], conf)) {
			s->hca[s->nhca++] = now_set.hca[i];
			return CW_OK;
		}
	}
	return hca_open(&s->hca[s->nhca], conf, diag) < 0 ? diag->err : (s->nhca++, CW_OK);
}

static struct hca *hca_named(const struct ibd_set *s, const char *name)
{
	unsigned i;

	for (i = 0; i < s->nhca && strcmp(s->hca[i]->conf.name, name) != 0; i++)
		;
	return i < s->nhca ? s->hca[i] : NULL;
}

static int add_port(struct ibd_set *s, const struct cw_port_config *conf, struct cw_diag *diag)
{
	struct hca *h = hca_named(s, conf->ipoib.hca);
	unsigned i;

	for (i = 0; i < now_set.nport; i++) {
		if (port_equal(now_set.port[i], conf) && now_set.port[i]->hca == h) {
			s->port[s->nport++] = now_set.port[i];
			return CW_OK;
		}
	}
	return port_open(&s->port[s->nport], conf, h, diag) < 0 ? diag->err : (s->nport++, CW_OK);
}

static void add_route(struct ibd_set *s, const char *port, const struct cw_ip_addr *prefix,
		      const struct cw_ip_addr *hop)
{
	struct ibroute *r = &s->route[s->nroute++];

	(void)snprintf(r->port, sizeof(r->port), "%s", port);
	r->prefix.v6 = prefix->version == 6;
	r->prefix.plen = prefix->plen;
	memcpy(r->prefix.addr, prefix->a, sizeof(r->prefix.addr));
	r->via = hop != NULL;
	if (hop != NULL)
		memcpy(r->hop, hop->a, sizeof(r->hop));
}

static int fill_routes(struct ibd_set *s, const struct cw_config *c)
{
	unsigned i, k, n = c->nroutes;

	for (i = 0; i < c->nports; i++)
		n += c->ports[i].naddr;
	if ((s->route = calloc(n + 1, sizeof(*s->route))) == NULL)
		return CW_E_NOMEM;
	for (i = 0; i < c->nports; i++) {
		for (k = 0; k < c->ports[i].naddr; k++)
			add_route(s, c->ports[i].name, &c->ports[i].addr[k], NULL);
	}
	for (i = 0; i < c->nroutes; i++)
		add_route(s, c->ports[c->routes[i].port].name, &c->routes[i].prefix,
			  c->routes[i].has_next_hop ? &c->routes[i].next_hop : NULL);
	return CW_OK;
}

const struct ibroute *ibd_route(bool v6, const uint8_t *dst)
{
	const struct ibroute *best = NULL, *r;
	unsigned i;

	for (i = 0; i < now_set.nroute; i++) {
		r = &now_set.route[i];
		if (r->prefix.v6 == v6 && cw_bits_equal(r->prefix.addr, dst, r->prefix.plen) &&
		    (best == NULL || r->prefix.plen > best->prefix.plen))
			best = r;
	}
	return best;
}

struct ipport *ibd_port(const char *name)
{
	unsigned i;

	for (i = 0; i < now_set.nport; i++) {
		if (strcmp(now_set.port[i]->name, name) == 0)
			return now_set.port[i];
	}
	return NULL;
}

static int fill_set(struct ibd_set *s, const struct cw_config *conf, struct cw_diag *diag)
{
	unsigned i;
	int err;

	if ((err = fill_routes(s, conf)) < 0)
		return cw_diag_set(diag, err, "/causeway:causeway/route", NULL, "out of memory");
	for (i = 0; i < conf->nhcas; i++) {
		if (s->nhca == IBD_MAX)
			return cw_diag_set(diag, CW_E_RANGE, "/causeway:causeway/hca", NULL,
					   "more than %d hcas", IBD_MAX);
		if ((err = add_hca(s, &conf->hcas[i], diag)) < 0)
			return err;
	}
	for (i = 0; i < conf->nports; i++) {
		if (conf->ports[i].kind != CW_PORT_IPOIB)
			continue;
		if (s->nport == IBD_MAX)
			return cw_diag_set(diag, CW_E_RANGE, "/causeway:causeway/port", NULL,
					   "more than %d IPoIB ports", IBD_MAX);
		if ((err = add_port(s, &conf->ports[i], diag)) < 0)
			return err;
	}
	return CW_OK;
}

int cw_ibd_prepare(struct cw_ibd_next **out, const struct cw_config *conf, struct cw_diag *diag)
{
	struct cw_ibd_next *n = calloc(1, sizeof(*n));
	int err;

	if (n == NULL)
		return cw_diag_set(diag, CW_E_NOMEM, "/causeway:causeway", NULL, "out of memory");
	pthread_mutex_lock(&lock);
	err = fill_set(&n->set, conf, diag);
	pthread_mutex_unlock(&lock);
	if (err < 0) {
		cw_ibd_abandon(n);
		return err;
	}
	*out = n;
	return CW_OK;
}

void cw_ibd_abandon(struct cw_ibd_next *next)
{
	pthread_mutex_lock(&lock);
	close_rest(&next->set, &now_set);
	pthread_mutex_unlock(&lock);
	free(next->set.route);
	free(next);
}

void cw_ibd_commit(struct cw_ibd_next *next)
{
	struct ibd_set old;
	unsigned i;

	if (!running && next->set.nport > 0)
		start_thread();
	pthread_mutex_lock(&lock);
	old = now_set;
	next->set.generation = old.generation + 1;
	now_set = next->set;
	connect_ports(&now_set);
	mroute_use();
	leave_poll();
	close_rest(&old, &now_set);
	free(old.route);
	for (i = 0; i < now_set.nport; i++) {
		if (!has_port(&old, now_set.port[i]))
			port_start(now_set.port[i], cw_now_ms());
	}
	pthread_mutex_unlock(&lock);
	free(next);
	if (running)
		wake();
}

void cw_ibd_stop(void)
{
	static const struct ibd_set none;
	struct ibd_set old;

	if (running) {
		pthread_mutex_lock(&lock);
		end = true;
		pthread_mutex_unlock(&lock);
		wake();
		(void)pthread_join(thread, NULL);
		(void)close(wake_fd);
		(void)close(watch_fd);
		running = false;
	}
	old = now_set;
	now_set = none;
	close_rest(&old, &none);
	free(old.route);
}
