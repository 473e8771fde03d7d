/* rendezvous.c - two ends agree (docs/rendezvous.md): an honest peer, one with another key, one
 * that changes, repeats, cuts or reflects messages; and the settings that travel with the offer.
 * The peer here computes its codes by itself, from the document.
 */
#include <openssl/hmac.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
#include "cli/knobs.h"
#include "cli/rendezvous.h"
#include "test.h"

static const struct rdv_key key = {18, "a key for the test"};
static const struct rdv_key other = {18, "another for a test"};
static const struct rdv_key none;

struct side {
	struct rdv *rdv;
	int fd, rc;
	bool client;
	const struct rdv_key *key;
	const char *service;
	char err[RDV_ERROR_MAX];
};

static void *begin(void *arg)
{
	struct side *s = arg;

	s->rc = rdv_begin(&s->rdv, s->fd, s->client, s->key, s->service, s->err);
	return NULL;
}

/* Both ends at once, as they wait for each other. */
static void meet(struct side s[2])
{
	pthread_t other_end;
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	s[0].client = true;
	s[0].fd = fd[0];
	s[1].fd = fd[1];
	assert_int_equal(pthread_create(&other_end, NULL, begin, &s[1]), 0);
	begin(&s[0]);
	assert_int_equal(pthread_join(other_end, NULL), 0);
}

static void part(struct side s[2])
{
	rdv_close(s[0].rdv);
	rdv_close(s[1].rdv);
}

static void honest_ends(void **state)
{
	const struct rdv_key *keys[] = {&none, &key};
	unsigned k;

	for (k = 0; k < 2; k++) {
		struct side s[2] = {{.key = keys[k], .service = "perf"},
				    {.key = keys[k], .service = "perf"}};
		json_t *got;
		int i;

		meet(s);
		assert_int_equal(s[0].rc, 0);
		assert_int_equal(s[1].rc, 0);
		for (i = 0; i < 6; i++) {
			assert_int_equal(
				rdv_send(s[i & 1].rdv, json_pack("{s:i}", "n", i), s[0].err), 0);
			assert_int_equal(rdv_recv(s[1 - (i & 1)].rdv, &got, 1000, s[1].err), 1);
			assert_int_equal(json_integer_value(json_object_get(got, "n")), i);
			json_decref(got);
		}
		assert_int_equal(rdv_recv(s[0].rdv, &got, 0, s[0].err), 0);
		rdv_refuse(s[1].rdv, "no such thing");
		assert_int_equal(rdv_recv(s[0].rdv, &got, 1000, s[0].err), -1);
		assert_string_equal(s[0].err, "the peer says: no such thing");
		part(s);
	}
}

static void ends_that_differ(void **state)
{
	struct side s[2] = {{.key = &none, .service = "perf"}, {.key = &key, .service = "perf"}};
	json_t *got;

	meet(s);
	assert_string_equal(s[0].err, "the peer wants a shared key: give --key");
	assert_string_equal(s[1].err, "the peer has no shared key: give --key there");
	s[0] = (struct side){.key = &key, .service = "copy"};
	s[1] = (struct side){.key = &key, .service = "perf"};
	meet(s);
	assert_string_equal(s[0].err, "the peer runs 'causeway perf', this is 'causeway copy'");
	s[0] = (struct side){.key = &other, .service = "perf"};
	s[1] = (struct side){.key = &key, .service = "perf"};
	meet(s);
	assert_int_equal(s[0].rc, 0);
	assert_int_equal(rdv_send(s[0].rdv, json_pack("{s:i}", "x", 1), s[0].err), 0);
	assert_int_equal(rdv_recv(s[1].rdv, &got, 1000, s[1].err), -1);
	assert_string_equal(s[1].err, "the peer's message 0 is not authentic: another key?");
	part(s);
}

/* ---- A peer that speaks by hand ------------------------------------------------------------ */

#define HELLO                                                                        \
	"{\"causeway\":\"rendezvous\",\"version\":1,\"service\":\"perf\",\"nonce\":" \
	"\"000102030405060708090a0b0c0d0e0f\",\"auth\":%s}\n"

struct hand {
	struct side s;
	int fd;
	uint8_t nonces[32]; /* the client's (ours), the server's */
};

