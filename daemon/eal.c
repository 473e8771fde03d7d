/* eal.c - DPDK's environment. See eal.h. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include "causeway/neigh.h"
#include "daemon/control/fib.h"
#include "daemon/eal.h"
#include "daemon/eal_args.h"
#include "daemon/io/port.h"
#include "daemon/log.h"

#define DATA_ROOM (RTE_PKTMBUF_HEADROOM + CW_MAX_FRAME)
/* None, so that frames begin on a cache line: the headers of an IPv4 packet, up to the first word
 * of TPH, are then on one line. */
#define PRIV_SIZE 0
#define CACHE     256

/* What DPDK calls an error may still be one of several tries. */
static void log_line(const char *text, size_t len)
{
	cw_log(CW_LOG_DEBUG, "dpdk: %.*s", (int)len, text);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Megabytes for packet buffers and for two sets of tables: a reload builds the second aside. */
static unsigned memory_needed(const struct cw_config *c)
{
	size_t mbuf = sizeof(struct rte_mbuf) + PRIV_SIZE + DATA_ROOM + 2 * RTE_CACHE_LINE_SIZE;

	return (unsigned)(c->mbufs * mbuf >> 20) + 2 * cw_fib_megabytes(c) + 64;
}

static void add_memory(struct cw_eal_args *a, const struct cw_config *c)
{
	unsigned need = memory_needed(c);
	/* Tables are blocks of 64 MB. After some reloads what is free is not in one piece. */
	unsigned long available = cw_eal_add_memory(a, need, 192);

	if (available >= need)
		cw_log(CW_LOG_INFO, "memory: huge pages, up to %u MB", need);
	else
		cw_log(CW_LOG_INFO, "memory: %u MB without huge pages (%lu MB of them are free)",
		       need, available);
}

/* ---- Cores ----------------------------------------------------------------------------------- */

/* Logical core 0 is control, 1 .. workers forward. They are pinned when there is a CPU for each and
 * workers never sleep (or it was asked for): else the kernel moves them, which is better where
 * several gateways share a machine. */
static int add_lcores(struct cw_eal_args *a, const struct cw_config *c, bool pin)
{
	unsigned cpu[CW_MAX_WORKERS + 1], i, n;
	char list[512], map[1024];
	size_t len = 0;

	n = cw_eal_list_cpus(list, sizeof(list), cpu, CW_MAX_WORKERS + 1);
	if (n == 0)
		return -1;
	pin = n > c->workers && (pin || c->idle_sleep_us == 0);
	for (i = 0; i <= c->workers && len < sizeof(map); i++) {
		len += (size_t)(pin ? snprintf(map + len, sizeof(map) - len, "%s%u@%u",
					       i > 0 ? "," : "", i, cpu[i])
				    : snprintf(map + len, sizeof(map) - len, "%s%u@(%s)",
					       i > 0 ? "," : "", i, list));
	}
	if (len >= sizeof(map))
		return -1;
	cw_eal_add(a, "--lcores=%s", map);
	cw_log(CW_LOG_INFO, "cores: %s", map);
	return 0;
}

int cw_eal_init(const struct cw_config *conf, bool pin)
{
	static struct cw_eal_args a;

	cw_eal_redirect_log(log_line);
	cw_eal_add(&a, "causewayd");
	add_memory(&a, conf);
	if (add_lcores(&a, conf, pin) < 0) {
		cw_log(CW_LOG_ERROR,
		       "%u workers: the CPUs of this process can't be listed for DPDK",
		       conf->workers);
		return CW_E_RANGE;
	}
	cw_eal_add_buses(&a, true); /* a reload may bring the first real device */
	cw_eal_add(&a, "--file-prefix=causewayd-%d", (int)getpid());
	cw_eal_add(&a, "--log-level=lib.eal:info");
	if (cw_eal_start(&a) < 0) {
		cw_log(CW_LOG_ERROR, "DPDK does not start: %s (its own words are at level debug)",
		       rte_strerror(rte_errno));
		return CW_E_NOMEM;
	}
	return CW_OK;
}

int cw_eal_make_pool(unsigned mbufs)
{
	cw_io.pool = rte_pktmbuf_pool_create("packets", mbufs, CACHE, PRIV_SIZE, DATA_ROOM,
					     SOCKET_ID_ANY);
	if (cw_io.pool != NULL)
		return CW_OK;
	cw_log(CW_LOG_ERROR, "no memory for %u packet buffers: %s", mbufs, rte_strerror(rte_errno));
	return CW_E_NOMEM;
}
