/* dissect.c - any bytes, taken apart as any link type, and as the beginning of a longer frame: the
 * result covers the packet exactly, and its JSON and text are well formed. Input: link type,
 * settings, packet. */
#include <jansson.h>
#include "causeway/cut.h"
#include "causeway/err.h"
#include "causeway/packet.h"
#include "causeway/show.h"
#include "fuzz/fuzz.h"
#include "fuzz/packet.h"

struct text {
	char *s;
	size_t len, size;
};

static void collect(void *ctx, const char *s, size_t len)
{
	struct text *t = ctx;

	if (t->size - t->len < len) {
		t->size = 2 * (t->len + len) + 256;
		t->s = realloc(t->s, t->size);
		FUZZ_CHECK(t->s != NULL);
	}
	memcpy(t->s + t->len, s, len);
	t->len += len;
}

/* Layers, payload, pad, ICRC and trailer stand one behind the other and leave no gap. */
static void check_cover(const struct cw_packet *p)
{
	uint32_t at = 0;
	unsigned i;

	FUZZ_CHECK(p->nlayers <= CW_MAX_LAYERS);
	for (i = 0; i < p->nlayers; i++) {
		FUZZ_CHECK(p->layers[i].off == at);
		FUZZ_CHECK(p->layers[i].len >= p->layers[i].hdr->size);
		FUZZ_CHECK(p->layers[i].len <= p->len - at);
		at += p->layers[i].len;
	}
	FUZZ_CHECK(p->payload_off == at && p->payload_len <= p->len - at);
	at += p->payload_len;
	FUZZ_CHECK(p->pad_len <= p->len - at);
	at += p->pad_len;
	if (p->icrc.status != CW_ICRC_ABSENT) {
		FUZZ_CHECK(p->icrc.off == at && p->len - at >= 4);
		at += 4;
	}
	FUZZ_CHECK(p->trailer_off == at && p->trailer_len == p->len - at);
}

static void check_verdict(const struct cw_packet *p)
{
	FUZZ_CHECK(p->family != NULL);
	FUZZ_CHECK(strcmp(cw_err_name(p->verdict), "unknown") != 0 || p->verdict == CW_E_UNKNOWN);
	FUZZ_CHECK(p->verdict == CW_OK || cw_err_scope(p->verdict) == CW_SCOPE_PACKET);
	FUZZ_CHECK(p->verdict_off <= p->len);
	if (p->icrc.status == CW_ICRC_OK)
		FUZZ_CHECK(p->icrc.wire == p->icrc.computed);
	if (p->icrc.status == CW_ICRC_BAD)
		FUZZ_CHECK(p->icrc.wire != p->icrc.computed);
}

static void check_json(const struct cw_packet *p)
{
	struct text t = {NULL, 0, 0};
	struct cw_sink out = {collect, &t};
	json_error_t err;
	json_t *j;

	collect(&t, "{", 1);
	cw_show_json(p, &out);
	collect(&t, "}", 1);
	j = json_loadb(t.s, t.len, JSON_REJECT_DUPLICATES, &err);
	FUZZ_CHECK(j != NULL);
	FUZZ_CHECK(json_array_size(json_object_get(j, "layers")) == p->nlayers);
	json_decref(j);
	free(t.s);
}

static void check_text(const struct cw_packet *p)
{
	struct text t = {NULL, 0, 0};
	struct cw_sink out = {collect, &t};
	size_t i;

	cw_show_text(p, &out);
	for (i = 0; i < t.len; i++)
		FUZZ_CHECK(t.s[i] == '\n' || (t.s[i] >= ' ' && t.s[i] < 127));
	FUZZ_CHECK(t.len == 0 || t.s[t.len - 1] == '\n');
	free(t.s);
}

/* One line, and no word of it is empty. */
static void check_line(const struct cw_packet *p)
{
	struct text t = {NULL, 0, 0};
	struct cw_sink out = {collect, &t};
	size_t i;

	cw_show_ends(p, &out);
	collect(&t, " ", 1);
	cw_show_line(p, 0, &out);
	for (i = 0; i < t.len; i++) {
		FUZZ_CHECK(t.s[i] >= ' ' && t.s[i] < 127);
		FUZZ_CHECK(t.s[i] != ',' ||
			   (i + 2 < t.len && t.s[i + 1] == ' ' && t.s[i + 2] > ','));
	}
	free(t.s);
}

static void check_packet(const struct cw_packet *p, int err)
{
	FUZZ_CHECK(err == p->verdict);
	check_cover(p);
	check_verdict(p);
	check_json(p);
	check_text(p);
	check_line(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = {data, size};
	struct cw_dissect_opts opts;
	enum cw_link link = fuzz_link(&in, &opts);
	struct cw_packet p;
	uint8_t *bytes, *room;
	size_t len;

	bytes = fuzz_block(&in, in.left, &len);
	check_packet(&p, cw_dissect(&p, link, bytes, len, &opts));
	room = malloc(2 * len + 1);
	FUZZ_CHECK(room != NULL);
	check_packet(&p, cw_dissect_cut(&p, link, bytes, len, 2 * len + 1, room, &opts));
	free(room);
	free(bytes);
	return 0;
}
