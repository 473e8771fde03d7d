/* config_leaves: every leaf of the schema reaches struct cw_config. Walks the schema, changes one
 * leaf at a time, and looks for a difference in the loaded values; and every allocation of the
 * loader may fail. */
#include "test.h"
#include "daemon/control/config_int.h"

/* Two complete configurations: no single one can hold leaves that exclude each other. */
static const char *const bases[] = {
	"{\"causeway:causeway\":{\"port\":["
	"{\"name\":\"ub0\",\"kind\":\"ub\",\"device\":\"packet:a\"},"
	"{\"name\":\"eth0\",\"kind\":\"ethernet\",\"device\":\"packet:b\",\"npi-filter\":[7],"
	"\"address\":[{\"address\":\"10.0.0.1/24\"}],"
	"\"role\":\"congestion-point\",\"congestion-point\":{"
	"\"buffer\":1000000000,\"ecn\":{\"max\":1000000000},"
	"\"message\":{\"source\":[\"10.0.0.1\"],"
	"\"nrp-rule\":[{\"match\":\"npi\",\"value\":7,\"nrp\":9}]}}},"
	"{\"name\":\"spare\",\"kind\":\"ub\",\"device\":\"packet:c\"},"
	"{\"name\":\"ib0\",\"kind\":\"ipoib\",\"device\":\"ib:hca0.8001\","
	"\"ipoib\":{\"queue-pair\":5}}],"
	"\"hca\":["
	"{\"name\":\"hca0\",\"carrier\":\"ethernet:d\",\"guid\":\"0x0000000000100001\","
	"\"lid\":1,\"sm-lid\":1,\"sa\":\"built-in\",\"partition\":[{\"pkey\":\"0x8001\"}],"
	"\"node\":[{\"guid\":\"0x0000000000100004\",\"lid\":3}]},"
	"{\"name\":\"hca1\",\"carrier\":\"ethernet:e\",\"guid\":\"0x0000000000100007\","
	"\"lid\":4,\"sm-lid\":4},"
	"{\"name\":\"hca2\",\"carrier\":\"ethernet:f\",\"guid\":\"0x000000000010000a\","
	"\"lid\":5,\"sm-lid\":1,\"sa\":\"ibsim\",\"sa-device\":\"sim/Hca4\"}],"
	"\"route\":[{\"prefix\":\"10.0.0.0/8\",\"port\":\"eth0\"}],"
	"\"neighbour\":[{\"port\":\"eth0\",\"ip\":\"10.0.0.9\",\"vid\":0,"
	"\"mac\":\"02:00:00:00:00:09\"}],"
	"\"ub2e\":{\"ip\":{\"dscp-to-ethernet\":[{\"from\":3,\"to\":4}],"
	"\"dscp-to-ub\":[{\"from\":3,\"to\":4}]},"
	"\"udp\":{\"pin\":[{\"prefix\":\"10.8.0.0/16\",\"family\":\"uet\"}]},"
	"\"link\":{\"virtual-lane\":[{\"dscp\":3,\"vl\":4}]},"
	"\"npi\":{\"map\":[{\"id\":7,\"vid\":9}],\"partition\":[7],"
	"\"pcp\":[{\"dscp\":3,\"pcp\":4}]}},"
	"\"icmp\":{\"source-address\":[\"10.0.0.1\"]},"
	"\"pnc\":{\"preference\":[\"bgp\"],\"proxy-address\":[\"10.0.0.1\"],"
	"\"prefix\":[\"10.2.0.0/16\"],\"bmp\":{\"router\":[\"10.7.0.0/16\"]},"
	"\"static\":[{\"prefix\":\"10.3.0.0/16\",\"proxy\":\"10.0.0.3\"}]},"
	"\"fast-cnp\":{\"message-option\":\"option-1\",\"proxy\":{\"interface\":[\"eth0\"],"
	"\"allowed-source\":[\"10.4.0.0/16\"],"
	"\"sender\":[{\"prefix\":\"10.5.0.0/16\"}]},"
	"\"qpmap\":{\"static\":[{\"sender\":\"10.5.0.1\",\"receiver\":\"10.6.0.1\","
	"\"destination-qp\":17,\"source-qp\":18}]},"
	"\"nrp\":[{\"selector\":5,\"vpn\":6,\"source-tpn\":3,"
	"\"destination-tpn\":4}],"
	"\"vpn\":[{\"id\":6,\"port\":\"eth0\"},{\"id\":7,\"port\":\"eth0\"}]}}}",
	"{\"causeway:causeway\":{\"port\":["
	"{\"name\":\"eth0\",\"kind\":\"ethernet\",\"device\":\"packet:b\",\"npi-filter\":[7],"
	"\"role\":\"congestion-point\"},"
	"{\"name\":\"eth1\",\"kind\":\"ethernet\",\"device\":\"packet:c\"}],"
	"\"route\":[{\"prefix\":\"10.0.0.0/8\",\"port\":\"eth0\"}],"
	"\"neighbour\":[{\"port\":\"eth0\",\"ip\":\"10.0.0.9\",\"vid\":0,"
	"\"mac\":\"02:00:00:00:00:09\"}],"
	"\"ub2e\":{\"npi\":{\"mode\":\"enhanced\",\"map\":[{\"id\":7,\"vid\":9,\"vid-low\":10}],"
	"\"partition\":[7]}},"
	"\"pnc\":{\"isis\":{\"interface\":\"e\",\"area\":\"49.0001\","
	"\"system-id\":\"0000.0000.0001\"},"
	"\"ospf3\":{\"interface\":\"e\",\"router-id\":\"10.0.0.1\"}},"
	"\"fast-cnp\":{\"proxy\":{\"interface\":[\"eth1\"]},"
	"\"vpn\":[{\"id\":6,\"port\":\"eth0\"}]}}}",
};
enum { NBASES = sizeof(bases) / sizeof(bases[0]) };

