/* hmac.c - what is common to users of keyed hashes. */
#include "causeway/hmac.h"

static const struct {
	const char *name;
	uint8_t size;
} kinds[] = {
#define CW_X(id, name, size) {name, size},
	CW_HASHES(CW_X)
#undef CW_X
};

const char *cw_hash_name(enum cw_hash_kind kind)
{
	return (unsigned)kind < CW_NHASHES ? kinds[kind].name : "unknown";
}

size_t cw_hash_size(enum cw_hash_kind kind)
{
	return kinds[kind].size;
}

bool cw_mac_equal(const uint8_t *a, const uint8_t *b, size_t len)
{
	uint8_t differ = 0;

	while (len-- > 0)
		differ |= (uint8_t)(*a++ ^ *b++);
	return differ == 0;
}
