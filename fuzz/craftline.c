/* craftline.c - any line as JSON for `causeway craft`. A refusal says where; what is made fits the
 * buffer and can be taken apart. Input: the line. */
#include "cli/craftline.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = {data, size};
	char err[CRAFTLINE_ERROR_MAX] = "";
	struct craftline c = {.size = 4096};
	struct cw_packet p;
	uint8_t *json;
	size_t len;

	c.buf = malloc(c.size);
	json = fuzz_block(&in, in.left, &len);
	FUZZ_CHECK(c.buf != NULL);
	if (craftline(&c, (const char *)json, len, err) == 0) {
		FUZZ_CHECK(c.len <= c.size && c.wire_len >= c.len);
		if (c.link == CW_LINK_ETHERNET || c.link == CW_LINK_UB)
			(void)cw_dissect(&p, (enum cw_link)c.link, c.buf, c.len, &c.opts);
	} else {
		FUZZ_CHECK(err[0] != '\0' && strlen(err) < sizeof(err));
	}
	free(json);
	free(c.buf);
	return 0;
}
