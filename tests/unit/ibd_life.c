/* ibd_life: hcas and ports of IPoIB come and go, or are refused. The subnet administration is built
 * in, so that what one port says when it leaves is answered at once, and told to the others on its
 * hca: none that is gone already may be among them. Reads of what was freed are ASan's to see.
 *
 * Router mode, without DPDK: a ring is its addresses, and nothing goes through it. */
#include "test.h"
#include "daemon/control/current.h"
#include "daemon/control/own.h"
#include "daemon/ipoib/ipoib.h"
#include "daemon/ipoib/ring.h"
#include "daemon/ipoib/service.h"

#define HCA                                                                                     \
	"\"hca\":[{\"name\":\"hca0\",\"carrier\":\"file:tx=/dev/null\",\"lid\":1,\"sm-lid\":1," \
	"\"guid\":\"0x0000000000100001\",\"sa\":\"built-in\",\"partition\":"                    \
	"[{\"pkey\":\"0x8001\"},{\"pkey\":\"0x8002\"},{\"pkey\":\"0x8003\"}]}]"
#define PORT(n)                                                                                 \
	"{\"name\":\"ib" n "\",\"kind\":\"ipoib\",\"device\":\"ib:hca0.800" n "\",\"address\":" \
	"[{\"address\":\"10.77." n ".1/24\"}],\"ipoib\":{\"mode\":\"router\"}}"
#define THREE \
	"{\"causeway:causeway\":{" HCA ",\"port\":[" PORT("1") "," PORT("2") "," PORT("3") "]}}"
#define ONE "{\"causeway:causeway\":{" HCA ",\"port\":[" PORT("2") "]}}"
#define OTHER(carrier, sa)                                                           \
	"{\"causeway:causeway\":{\"hca\":[{\"name\":\"hca0\",\"carrier\":\"" carrier \
	"\",\"lid\":1,"                                                              \
	"\"sm-lid\":1,\"guid\":\"0x0000000000100001\",\"sa\":\"" sa "\"}]}}"
#define AT   "/causeway:causeway/hca[name='hca0']: "
#define NONE "{\"causeway:causeway\":{}}"

/* ---- What the daemon has besides ----------------------------------------------------------- */

struct cw_io cw_io;

struct cw_plane *cw_plane_now(void)
{
	static struct cw_plane empty;

	return &empty;
}

uint64_t cw_now_ms(void)
{
	static atomic_uint_fast64_t now = 1000;

	return atomic_fetch_add(&now, 1);
}

void cw_dp_kick_control(void)
{
}

void cw_own_send(struct rte_mbuf *m, unsigned slot)
{
	(void)m;
	(void)slot;
	fail();
}

struct cw_ibring *cw_ibring_get(const char *device)
{
	struct cw_ibring *r = calloc(1, sizeof(*r));

	(void)device;
	assert_non_null(r);
	r->link_fd = r->graph_fd = -1;
	return r;
}

void cw_ibring_put(struct cw_ibring *r)
{
	free(r);
}

struct rte_mbuf *cw_ibring_new(uint32_t len, uint8_t **frame)
{
	(void)len;
	(void)frame;
	return NULL;
}

void cw_ibring_send(struct cw_ibring *r, struct rte_mbuf *m)
{
	(void)r;
	(void)m;
	fail();
}

unsigned cw_ibring_receive(struct cw_ibring *r, struct rte_mbuf **m, unsigned n)
{
	(void)r;
	(void)m;
	(void)n;
	return 0;
}

/* ---- Tests --------------------------------------------------------------------------------- */

static void prepare(const char *json, struct cw_ibd_next **next)
{
	struct cw_diag diag = {0};
	struct cw_config *conf;
	char text[512];

	if (cw_config_parse(&conf, json, strlen(json), &diag) < 0 ||
	    cw_ibd_prepare(next, conf, &diag) < 0)
		fail_msg("%s", cw_config_diag_text(&diag, text, sizeof(text)));
	cw_config_free(conf);
}

static void use(const char *json)
{
	struct cw_ibd_next *next;

	prepare(json, &next);
	cw_ibd_commit(next);
}

/* The built-in subnet administration answers at once: a link is up when its port has started. */
static void ports_up(unsigned n)
{
	const struct ibd_set *s = ibd_lock();
	unsigned i;

	assert_int_equal(s->nport, n);
	for (i = 0; i < s->nport; i++)
		assert_int_equal(s->port[i]->n.link_up, 1);
	ibd_unlock();
}

static void an_hca_goes_with_its_ports(void **state)
{
	(void)state;
	use(THREE);
	ports_up(3);
	use(NONE);
	ports_up(0);
}

static void ports_go_and_their_hca_stays(void **state)
{
	const struct hca *hca;

	(void)state;
	use(THREE);
	hca = ibd_now()->hca[0];
	use(ONE);
	ports_up(1);
	assert_ptr_equal(ibd_now()->hca[0], hca);
	assert_int_equal(hca->nport, 1);
	assert_ptr_equal(hca->port[0], ibd_now()->port[0]);
	use(NONE);
}

static void what_was_prepared_is_abandoned(void **state)
{
	struct cw_ibd_next *next;

	(void)state;
	prepare(THREE, &next);
	cw_ibd_abandon(next);
	use(ONE);
	prepare(THREE, &next);
	cw_ibd_abandon(next);
	ports_up(1);
}

/* The program is built as where there is no libibverbs and no libibumad. */
static void refused_with(const char *json, const char *text)
{
	struct cw_ibd_next *next;
	struct cw_diag diag = {0};
	struct cw_config *conf;
	char got[512];

	assert_int_equal(cw_config_parse(&conf, json, strlen(json), &diag), CW_OK);
	assert_int_equal(cw_ibd_prepare(&next, conf, &diag), CW_E_NAME);
	assert_string_equal(cw_config_diag_text(&diag, got, sizeof(got)), text);
	cw_config_free(conf);
	assert_int_equal(ibd_now()->nhca, 0);
}

static void a_build_without_libraries_says_so(void **state)
{
	(void)state;
	use(NONE);
	refused_with(OTHER("verbs:mlx5_0/1", "built-in"),
		     AT "\"verbs:mlx5_0/1\": this build has no "
			"libibverbs (meson option verbs)");
	refused_with(OTHER("file:tx=/dev/null", "umad\",\"sa-device\":\"mlx5_0/1"),
		     AT "\"mlx5_0/1\": this build has no libibumad (meson option umad)");
}

/* The last one: the service does not start again. */
static void all_end_at_once(void **state)
{
	(void)state;
	use(THREE);
	ports_up(3);
	cw_ibd_stop();
	assert_int_equal(ibd_now()->nport, 0);
	assert_int_equal(ibd_now()->nhca, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_hca_goes_with_its_ports),
		cmocka_unit_test(ports_go_and_their_hca_stays),
		cmocka_unit_test(what_was_prepared_is_abandoned),
		cmocka_unit_test(a_build_without_libraries_says_so),
		cmocka_unit_test(all_end_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
