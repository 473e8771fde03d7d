/* craftline.h - one line of JSON -> one packet, the inverse of `causeway decode -j`. */
#ifndef CLI_CRAFTLINE_H
#define CLI_CRAFTLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "causeway/packet.h"

#define CRAFTLINE_ERROR_MAX 512

struct craftline {
	/* in */
	uint8_t *buf; /* the caller's */
	size_t size;
	struct cw_dissect_opts opts; /* order of the ICRC */
	/* out */
	uint32_t len;      /* of the frame in `buf` */
	uint32_t wire_len; /* at least `len`: more when the packet was not captured whole */
	int link;          /* as given, or what the first layer stands on; -1 when neither says */
	bool has_time;
	uint64_t time_ns;
	char comment[256]; /* empty: none */
};

/* 0, or -1 with the reason in `err`: "layers[2].ttl: 300: value does not fit the field". */
int craftline(struct craftline *c, const char *json, size_t len, char err[CRAFTLINE_ERROR_MAX]);

#endif
