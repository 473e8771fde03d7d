/* isis: two leaves face each other over a link that may lose packets. Tests are named after
 * sections of ISO 10589, the RFCs and the Fast CNP proxy draft. */
#include "daemon/control/hasher.h"
#include "tests/unit/isis_world.h"

static const char *const senders[] = {"192.0.2.0/24", "2001:db8:1::/48"};

static void both_up(struct world *w)
{
	boot(w, 0);
	boot(w, 1);
	pass(w, 5000);
	assert_int_equal(info(w, 0).state, CW_ISIS_UP);
	assert_int_equal(info(w, 1).state, CW_ISIS_UP);
}

/* Both up, and end 1 has learnt what end 0 announces. */
static struct world *told(uint32_t loss)
{
	struct world *w = world_new(loss);

	both_up(w);
	announce(w, 0, "10.255.0.1", NULL, senders, 1);
	pass(w, 3000);
	assert_int_equal(known(w, 1), 2);
	return w;
}

/* The PDU of an LSP in the database of an end; the caller frees it. */
static uint8_t *pdu_of(const struct world *w, unsigned i, uint8_t system, size_t *len)
{
	struct cw_isis_lsp_info l;
	size_t k;

	for (k = 0; cw_isis_lsp_at(w->end[i].m, 2, k, w->now, &l); k++) {
		if (l.id[5] == system && l.id[7] == 0) {
			*len = l.len;
			return exact_copy(l.pdu, l.len);
		}
	}
	fail_msg("no LSP of system %u", system);
	return NULL;
}

/* Say to end `i` that an LSP has this number (lifetime 0: that it was taken back). */
static void forge(struct world *w, unsigned i, uint8_t *pdu, size_t len, uint32_t number,
		  uint16_t lifetime)
{
	cw_isis_lsp_set_sequence(pdu, number);
	cw_isis_lsp_set_lifetime(pdu, lifetime);
	cw_isis_lsp_set_checksum(pdu, cw_fletcher(pdu + 12, len - 12, 12));
	assert_int_equal(cw_isis_input(w->end[i].m, pdu, len, w->now), CW_OK);
}

/* ---- Adjacency ----------------------------------------------------------------------------- */

static void rfc5303_three_way(void **state)
{
	struct world *w = world_new(0);

	(void)state;
	both_up(w);
	assert_int_equal(info(w, 0).neighbour[5], 2);
	assert_true(info(w, 0).synchronised);
	assert_int_equal(counters(w, 0)->adjacencies, 1);
	assert_int_equal(info(w, 0).reachable[1], 1);
	world_free(w);
}

static void rfc5303_one_way_is_no_adjacency(void **state)
{
	struct world *w = world_new(0);

	(void)state;
	boot_one_way(w);
	assert_int_equal(info(w, 0).state, CW_ISIS_DOWN);
	assert_int_equal(info(w, 1).state, CW_ISIS_INITIALIZING);
	world_free(w);
}

static void rfc5303_hello_for_another_circuit(void **state)
{
	struct world *w = world_new(0);

	(void)state;
	both_up(w);
	die(w, 0);
	w->end[0].c.circuit = 7;
	boot(w, 0);
	step(w);
	pass(w, 100);
	assert_true(counters(w, 0)->not_for_us <= 1);
	pass(w, 5000);
	assert_int_equal(info(w, 0).state, CW_ISIS_UP);
	world_free(w);
}

static void iso8_2_5_level_1_needs_a_common_area(void **state)
{
	struct world *w = world_new(0);

	(void)state;
	w->end[0].c.levels = w->end[1].c.levels = CW_ISIS_L1;
	w->end[1].c.area[2] = 2;
	boot(w, 0);
	boot(w, 1);
	pass(w, 5000);
	assert_int_equal(info(w, 0).state, CW_ISIS_DOWN);
	assert_true(counters(w, 0)->area_mismatch > 2);
	world_free(w);
	w = world_new(0);
	w->end[0].c.levels = w->end[1].c.levels = CW_ISIS_L1 | CW_ISIS_L2;
	w->end[1].c.area[2] = 2;
	both_up(w);
	assert_int_equal(info(w, 0).levels, CW_ISIS_L2);
	world_free(w);
}

