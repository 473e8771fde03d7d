/* jsontrip.c - what `decode -j` says of any packet, `craft` turns into the same octets.
 * Input: as dissect. */
#include "causeway/show.h"
#include "cli/capture.h"
#include "cli/craftline.h"
#include "fuzz/fuzz.h"
#include "fuzz/packet.h"

struct text {
	char *s;
	size_t len, size;
};

static void collect(void *ctx, const char *s, size_t len)
{
	struct text *t = ctx;

	if (len == 0)
		return;
	if (t->s == NULL || t->size - t->len < len) {
		t->size = 2 * (t->len + len) + 256;
		t->s = realloc(t->s, t->size);
		FUZZ_CHECK(t->s != NULL);
	}
	memcpy(t->s + t->len, s, len);
	t->len += len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = {data, size};
	char err[CRAFTLINE_ERROR_MAX] = "", head[64], name[CAP_LINK_TEXT];
	struct craftline c = {0};
	struct text t = {NULL, 0, 0};
	struct cw_sink out = {collect, &t};
	struct cw_packet p;
	enum cw_link link = fuzz_link(&in, &c.opts);
	uint8_t *bytes;
	size_t len;

	bytes = fuzz_block(&in, in.left, &len);
	(void)cw_dissect(&p, link, bytes, len, &c.opts);
	collect(&t, head,
		(size_t)snprintf(head, sizeof(head), "{\"link\":\"%s\",",
				 cap_link_name((int)link, name)));
	cw_show_json(&p, &out);
	collect(&t, "}", 1);
	c.size = len + 64;
	c.buf = malloc(c.size);
	FUZZ_CHECK(c.buf != NULL);
	if (craftline(&c, t.s, t.len, err) < 0) {
		fprintf(stderr, "%s\n%.*s\n", err, (int)t.len, t.s);
		abort();
	}
	FUZZ_CHECK(c.link == (int)link);
	FUZZ_CHECK(c.len == len && (len == 0 || memcmp(c.buf, bytes, len) == 0));
	free(t.s);
	free(c.buf);
	free(bytes);
	return 0;
}
