/* telemetry.c - counters in DPDK's telemetry. See telemetry.h.
 *
 * Its commands run in threads of DPDK's, beside control: they look at the snapshot under its lock.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <rte_telemetry.h>
#include "daemon/control/counters.h"
#include "daemon/control/current.h"
#include "daemon/control/telemetry.h"

/* Names in telemetry are letters, digits and underscores. */
static const char *plain(char out[RTE_TEL_MAX_STRING_LEN], const char *name)
{
	char *c;

	snprintf(out, RTE_TEL_MAX_STRING_LEN, "%s", name);
	while ((c = strpbrk(out, "-.")) != NULL)
		*c = '_';
	return out;
}

static void add(struct rte_tel_data *d, const char *name, uint64_t v)
{
	char key[RTE_TEL_MAX_STRING_LEN];

	rte_tel_data_add_dict_u64(d, plain(key, name), v);
}

static int add_port(struct rte_tel_data *d, const struct cw_plane_port *pp)
{
	struct rte_tel_data *port = rte_tel_data_alloc();
	char key[RTE_TEL_MAX_STRING_LEN];
	struct cw_port_counters c;

	if (port == NULL)
		return -ENOMEM;
	cw_count_port(pp->dev->slot, &c);
	rte_tel_data_start_dict(port);
	rte_tel_data_add_dict_string(port, "port", pp->conf->name);
	add(port, "rx_packets", c.rx_packets);
	add(port, "rx_octets", c.rx_octets);
	add(port, "tx_packets", c.tx_packets);
	add(port, "tx_octets", c.tx_octets);
	add(port, "local", c.local);
	add(port, "originated", c.originated);
	add(port, "held", c.held);
	add(port, "icmp_errors", c.icmp_errors);
	add(port, "icmp_limited", c.icmp_limited);
	add(port, "dropped", cw_count_total(c.drops, CW_DROP_COUNT));
	return rte_tel_data_add_dict_container(d, plain(key, pp->conf->name), port, 0);
}

static int counters(const char *cmd, const char *params, struct rte_tel_data *d)
{
	const struct cw_plane *p = cw_plane_lock();
	unsigned slot[CW_MAX_PORTS], i, n;
	int rc = p != NULL ? 0 : -EAGAIN;

	rte_tel_data_start_dict(d);
	n = p != NULL ? cw_ports_in_order(p, slot) : 0;
	for (i = 0; i < n && rc == 0; i++)
		rc = add_port(d, &p->port[slot[i]]);
	cw_plane_unlock();
	return rc;
}

/* Drops of all ports, or of the one named. */
static int sum_drops(const struct cw_plane *p, const char *port, struct cw_port_counters *sum)
{
	unsigned slot[CW_MAX_PORTS], i, n = cw_ports_in_order(p, slot), found = 0;
	struct cw_port_counters c;

	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < n; i++) {
		if (port != NULL && strcmp(p->port[slot[i]].conf->name, port) != 0)
			continue;
		cw_count_port(slot[i], &c);
		cw_count_add(sum, &c);
		found++;
	}
	return port == NULL || found > 0 ? 0 : -EINVAL;
}

static int drops(const char *cmd, const char *params, struct rte_tel_data *d)
{
	const struct cw_plane *p = cw_plane_lock();
	struct cw_port_counters sum;
	int rc = p != NULL ? sum_drops(p, params, &sum) : -EAGAIN;
	unsigned i;

	cw_plane_unlock();
	if (rc < 0)
		return rc;
	rte_tel_data_start_dict(d);
	for (i = 1; i < CW_DROP_COUNT; i++)
		add(d, cw_drop_name((enum cw_drop)i), sum.drops[i]);
	return 0;
}

int cw_telemetry_init(void)
{
	int rc = rte_telemetry_register_cmd("/causeway/counters", counters,
					    "Packets of each port. No parameters");

	if (rc == 0)
		rc = rte_telemetry_register_cmd(
			"/causeway/drops", drops,
			"Dropped packets by reason. Parameters: name of a port; none: all");
	return rc;
}