/* Another value for the leaves whose type does not show one. */
static const struct {
	const char *leaf, *value;
} texts[] = {
	{"port/name", "other"},
	{"port/device", "packet:z"},
	{"port/peer-mac", "02:00:00:00:00:77"},
	{"address/address", "10.0.0.77/16"},
	{"route/prefix", "172.16.0.0/12"},
	{"route/port", "spare"},
	{"route/next-hop", "10.0.0.77"},
	{"route/mac", "02:00:00:00:00:77"},
	{"neighbour/port", "eth1"},
	{"neighbour/ip", "10.0.0.77"},
	{"neighbour/mac", "02:00:00:00:00:77"},
	{"daemon/control-socket", "/run/other.sock"},
	{"daemon/metrics", "127.0.0.1:9"},
	{"daemon/drop-capture", "drops.pcapng"},
	{"icmp/source-address", "10.0.0.77"},
	{"pnc/proxy-address", "10.0.0.77"},
	{"pnc/prefix", "172.16.0.0/12"},
	{"pnc/file", "/etc/proxies"},
	{"pin/prefix", "172.16.0.0/12"},
	{"static/prefix", "172.16.0.0/12"},
	{"static/proxy", "10.0.0.77"},
	{"static/sender", "10.5.0.77"},
	{"static/receiver", "10.6.0.77"},
	{"message/source", "10.0.0.77"},
	{"fast-cnp/border", "eth0"},
	{"proxy/interface", "eth0"},
	{"proxy/allowed-source", "172.16.0.0/12"},
	{"sender/prefix", "172.16.0.0/12"},
	{"vpn/port", "eth1"},
	{"vpn/next-hop", "10.0.0.77"},
	{"vpn/source", "10.0.0.77"},
	{"nrp/vpn", "7"},
	{"bgp/next-hop", "10.0.0.77"},
	{"bmp/listen", "10.0.0.77"},
	{"bmp/router", "172.16.0.0/12"},
	{"ospfv2/server", "10.0.0.77"},
	{"ospfv2/area", "10.0.0.77"},
	{"ipoib/interface", "other"},
	{"port/dhcp-relay", "10.0.0.77"},
	{"hca/name", "other"},
	{"hca/carrier", "udp:127.0.0.1:7,127.0.0.1:8"},
	{"hca/guid", "0x0000000000100077"},
	{"hca/subnet-prefix", "0xfec0000000000000"},
	{"hca/sm-key", "0x0000000000000001"},
	{"hca/sa-device", "sim/Hca7"},
	{"partition/pkey", "0x8077"},
	{"partition/qkey", "0x80000077"},
	{"node/guid", "0x0000000000100077"},
	{"isis/interface", "isis0"},
	{"isis/system-id", "0000.0000.0077"},
	{"isis/area", "49.0077"},
	{"isis/hostname", "leaf"},
	{"ospf3/interface", "ospf0"},
	{"ospf3/router-id", "10.0.0.77"},
	{"ospf3/area", "0.0.0.77"},
	{"border/interface", "ospf1"},
	{"border/area", "0.0.0.78"},
	{"authentication/key-file", "/etc/key"},
	{"hello-authentication/key-file", "/etc/key"},
	{"level-1-authentication/key-file", "/etc/key"},
	{"level-2-authentication/key-file", "/etc/key"},
};