/* A neighbour that has the link as a LAN. */
static void iso8_4_no_lan(void **state)
{
	static const uint8_t hello[27] = {0x83, 27, 1, 0, CW_ISIS_HELLO_LAN_L2, 1, [17] = 0, 27};
	struct world *w = world_new(0);

	(void)state;
	boot(w, 0);
	assert_int_equal(say(w, 0, hello, sizeof(hello)), CW_E_UNKNOWN);
	assert_int_equal(counters(w, 0)->lan, 1);
	assert_int_equal(counters(w, 0)->malformed, 0);
	assert_int_equal(info(w, 0).state, CW_ISIS_DOWN);
	world_free(w);
}

static void iso8_2_5_no_common_level(void **state)
{
	struct world *w = world_new(0);

	(void)state;
	w->end[1].c.levels = CW_ISIS_L1;
	boot(w, 0);
	boot(w, 1);
	pass(w, 5000);
	assert_int_equal(info(w, 0).state, CW_ISIS_DOWN);
	assert_true(counters(w, 0)->level_mismatch > 2);
	world_free(w);
}

static void iso8_2_own_system_id(void **state)
{
	struct world *w = world_new(0);

	(void)state;
	w->end[1].c.system[5] = 1;
	boot(w, 0);
	boot(w, 1);
	pass(w, 5000);
	assert_int_equal(info(w, 0).state, CW_ISIS_DOWN);
	assert_true(counters(w, 0)->own_system > 2);
	world_free(w);
}

static void iso8_2_hold_time(void **state)
{
	struct world *w = told(0);

	(void)state;
	w->cut = true;
	pass(w, 1800);
	assert_int_equal(info(w, 1).state, CW_ISIS_UP);
	pass(w, 1500);
	assert_int_equal(info(w, 1).state, CW_ISIS_DOWN);
	assert_int_equal(counters(w, 1)->expired, 1);
	pass(w, 500);
	assert_int_equal(known(w, 1), 0); /* nobody can be reached */
	w->cut = false;
	pass(w, 5000);
	assert_int_equal(known(w, 1), 2);
	world_free(w);
}

static void iso8_2_3_padded_until_up(void **state)
{
	struct world *w = world_new(0);
	uint8_t pdu[CW_ISIS_PDU_MAX];

	(void)state;
	boot(w, 0);
	assert_int_equal(cw_isis_pull(w->end[0].m, pdu, sizeof(pdu), w->now), 1497);
	die(w, 0);
	both_up(w);
	w->now += 5000;
	assert_in_range(cw_isis_pull(w->end[0].m, pdu, sizeof(pdu), w->now), 40, 100);
	die(w, 0);
	w->end[0].c.padding = false;
	boot(w, 0);
	assert_in_range(cw_isis_pull(w->end[0].m, pdu, sizeof(pdu), w->now), 40, 100);
	world_free(w);
}

/* ---- The database -------------------------------------------------------------------------- */

static void s5_1_learnt_with_its_proxy(void **state)
{
	struct world *w = world_new(0);

	(void)state;
	both_up(w);
	announce(w, 0, "10.255.0.1", "fd99::1", senders, 2);
	pass(w, 3000);
	assert_int_equal(known(w, 1), 4);
	assert_true(knows(w, 1, 2, "10.255.0.1/32", "10.255.0.1"));
	assert_true(knows(w, 1, 2, "192.0.2.0/24", "10.255.0.1"));
	assert_true(knows(w, 1, 2, "fd99::1/128", "fd99::1"));
	assert_true(knows(w, 1, 2, "2001:db8:1::/48", "fd99::1"));
	announce(w, 0, "10.255.0.1", NULL, senders, 1);
	pass(w, 3000);
	assert_int_equal(known(w, 1), 2);
	world_free(w);
}

static void rfc5120_topology_2(void **state)
{
	struct world *w = world_new(0);

	(void)state;
	w->end[0].c.topology6 = w->end[1].c.topology6 = true;
	both_up(w);
	announce(w, 0, "10.255.0.1", "fd99::1", senders, 2);
	pass(w, 3000);
	assert_int_equal(known(w, 1), 4);
	die(w, 1); /* without the topology there is no way in it */
	w->end[1].c.topology6 = false;
	boot(w, 1);
	pass(w, 5000);
	assert_int_equal(known(w, 1), 2);
	world_free(w);
}

static void many_prefixes(struct world *w, size_t n)
{
	static char text[500][32];
	const char *p[500];
	size_t i;

	for (i = 0; i < n; i++) {
		(void)snprintf(text[i], sizeof(text[i]), "172.%zu.%zu.0/24", 16 + i / 256, i % 256);
		p[i] = text[i];
	}
	announce(w, 0, "10.255.0.1", NULL, p, n);
}

