/* eal.c - DPDK's environment. See eal.h. */
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>
#include <rte_mbuf.h>
#include "causeway/neigh.h"
#include "daemon/control/fib.h"
#include "daemon/eal.h"
#include "daemon/io/port.h"
#include "daemon/log.h"

#define DATA_ROOM (RTE_PKTMBUF_HEADROOM + CW_MAX_FRAME)
/* None, so that frames begin on a cache line: the headers of an IPv4 packet, up to the first word
 * of TPH, are then on one line. */
#define PRIV_SIZE 0
#define CACHE     256

#define MAX_ARGS 24
struct args {
	char text[MAX_ARGS][1024];
	char *v[MAX_ARGS + 1];
	int n;
};

static void add(struct args *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct args *a, const char *fmt, ...)
{
	va_list ap;

	if (a->n == MAX_ARGS)
		return;
	va_start(ap, fmt);
	vsnprintf(a->text[a->n], sizeof(a->text[0]), fmt, ap);
	va_end(ap);
	a->v[a->n] = a->text[a->n];
	a->n++;
}

/* ---- Log ------------------------------------------------------------------------------------- */

/* DPDK's lines go to our log; what it calls an error may still be one of several tries. */
static ssize_t log_write(void *cookie, const char *buf, size_t size)
{
	size_t n, done;

	(void)cookie;
	for (done = 0; done < size; done += n + 1) {
		const char *nl = memchr(buf + done, '\n', size - done);

		n = nl != NULL ? (size_t)(nl - buf) - done : size - done;
		if (n > 0)
			cw_log(CW_LOG_DEBUG, "dpdk: %.*s", (int)n, buf + done);
	}
	return (ssize_t)size;
}

static void redirect_log(void)
{
	cookie_io_functions_t io = {.write = log_write};
	FILE *f = fopencookie(NULL, "w", io);

	if (f == NULL)
		return;
	setvbuf(f, NULL, _IOLBF, BUFSIZ);
	rte_openlog_stream(f);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Megabytes for packet buffers and for two sets of tables: a reload builds the second aside. */
static unsigned memory_needed(const struct cw_config *c)
{
	size_t mbuf = sizeof(struct rte_mbuf) + PRIV_SIZE + DATA_ROOM + 2 * RTE_CACHE_LINE_SIZE;

	return (unsigned)(c->mbufs * mbuf >> 20) + 2 * cw_fib_megabytes(c->nroutes) + 64;
}

static unsigned long free_huge_megabytes(void)
{
	FILE *f = fopen("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "r");
	unsigned long n = 0;

	if (f == NULL)
		return 0;
	if (fscanf(f, "%lu", &n) != 1)
		n = 0;
	fclose(f);
	return 2 * n;
}

static void add_memory(struct args *a, const struct cw_config *c)
{
	unsigned need = memory_needed(c);

	if (free_huge_megabytes() >= need) {
		add(a, "--in-memory");
		cw_log(CW_LOG_INFO, "memory: huge pages, up to %u MB", need);
		return;
	}
	add(a, "--no-huge");
	add(a, "--no-shconf");
	add(a, "-m");
	add(a, "%u", need);
	cw_log(CW_LOG_INFO, "memory: %u MB without huge pages (%lu MB of them are free)", need,
	       free_huge_megabytes());
}

/* ---- Cores ----------------------------------------------------------------------------------- */

/* The process's CPUs as a list for --lcores, "0,2,5". */
static unsigned list_cpus(char *out, size_t size, unsigned *cpu, unsigned max)
{
	unsigned i, n = 0;
	size_t len = 0;
	cpu_set_t set;

	out[0] = '\0';
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return 0;
	for (i = 0; i < CPU_SETSIZE && n < max; i++) {
		if (!CPU_ISSET(i, &set))
			continue;
		len += (size_t)snprintf(out + len, size - len, "%s%u", n > 0 ? "," : "", i);
		if (len >= size)
			break;
		cpu[n++] = i;
	}
	return n;
}

/* Logical core 0 is control, 1 .. workers forward. They are pinned when there is a CPU for each and
 * workers never sleep (or it was asked for): else the kernel moves them, which is better where
 * several gateways share a machine. */
static int add_lcores(struct args *a, const struct cw_config *c, bool pin)
{
	unsigned cpu[CW_MAX_WORKERS + 1], i, n;
	char list[512], map[1024];
	size_t len = 0;

	n = list_cpus(list, sizeof(list), cpu, CW_MAX_WORKERS + 1);
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
	add(a, "--lcores=%s", map);
	cw_log(CW_LOG_INFO, "cores: %s", map);
	return 0;
}

/* Real devices are taken only when a port names one: an allow list that matches nothing keeps EAL
 * from grabbing every device that it has a driver for. */
static void add_buses(struct args *a, const struct cw_config *c)
{
	unsigned i;

	for (i = 0; i < c->nports; i++) {
		if (strncmp(c->ports[i].device, "dpdk:", 5) == 0 &&
		    strncmp(c->ports[i].device, "dpdk:net_", 9) != 0) {
			add(a, "-a");
			add(a, "0000:00:00.0");
			return;
		}
	}
	add(a, "--no-pci");
}

int cw_eal_init(const struct cw_config *conf, bool pin)
{
	static struct args a;

	redirect_log();
	add(&a, "causewayd");
	add_memory(&a, conf);
	if (add_lcores(&a, conf, pin) < 0) {
		cw_log(CW_LOG_ERROR,
		       "%u workers: the CPUs of this process can't be listed for DPDK",
		       conf->workers);
		return CW_E_RANGE;
	}
	add_buses(&a, conf);
	add(&a, "--file-prefix=causewayd-%d", (int)getpid());
	add(&a, "--log-level=lib.eal:info");
	if (rte_eal_init(a.n, a.v) < 0) {
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

void cw_eal_fini(void)
{
	char dir[256];

	snprintf(dir, sizeof(dir), "%s", rte_eal_get_runtime_dir());
	rte_eal_cleanup();
	rmdir(dir); /* empty by now, or it stays */
}
