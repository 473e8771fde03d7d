/* capture.c - any bytes as a capture file. What can be read is written as pcapng and as pcap, and
 * reads back the same. Input: the file. */
#include <sys/mman.h>
#include <unistd.h>
#include "cli/capture.h"
#include "fuzz/fuzz.h"

enum { PACKETS_MAX = 64 };

/* Interface of the writer with this link type; -1 when there are too many of them. */
static int interface_for(struct cap_writer *w, int link, int *links, int *n, bool single)
{
	int i;

	for (i = 0; i < *n; i++) {
		if (links[i] == link)
			return i;
	}
	if (*n == (single ? 1 : 8))
		return -1;
	if (cap_add_interface(w, link, "fuzz") < 0)
		return -1;
	links[*n] = link;
	return (*n)++;
}

struct copy {
	int fd;
	struct cap_packet packets[PACKETS_MAX];
	unsigned n;
};

/* Copy the packets that the writer takes; their octets stay with the copy. */
static void write_copy(struct cap_reader *r, struct cap_writer *w, struct copy *c, bool single)
{
	struct cap_packet p;
	int links[8], nlinks = 0, i;

	while (c->n < PACKETS_MAX && cap_next(r, &p) == 1) {
		FUZZ_CHECK(p.caplen <= CAP_PACKET_MAX);
		i = interface_for(w, p.link, links, &nlinks, single);
		if (i < 0 || cap_write(w, (uint32_t)i, &p, "a comment") < 0)
			break;
		c->packets[c->n] = p;
		c->packets[c->n].data = memcpy(malloc(p.caplen + 1u), p.data, p.caplen);
		c->n++;
	}
	FUZZ_CHECK(cap_error(r) != NULL || c->n <= PACKETS_MAX);
	FUZZ_CHECK(cap_percent(r) <= 100);
}

static void check_copy(const struct copy *c)
{
	char err[CAP_ERROR_MAX], path[64];
	struct cap_reader *r;
	struct cap_packet p;
	unsigned i;

	if (c->n == 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", c->fd);
	FUZZ_CHECK(cap_open(&r, path, err) == 0);
	for (i = 0; i < c->n; i++) {
		FUZZ_CHECK(cap_next(r, &p) == 1);
		FUZZ_CHECK(p.link == c->packets[i].link && p.caplen == c->packets[i].caplen);
		FUZZ_CHECK(memcmp(p.data, c->packets[i].data, p.caplen) == 0);
	}
	FUZZ_CHECK(cap_next(r, &p) == 0);
	cap_close(r);
}

static void copy_file(const uint8_t *data, size_t size, enum cap_format format)
{
	struct copy c = {.fd = memfd_create("fuzz", 0)};
	char err[CAP_ERROR_MAX], path[64];
	struct cap_writer *w;
	struct cap_reader *r;
	FILE *f = fmemopen((void *)data, size, "rb");
	unsigned i;

	FUZZ_CHECK(c.fd >= 0 && f != NULL);
	err[0] = '\0';
	if (cap_open_stream(&r, f, "input", err) == 0) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", c.fd);
		FUZZ_CHECK(cap_create(&w, path, format, err) == 0);
		write_copy(r, w, &c, format == CAP_PCAP);
		(void)cap_finish(w, err);
		cap_close(r);
		check_copy(&c);
	} else {
		FUZZ_CHECK(err[0] != '\0');
	}
	for (i = 0; i < c.n; i++)
		free((void *)c.packets[i].data);
	close(c.fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	copy_file(data, size, CAP_PCAPNG);
	copy_file(data, size, CAP_PCAP);
	return 0;
}
