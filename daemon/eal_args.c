/* eal_args.c - arguments for DPDK's environment. See eal_args.h. */
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#include <rte_eal.h>
#include <rte_log.h>
#include "daemon/eal_args.h"

void cw_eal_add(struct cw_eal_args *a, const char *fmt, ...)
{
	va_list ap;

	if (a->n == CW_EAL_MAX_ARGS)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(a->text[a->n], sizeof(a->text[0]), fmt, ap);
	va_end(ap);
	a->v[a->n] = a->text[a->n];
	a->n++;
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

unsigned long cw_eal_add_memory(struct cw_eal_args *a, unsigned megabytes, unsigned spare)
{
	unsigned long available = free_huge_megabytes();

	if (available >= megabytes) {
		cw_eal_add(a, "--in-memory");
		/* A vhost-user peer maps this memory, and takes no more than 8 pieces of it. */
		cw_eal_add(a, "--single-file-segments");
		return available;
	}
	cw_eal_add(a, "--no-huge");
	cw_eal_add(a, "--no-shconf");
	cw_eal_add(a, "-m");
	cw_eal_add(a, "%u", megabytes + spare);
	return available;
}

unsigned cw_eal_list_cpus(char *out, size_t size, unsigned *cpu, unsigned max)
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

void cw_eal_add_buses(struct cw_eal_args *a, bool real_devices)
{
	if (!real_devices) {
		cw_eal_add(a, "--no-pci");
		return;
	}
	cw_eal_add(a, "-a");
	cw_eal_add(a, "0000:00:00.0");
}

bool cw_eal_is_vdev(const char *device)
{
	return strncmp(device, "net_", 4) == 0 || strncmp(device, "eth_", 4) == 0;
}

static void (*log_line)(const char *text, size_t len);

static ssize_t log_write(void *cookie, const char *buf, size_t size)
{
	size_t n, done;

	(void)cookie;
	for (done = 0; done < size; done += n + 1) {
		const char *nl = memchr(buf + done, '\n', size - done);

		n = nl != NULL ? (size_t)(nl - buf) - done : size - done;
		if (n > 0)
			log_line(buf + done, n);
	}
	return (ssize_t)size;
}

void cw_eal_redirect_log(void (*line)(const char *text, size_t len))
{
	cookie_io_functions_t io = {.write = log_write};
	FILE *f = fopencookie(NULL, "w", io);

	log_line = line;
	if (f == NULL)
		return;
	setvbuf(f, NULL, _IOLBF, BUFSIZ);
	rte_openlog_stream(f);
}

static char runtime_dir[256];

static void remove_runtime_dir(void)
{
	(void)rmdir(runtime_dir); /* empty by now, or it stays */
}

int cw_eal_start(struct cw_eal_args *a)
{
	/* Registered first to run last: DPDK removes its telemetry socket at exit. */
	(void)atexit(remove_runtime_dir);
	if (rte_eal_init(a->n, a->v) < 0)
		return -1;
	(void)snprintf(runtime_dir, sizeof(runtime_dir), "%s", rte_eal_get_runtime_dir());
	return 0;
}
