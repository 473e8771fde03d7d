/* telemetry.h - counters in DPDK's telemetry, for tools that read every DPDK program that way. */
#ifndef DAEMON_CONTROL_TELEMETRY_H
#define DAEMON_CONTROL_TELEMETRY_H

/* Add /causeway/counters and /causeway/drops. 0, or a negative errno. */
int cw_telemetry_init(void);

#endif
