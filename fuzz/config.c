/* config.c - any text as a configuration. A refusal says why and leaves nothing behind; what is
 * taken also compiles as conversion rules. Input: the JSON text. */
#include "daemon/control/config.h"
#include "fuzz/fuzz.h"

static void check_taken(const struct cw_config *c)
{
	static const uint8_t addr[16] = {0x20, 0x01};
	struct cw_lpm *routes = NULL;
	struct cw_ub2e *u = NULL;
	struct cw_diag diag;
	unsigned i;

	for (i = 0; i < c->nroutes; i++)
		FUZZ_CHECK(c->routes[i].port < c->nports);
	for (i = 0; i < c->nneighbours; i++)
		FUZZ_CHECK(c->neighbours[i].port < c->nports);
	FUZZ_CHECK(cw_config_route_table(&routes, c) == CW_OK);
	(void)cw_config_route(c, routes, 4, addr);
	(void)cw_config_route(c, routes, 6, addr);
	cw_lpm_free(routes);
	FUZZ_CHECK(cw_ub2e_new(&u, &c->ub2e, c->partitions, c->npartitions, &diag) == CW_OK);
	cw_ub2e_free(u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = {data, size};
	struct cw_config *c = NULL;
	struct cw_diag diag = {0};
	uint8_t *json;
	size_t len;
	int err;

	json = fuzz_block(&in, in.left, &len);
	err = cw_config_parse(&c, (const char *)json, len, &diag);
	if (err == CW_OK) {
		check_taken(c);
		cw_config_free(c);
	} else {
		FUZZ_CHECK(c == NULL && diag.err == err && diag.reason[0] != '\0');
		FUZZ_CHECK(strcmp(cw_err_name(err), "unknown") != 0);
	}
	free(json);
	return 0;
}