/* ---- What was loaded, as one number --------------------------------------------------------- */

static uint64_t mix(uint64_t h, const void *p, size_t n)
{
	const uint8_t *b = p;

	for (; n > 0; n--, b++)
		h = (h ^ *b) * 0x100000001b3u;
	return h;
}

/* Pointers out, what they point to in. All memory of a configuration starts as zeros. */
static uint64_t digest(const struct cw_config *c)
{
	struct cw_config flat;
	uint64_t h = 0xcbf29ce484222325u;
	unsigned i;

	memcpy(&flat, c, sizeof(flat));
	flat.ports = NULL;
	flat.routes = NULL;
	flat.neighbours = NULL;
	flat.npi = NULL;
	flat.pins = NULL;
	flat.ub2e.pins = NULL;
	flat.fast_cnp.relay.pins = NULL;
	flat.hcas = NULL;
	flat.ub2e.npi = NULL;
	flat.partitions = NULL;
	flat.pnc.prefix = NULL;
	flat.pnc.statics = NULL;
	flat.pnc.bmp.router = NULL;
	flat.fast_cnp.allowed = NULL;
	flat.fast_cnp.senders = NULL;
	flat.fast_cnp.nrps = NULL;
	flat.fast_cnp.vpns = NULL;
	flat.fast_cnp.statics = NULL;
	flat.json = NULL;
	h = mix(h, &flat, sizeof(flat));
	h = mix(h, c->pnc.prefix, c->pnc.nprefix * sizeof(*c->pnc.prefix));
	h = mix(h, c->pnc.bmp.router, c->pnc.bmp.nrouter * sizeof(*c->pnc.bmp.router));
	h = mix(h, c->pnc.statics, c->pnc.nstatics * sizeof(*c->pnc.statics));
	h = mix(h, c->fast_cnp.allowed, c->fast_cnp.nallowed * sizeof(*c->fast_cnp.allowed));
	h = mix(h, c->fast_cnp.senders, c->fast_cnp.nsenders * sizeof(*c->fast_cnp.senders));
	h = mix(h, c->fast_cnp.nrps, c->fast_cnp.nnrps * sizeof(*c->fast_cnp.nrps));
	h = mix(h, c->fast_cnp.vpns, c->fast_cnp.nvpns * sizeof(*c->fast_cnp.vpns));
	h = mix(h, c->fast_cnp.statics, c->fast_cnp.nstatics * sizeof(*c->fast_cnp.statics));
	h = mix(h, c->routes, c->nroutes * sizeof(*c->routes));
	h = mix(h, c->neighbours, c->nneighbours * sizeof(*c->neighbours));
	h = mix(h, c->pins, c->ub2e.npins * sizeof(*c->pins));
	h = mix(h, c->npi, c->ub2e.nnpi * sizeof(*c->npi));
	h = mix(h, c->hcas, c->nhcas * sizeof(*c->hcas));
	h = mix(h, c->partitions, c->npartitions * sizeof(*c->partitions));
	for (i = 0; i < c->nports; i++) {
		struct cw_port_config p;

		memcpy(&p, &c->ports[i], sizeof(p));
		p.npi_filter = NULL;
		p.addr = NULL;
		p.addr_vid = NULL;
		p.point.nrp = NULL;
		p.point.s.nrp = NULL;
		h = mix(h, &p, sizeof(p));
		h = mix(h, c->ports[i].point.nrp, p.point.nnrp * sizeof(*p.point.nrp));
		h = mix(h, c->ports[i].npi_filter, p.nnpi_filter * sizeof(*p.npi_filter));
		h = mix(h, c->ports[i].addr, p.naddr * sizeof(*p.addr));
		h = mix(h, c->ports[i].addr_vid, p.naddr * sizeof(*p.addr_vid));
	}
	return h;
}

