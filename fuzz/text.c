/* text.c - addresses, prefixes, IDs and hex octets: what parses is canonical once printed, and what
 * is printed parses. IPv6 is held against the C library's inet_pton(). Input: text, or the octets
 * of an address. */
#include <arpa/inet.h>
#include "causeway/field.h"
#include "causeway/pnc.h"
#include "causeway/wire/isis.h"
#include "causeway/wire/ospf3.h"
#include "fuzz/fuzz.h"

static void check_ip4(const char *text)
{
	uint8_t a[4], b[4];
	char buf[CW_ADDR_TEXT];

	FUZZ_CHECK((cw_ip4_parse(text, a) == CW_OK) == (inet_pton(AF_INET, text, b) == 1));
	if (cw_ip4_parse(text, a) != CW_OK)
		return;
	FUZZ_CHECK(memcmp(a, b, 4) == 0);
	cw_ip4_format(a, buf);
	FUZZ_CHECK(strcmp(buf, text) == 0);
}

static void check_ip6(const char *text)
{
	uint8_t a[16], b[16];
	char buf[CW_ADDR_TEXT];

	FUZZ_CHECK((cw_ip6_parse(text, a) == CW_OK) == (inet_pton(AF_INET6, text, b) == 1));
	if (cw_ip6_parse(text, a) != CW_OK)
		return;
	FUZZ_CHECK(memcmp(a, b, 16) == 0);
	cw_ip6_format(a, buf);
	FUZZ_CHECK(cw_ip6_parse(buf, b) == CW_OK && memcmp(a, b, 16) == 0);
}

static void check_mac(const char *text)
{
	uint8_t a[6], b[6];
	char buf[CW_ADDR_TEXT];

	if (cw_mac_parse(text, a) != CW_OK)
		return;
	cw_mac_format(a, buf);
	FUZZ_CHECK(cw_mac_parse(buf, b) == CW_OK && memcmp(a, b, 6) == 0);
}

static void check_hex(const char *text)
{
	size_t n = strlen(text) / 2;
	uint8_t *out = malloc(n > 0 ? n : 1);
	int got = cw_hex_parse(text, out, n);

	FUZZ_CHECK(got == CW_E_SYNTAX || (size_t)got == n);
	if (got > 0)
		FUZZ_CHECK(cw_hex_parse(text, out, n - 1) == CW_E_SPACE);
	free(out);
}

static void check_prefix(const char *text)
{
	char buf[CW_PREFIX_TEXT];
	struct cw_prefix p, again;
	struct cw_addr a, b;

	if (cw_prefix_parse(text, &p) == CW_OK) {
		FUZZ_CHECK(p.plen <= (p.version == 4 ? 32 : 128));
		FUZZ_CHECK(cw_prefix_parse(cw_prefix_format(&p, buf), &again) == CW_OK);
		FUZZ_CHECK(memcmp(&p, &again, sizeof(p)) == 0);
		cw_prefix_clean(&again);
		FUZZ_CHECK(memcmp(&p, &again, sizeof(p)) == 0);
	}
	if (cw_addr_parse(text, &a) == CW_OK) {
		FUZZ_CHECK(cw_addr_parse(cw_addr_format(&a, buf), &b) == CW_OK);
		FUZZ_CHECK(memcmp(&a, &b, sizeof(a)) == 0);
	}
}

static void check_ids(const char *text)
{
	uint8_t id[CW_ISIS_LSP_ID], again[CW_ISIS_LSP_ID], area[CW_ISIS_AREA_MAX];
	char buf[CW_ISIS_ID_TEXT];
	int n = cw_isis_area_parse(text, area);

	FUZZ_CHECK(n == CW_E_SYNTAX || (n >= 1 && n <= CW_ISIS_AREA_MAX));
	if (cw_isis_system_parse(text, id) == CW_OK) {
		(void)cw_isis_system_format(id, buf);
		FUZZ_CHECK(cw_isis_system_parse(buf, again) == CW_OK);
		FUZZ_CHECK(memcmp(id, again, CW_ISIS_SYSTEM) == 0);
	}
	if (cw_ospf3_id_parse(text, id) == CW_OK) {
		(void)cw_ospf3_id_format(id, buf);
		FUZZ_CHECK(cw_ospf3_id_parse(buf, again) == CW_OK && memcmp(id, again, 4) == 0);
	}
}

static void check_octets(const uint8_t *data)
{
	char buf[CW_ADDR_TEXT];
	uint8_t a[16];

	cw_ip4_format(data, buf);
	FUZZ_CHECK(cw_ip4_parse(buf, a) == CW_OK && memcmp(a, data, 4) == 0);
	cw_ip6_format(data, buf);
	FUZZ_CHECK(cw_ip6_parse(buf, a) == CW_OK && memcmp(a, data, 16) == 0);
	cw_mac_format(data, buf);
	FUZZ_CHECK(cw_mac_parse(buf, a) == CW_OK && memcmp(a, data, 6) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = {data, size};
	char *text;

	if (size == 16)
		check_octets(data);
	text = fuzz_text(&in);
	check_ip4(text);
	check_ip6(text);
	check_mac(text);
	check_hex(text);
	check_prefix(text);
	check_ids(text);
	free(text);
	return 0;
}