/* A third of all packets is lost: everything arrives, and everything goes again. */
static void iso7_3_15_lossy_link(void **state)
{
	struct world *w = world_new(33);

	(void)state;
	w->end[0].c.multiplier = w->end[1].c.multiplier = 20;
	boot(w, 0);
	boot(w, 1);
	many_prefixes(w, 500);
	pass(w, 120000);
	assert_int_equal(info(w, 1).state, CW_ISIS_UP);
	assert_int_equal(known(w, 1), 501);
	assert_true(sequence(w, 1, 2, 1, 3) > 0); /* four fragments at least */
	many_prefixes(w, 10);
	pass(w, 60000);
	assert_int_equal(known(w, 1), 11);
	assert_int_equal(sequence(w, 1, 2, 1, 1), 0);
	pass(w, 70000); /* purges are forgotten after a minute */
	assert_int_equal(info(w, 1).lsps[1], 2);
	world_free(w);
}

/* A fragment whose prefixes stay does not change. */
static void iso7_3_7_only_what_changed(void **state)
{
	struct world *w = world_new(0);
	uint32_t first;

	(void)state;
	both_up(w);
	many_prefixes(w, 300);
	pass(w, 3000);
	first = sequence(w, 1, 2, 1, 0);
	many_prefixes(w, 290);
	pass(w, 3000);
	assert_int_equal(sequence(w, 1, 2, 1, 0), first);
	assert_int_equal(known(w, 1), 291);
	world_free(w);
}

static void iso7_3_10_never_transit(void **state)
{
	struct world *w = told(0);
	size_t len;
	uint8_t *pdu = pdu_of(w, 1, 1, &len);

	(void)state;
	assert_int_equal(cw_isis_lsp_overload(pdu), 1);
	assert_int_equal(cw_isis_lsp_attached(pdu), 0);
	assert_int_equal(cw_isis_lsp_kind(pdu), 3);
	free(pdu);
	world_free(w);
}

static void iso7_3_6_refresh(void **state)
{
	struct world *w = world_new(0);
	uint32_t before;

	(void)state;
	w->end[0].c.lifetime_s = 120;
	w->end[0].c.refresh_s = 60;
	both_up(w);
	announce(w, 0, "10.255.0.1", NULL, senders, 1);
	pass(w, 3000);
	before = sequence(w, 1, 2, 1, 0);
	pass(w, 600000);
	assert_in_range(sequence(w, 1, 2, 1, 0), before + 9, before + 14);
	assert_int_equal(known(w, 1), 2);
	assert_int_equal(counters(w, 1)->aged_out, 0);
	world_free(w);
}

static void iso7_3_16_4_ages_out(void **state)
{
	struct world *w = told(0);

	(void)state;
	die(w, 0);
	pass(w, 1100000);
	assert_true(sequence(w, 1, 2, 1, 0) > 0);
	pass(w, 110000);
	assert_int_equal(counters(w, 1)->aged_out, 1);
	assert_int_equal(info(w, 1).lsps[1], 1);
	world_free(w);
}

/* Two hundred LSPs do not fit into one CSNP. */
static void iso7_3_17_database_of_many(void **state)
{
	struct world *w = told(0);
	size_t len, i;
	uint8_t *pdu = pdu_of(w, 1, 1, &len);

	(void)state;
	for (i = 0; i < 200; i++) {
		pdu[16] = 9; /* system ID */
		pdu[17] = (uint8_t)i;
		forge(w, 0, pdu, len, 5, 1000);
	}
	free(pdu);
	die(w, 1);
	boot(w, 1);
	pass(w, 10000);
	assert_int_equal(info(w, 1).lsps[1], 202);
	assert_true(info(w, 1).synchronised);
	assert_true(counters(w, 0)->csnps_sent >= 3);
	world_free(w);
}