/* 0: refused. */
static uint64_t load(const json_t *root)
{
	char *text = json_dumps(root, JSON_COMPACT);
	struct cw_config *c;
	uint64_t h = 0;

	if (cw_config_parse(&c, text, strlen(text), NULL) == CW_OK) {
		h = digest(c);
		cw_config_free(c);
	}
	free(text);
	return h;
}

/* ---- Another value -------------------------------------------------------------------------- */

static json_t *other_text(const struct lysc_node *n)
{
	char name[128];
	size_t i;

	(void)snprintf(name, sizeof(name), "%s/%s", n->parent->name, n->name);
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (strcmp(texts[i].leaf, name) == 0)
			return strspn(texts[i].value, "0123456789") == strlen(texts[i].value)
				       ? json_integer(strtol(texts[i].value, NULL, 10))
				       : json_string(texts[i].value);
	}
	fail_msg("texts[] has no other value for %s", name);
	return NULL;
}

static json_t *other_value(const struct lysc_node *n, const json_t *now)
{
	const struct lysc_type *t = ((const struct lysc_node_leaf *)n)->type;
	const struct lysc_type_bitenum_item *e;
	const struct lysc_range *range; /* none: all that the type can hold */
	const char *dflt =
		n->nodetype == LYS_LEAF && ((const struct lysc_node_leaf *)n)->dflt != NULL
			? ((const struct lysc_node_leaf *)n)->dflt->_canonical
			: "";
	const char *text = now != NULL && json_is_string(now) ? json_string_value(now) : dflt;

	switch (t->basetype) {
	case LY_TYPE_BOOL:
		return json_boolean(strcmp(text, "false") == 0);
	case LY_TYPE_ENUM:
		e = ((const struct lysc_type_enum *)t)->enums;
		return json_string(strcmp(text, e[0].name) != 0 ? e[0].name : e[1].name);
	case LY_TYPE_UINT8:
	case LY_TYPE_UINT16:
	case LY_TYPE_UINT32:
		range = ((const struct lysc_type_num *)t)->range;
		return json_integer(range != NULL ? (json_int_t)range->parts[0].max_u64 : 77);
	default:
		return other_text(n);
	}
}

/* ---- The walk ------------------------------------------------------------------------------- */

/* Does this leaf, changed inside `at` (a part of `root`), change what is loaded? */
static bool leaf_matters(json_t *root, json_t *at, const struct lysc_node *n, uint64_t before)
{
	json_t *now = json_incref(json_object_get(at, n->name)), *value = other_value(n, now);
	uint64_t after;

	if (n->nodetype == LYS_LEAFLIST)
		value = json_pack("[o]", value);
	assert_int_equal(json_object_set_new(at, n->name, value), 0);
	after = load(root);
	if (now != NULL)
		json_object_set_new(at, n->name, now);
	else
		json_object_del(at, n->name);
	return after != 0 && after != before;
}

