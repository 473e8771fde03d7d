/* dissect.c - the walk over packet families. */
#include <string.h>
#include "causeway/packet.h"

const struct cw_hdr *cw_hdr_find(const char *name)
{
	const struct cw_family *const *f;
	const struct cw_hdr *const *h;

	for (f = cw_families; *f != NULL; f++) {
		for (h = (*f)->hdrs; *h != NULL; h++) {
			if (strcmp((*h)->name, name) == 0)
				return *h;
		}
	}
	return NULL;
}

const struct cw_family *cw_hdr_family(const struct cw_hdr *hdr)
{
	const struct cw_family *const *f;
	const struct cw_hdr *const *h;

	for (f = cw_families; *f != NULL; f++) {
		for (h = (*f)->hdrs; *h != NULL; h++) {
			if (*h == hdr)
				return *f;
		}
	}
	return NULL;
}

const struct cw_family *cw_layers_sealer(const struct cw_layer *layers, unsigned n, unsigned *layer)
{
	const struct cw_family *f = NULL;
	unsigned i;

	for (i = 0; i < n; i++) {
		f = cw_hdr_family(layers[i].hdr);
		if (f != NULL && f->covers)
			break;
	}
	if (layer != NULL)
		*layer = i < n ? i : n > 0 ? n - 1 : 0;
	return f;
}

int cw_packet_find(const struct cw_packet *p, const struct cw_hdr *hdr, unsigned from)
{
	unsigned i;

	for (i = from; i < p->nlayers; i++) {
		if (p->layers[i].hdr == hdr)
			return (int)i;
	}
	return -1;
}

int cw_dissect_push(struct cw_dissector *d, const struct cw_hdr *hdr, size_t len,
		    const uint8_t **at)
{
	struct cw_packet *p = d->pkt;
	const uint8_t *start;
	int err;

	if (p->nlayers == CW_MAX_LAYERS)
		return CW_E_DEPTH;
	if (len < hdr->size)
		return CW_E_LENGTH;
	if ((err = cw_rd_take(&d->rd, len, &start)) < 0)
		return err;
	p->layers[p->nlayers++] =
		(struct cw_layer){hdr, (uint32_t)(start - p->data), (uint32_t)len};
	if (at != NULL)
		*at = start;
	return CW_OK;
}

int cw_dissect_limit(struct cw_dissector *d, size_t len)
{
	struct cw_packet *p = d->pkt;

	if (cw_rd_left(&d->rd) < len)
		return CW_E_LENGTH;
	if (cw_rd_left(&d->rd) == len)
		return CW_OK;
	if (p->icrc.status != CW_ICRC_ABSENT) {
		p->pad_len += (uint32_t)(cw_rd_left(&d->rd) - len);
		d->rd.end = d->rd.p + len;
		return CW_OK;
	}
	d->rd.end = d->rd.p + len;
	p->trailer_off = (uint32_t)(d->rd.end - p->data);
	p->trailer_len = p->len - p->trailer_off;
	return CW_OK;
}

static bool claims(const struct cw_family *f, enum cw_sel sel, uint32_t value)
{
	unsigned i;

	for (i = 0; i < f->nclaims; i++) {
		if (f->claims[i].sel == sel && f->claims[i].value == value)
			return true;
	}
	return false;
}

int cw_dissect_next(struct cw_dissector *d, enum cw_sel sel, uint32_t value)
{
	const struct cw_family *const *f;

	for (f = cw_families; *f != NULL; f++) {
		if (!claims(*f, sel, value) || ((*f)->mine != NULL && !(*f)->mine(d)))
			continue;
		d->pkt->family = (*f)->name;
		return (*f)->dissect(d);
	}
	return CW_OK;
}

int cw_dissect(struct cw_packet *out, enum cw_link link, const void *data, size_t len,
	       const struct cw_dissect_opts *opts)
{
	struct cw_dissector d = {.pkt = out};

	memset(out, 0, sizeof(*out));
	if (len > UINT32_MAX)
		return out->verdict = CW_E_ARG;
	out->data = data;
	out->len = (uint32_t)len;
	out->family = "unknown";
	d.rd = cw_rd_init(data, len);
	if (opts != NULL)
		d.opts = *opts;
	if (d.opts.ub_port == 0)
		d.opts.ub_port = CW_UB_PORT;
	out->trailer_off = out->len;
	out->verdict = cw_dissect_next(&d, CW_SEL_LINK, (uint32_t)link);
	out->payload_off = (uint32_t)(d.rd.p - out->data);
	out->verdict_off = out->verdict == CW_E_ICRC ? out->icrc.off : out->payload_off;
	out->payload_len = (uint32_t)cw_rd_left(&d.rd);
	return out->verdict;
}
