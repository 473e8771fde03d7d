/* mkframes.c - write one pcap file of benchmark frames.
 * mkframes KIND PAYLOAD FLOWS FILE [VERSION]    KIND: ub uboe plain vxlan */
#include "frames.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int kind_of(const char *name)
{
	static const char *const names[] = {"ub", "uboe", "plain", "vxlan"};
	int i;

	for (i = 0; i < 4; i++)
		if (strcmp(name, names[i]) == 0)
			return i;
	return -1;
}

static int write_file(FILE *f, enum bench_kind kind, unsigned version, unsigned payload,
		      unsigned flows)
{
	static uint8_t buf[BENCH_ROOM];
	const uint32_t head[6] = {0xa1b2c3d4, 2 | 4 << 16, 0, 0, 65535, 1};
	unsigned i;

	if (fwrite(head, sizeof(head), 1, f) != 1)
		return -1;
	for (i = 0; i < flows; i++) {
		uint32_t len = (uint32_t)bench_frame(buf, kind, version, payload, i);
		uint32_t rec[4] = {0, i, len, len};

		if (fwrite(rec, sizeof(rec), 1, f) != 1 || fwrite(buf, len, 1, f) != 1)
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int kind, bad;
	FILE *f;

	if ((argc != 5 && argc != 6) || (kind = kind_of(argv[1])) < 0) {
		fputs("usage: mkframes ub|uboe|plain|vxlan PAYLOAD FLOWS FILE [4|6]\n", stderr);
		return 2;
	}
	f = fopen(argv[4], "wb");
	if (!f) {
		perror(argv[4]);
		return 2;
	}
	bad = write_file(f, (enum bench_kind)kind, argc == 6 ? (unsigned)atoi(argv[5]) : 4,
			 (unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]));
	if (fclose(f) != 0 || bad) {
		perror(argv[4]);
		return 2;
	}
	return 0;
}
