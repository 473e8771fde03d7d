/* cursor.h - bounded reading and writing.
 *
 * A reader borrows the packet. Every call checks the length first and moves only on success, so a
 * chain of reads can stop at the first error. A child reader fences a nested structure.
 */
#ifndef CAUSEWAY_CURSOR_H
#define CAUSEWAY_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "causeway/bits.h"
#include "causeway/err.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cw_rd {
	const uint8_t *p, *end;
};

CW_INLINE struct cw_rd cw_rd_init(const void *data, size_t len)
{
	struct cw_rd r;

	r.p = (const uint8_t *)data;
	r.end = r.p + len;
	return r;
}

CW_INLINE size_t cw_rd_left(const struct cw_rd *r)
{
	return (size_t)(r->end - r->p);
}

/* Take n octets; *out points into the packet. CW_E_SHORT leaves the reader where it was. */
CW_MUST_USE CW_INLINE int cw_rd_take(struct cw_rd *r, size_t n, const uint8_t **out)
{
	if (cw_rd_left(r) < n)
		return CW_E_SHORT;
	*out = r->p;
	r->p += n;
	return CW_OK;
}

CW_MUST_USE CW_INLINE int cw_rd_skip(struct cw_rd *r, size_t n)
{
	const uint8_t *ignored;

	return cw_rd_take(r, n, &ignored);
}

/* Carve the next n octets into a reader of their own. */
CW_MUST_USE CW_INLINE int cw_rd_child(struct cw_rd *r, size_t n, struct cw_rd *child)
{
	const uint8_t *at;
	int err = cw_rd_take(r, n, &at);

	if (err == CW_OK)
		*child = cw_rd_init(at, n);
	return err;
}

CW_MUST_USE CW_INLINE int cw_rd_u8(struct cw_rd *r, uint8_t *v)
{
	const uint8_t *at;
	int err = cw_rd_take(r, 1, &at);

	if (err == CW_OK)
		*v = at[0];
	return err;
}

CW_MUST_USE CW_INLINE int cw_rd_be16(struct cw_rd *r, uint16_t *v)
{
	const uint8_t *at;
	int err = cw_rd_take(r, 2, &at);

	if (err == CW_OK)
		*v = cw_be16(at);
	return err;
}

CW_MUST_USE CW_INLINE int cw_rd_be32(struct cw_rd *r, uint32_t *v)
{
	const uint8_t *at;
	int err = cw_rd_take(r, 4, &at);

	if (err == CW_OK)
		*v = cw_be32(at);
	return err;
}

CW_MUST_USE CW_INLINE int cw_rd_be64(struct cw_rd *r, uint64_t *v)
{
	const uint8_t *at;
	int err = cw_rd_take(r, 8, &at);

	if (err == CW_OK)
		*v = cw_be64(at);
	return err;
}

/* A writer remembers the first overflow, so a chain of puts is checked once, at the end. */
struct cw_wr {
	uint8_t *p, *end;
	int err;
};

CW_INLINE struct cw_wr cw_wr_init(void *data, size_t len)
{
	struct cw_wr w;

	w.p = (uint8_t *)data;
	w.end = w.p + len;
	w.err = CW_OK;
	return w;
}

CW_INLINE size_t cw_wr_left(const struct cw_wr *w)
{
	return (size_t)(w->end - w->p);
}

/* Room for n octets, or NULL once the buffer has overflowed (w->err is then CW_E_SPACE). */
CW_INLINE uint8_t *cw_wr_room(struct cw_wr *w, size_t n)
{
	uint8_t *at = w->p;

	if (w->err != CW_OK || cw_wr_left(w) < n) {
		w->err = CW_E_SPACE;
		return NULL;
	}
	w->p += n;
	return at;
}

CW_INLINE void cw_wr_bytes(struct cw_wr *w, const void *src, size_t n)
{
	uint8_t *at = cw_wr_room(w, n);

	if (at != NULL && n > 0)
		memcpy(at, src, n);
}

CW_INLINE void cw_wr_zero(struct cw_wr *w, size_t n)
{
	uint8_t *at = cw_wr_room(w, n);

	if (at != NULL && n > 0)
		memset(at, 0, n);
}

CW_INLINE void cw_wr_u8(struct cw_wr *w, uint8_t v)
{
	cw_wr_bytes(w, &v, 1);
}

CW_INLINE void cw_wr_be16(struct cw_wr *w, uint16_t v)
{
	uint8_t *at = cw_wr_room(w, 2);

	if (at != NULL)
		cw_put_be16(at, v);
}

CW_INLINE void cw_wr_be32(struct cw_wr *w, uint32_t v)
{
	uint8_t *at = cw_wr_room(w, 4);

	if (at != NULL)
		cw_put_be32(at, v);
}

CW_INLINE void cw_wr_be64(struct cw_wr *w, uint64_t v)
{
	uint8_t *at = cw_wr_room(w, 8);

	if (at != NULL)
		cw_put_be64(at, v);
}

#ifdef __cplusplus
}
#endif
#endif