static void the_database_has_a_limit(void **state)
{
	struct world *w = world_new(0);
	size_t len, i;
	uint8_t *pdu;

	(void)state;
	w->end[0].c.lsps = 64;
	both_up(w);
	pdu = pdu_of(w, 0, 2, &len);
	pdu[16] = 9;
	cw_isis_lsp_set_sequence(pdu, 5);
	for (i = 0; i < 100; i++) {
		pdu[17] = (uint8_t)i;
		cw_isis_lsp_set_checksum(pdu, cw_fletcher(pdu + 12, len - 12, 12));
		assert_int_equal(cw_isis_input(w->end[0].m, pdu, len, w->now),
				 i < 62 ? CW_OK : CW_E_SPACE);
	}
	assert_int_equal(counters(w, 0)->full, 38);
	assert_int_equal(info(w, 0).lsps[1], 64);
	free(pdu);
	world_free(w);
}

/* ---- Own LSPs ------------------------------------------------------------------------------ */

static void iso7_3_16_1_earlier_life(void **state)
{
	struct world *w = told(0);
	uint32_t before = sequence(w, 1, 2, 1, 0);

	(void)state;
	die(w, 0);
	boot(w, 0);
	pass(w, 5000);
	assert_true(counters(w, 0)->outdone > 0);
	assert_true(sequence(w, 1, 2, 1, 0) > before);
	assert_int_equal(known(w, 1), 0); /* this life announces nothing yet */
	announce(w, 0, "10.255.0.1", NULL, senders, 1);
	pass(w, 3000);
	assert_int_equal(known(w, 1), 2);
	world_free(w);
}

/* A fragment of the earlier life that this one does not have is taken back. */
static void iso7_3_16_1_fragment_of_an_earlier_life(void **state)
{
	struct world *w = world_new(0);

	(void)state;
	both_up(w);
	many_prefixes(w, 300);
	pass(w, 3000);
	assert_true(sequence(w, 1, 2, 1, 1) > 0);
	die(w, 0);
	boot(w, 0);
	pass(w, 5000);
	assert_int_equal(sequence(w, 1, 2, 1, 1), 0);
	assert_true(counters(w, 1)->purges_received > 0);
	world_free(w);
}

static void iso7_3_16_1_outdone(void **state)
{
	struct world *w = told(0);
	size_t len;
	uint8_t *pdu = pdu_of(w, 1, 1, &len);

	(void)state;
	forge(w, 0, pdu, len, 0x5000, 1000);
	pass(w, 3000);
	assert_int_equal(sequence(w, 1, 2, 1, 0), 0x5001);
	forge(w, 0, pdu, len, 0x6000, 0); /* purged by somebody */
	pass(w, 3000);
	assert_int_equal(sequence(w, 1, 2, 1, 0), 0x6001);
	pdu[30] ^= 1; /* the same number, another content */
	forge(w, 0, pdu, len, 0x6001, 1000);
	pass(w, 3000);
	assert_int_equal(sequence(w, 1, 2, 1, 0), 0x6002);
	assert_int_equal(counters(w, 0)->outdone, 3);
	assert_int_equal(known(w, 1), 2);
	free(pdu);
	world_free(w);
}

static void iso7_3_16_1_numbers_run_out(void **state)
{
	struct world *w = told(0);
	size_t len;
	uint8_t *pdu = pdu_of(w, 1, 1, &len);

	(void)state;
	forge(w, 0, pdu, len, UINT32_MAX, 1000);
	free(pdu);
	pass(w, 3000);
	assert_int_equal(counters(w, 0)->wrapped, 1);
	assert_int_equal(known(w, 1), 0);
	pass(w, 1200000);
	assert_int_equal(known(w, 1), 0);
	pass(w, 70000);
	assert_int_equal(sequence(w, 1, 2, 1, 0), 1);
	assert_int_equal(known(w, 1), 2);
	world_free(w);
}

/* However often the neighbour outdoes an LSP, it is written once a second at most. */
static void iso7_3_16_1_a_storm_is_answered_slowly(void **state)
{
	struct world *w = told(0);
	uint64_t before = counters(w, 0)->originated;
	size_t len, i;
	uint8_t *pdu = pdu_of(w, 1, 1, &len);

	(void)state;
	for (i = 0; i < 200; i++) {
		forge(w, 0, pdu, len, 0x5000 + (uint32_t)i * 10, 1000);
		step(w);
	}
	assert_in_range(counters(w, 0)->originated, before + 5, before + 12);
	free(pdu);
	world_free(w);
}

