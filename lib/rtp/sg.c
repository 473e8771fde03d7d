/* sg.c - memory in pieces: what a list holds, and copies into and out of it. */
#include "lib/rtp/rtp_int.h"

/* Copy a list; false when it is none. `total` is what it holds. */
bool sg_take(struct cw_uboe_sge *into, const struct cw_uboe_sge *sge, unsigned n, uint64_t *total)
{
	unsigned i;

	*total = 0;
	if (n == 0 || n > CW_UBOE_SGE_MAX || sge == NULL)
		return false;
	for (i = 0; i < n; i++) {
		if (sge[i].addr == NULL && sge[i].len != 0)
			return false;
		into[i] = sge[i];
		*total += sge[i].len;
	}
	return true;
}

static const struct cw_uboe_sge *seek(const struct cw_uboe_sge *sge, uint32_t *off)
{
	while (*off >= sge->len)
		*off -= sge++->len;
	return sge;
}

void sg_gather(const struct cw_uboe_sge *sge, uint32_t off, uint8_t *to, uint32_t len)
{
	while (len > 0) {
		uint32_t n;

		sge = seek(sge, &off);
		n = min_u32(len, sge->len - off);
		memcpy(to, (const uint8_t *)sge->addr + off, n);
		to += n;
		len -= n;
		off += n;
	}
}

void sg_scatter(const struct cw_uboe_sge *sge, uint32_t off, const uint8_t *from, uint32_t len)
{
	while (len > 0) {
		uint32_t n;

		sge = seek(sge, &off);
		n = min_u32(len, sge->len - off);
		memcpy((uint8_t *)sge->addr + off, from, n);
		from += n;
		len -= n;
		off += n;
	}
}
