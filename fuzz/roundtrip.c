/* roundtrip.c - dissect, then craft with every field given as text: the same bytes come back, right
 * or wrong as they were. So the field tables name every bit. Input: as dissect. */
#include "causeway/craft.h"
#include "fuzz/fuzz.h"
#include "fuzz/packet.h"

static void craft_layer(struct cw_craft *c, const struct cw_packet *p, unsigned i)
{
	const struct cw_hdr *h = p->layers[i].hdr;
	const uint8_t *at = cw_layer_data(p, i);
	char text[1024];
	unsigned k;

	FUZZ_CHECK(cw_craft_layer(c, h, at + h->size, p->layers[i].len - h->size) == CW_OK);
	for (k = 0; k < h->nfields; k++) {
		FUZZ_CHECK(cw_field_format(&h->fields[k], at, text, sizeof(text)) >= 0);
		FUZZ_CHECK(cw_craft_field(c, h->fields[k].name, text) == CW_OK);
	}
}

static void craft_rest(struct cw_craft *c, const struct cw_packet *p)
{
	const uint8_t *payload = p->data + p->payload_off;

	FUZZ_CHECK(cw_craft_payload(c, payload, p->payload_len) == CW_OK);
	FUZZ_CHECK(cw_craft_pad(c, payload + p->payload_len, p->pad_len) == CW_OK);
	if (p->icrc.status == CW_ICRC_ABSENT)
		cw_craft_no_icrc(c);
	else
		cw_craft_icrc(c, p->icrc.wire);
	FUZZ_CHECK(cw_craft_finish(c, p->data + p->trailer_off, p->trailer_len) == CW_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = {data, size};
	struct cw_dissect_opts opts;
	enum cw_link link = fuzz_link(&in, &opts);
	struct cw_packet p;
	struct cw_craft c;
	uint8_t *bytes, *made;
	size_t len;
	unsigned i;

	bytes = fuzz_block(&in, in.left, &len);
	made = malloc(len > 0 ? len : 1);
	FUZZ_CHECK(made != NULL);
	(void)cw_dissect(&p, link, bytes, len, &opts);
	cw_craft_init(&c, made, len);
	c.opts = opts;
	for (i = 0; i < p.nlayers; i++)
		craft_layer(&c, &p, i);
	craft_rest(&c, &p);
	FUZZ_CHECK(c.len == len && (len == 0 || memcmp(made, bytes, len) == 0));
	free(bytes);
	free(made);
	return 0;
}