static void iso7_3_11_wrong_checksum(void **state)
{
	struct world *w = told(0);
	size_t len;
	uint8_t *pdu = pdu_of(w, 1, 1, &len);

	(void)state;
	cw_isis_lsp_set_sequence(pdu, 0x5000);
	assert_int_equal(cw_isis_input(w->end[1].m, pdu, len, w->now), CW_E_CHECKSUM);
	cw_isis_lsp_set_checksum(pdu, 0);
	assert_int_equal(cw_isis_input(w->end[1].m, pdu, len, w->now), CW_E_CHECKSUM);
	assert_int_equal(counters(w, 1)->bad_checksum, 2);
	free(pdu);
	world_free(w);
}

static void iso7_3_15_not_outside_an_adjacency(void **state)
{
	struct world *w = told(0);
	size_t len;
	uint8_t *pdu = pdu_of(w, 1, 1, &len);

	(void)state;
	die(w, 1);
	boot(w, 1);
	assert_int_equal(cw_isis_input(w->end[1].m, pdu, len, w->now), CW_E_STATE);
	assert_int_equal(counters(w, 1)->no_adjacency, 1);
	free(pdu);
	world_free(w);
}

/* ---- The end ------------------------------------------------------------------------------- */

static void iso7_3_4_taken_back_at_the_end(void **state)
{
	struct world *w = told(0);
	uint64_t began = w->now;

	(void)state;
	cw_isis_stop(w->end[0].m, w->now);
	while (!info(w, 0).stopped && w->now < began + 2000)
		step(w);
	assert_true(w->now <= began + 300);
	assert_int_equal(counters(w, 0)->purges_sent, 1);
	pass(w, 200);
	assert_int_equal(counters(w, 1)->purges_received, 1);
	assert_int_equal(info(w, 1).state, CW_ISIS_INITIALIZING); /* it was told */
	assert_int_equal(sequence(w, 1, 2, 1, 0), 0);
	die(w, 0); /* and anew: above the number of the purge */
	boot(w, 0);
	announce(w, 0, "10.255.0.1", NULL, senders, 1);
	pass(w, 5000);
	assert_int_equal(known(w, 1), 2);
	world_free(w);
}

static void an_end_without_answer_is_an_end(void **state)
{
	struct world *w = told(0);
	uint64_t began = w->now;

	(void)state;
	w->cut = true;
	cw_isis_stop(w->end[0].m, w->now);
	while (!info(w, 0).stopped && w->now < began + 2000)
		step(w);
	assert_in_range(w->now - began, 300, 600);
	world_free(w);
}

static void rfc6232_who_purged(void **state)
{
	struct cw_isis_pdu p;
	struct cw_isis_tlv tlv;
	struct world *w;
	uint8_t *pdu;
	size_t len;

	(void)state;
	w = world_new(0);
	w->end[0].c.originator = true;
	both_up(w);
	cw_isis_stop(w->end[0].m, w->now);
	pass(w, 500);
	pdu = pdu_of(w, 1, 1, &len);
	assert_int_equal(len, CW_SIZE_ISIS_LSP + 9);
	assert_int_equal(cw_isis_lsp_lifetime(pdu), 0);
	assert_int_equal(cw_isis_pdu_parse(&p, pdu, len), CW_OK);
	assert_true(cw_isis_tlv_find(&p, CW_ISIS_TLV_POI, &tlv));
	assert_memory_equal(tlv.value, "\x01\x00\x00\x00\x00\x00\x01", 7);
	free(pdu);
	world_free(w);
}

/* ---- Authentication ------------------------------------------------------------------------ */

static struct cw_isis_auth key(enum cw_hash_kind kind, const char *text)
{
	struct cw_isis_auth a = {.on = true,
				 .hasher = &cw_openssl_hasher,
				 .kind = kind,
				 .key_id = 7,
				 .key_len = strlen(text)};

	memcpy(a.key, text, a.key_len);
	return a;
}

static void rfc5304_and_5310_all_kinds(void **state)
{
	unsigned k;

	(void)state;
	for (k = 0; k < CW_NHASHES; k++) {
		struct world *w = world_new(0);
		struct cw_isis_auth a =
			key((enum cw_hash_kind)k,
			    "a key that is longer than every digest, or so it seems; "
			    "and longer than a block of SHA-512 at that, which has 128 "
			    "octets to hold it in");

		w->end[0].c.hello_auth = w->end[1].c.hello_auth = a;
		w->end[0].c.auth[1] = w->end[1].c.auth[1] = a;
		both_up(w);
		announce(w, 0, "10.255.0.1", NULL, senders, 1);
		pass(w, 3000);
		assert_int_equal(known(w, 1), 2);
		cw_isis_stop(w->end[0].m, w->now);
		pass(w, 500);
		assert_int_equal(counters(w, 1)->purges_received, 1); /* purges too */
		assert_int_equal(counters(w, 1)->bad_authentication, 0);
		world_free(w);
	}
}

