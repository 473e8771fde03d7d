/* cut.c - packets of which a capture kept the beginning; see causeway/cut.h.
 *
 * The frame is read twice at its full length: what is missing is zeros once, and ones the other
 * time. What both readings agree on follows from octets that are there. */
#include <string.h>
#include "causeway/cut.h"
#include "causeway/wire/ip.h"

static bool innermost_is(const struct cw_packet *p, const struct cw_hdr *hdr)
{
	return p->nlayers > 0 && p->layers[p->nlayers - 1].hdr == hdr;
}

/* The checksum of UDP needs every octet, and zero stands for none. */
static void read_whole(struct cw_packet *p, enum cw_link link, uint8_t *frame, size_t len,
		       const struct cw_dissect_opts *opts)
{
	if (cw_dissect(p, link, frame, len, opts) != CW_E_CHECKSUM || !innermost_is(p, &cw_hdr_udp))
		return;
	cw_udp_set_checksum(frame + p->layers[p->nlayers - 1].off, 0);
	(void)cw_dissect(p, link, frame, len, opts);
}

static bool same_layer(const struct cw_layer *a, const struct cw_layer *b)
{
	return a->hdr == b->hdr && a->off == b->off && a->len == b->len;
}

/* Of checksums, only that of IPv4 ends where its header does. */
static bool same_error(const struct cw_packet *a, const struct cw_packet *b, uint32_t caplen)
{
	return a->verdict == b->verdict && a->verdict_off == b->verdict_off &&
	       a->verdict_off < caplen &&
	       (a->verdict != CW_E_CHECKSUM || innermost_is(a, &cw_hdr_ipv4));
}

/* Leave in `p` what it has in common with another reading. */
static void reduce(struct cw_packet *p, const struct cw_packet *other, uint32_t caplen)
{
	uint32_t n = 0, end = 0;

	if (!same_error(p, other, caplen))
		p->verdict = CW_OK;
	for (;
	     n < p->nlayers && n < other->nlayers && same_layer(&p->layers[n], &other->layers[n]) &&
	     p->layers[n].off + p->layers[n].len <= caplen;
	     n++)
		end = p->layers[n].off + p->layers[n].len;
	if (n < p->nlayers || strcmp(p->family, other->family) != 0)
		p->family = n > 0 ? cw_hdr_family(p->layers[n - 1].hdr)->name : "unknown";
	p->nlayers = n;
	p->payload_off = p->verdict_off = end;
	p->payload_len = caplen - end;
	p->pad_len = p->trailer_len = 0;
	p->trailer_off = caplen;
	p->icrc = (struct cw_icrc){CW_ICRC_ABSENT, 0, 0, 0};
}

int cw_dissect_cut(struct cw_packet *out, enum cw_link link, const void *data, size_t caplen,
		   size_t len, void *room, const struct cw_dissect_opts *opts)
{
	struct cw_dissect_opts o = opts != NULL ? *opts : (struct cw_dissect_opts){0};
	struct cw_packet zeros, ones;
	uint8_t *missing = (uint8_t *)room + caplen;

	if (cw_dissect(out, link, data, caplen, opts) == CW_OK || caplen >= len || len > UINT32_MAX)
		return out->verdict;
	o.no_icrc = true;
	memcpy(room, data, caplen);
	memset(missing, 0xff, len - caplen);
	read_whole(&ones, link, room, len, &o);
	memcpy(room, data, caplen);
	memset(missing, 0, len - caplen);
	read_whole(&zeros, link, room, len, &o);
	if (zeros.trailer_off > caplen || zeros.trailer_off != ones.trailer_off)
		reduce(&zeros, &ones, (uint32_t)caplen);
	else if (out->verdict != CW_E_LENGTH) /* no more than padding is missing */
		return out->verdict;
	else
		zeros.trailer_len = (uint32_t)caplen - zeros.trailer_off;
	*out = zeros;
	out->data = data;
	out->len = (uint32_t)caplen;
	return out->verdict;
}
