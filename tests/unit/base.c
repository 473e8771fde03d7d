/* Tests of the base: cursors, the lists of errors and drop reasons, diagnoses, JSON and text. */
#include <ctype.h>
#include <jansson.h>
#include "causeway/cursor.h"
#include "causeway/drop.h"
#include "causeway/err.h"
#include "causeway/show.h"
#include "tests/unit/test.h"

/* ---- Cursors ------------------------------------------------------------------------------- */

static void reader_takes_big_endian_and_stops_at_the_end(void **state)
{
	static const uint8_t data[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
	uint8_t *p = exact_copy(data, sizeof(data));
	struct cw_rd r = cw_rd_init(p, sizeof(data));
	uint8_t v8 = 0;
	uint16_t v16 = 0;
	uint32_t v32 = 0;
	uint64_t v64 = 0;

	(void)state;
	assert_int_equal(cw_rd_u8(&r, &v8), CW_OK);
	assert_int_equal(cw_rd_be16(&r, &v16), CW_OK);
	assert_int_equal(cw_rd_be32(&r, &v32), CW_OK);
	assert_int_equal(cw_rd_be64(&r, &v64), CW_OK);
	assert_int_equal(v8, 1);
	assert_int_equal(v16, 0x0203);
	assert_int_equal(v32, 0x04050607);
	assert_true(v64 == 0x08090a0b0c0d0e0f);
	assert_int_equal(cw_rd_left(&r), 0);
	assert_int_equal(cw_rd_u8(&r, &v8), CW_E_SHORT);
	free(p);
}

static void reader_moves_only_on_success(void **state)
{
	uint8_t *p = exact_copy("abc", 3);
	struct cw_rd r = cw_rd_init(p, 3), child;
	const uint8_t *at = NULL;
	uint32_t v = 7;

	(void)state;
	assert_int_equal(cw_rd_be32(&r, &v), CW_E_SHORT);
	assert_int_equal(v, 7);
	assert_int_equal(cw_rd_take(&r, SIZE_MAX, &at), CW_E_SHORT);
	assert_int_equal(cw_rd_child(&r, 4, &child), CW_E_SHORT);
	assert_ptr_equal(r.p, p);
	assert_int_equal(cw_rd_take(&r, 3, &at), CW_OK);
	assert_ptr_equal(at, p);
	assert_int_equal(cw_rd_take(&r, 0, &at), CW_OK);
	free(p);
}

static void child_is_fenced(void **state)
{
	uint8_t *p = exact_copy("abcdef", 6);
	struct cw_rd r = cw_rd_init(p, 6), child;
	uint8_t v = 0;

	(void)state;
	assert_int_equal(cw_rd_child(&r, 2, &child), CW_OK);
	assert_int_equal(cw_rd_left(&child), 2);
	assert_int_equal(cw_rd_skip(&child, 2), CW_OK);
	assert_int_equal(cw_rd_u8(&child, &v), CW_E_SHORT);
	assert_int_equal(cw_rd_u8(&r, &v), CW_OK);
	assert_int_equal(v, 'c');
	free(p);
}

static void writer_remembers_the_first_overflow(void **state)
{
	volatile size_t big = 15, small = 3; /* the compiler would warn of what it knows */
	uint8_t *p = malloc(big);
	struct cw_wr w = cw_wr_init(p, big);

	(void)state;
	cw_wr_u8(&w, 1);
	cw_wr_be16(&w, 0x0203);
	cw_wr_be32(&w, 0x04050607);
	cw_wr_be64(&w, 0x08090a0b0c0d0e0f);
	assert_int_equal(w.err, CW_OK);
	for (unsigned i = 0; i < 15; i++)
		assert_int_equal(p[i], i + 1);
	w = cw_wr_init(p, small);
	cw_wr_be16(&w, 0xaaaa);
	cw_wr_be16(&w, 0xbbbb);
	assert_int_equal(w.err, CW_E_SPACE);
	cw_wr_u8(&w, 0xcc); /* would fit: but what is in front of it is missing */
	assert_int_equal(p[2], 3);
	assert_int_equal(w.err, CW_E_SPACE);
	assert_null(cw_wr_room(&w, 0));
	free(p);
}

/* ---- Lists --------------------------------------------------------------------------------- */

static bool is_name(const char *s)
{
	if (!islower((unsigned char)s[0]))
		return false;
	for (; *s != '\0'; s++) {
		if (!islower((unsigned char)*s) && !isdigit((unsigned char)*s) && *s != '-')
			return false;
	}
	return true;
}

/* What was released keeps its number: other programs' logs and scripts hold them. New errors go
 * behind these, here and there. */
static void error_numbers_are_stable(void **state)
{
	static const char *const names[] = {
		"ok",    "short",    "version", "length",   "reserved", "unknown",   "checksum",
		"icrc",  "fragment", "options", "depth",    "state",    "arg",       "space",
		"range", "name",     "syntax",  "conflict", "nomem",    "forbidden",
	};

	(void)state;
	for (int i = 0; i < (int)(sizeof(names) / sizeof(names[0])); i++)
		assert_string_equal(cw_err_name(-i), names[i]);
}

static const int all_errors[] = {
#define CW_X(id, name, num, scope, text) CW_E_##id,
	CW_ERRORS(CW_X)
#undef CW_X
};
enum { NERRORS = sizeof(all_errors) / sizeof(all_errors[0]) };

static void errors_have_distinct_names_and_texts(void **state)
{
	(void)state;
	for (unsigned i = 0; i < NERRORS; i++) {
		assert_true(all_errors[i] < 0);
		assert_true(is_name(cw_err_name(all_errors[i])));
		assert_int_not_equal(cw_err_scope(all_errors[i]), CW_SCOPE_NONE);
		for (unsigned k = 0; k < i; k++) {
			assert_int_not_equal(all_errors[i], all_errors[k]);
			assert_string_not_equal(cw_err_name(all_errors[i]),
						cw_err_name(all_errors[k]));
			assert_string_not_equal(cw_strerror(all_errors[i]),
						cw_strerror(all_errors[k]));
		}
	}
}

static void unknown_numbers_have_texts_too(void **state)
{
	static const int odd[] = {1, -1000, INT32_MIN, INT32_MAX};

	(void)state;
	assert_string_equal(cw_strerror(CW_OK), "ok");
	assert_int_equal(cw_err_scope(CW_OK), CW_SCOPE_NONE);
	for (unsigned i = 0; i < 4; i++) {
		assert_string_equal(cw_strerror(odd[i]), "unknown error");
		assert_int_equal(cw_err_scope(odd[i]), CW_SCOPE_NONE);
	}
	assert_string_equal(cw_drop_name(CW_DROP_COUNT), "unknown");
	assert_string_equal(cw_drop_text((enum cw_drop) - 1), "unknown");
	assert_string_equal(cw_note_name(CW_NOTE_COUNT), "unknown");
	assert_string_equal(cw_note_text(CW_NOTE_COUNT), "unknown");
}

static void drops_have_distinct_names_and_texts(void **state)
{
	(void)state;
	assert_string_equal(cw_drop_name(CW_PASS), "pass");
	for (unsigned i = 1; i < CW_DROP_COUNT; i++) {
		assert_true(is_name(cw_drop_name(i)) && strlen(cw_drop_text(i)) > 8);
		for (unsigned k = 0; k < i; k++) {
			assert_string_not_equal(cw_drop_name(i), cw_drop_name(k));
			assert_string_not_equal(cw_drop_text(i), cw_drop_text(k));
		}
	}
}

static void notes_have_distinct_names_and_fit_a_mask(void **state)
{
	(void)state;
	assert_true(CW_NOTE_COUNT <= 32);
	for (unsigned i = 0; i < CW_NOTE_COUNT; i++) {
		assert_true(is_name(cw_note_name(i)) && strlen(cw_note_text(i)) > 8);
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(cw_note_name(i), cw_note_name(k));
	}
}

static void diag_cuts_what_does_not_fit(void **state)
{
	struct cw_diag d;
	char big[1000];

	(void)state;
	memset(big, 'x', sizeof(big));
	big[sizeof(big) - 1] = '\0';
	assert_int_equal(cw_diag_set(&d, CW_E_RANGE, big, big, "%s", big), CW_E_RANGE);
	assert_int_equal(strlen(d.path), sizeof(d.path) - 1);
	assert_int_equal(strlen(d.value), sizeof(d.value) - 1);
	assert_int_equal(strlen(d.reason), sizeof(d.reason) - 1);
	assert_int_equal(cw_diag_set(&d, CW_E_NAME, NULL, NULL, "no %d", 7), CW_E_NAME);
	assert_string_equal(d.path, "");
	assert_string_equal(d.value, "");
	assert_string_equal(d.reason, "no 7");
	assert_int_equal(cw_diag_set(NULL, CW_E_NAME, "p", "v", "r"), CW_E_NAME);
}

/* ---- Show ---------------------------------------------------------------------------------- */

struct text {
	char s[65536];
	size_t len;
};

static void collect(void *ctx, const char *s, size_t len)
{
	struct text *t = ctx;

	assert_true(len < sizeof(t->s) - t->len);
	memcpy(t->s + t->len, s, len);
	t->len += len;
	t->s[t->len] = '\0';
}

static json_t *json_of(enum cw_link link, const void *data, size_t len)
{
	static struct text t;
	struct cw_sink out = {collect, &t};
	struct cw_packet p;
	json_error_t err;
	json_t *j;

	t.len = 0;
	(void)cw_dissect(&p, link, data, len, NULL);
	collect(&t, "{", 1);
	cw_show_json(&p, &out);
	collect(&t, "}", 1);
	if ((j = json_loadb(t.s, t.len, JSON_REJECT_DUPLICATES, &err)) == NULL)
		fail_msg("%s in %s", err.text, t.s);
	return j;
}

static void json_is_valid_for_odd_packets(void **state)
{
	uint8_t frame[200];

	(void)state;
	for (unsigned fill = 0; fill < 256; fill += 5) {
		for (size_t n = 0; n <= sizeof(frame); n += 7) {
			memset(frame, (int)fill, sizeof(frame));
			json_decref(json_of(CW_LINK_ETHERNET, frame, n));
			json_decref(json_of(CW_LINK_UB, frame, n));
			json_decref(json_of((enum cw_link)9999, frame, n));
		}
	}
}

static void json_of_nothing(void **state)
{
	json_t *j = json_of(CW_LINK_ETHERNET, "", 0);

	(void)state;
	assert_int_equal(json_array_size(json_object_get(j, "layers")), 0);
	assert_int_equal(json_integer_value(json_object_get(j, "payload_length")), 0);
	assert_string_equal(json_string_value(json_object_get(j, "verdict")), "short");
	assert_string_equal(json_string_value(json_object_get(j, "error")),
			    cw_strerror(CW_E_SHORT));
	json_decref(j);
}

/* Found by fuzzing: the padding was longer than the packet, and the ICRC stood in the payload too.
 */
static void uboe_pad_beyond_the_end_leaves_the_icrc_alone(void **state)
{
	size_t n;
	uint8_t *frame =
		hex_block("020000000002 020000000001 0800 450200300000400040111fae 0a010203"
			  "0a040506 c00112b8001c0000 02b58802030405060 00a0b0c0011223375"
			  "6478ef",
			  &n);
	struct cw_packet p;

	(void)state;
	(void)cw_dissect(&p, CW_LINK_ETHERNET, frame, n, NULL);
	assert_int_not_equal(p.icrc.status, CW_ICRC_ABSENT);
	assert_int_equal(p.icrc.off, n - 4);
	assert_true(p.payload_off + p.payload_len + p.pad_len <= p.icrc.off);
	free(frame);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reader_takes_big_endian_and_stops_at_the_end),
		cmocka_unit_test(reader_moves_only_on_success),
		cmocka_unit_test(child_is_fenced),
		cmocka_unit_test(writer_remembers_the_first_overflow),
		cmocka_unit_test(error_numbers_are_stable),
		cmocka_unit_test(errors_have_distinct_names_and_texts),
		cmocka_unit_test(unknown_numbers_have_texts_too),
		cmocka_unit_test(drops_have_distinct_names_and_texts),
		cmocka_unit_test(notes_have_distinct_names_and_fit_a_mask),
		cmocka_unit_test(diag_cuts_what_does_not_fit),
		cmocka_unit_test(json_is_valid_for_odd_packets),
		cmocka_unit_test(json_of_nothing),
		cmocka_unit_test(uboe_pad_beyond_the_end_leaves_the_icrc_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