/* The other end is the server; its hello is read here for the nonce. */
static void shake(struct hand *h, const struct rdv_key *k)
{
	char hello[512], text[512];
	pthread_t end;
	json_t *theirs;
	ssize_t n;
	int fd[2], i;
	unsigned v;

	*h = (struct hand){.s = {.key = k, .service = "perf"}};
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	h->fd = fd[0];
	h->s.fd = fd[1];
	(void)snprintf(hello, sizeof(hello), HELLO, k->len != 0 ? "true" : "false");
	assert_int_equal(write(h->fd, hello, strlen(hello)), strlen(hello));
	assert_int_equal(pthread_create(&end, NULL, begin, &h->s), 0);
	assert_int_equal(pthread_join(end, NULL), 0);
	assert_int_equal(h->s.rc, 0);
	n = read(h->fd, text, sizeof(text) - 1);
	assert_true(n > 0);
	theirs = json_loadb(text, (size_t)n, 0, NULL);
	for (i = 0; i < 16; i++) {
		h->nonces[i] = (uint8_t)i;
		assert_int_equal(sscanf(json_string_value(json_object_get(theirs, "nonce")) + 2 * i,
					"%2x", &v),
				 1);
		h->nonces[16 + i] = (uint8_t)v;
	}
	json_decref(theirs);
}

static void let_go(struct hand *h)
{
	rdv_close(h->s.rdv);
	(void)close(h->fd);
}

/* A line as docs/rendezvous.md has it. */
static size_t sealed(const struct hand *h, char who, uint64_t number, const char *body, char *line)
{
	uint8_t in[1024], mac[32], *p = in;
	unsigned len = 32, i;

	memcpy(p, "causeway rendezvous 1", 22);
	p += 22;
	*p++ = (uint8_t)who;
	memcpy(p, h->nonces, 32);
	p += 32;
	for (i = 0; i < 8; i++)
		*p++ = (uint8_t)(number >> (56 - 8 * i));
	memcpy(p, body, strlen(body) - 1);
	p += strlen(body) - 1;
	assert_non_null(
		HMAC(EVP_sha256(), key.octets, (int)key.len, in, (size_t)(p - in), mac, &len));
	line += sprintf(line, "%.*s,\"mac\":\"", (int)strlen(body) - 1, body);
	for (i = 0; i < 32; i++)
		line += sprintf(line, "%02x", mac[i]);
	(void)strcpy(line, "\"}\n");
	return strlen(body) - 1 + 8 + 64 + 3;
}

static int offer(struct hand *h, const char *line, size_t len)
{
	json_t *got = NULL;
	int rc;

	if (len > 0)
		assert_int_equal(write(h->fd, line, len), len);
	rc = rdv_recv(h->s.rdv, &got, 100, h->s.err);
	json_decref(got);
	return rc;
}

static void the_document_is_right(void **state)
{
	char line[1024];
	struct hand h;
	uint64_t i;

	shake(&h, &key);
	for (i = 0; i < 3; i++)
		assert_int_equal(offer(&h, line, sealed(&h, 'c', i, "{\"x\":1}", line)), 1);
	let_go(&h);
}

static void repeated_moved_reflected(void **state)
{
	char line[1024];
	struct hand h;

	shake(&h, &key);
	assert_int_equal(offer(&h, line, sealed(&h, 'c', 0, "{\"x\":1}", line)), 1);
	assert_int_equal(offer(&h, line, strlen(line)), -1); /* again */
	let_go(&h);
	shake(&h, &key);
	assert_int_equal(offer(&h, line, sealed(&h, 'c', 1, "{\"x\":1}", line)), -1); /* moved */
	let_go(&h);
	shake(&h, &key);
	assert_int_equal(offer(&h, line, sealed(&h, 's', 0, "{\"x\":1}", line)), -1);
	let_go(&h);
	shake(&h, &key);
	assert_int_equal(offer(&h, "{\"x\":1}\n", 8), -1);
	assert_string_equal(h.s.err, "the peer's message 0 carries no authentication");
	let_go(&h);
}

/* Any bit of any octet, and any end. */
static void changed_or_cut(void **state)
{
	char line[1024], bad[1024];
	size_t len, i;
	struct hand h;

	shake(&h, &key);
	len = sealed(&h, 'c', 0, "{\"x\":1}", line);
	let_go(&h);
	for (i = 0; i + 1 < len; i++) {
		shake(&h, &key);
		(void)sealed(&h, 'c', 0, "{\"x\":1}", bad);
		bad[i] ^= (char)(1 << i % 7);
		if (bad[i] != '\n')
			assert_int_equal(offer(&h, bad, len), -1);
		let_go(&h);
		shake(&h, &key);
		(void)sealed(&h, 'c', 0, "{\"x\":1}", bad);
		bad[i] = '\n';
		assert_int_equal(offer(&h, bad, i + 1), -1);
		let_go(&h);
	}
}

static void lines_that_are_none(void **state)
{
	static const char *const bad[] = {
		"\n", "{\n", "[]\n", "1\n", "{} {}\n", "{\"a\":1,\"a\":2}\n", "\xff\n"};
	struct hand h;
	unsigned i;
	char *big;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		shake(&h, &none);
		assert_int_equal(offer(&h, bad[i], strlen(bad[i])), -1);
		let_go(&h);
	}
	shake(&h, &none);
	big = malloc(65536);
	memset(big, ' ', 65536);
	assert_int_equal(offer(&h, big, 65536), -1);
	assert_string_equal(h.s.err, "the peer sends a line of more than 65536 octets");
	free(big);
	let_go(&h);
	shake(&h, &none);
	(void)shutdown(h.fd, SHUT_WR);
	assert_int_equal(offer(&h, "", 0), -1);
	assert_string_equal(h.s.err, "the peer closed the connection");
	let_go(&h);
}

