/* huge.h - what programs hand to the library as `memory` (cw_qpmap_opts, cw_uet_settings), which
 * has no system calls of its own. */
#ifndef DAEMON_HUGE_H
#define DAEMON_HUGE_H

#include <stddef.h>
#include <sys/mman.h>

static inline void cw_ask_for_huge_pages(void *p, size_t octets)
{
	(void)madvise(p, octets, MADV_HUGEPAGE); /* a wish: it works without */
}

#endif
