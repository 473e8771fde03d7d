/* ospfd_area.c - a module for FRR 8.4's ospfd (ospfd -a -M FILE): Extended Prefix Opaque LSAs of
 * area scope may be registered by clients of the API. ospfd keeps (10, 7) for segment routing even
 * where that is off; do not use both.
 *
 * It is built without FRR's headers: Debian has none. What is declared here is what its ABI shows.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AREA_SCOPE = 10, EXTENDED_PREFIX = 7, PRIORITY = 1000 };

struct hook;
struct hookent {
	uint64_t space[16]; /* larger than the real one, which ospfd fills */
};
struct module_info {
	const char *name, *version, *description;
	int (*init)(void);
};
struct module {
	void *next;
	const struct module_info *info;
	uint8_t space[1024];
};

extern struct hook _hook_frr_late_init;
extern void _hook_register(struct hook *h, struct hookent *entry, void *fn, void *arg, bool has_arg,
			   void *module, const char *name, int priority);
extern void ospf_delete_opaque_functab(uint8_t lsa_type, uint8_t opaque_type);

static int init(void);
static const struct module_info info = {"ospfd_area", "1", "Extended Prefix LSAs for API clients",
					init};
static struct module module = {NULL, &info, {0}};
static struct hookent entry;

extern struct module *frr_module;
struct module *frr_module = &module;

static int late(void *threads)
{
	(void)threads;
	ospf_delete_opaque_functab(AREA_SCOPE, EXTENDED_PREFIX);
	return 0;
}

static int init(void)
{
	_hook_register(&_hook_frr_late_init, &entry, (void *)late, NULL, false, &module, "late",
		       PRIORITY);
	return 0;
}
