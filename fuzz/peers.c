/* peers.c - what other people's software tells the daemon of proxies: LSAs and routers by ospfd's
 * API, events by ExaBGP's helper, a file that somebody writes. What it makes of them can be shown,
 * and what goes to other areas can be read back.
 * Input: records of a kind, an area or a name, a length and the octets. */
#include "causeway/wire/ospf3.h"
#include "daemon/log.h"
#include "daemon/peers/int.h"
#include "daemon/peers/ospf_lsdb.h"
#include "fuzz/fuzz.h"

enum { RECORDS = 64 };

static uint64_t now;

/* The daemon's clock. */
uint64_t cw_now_ms(void);
uint64_t cw_now_ms(void)
{
	return now;
}

static int read_prefix(void *arg, const struct cw_pnc_prefix *p)
{
	(void)arg;
	FUZZ_CHECK(p->prefix.version == 4 && p->prefix.plen <= 32);
	return 0;
}

static void show_all(void)
{
	static struct cw_teller t = {.source = CW_PROXY_OSPF2};
	struct cw_diag diag = {0};
	uint8_t *tlvs;
	json_t *o;
	size_t len, external;
	uint32_t area;

	if (cw_ospf_lsdb_changed())
		cw_ospf_lsdb_tell(&t, true, now);
	for (area = 0; area < 3; area++) {
		FUZZ_CHECK(cw_ospf_lsdb_summaries(area, &tlvs, &len, &external));
		FUZZ_CHECK(cw_ospf2_walk(&cw_peers.conf->codes, tlvs, len, read_prefix, NULL,
					 NULL) == CW_OK);
		free(tlvs);
	}
	o = cw_peers_show((void *)cw_now_ms, NULL, &diag);
	FUZZ_CHECK(o != NULL);
	json_decref(o);
	o = cw_peers_show_sources((void *)cw_now_ms, NULL, &diag);
	FUZZ_CHECK(o != NULL);
	json_decref(o);
}

/* A header that ospfd would have checked, then the body. */
static void lsa(struct fuzz_in *in, uint8_t bits)
{
	static const uint8_t types[] = {CW_OSPF2_SUMMARY, CW_OSPF2_OPAQUE_LINK,
					CW_OSPF2_OPAQUE_AREA, CW_OSPF2_OPAQUE_AS};
	uint32_t router = 0x0a000000 + (bits >> 2 & 3), id = fuzz_u8(in);
	uint8_t n = fuzz_u8(in), *body, *whole;
	size_t len;

	body = fuzz_block(in, n, &len);
	whole = calloc(1, CW_SIZE_OSPF2_LSA + len);
	FUZZ_CHECK(whole != NULL);
	cw_ospf2_lsa_set_type(whole, types[bits & 3]);
	cw_ospf2_lsa_set_opaque_type(
		whole, types[bits & 3] == CW_OSPF2_SUMMARY ? 10 : CW_OSPF2_OPAQUE_PREFIX);
	whole[7] = (uint8_t)id;
	cw_put_be32(whole + 8, router);
	cw_ospf2_lsa_set_length(whole, (uint32_t)(CW_SIZE_OSPF2_LSA + len));
	memcpy(whole + CW_SIZE_OSPF2_LSA, body, len);
	cw_ospf_lsdb_take(bits >> 4 & 3, whole, CW_SIZE_OSPF2_LSA + len, bits >> 7, now);
	free(whole);
	free(body);
}

static void routers(struct fuzz_in *in)
{
	uint8_t r[8] = {0x0a, 0, 0, 0, 0x0a, 0, 0, 0};

	r[3] = fuzz_u8(in) & 3;
	r[7] = fuzz_u8(in) & 3;
	cw_ospf_lsdb_reach(r, 1 + (r[3] & 1), r + 4, r[7] & 1);
}

/* An event, as the helper's request has it. */
static void event(struct fuzz_in *in, const char *op)
{
	static char hex[2 * 255 + 1];
	uint8_t n = fuzz_u8(in), *body;
	struct cw_diag diag = {0};
	json_t *request, *answer;
	size_t len, i;

	body = fuzz_block(in, n, &len);
	for (i = 0; i < len; i++)
		(void)snprintf(hex + 2 * i, 3, "%02x", body[i]);
	hex[2 * len] = '\0';
	request = json_pack("{s:s, s:s, s:[{s:s, s:s}]}", "op", op, "helper", "x", "events", "peer",
			    "10.0.0.1", "update", hex);
	answer = cw_peers_bgp((void *)cw_now_ms, request, &diag);
	FUZZ_CHECK(answer != NULL || diag.reason[0] != '\0');
	json_decref(answer);
	json_decref(request);
	free(body);
}

/* A request that is the input's own altogether. */
static void request(struct fuzz_in *in)
{
	uint8_t n = fuzz_u8(in), *text;
	struct cw_diag diag = {0};
	json_t *j, *answer;
	size_t len;

	text = fuzz_block(in, n, &len);
	if ((j = json_loadb((const char *)text, len, 0, NULL)) != NULL) {
		answer = cw_peers_bgp((void *)cw_now_ms, j, &diag);
		FUZZ_CHECK(answer != NULL || diag.reason[0] != '\0');
		json_decref(answer);
		json_decref(j);
	}
	free(text);
}

static struct cw_config *configure(void)
{
	static const char text[] =
		"{\"causeway:causeway\": {\"pnc\": {\"bgp\": {\"enabled\": true}}}}";
	struct cw_config *c = NULL;
	struct cw_diag diag;

	cw_log_set_level(CW_LOG_ERROR);
	FUZZ_CHECK(cw_config_parse(&c, text, sizeof(text) - 1, &diag) == CW_OK);
	return c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct cw_config *conf;
	struct fuzz_in in = {data, size};
	unsigned i;

	if (conf == NULL)
		conf = configure();
	now = 1000;
	FUZZ_CHECK(cw_peers_apply(&conf->pnc, now) == CW_OK);
	event(&(struct fuzz_in){data, 0}, "hello");
	for (i = 0; i < RECORDS && in.left > 0; i++) {
		uint8_t kind = fuzz_u8(&in) % 6;

		now += 10;
		if (kind < 2)
			lsa(&in, fuzz_u8(&in));
		else if (kind == 2)
			routers(&in);
		else if (kind == 3)
			event(&in, "poll");
		else if (kind == 4)
			request(&in);
		else
			show_all();
	}
	show_all();
	cw_ospf_lsdb_forget();
	cw_peers_stop();
	return 0;
}
