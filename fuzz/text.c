/* text.c - addresses and hex octets: what parses is canonical once printed, and what is printed
 * parses. IPv6 is held against the C library's inet_pton(). Input: text, or the octets of an
 * address. */
#include <arpa/inet.h>
#include "causeway/field.h"
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
	free(text);
	return 0;
}
