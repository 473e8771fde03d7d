/* umad.c - see umad.h.
 *
 * A thread waits in umad_recv() and hands over by a socket pair: so it goes with the real device
 * and with libraries that stand in for it (umad2sim), whose descriptors no poll() of ours knows.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <infiniband/umad.h>
#include "causeway/err.h"
#include "causeway/wire/mad.h"
#include "causeway/wire/sa.h"
#include "daemon/ipoib/umad.h"
#include "daemon/log.h"

enum { WAIT_MS = 200, ANSWER_MS = 4000, ASKED = 256, CLASS_VERSION = 2, REPORT = 6, HOPS = 64 };

struct sa_umad {
	int port, agent;
	int ours, theirs; /* of the socket pair: the service's end, the thread's end */
	pthread_t thread;
	bool running;
	atomic_bool end;
	uint32_t count;
	uint64_t asked[ASKED]; /* TIDs as the links know them */
	void *out;
};

/* ---- The thread ---------------------------------------------------------------------------- */

static void *thread_main(void *arg)
{
	struct sa_umad *u = arg;
	void *in = umad_alloc(1, umad_size() + CW_MAD_OCTETS);
	int len;

	while (in != NULL && !u->end) {
		len = CW_MAD_OCTETS;
		if (umad_recv(u->port, in, &len, WAIT_MS) < 0) {
			if (errno != ETIMEDOUT && errno != EWOULDBLOCK)
				(void)usleep(1000 * WAIT_MS);
			continue;
		}
		/* Requests without an answer come back with a status. The length is the kernel's
		 * 256; umad2sim tells fewer octets than it delivers. */
		if (umad_status(in) == 0)
			(void)send(u->theirs, umad_get_mad(in), CW_MAD_OCTETS, MSG_DONTWAIT);
	}
	umad_free(in);
	return NULL;
}

/* ---- Opening ------------------------------------------------------------------------------- */

static int check_lid(const char *name, int port, uint16_t lid, char *why, size_t size)
{
	bool roce;
	unsigned has;
	umad_port_t p;

	if (umad_get_port(name, port, &p) < 0) {
		(void)snprintf(why, size, "no port %d of an RDMA device %s", port, name);
		return CW_E_NAME;
	}
	has = p.base_lid;
	roce = strcmp(p.link_layer, "Ethernet") == 0;
	(void)umad_release_port(&p);
	if (has == lid || roce)
		return CW_OK;
	(void)snprintf(why, size, "port %d of %s has the LID %u, not %u", port, name, has, lid);
	return CW_E_CONFLICT;
}

/* Who else gets reports on this machine keeps them: then groups that come and go are not noticed.
 */
static int register_agent(int port)
{
	long reports[16 / sizeof(long)] = {1 << REPORT};
	int agent = umad_register(port, CW_MAD_CLASS_SA, CLASS_VERSION, 0, reports);

	if (agent >= 0)
		return agent;
	cw_log(CW_LOG_WARNING, "umad: reports of the subnet administration go to another program");
	return umad_register(port, CW_MAD_CLASS_SA, CLASS_VERSION, 0, NULL);
}

static int open_port(struct sa_umad *u, const char *device, uint16_t lid, char *why, size_t size)
{
	const char *slash = strchr(device, '/');
	char name[UMAD_CA_NAME_LEN];
	int port, err;

	if (slash == NULL || (size_t)(slash - device) >= sizeof(name)) {
		(void)snprintf(why, size, "must be DEVICE/PORT");
		return CW_E_SYNTAX;
	}
	memcpy(name, device, (size_t)(slash - device));
	name[slash - device] = '\0';
	port = atoi(slash + 1);
	if (umad_init() < 0) {
		(void)snprintf(why, size, "this kernel has no user MADs (ib_umad)");
		return CW_E_IO;
	}
	if ((err = check_lid(name, port, lid, why, size)) < 0)
		return err;
	if ((u->port = umad_open_port(name, port)) < 0 ||
	    (u->agent = register_agent(u->port)) < 0) {
		(void)snprintf(why, size, "user MADs of %s: %s", device, strerror(errno));
		return CW_E_IO;
	}
	return CW_OK;
}

static int start(struct sa_umad *u)
{
	int pair[2];

	u->out = umad_alloc(1, umad_size() + CW_MAD_OCTETS);
	if (u->out == NULL ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		return -1;
	u->ours = pair[0];
	u->theirs = pair[1];
	u->running = pthread_create(&u->thread, NULL, thread_main, u) == 0;
	return u->running ? 0 : -1;
}

int sa_umad_open(struct sa_umad **out, const char *device, uint16_t lid, char *why, size_t size)
{
	struct sa_umad *u = calloc(1, sizeof(*u));
	int err;

	(void)snprintf(why, size, "out of memory");
	if (u == NULL)
		return CW_E_NOMEM;
	u->port = u->agent = u->ours = u->theirs = -1;
	err = open_port(u, device, lid, why, size);
	if (err == CW_OK && start(u) < 0)
		err = CW_E_NOMEM;
	if (err < 0) {
		sa_umad_close(u);
		return err;
	}
	*out = u;
	return CW_OK;
}

void sa_umad_close(struct sa_umad *u)
{
	if (u == NULL)
		return;
	u->end = true;
	if (u->running)
		(void)pthread_join(u->thread, NULL);
	if (u->agent >= 0)
		(void)umad_unregister(u->port, u->agent);
	if (u->port >= 0)
		(void)umad_close_port(u->port);
	if (u->ours >= 0)
		(void)close(u->ours);
	if (u->theirs >= 0)
		(void)close(u->theirs);
	umad_free(u->out);
	free(u);
}

/* ---- MADs ---------------------------------------------------------------------------------- */

int sa_umad_fd(const struct sa_umad *u)
{
	return u->ours;
}

/* The kernel puts its agent's number into the upper half of TIDs, so the lower half has to say what
 * the answer is to. */
int sa_umad_send(struct sa_umad *u, const struct sa_umad_to *to, const uint8_t mad[256])
{
	ib_mad_addr_t grh = {.hop_limit = HOPS};
	uint8_t *m = umad_get_mad(u->out);
	bool answer = cw_mad_response(mad) != 0;

	memset(u->out, 0, umad_size());
	memcpy(m, mad, CW_MAD_OCTETS);
	if (!answer) {
		u->count++;
		u->asked[u->count % ASKED] = cw_mad_tid(mad);
		cw_mad_set_tid(m, u->count);
	}
	(void)umad_set_addr(u->out, to->lid, CW_MAD_QPN_GSI, 0, (int)CW_MAD_QKEY_GSI);
	memcpy(grh.gid, to->gid, sizeof(grh.gid));
	(void)umad_set_grh(u->out, to->global ? &grh : NULL);
	umad_get_mad_addr(u->out)->gid_index = to->sgid_index; /* which it leaves out */
	(void)umad_set_pkey(u->out, 0);
	return umad_send(u->port, u->agent, u->out, CW_MAD_OCTETS, answer ? 0 : ANSWER_MS, 0);
}

int sa_umad_recv(struct sa_umad *u, uint8_t mad[256])
{
	uint32_t tid;

	if (recv(u->ours, mad, CW_MAD_OCTETS, MSG_DONTWAIT) != CW_MAD_OCTETS)
		return 0;
	tid = (uint32_t)cw_mad_tid(mad);
	/* An answer that comes too late may fit nothing any more: its link will not know the TID.
	 */
	if (cw_mad_response(mad) != 0)
		cw_mad_set_tid(mad, u->count - tid < ASKED ? u->asked[tid % ASKED] : 0);
	return 1;
}
