/* port.c - the table of open ports. See port.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/io/port.h"
#include "daemon/log.h"

static const struct cw_port_ops *const back_ends[] = {&cw_port_packet, &cw_port_dpdk, &cw_port_pcap,
						      &cw_port_ipoib};
static struct cw_port *slots[CW_MAX_PORTS];
struct cw_io cw_io;

static const struct cw_port_ops *back_end_of(const char *device)
{
	size_t i;

	for (i = 0; i < sizeof(back_ends) / sizeof(back_ends[0]); i++) {
		if (strncmp(device, back_ends[i]->prefix, strlen(back_ends[i]->prefix)) == 0)
			return back_ends[i];
	}
	return NULL;
}

static int open_in(unsigned slot, const char *device, char *why, size_t size)
{
	const struct cw_port_ops *ops = back_end_of(device);
	struct cw_port *p;
	int err;

	if (ops == NULL) {
		snprintf(why, size, "must begin with packet:, dpdk:, pcap: or ib:");
		return CW_E_SYNTAX;
	}
	if ((p = calloc(1, sizeof(*p))) == NULL) {
		snprintf(why, size, "out of memory");
		return CW_E_NOMEM;
	}
	p->ops = ops;
	p->slot = slot;
	p->refs = 1;
	snprintf(p->device, sizeof(p->device), "%s", device);
	if ((err = ops->open(p, device + strlen(ops->prefix), why, size)) < 0) {
		free(p);
		return err;
	}
	slots[slot] = p;
	cw_log(CW_LOG_INFO,
	       "port %s: open, slot %u, %02x:%02x:%02x:%02x:%02x:%02x, %u queues in, %u out",
	       device, slot, p->mac[0], p->mac[1], p->mac[2], p->mac[3], p->mac[4], p->mac[5],
	       p->nrxq, p->ntxq);
	return CW_OK;
}

int cw_port_get(struct cw_port **out, const char *device, char *why, size_t size)
{
	unsigned i, free_slot = CW_MAX_PORTS;
	int err;

	for (i = 0; i < CW_MAX_PORTS; i++) {
		if (slots[i] == NULL) {
			free_slot = free_slot == CW_MAX_PORTS ? i : free_slot;
		} else if (strcmp(slots[i]->device, device) == 0) {
			slots[i]->refs++;
			*out = slots[i];
			return CW_OK;
		}
	}
	if (free_slot == CW_MAX_PORTS) {
		snprintf(why, size, "more than %d ports", CW_MAX_PORTS);
		return CW_E_RANGE;
	}
	if ((err = open_in(free_slot, device, why, size)) == CW_OK)
		*out = slots[free_slot];
	return err;
}

void cw_port_put(struct cw_port *p)
{
	if (p == NULL || --p->refs > 0)
		return;
	cw_log(CW_LOG_INFO, "port %s: closed", p->device);
	slots[p->slot] = NULL;
	p->ops->close(p);
	free(p);
}
