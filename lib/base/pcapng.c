/* pcapng.c - pcapng blocks. Spec: causeway/pcapng.h. */
#include <string.h>
#include "causeway/cursor.h"
#include "causeway/pcapng.h"

enum { BLOCK_SECTION = 0x0a0d0d0a, BLOCK_INTERFACE = 1, BLOCK_PACKET = 6 };
enum { OPT_END = 0, OPT_COMMENT = 1, OPT_USERAPPL = 4, OPT_IF_NAME = 2, OPT_IF_TSRESOL = 9 };

static void put_le16(struct cw_wr *w, uint32_t v)
{
	uint8_t b[2] = {(uint8_t)v, (uint8_t)(v >> 8)};

	cw_wr_bytes(w, b, sizeof(b));
}

static void put_le32(struct cw_wr *w, uint32_t v)
{
	uint8_t b[4];

	cw_put_le32(b, v);
	cw_wr_bytes(w, b, sizeof(b));
}

static void put_padded(struct cw_wr *w, const void *src, size_t n)
{
	cw_wr_bytes(w, src, n);
	cw_wr_zero(w, (4 - n % 4) % 4);
}

/* Length of a text that may stand in an option: cut in front of a UTF-8 sequence, not inside. */
static size_t text_length(const char *s)
{
	size_t n = strnlen(s, CW_PCAPNG_TEXT_MAX + 1);

	if (n <= CW_PCAPNG_TEXT_MAX)
		return n;
	for (n = CW_PCAPNG_TEXT_MAX; n > 0 && ((unsigned char)s[n] & 0xc0) == 0x80; n--)
		;
	return n;
}

static void put_option(struct cw_wr *w, uint16_t code, const void *value, size_t len)
{
	put_le16(w, code);
	put_le16(w, (uint32_t)len);
	put_padded(w, value, len);
}

static void put_text(struct cw_wr *w, uint16_t code, const char *text)
{
	if (text != NULL && *text != '\0')
		put_option(w, code, text, text_length(text));
}

static struct cw_wr begin(void *buf, size_t size, uint32_t type)
{
	struct cw_wr w = cw_wr_init(buf, size);

	put_le32(&w, type);
	put_le32(&w, 0); /* the length, known at the end */
	return w;
}

/* Close the options and the block: its length stands at both ends. */
static int end(struct cw_wr *w, uint8_t *block)
{
	uint32_t len;

	put_le32(w, OPT_END);
	len = (uint32_t)(w->p - block) + 4;
	put_le32(w, len);
	if (w->err != CW_OK)
		return w->err;
	cw_put_le32(block + 4, len);
	return (int)len;
}

int cw_pcapng_section(void *buf, size_t size, const char *program)
{
	struct cw_wr w = begin(buf, size, BLOCK_SECTION);

	put_le32(&w, 0x1a2b3c4d); /* byte order */
	put_le16(&w, 1);          /* version 1.0 */
	put_le16(&w, 0);
	put_le32(&w, UINT32_MAX); /* section length: not given */
	put_le32(&w, UINT32_MAX);
	put_text(&w, OPT_USERAPPL, program);
	return end(&w, buf);
}

int cw_pcapng_interface(void *buf, size_t size, uint16_t link, const char *name)
{
	static const uint8_t nanoseconds = 9;
	struct cw_wr w = begin(buf, size, BLOCK_INTERFACE);

	put_le16(&w, link);
	put_le16(&w, 0);
	put_le32(&w, 0); /* no snap length */
	put_text(&w, OPT_IF_NAME, name);
	put_option(&w, OPT_IF_TSRESOL, &nanoseconds, 1);
	return end(&w, buf);
}

int cw_pcapng_packet(void *buf, size_t size, const struct cw_pcapng_packet *p)
{
	struct cw_wr w = begin(buf, size, BLOCK_PACKET);

	/* The result is an int, and so must the block's length be. */
	if (p->caplen > INT32_MAX - CW_PCAPNG_TEXT_MAX - 64)
		return CW_E_SPACE;
	put_le32(&w, p->interface);
	put_le32(&w, (uint32_t)(p->time_ns >> 32));
	put_le32(&w, (uint32_t)p->time_ns);
	put_le32(&w, p->caplen);
	put_le32(&w, p->len);
	put_padded(&w, p->data, p->caplen);
	put_text(&w, OPT_COMMENT, p->comment);
	return end(&w, buf);
}
