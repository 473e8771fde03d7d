/* peers_world.h - the table of proxies with one source of daemon/peers; the rest of the daemon is
 * silent. */
#ifndef TESTS_UNIT_PEERS_WORLD_H
#define TESTS_UNIT_PEERS_WORLD_H

#include <stdio.h>
#include "daemon/log.h"
#include "daemon/peers/int.h"
#include "tests/unit/test.h"

static char last_warning[512];

void cw_log(enum cw_log_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (level == CW_LOG_WARNING)
		(void)vsnprintf(last_warning, sizeof(last_warning), fmt, ap);
	va_end(ap);
}
void cw_static_apply(uint64_t now)
{
	(void)now;
}
void cw_file_forget(void)
{
}
void cw_bgp_forget(void)
{
}
void cw_bmp_forget(void)
{
}
void cw_isis_end(void)
{
}
void cw_ospf3_end(void)
{
}
uint64_t cw_file_run(uint64_t now)
{
	(void)now;
	return UINT64_MAX;
}
uint64_t cw_bgp_run(uint64_t now)
{
	return cw_file_run(now);
}
uint64_t cw_bmp_run(uint64_t now)
{
	return cw_file_run(now);
}
uint64_t cw_isis_run(uint64_t now)
{
	return cw_file_run(now);
}
uint64_t cw_ospf3_run(uint64_t now)
{
	return cw_file_run(now);
}

/* Is this the proxy for a sender? */
static inline bool knows(const char *sender, const char *proxy)
{
	char text[CW_ADDR_TEXT];
	struct cw_proxy p;
	struct cw_addr a;

	assert_int_equal(cw_addr_parse(sender, &a), CW_OK);
	return cw_proxies_lookup(cw_peers_table(), &a, &p) &&
	       strcmp(cw_addr_format(&p.proxy, text), proxy) == 0;
}

#endif