/* ---- Settings ------------------------------------------------------------------------------- */

static void settings_travel(void **state)
{
	struct knobs k = {0}, there = {0};
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
	struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
	char err[KNOBS_ERROR_MAX];
	json_t *json;

	assert_int_equal(knobs_parse(&k, "rto-us=20000,rto-shift=0,retries=9", err), 0);
	assert_int_equal(knobs_parse(&k, "dcqcn-g=4,ldcp-start=40,ack-every=2,rnr-timer=3", err),
			 0);
	json = knobs_json(&k);
	assert_int_equal(json_object_size(json), 7);
	assert_int_equal(knobs_from_json(&there, json, err), 0);
	json_decref(json);
	knobs_apply(&there, &t, &g);
	assert_int_equal(t.rto_base, 20000000);
	assert_false(t.exponential);
	assert_int_equal(t.retries, 9);
	assert_int_equal(t.dcqcn_g, 4);
	assert_int_equal(t.ldcp_start, 40);
	assert_int_equal(t.ack_every, 2);
	assert_int_equal(t.rnr_retries, 64); /* not given: as it was */
	assert_int_equal(g.rnr_timer, 3);
}

/* Each by itself at either end of its range gives options that the library takes. */
static void settings_have_ranges(void **state)
{
	struct cw_uboe_dev *dev;
	char err[KNOBS_ERROR_MAX];
	unsigned i, end;

	assert_int_equal(cw_uboe_dev_new(&dev, NULL), CW_OK);
	for (i = 0; i < KNOB_COUNT; i++) {
		for (end = 0; end < 2; end++) {
			static const uint64_t range[][2] = {
#define CW_X(id, name, min, max, text, set) {min, max},
				KNOBS(CW_X)
#undef CW_X
			};
			struct knobs k = {.set = 1ull << i}, back;
			struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
			struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
			struct cw_uboe_tpg *group;
			struct cw_uboe_tp *tp;
			struct cw_diag d = {0};
			json_t *json;

			k.value[i] = range[i][end];
			knobs_apply(&k, &t, &g);
			assert_int_equal(cw_uboe_tpg_new(dev, &g, &group), CW_OK);
			if (cw_uboe_tp_new(group, &t, &tp, &d) != CW_OK)
				fail_msg("knob %u: %s %s", i, d.path, d.reason);
			k.value[i] = range[i][1] + 1;
			json = knobs_json(&k);
			assert_int_equal(knobs_from_json(&back, json, err), -1);
			json_decref(json);
		}
	}
	cw_uboe_dev_free(dev);
}

static void settings_that_are_none(void **state)
{
	static const struct {
		const char *text, *err;
	} bad[] = {
		{"", "'' is no setting (-o help lists them)"},
		{"speed=1", "'speed' is no setting (-o help lists them)"},
		{"retries", "retries needs a number: retries=1"},
		{"retries=", "retries needs a number: retries=1"},
		{"retries=-1", "retries needs a number: retries=1"},
		{"retries=0", "retries is 0, not between 1 and 1000"},
		{"retries=1x", "retries: '1x' is not a number"},
		{"retries=99999999999999999999", "retries: '99999999999999999999' is not a number"},
		{"retries=5,", "'' is no setting (-o help lists them)"},
	};
	char err[KNOBS_ERROR_MAX];
	struct knobs k = {0};
	json_t *json;
	unsigned i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(knobs_parse(&k, bad[i].text, err), -1);
		assert_string_equal(err, bad[i].err);
		assert_int_equal(k.set, 0);
	}
	json = json_pack("{s:s}", "retries", "7");
	assert_int_equal(knobs_from_json(&k, json, err), -1);
	json_decref(json);
	json = json_pack("{s:i}", "later", 1);
	assert_int_equal(knobs_from_json(&k, json, err), -1);
	assert_string_equal(err, "the setting 'later' is not known here");
	json_decref(json);
	json = json_array();
	assert_int_equal(knobs_from_json(&k, json, err), -1);
	json_decref(json);
	assert_int_equal(knobs_from_json(&k, NULL, err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(honest_ends),
		cmocka_unit_test(ends_that_differ),
		cmocka_unit_test(the_document_is_right),
		cmocka_unit_test(repeated_moved_reflected),
		cmocka_unit_test(changed_or_cut),
		cmocka_unit_test(lines_that_are_none),
		cmocka_unit_test(settings_travel),
		cmocka_unit_test(settings_have_ranges),
		cmocka_unit_test(settings_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
