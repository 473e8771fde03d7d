/* ipoib_bridge.c INTERFACE SOCKNAME LID=NODE... - queue pair 1 between an InfiniBand link on
 * Ethernet (EtherType 0x88B5) and ibsim: what a node of the link sends to LID 1 goes to OpenSM as
 * if that node of the simulator had sent it, and back. So OpenSM administers real links, in band.
 * Runs until it is killed. */
#include <arpa/inet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/if_packet.h>
#include <sys/socket.h>
#include "causeway/ipoib.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/mad.h"
#include "daemon/io/ibsim.h"

enum { NODES = 8, TYPE = 0x88b5, SM_LID = 1, FRAME = 2048, PENDING = 64 };

/* ibsim overwrites the upper 16 bits of a TID: they are put back into the answer. */
struct pending {
	uint64_t low;
	uint16_t high;
};

struct node {
	uint16_t lid;
	struct ibsim sim;
	struct pending pending[PENDING];
	unsigned next;
};

static struct node node[NODES];
static unsigned nodes;
static volatile sig_atomic_t ended;

static void on_term(int sig)
{
	(void)sig;
	ended = 1;
}

static uint64_t low_tid(const uint8_t *mad)
{
	return cw_mad_tid(mad) & 0xffffffffffffu;
}

static struct node *node_of(uint16_t lid)
{
	unsigned i;

	for (i = 0; i < nodes && node[i].lid != lid; i++)
		;
	return i < nodes ? &node[i] : NULL;
}

static void to_sim(struct node *n, const uint8_t mad[CW_MAD_OCTETS])
{
	struct pending *p = &n->pending[n->next++ % PENDING];

	*p = (struct pending){low_tid(mad), (uint16_t)(cw_mad_tid(mad) >> 48)};
	(void)ibsim_send(&n->sim, SM_LID, mad);
}

static void restore_tid(const struct node *n, uint8_t mad[CW_MAD_OCTETS])
{
	unsigned i;

	for (i = 0; i < PENDING; i++) {
		if (n->pending[i].low == low_tid(mad))
			cw_mad_set_tid(mad, (uint64_t)n->pending[i].high << 48 | low_tid(mad));
	}
}

static void to_link(int fd, struct node *n)
{
	struct cw_ipoib_tx tx = {.slid = SM_LID,
				 .dlid = n->lid,
				 .pkey = 0xffff,
				 .dqpn = CW_MAD_QPN_GSI,
				 .sqpn = CW_MAD_QPN_GSI,
				 .qkey = CW_MAD_QKEY_GSI};
	static const uint8_t head[CW_SIZE_ETH] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2,
						  0,    0,    0,    0,    1,    0x88, 0xb5};
	uint8_t frame[FRAME], mad[CW_MAD_OCTETS];
	int len;

	if (ibsim_recv(&n->sim, mad, 0) != 1)
		return;
	if (cw_mad_response(mad))
		restore_tid(n, mad);
	memcpy(frame, head, sizeof(head));
	len = cw_ipoib_frame_build(frame + CW_SIZE_ETH, sizeof(frame) - CW_SIZE_ETH, &tx, 0, mad,
				   sizeof(mad));
	if (len > 0 && send(fd, frame, CW_SIZE_ETH + (size_t)len, 0) < 0)
		perror("ipoib_bridge: send");
}

static void from_link(int fd)
{
	uint8_t frame[4500];
	ssize_t n = recv(fd, frame, sizeof(frame), 0);
	struct cw_ipoib_tx rx;
	const uint8_t *data;
	struct node *from;
	size_t len;

	if (n < CW_SIZE_ETH || cw_ipoib_frame_parse(frame + CW_SIZE_ETH, (size_t)n - CW_SIZE_ETH,
						    &rx, &data, &len) < 0)
		return;
	if (rx.dlid == SM_LID && rx.dqpn == CW_MAD_QPN_GSI && len == CW_MAD_OCTETS &&
	    (from = node_of(rx.slid)) != NULL)
		to_sim(from, data);
}

static int open_link(const char *ifname)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET,
				 .sll_protocol = htons(TYPE),
				 .sll_ifindex = (int)if_nametoindex(ifname)};
	int fd = socket(AF_PACKET, SOCK_RAW, htons(TYPE)), on = 1;

	if (fd < 0 || at.sll_ifindex == 0 || bind(fd, (const struct sockaddr *)&at, sizeof(at)) < 0)
		return -1;
	(void)setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on));
	return fd;
}

static int open_node(const char *arg, const char *sockname)
{
	struct node *n = &node[nodes];
	char *name;

	n->lid = (uint16_t)strtoul(arg, &name, 10);
	if (nodes == NODES || n->lid == 0 || *name != '=')
		return -1;
	if (ibsim_open(&n->sim, sockname, name + 1, (uint32_t)getpid() * NODES + nodes) < 0)
		return -1;
	nodes++;
	return 0;
}

int main(int argc, char **argv)
{
	struct pollfd fds[NODES + 1];
	int i, fd = argc > 3 ? open_link(argv[1]) : -1;
	unsigned k;

	if (fd < 0) {
		perror("ipoib_bridge: INTERFACE SOCKNAME LID=NODE...");
		return 2;
	}
	for (i = 3; i < argc; i++) {
		if (open_node(argv[i], argv[2]) < 0) {
			perror(argv[i]);
			return 2;
		}
	}
	(void)signal(SIGTERM, on_term);
	fds[0] = (struct pollfd){.fd = fd, .events = POLLIN};
	for (k = 0; k < nodes; k++)
		fds[k + 1] = (struct pollfd){.fd = node[k].sim.fd, .events = POLLIN};
	printf("bridging\n");
	(void)fflush(stdout);
	while (!ended && poll(fds, nodes + 1, 1000) >= 0) {
		if (fds[0].revents != 0)
			from_link(fd);
		for (k = 0; k < nodes; k++) {
			if (fds[k + 1].revents != 0)
				to_link(fd, &node[k]);
		}
	}
	for (k = 0; k < nodes; k++)
		ibsim_close(&node[k].sim);
	return 0;
}
