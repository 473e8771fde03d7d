/* filter.c - any text as a filter expression; one that compiles is asked about any packet.
 * Input: length of the text, text, then as dissect. */
#include "cli/filter.h"
#include "fuzz/fuzz.h"
#include "fuzz/packet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = {data, size}, head;
	char err[FILTER_ERROR_MAX] = "", *text;
	struct cw_dissect_opts opts;
	struct cw_packet p;
	struct filter *f;
	uint8_t *bytes;
	enum cw_link link;
	size_t len = fuzz_u8(&in);

	len = len < in.left ? len : in.left;
	head = (struct fuzz_in){in.p, len};
	in.p += len;
	in.left -= len;
	text = fuzz_text(&head);
	if (filter_new(&f, text, err) == 0) {
		link = fuzz_link(&in, &opts);
		bytes = fuzz_block(&in, in.left, &len);
		(void)cw_dissect(&p, link, bytes, len, &opts);
		(void)filter_match(f, &p);
		filter_free(f);
		free(bytes);
	} else {
		FUZZ_CHECK(err[0] != '\0');
	}
	free(text);
	return 0;
}