static bool reach(json_t *root, json_t *at, const struct lysc_node *const *chain, unsigned depth,
		  uint64_t before)
{
	const struct lysc_node *n = chain[0];
	json_t *child, *item;
	size_t i;

	if (depth == 1)
		return leaf_matters(root, at, n, before);
	child = json_object_get(at, n->name);
	if (n->nodetype == LYS_CONTAINER) {
		bool added = child == NULL, found;

		if (added) {
			child = json_object();
			json_object_set_new(at, n->name, child);
		}
		found = reach(root, child, chain + 1, depth - 1, before);
		if (added) /* not every entry of a list may have it */
			json_object_del(at, n->name);
		return found;
	}
	json_array_foreach(child, i, item)
	{
		if (reach(root, item, chain + 1, depth - 1, before))
			return true;
	}
	return false;
}

static void try_leaf(const struct lysc_node *n)
{
	const struct lysc_node *chain[8], *p;
	unsigned depth = 0, i;
	bool reached = false;
	char path[256];

	for (p = n; p->parent != NULL; p = p->parent) {
		memmove(chain + 1, chain, depth * sizeof(chain[0]));
		chain[0] = p;
		assert_in_range(++depth, 1, 7);
	}
	for (i = 0; i < NBASES && !reached; i++) {
		json_t *root = json_loads(bases[i], 0, NULL);
		uint64_t before = load(root);

		assert_true(before != 0);
		reached = reach(root, json_object_get(root, "causeway:causeway"), chain, depth,
				before);
		json_decref(root);
	}
	if (!reached)
		fail_msg("%s changes nothing", lysc_path(n, LYSC_PATH_DATA, path, sizeof(path)));
}

static unsigned try_all(const struct lysc_node *parent)
{
	const struct lysc_node *n;
	unsigned leaves = 0;

	LY_LIST_FOR(lysc_node_child(parent), n)
	{
		if ((n->nodetype & (LYS_LEAF | LYS_LEAFLIST)) != 0) {
			try_leaf(n);
			leaves++;
		} else {
			leaves += try_all(n);
		}
	}
	return leaves;
}

static void every_leaf_reaches_the_configuration(void **state)
{
	struct cw_config_schema s;

	assert_int_equal(cw_config_schema_open(&s, NULL), CW_OK);
	assert_in_range(try_all(s.top), 50, 1000);
	cw_config_schema_close(&s);
}

static void every_node_has_a_description(const struct lysc_node *parent)
{
	const struct lysc_node *n;

	LY_LIST_FOR(lysc_node_child(parent), n)
	{
		if (n->dsc == NULL)
			fail_msg("%s has no description", n->name);
		every_node_has_a_description(n);
	}
}

static void every_setting_is_described(void **state)
{
	struct cw_config_schema s;

	assert_int_equal(cw_config_schema_open(&s, NULL), CW_OK);
	every_node_has_a_description(s.top);
	cw_config_schema_close(&s);
}

/* ---- Allocations (linked with --wrap) ------------------------------------------------------- */

static int allocations_left = -1;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
	if (allocations_left == 0)
		return NULL;
	if (allocations_left > 0)
		allocations_left--;
	return __real_calloc(n, size);
}

static void any_allocation_may_fail(void **state)
{
	struct cw_config *c;
	struct cw_diag d;
	int n, err = CW_E_NOMEM;

	for (n = 0; err == CW_E_NOMEM; n++) {
		assert_in_range(n, 0, 200);
		allocations_left = n;
		err = cw_config_parse(&c, bases[0], strlen(bases[0]), &d);
		allocations_left = -1;
		if (err != CW_OK)
			assert_string_equal(d.reason, "out of memory");
	}
	assert_int_equal(err, CW_OK);
	assert_in_range(n, 8, 200); /* it did fail on the way */
	cw_config_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_leaf_reaches_the_configuration),
		cmocka_unit_test(every_setting_is_described),
		cmocka_unit_test(any_allocation_may_fail),
	};

	return cmocka_run_group_tests_name("config_leaves", tests, NULL, NULL);
}
