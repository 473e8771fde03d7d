/* http.c - any bytes as requests to the metrics server: it consumes no more than there is, and
 * every answer is an HTTP response with the length that it says. Input: the stream. */
#include "daemon/control/metrics.c" // NOLINT(bugprone-suspicious-include): its parser is static
#include "fuzz/fuzz.h"

static void walk(void *arg, struct cw_metrics_text *t)
{
	const struct cw_label label = {"reason", "a \"quoted\"\nback\\slash"};

	cw_metrics_family(t, "causeway_drops_total", "counter", "Packets refused");
	cw_metrics_sample(t, &label, 1, 7);
}

static void check_reply(const struct cw_reply *r)
{
	const char *body, *length;

	FUZZ_CHECK(r->len > 12 && memcmp(r->data, "HTTP/1.", 7) == 0);
	body = memmem(r->data, r->len, "\r\n\r\n", 4);
	FUZZ_CHECK(body != NULL);
	length = memmem(r->data, r->len, "Content-Length: ", 16);
	FUZZ_CHECK(length != NULL && length < body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cw_metrics_server s = {.walk = walk};
	struct cw_reply r;
	uint8_t *rest;
	size_t at = 0, used = 1;

	while (at < size && used > 0) {
		memset(&r, 0, sizeof(r));
		rest = malloc(size - at);
		FUZZ_CHECK(rest != NULL);
		memcpy(rest, data + at, size - at);
		used = input(&s, (const char *)rest, size - at, true, &r);
		FUZZ_CHECK(used <= size - at);
		if (r.data != NULL)
			check_reply(&r);
		free(r.data);
		free(rest);
		at += r.close ? size : used;
	}
	return 0;
}