static void rfc5304_wrong_key(void **state)
{
	struct world *w = world_new(0);

	(void)state;
	w->end[0].c.hello_auth = key(CW_HASH_MD5, "one");
	w->end[1].c.hello_auth = key(CW_HASH_MD5, "another");
	boot(w, 0);
	boot(w, 1);
	pass(w, 5000);
	assert_int_equal(info(w, 0).state, CW_ISIS_DOWN);
	assert_true(counters(w, 0)->bad_authentication > 2);
	world_free(w);
	w = world_new(0);
	w->end[0].c.auth[1] = key(CW_HASH_SHA256, "one");
	w->end[1].c.auth[1] = key(CW_HASH_SHA256, "one");
	w->end[1].c.auth[1].key_id = 8;
	both_up(w);
	announce(w, 0, "10.255.0.1", NULL, senders, 1);
	pass(w, 5000);
	assert_int_equal(known(w, 1), 0);
	assert_true(counters(w, 1)->bad_authentication > 2);
	world_free(w);
}

static void configurations_that_make_no_sense(void **state)
{
	struct cw_isis_config c = CW_ISIS_CONFIG, bad;
	struct cw_isis *s;

	(void)state;
	c.area_len = 3;
	bad = c;
	bad.levels = 0;
	assert_int_equal(cw_isis_new(&s, &bad, 0), CW_E_ARG);
	bad = c;
	bad.area_len = 14;
	assert_int_equal(cw_isis_new(&s, &bad, 0), CW_E_ARG);
	bad = c;
	bad.mtu = 511;
	assert_int_equal(cw_isis_new(&s, &bad, 0), CW_E_ARG);
	bad = c;
	bad.circuit = 0;
	assert_int_equal(cw_isis_new(&s, &bad, 0), CW_E_ARG);
	bad = c;
	bad.refresh_s = bad.lifetime_s;
	assert_int_equal(cw_isis_new(&s, &bad, 0), CW_E_ARG);
	assert_int_equal(cw_isis_new(&s, &c, 0), CW_OK);
	cw_isis_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rfc5303_three_way),
		cmocka_unit_test(rfc5303_one_way_is_no_adjacency),
		cmocka_unit_test(rfc5303_hello_for_another_circuit),
		cmocka_unit_test(iso8_2_5_level_1_needs_a_common_area),
		cmocka_unit_test(iso8_4_no_lan),
		cmocka_unit_test(iso8_2_5_no_common_level),
		cmocka_unit_test(iso8_2_own_system_id),
		cmocka_unit_test(iso8_2_hold_time),
		cmocka_unit_test(iso8_2_3_padded_until_up),
		cmocka_unit_test(s5_1_learnt_with_its_proxy),
		cmocka_unit_test(rfc5120_topology_2),
		cmocka_unit_test(iso7_3_15_lossy_link),
		cmocka_unit_test(iso7_3_7_only_what_changed),
		cmocka_unit_test(iso7_3_10_never_transit),
		cmocka_unit_test(iso7_3_6_refresh),
		cmocka_unit_test(iso7_3_16_4_ages_out),
		cmocka_unit_test(iso7_3_17_database_of_many),
		cmocka_unit_test(the_database_has_a_limit),
		cmocka_unit_test(iso7_3_16_1_earlier_life),
		cmocka_unit_test(iso7_3_16_1_fragment_of_an_earlier_life),
		cmocka_unit_test(iso7_3_16_1_outdone),
		cmocka_unit_test(iso7_3_16_1_numbers_run_out),
		cmocka_unit_test(iso7_3_16_1_a_storm_is_answered_slowly),
		cmocka_unit_test(iso7_3_11_wrong_checksum),
		cmocka_unit_test(iso7_3_15_not_outside_an_adjacency),
		cmocka_unit_test(iso7_3_4_taken_back_at_the_end),
		cmocka_unit_test(an_end_without_answer_is_an_end),
		cmocka_unit_test(rfc6232_who_purged),
		cmocka_unit_test(rfc5304_and_5310_all_kinds),
		cmocka_unit_test(rfc5304_wrong_key),
		cmocka_unit_test(configurations_that_make_no_sense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
