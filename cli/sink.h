/* sink.h - a run of causeway sink: what its parts share. */
#ifndef CLI_SINK_H
#define CLI_SINK_H

#include "cli/capture.h"
#include "cli/link.h"
#include "cli/traffic_check.h"

struct sink {
	struct traffic_expect expect;
	const char *ifname, *file;
	uint64_t count, runs, timeout_ms, idle_ms, linger_ms, buffer_mb, verbose;
	bool json, per_flow, allow_reorder, allow_damaged;
	bool allow_fault[256];
	/* the run */
	struct traffic_tally tally;
	struct link_rx *rx;
	struct cap_reader *reader;
	uint64_t kernel_drops, shown, first_ns, last_ns;
};

/* Did all come as it should? */
bool sink_ok(const struct sink *s);
/* To the standard output, as text or JSON. */
void sink_report(const struct sink *s);

#endif
