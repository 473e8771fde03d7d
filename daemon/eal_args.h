/* eal_args.h - arguments for DPDK's environment: what the daemon and the command have in common. */
#ifndef DAEMON_EAL_ARGS_H
#define DAEMON_EAL_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#define CW_EAL_MAX_ARGS 24

struct cw_eal_args {
	char text[CW_EAL_MAX_ARGS][1024];
	char *v[CW_EAL_MAX_ARGS + 1];
	int n;
};

void cw_eal_add(struct cw_eal_args *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Huge pages when enough of them are free, else ordinary memory, of which `spare` MB more: what is
 * not used costs nothing there. Returns how many MB of huge pages are free. */
unsigned long cw_eal_add_memory(struct cw_eal_args *a, unsigned megabytes, unsigned spare);

/* The process's CPUs as a list for --lcores, "0,2,5". Returns how many, 0 on errors. */
unsigned cw_eal_list_cpus(char *out, size_t size, unsigned *cpu, unsigned max);

/* Real devices are taken only when one is named: an allow list that matches nothing keeps EAL from
 * grabbing every device that it has a driver for. */
void cw_eal_add_buses(struct cw_eal_args *a, bool real_devices);

/* A device of DPDK's own making ("net_memif0"); everything else is on a real bus. */
bool cw_eal_is_vdev(const char *device);

/* Give DPDK's log to this function, line by line and without the newline. */
void cw_eal_redirect_log(void (*line)(const char *text, size_t len));

/* Start DPDK. -1 with rte_errno. What it leaves in its runtime directory is removed at exit;
 * rte_eal_cleanup() is the caller's. */
int cw_eal_start(struct cw_eal_args *a);

#endif
