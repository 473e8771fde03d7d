/* icmp.h - ICMP errors to the senders of dropped packets. */
#ifndef DAEMON_CONTROL_ICMP_H
#define DAEMON_CONTROL_ICMP_H

/* Errors by kind, and packets whose sender was not told. */
struct cw_icmp_stats {
	uint64_t time_exceeded, too_big, unreachable;
	uint64_t forbidden; /* there is never an error about such a packet */
	uint64_t no_source; /* the gateway has no address of that family to tell from */
};
extern struct cw_icmp_stats cw_icmp_stats;

/* Tell the senders of what workers dropped; see graph/icmp.h. */
void cw_icmp_run(void);

#endif
