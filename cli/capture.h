/* capture.h - capture files: reading pcap and pcapng, writing either.
 *
 * Link types are LINKTYPE numbers throughout. Functions return 0 or -1 unless they say otherwise;
 * on -1 the text that belongs to the call says what failed, where and why.
 */
#ifndef CLI_CAPTURE_H
#define CLI_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Largest packet that is read or written (libpcap's own bound). */
#define CAP_PACKET_MAX 262144
#define CAP_ERROR_MAX  512

struct cap_packet {
	uint64_t number;  /* 1 for the first packet of the file */
	uint64_t time_ns; /* since 1970-01-01 UTC */
	int link;
	const uint8_t *data;
	uint32_t caplen, len; /* octets in the file, and on the wire */
	const char *comment;  /* of a packet that was read from pcapng, or NULL */
};

/* ---- Reading ------------------------------------------------------------------------------ */

struct cap_reader;

/* "-" is the standard input. A gzip file is read as its content. Error text to `err`. Close with
 * cap_close(). */
int cap_open(struct cap_reader **out, const char *path, char err[CAP_ERROR_MAX]);

/* What an interface receives and sends from now on, promiscuous where `promiscuous` is set. Before
 * cap_next() waits it calls `idle` with nothing left to read, and again every 200 ms; false ends
 * the capture. */
int cap_open_live(struct cap_reader **out, const char *interface, bool promiscuous,
		  bool (*idle)(void), char err[CAP_ERROR_MAX]);

/* Packets that a live capture had no room for. */
uint64_t cap_lost(const struct cap_reader *r);

/* The same on an open stream, which is closed with the reader. `name` is for messages. */
int cap_open_stream(struct cap_reader **out, FILE *f, const char *name, char err[CAP_ERROR_MAX]);

/* 1 and the next packet (its data and comment are valid until the next call), 0 at the end, -1 when
 * the file is broken here: cap_error() says in which record, and why. */
int cap_next(struct cap_reader *r, struct cap_packet *p);
const char *cap_error(const struct cap_reader *r);

/* Of a pcapng file: that of its first interface. */
int cap_reader_link(const struct cap_reader *r);

/* How much of the file was read, 0..100, or -1 where that is unknown (a pipe). */
int cap_percent(const struct cap_reader *r);
void cap_close(struct cap_reader *r);

/* ---- Writing ------------------------------------------------------------------------------ */

struct cap_writer;

enum cap_format { CAP_PCAP, CAP_PCAPNG };

/* By the file's suffix: .pcapng and .ntar are pcapng, everything else is pcap. */
enum cap_format cap_format_of(const char *path);

/* "-" is the standard output. A pcap file has nanosecond times. */
int cap_create(struct cap_writer **out, const char *path, enum cap_format format,
	       char err[CAP_ERROR_MAX]);

/* Declare an interface, before its first packet. Its number is the count of earlier ones; a pcap
 * file has one, and no name for it. `name` may be NULL. */
int cap_add_interface(struct cap_writer *w, int link, const char *name);

/* Write a packet (number, link and comment of it are not used). `comment` may be NULL and is lost
 * in pcap.
 */
int cap_write(struct cap_writer *w, uint32_t interface, const struct cap_packet *p,
	      const char *comment);
const char *cap_writer_error(const struct cap_writer *w);

/* Flush and close. -1 when anything could not be written; the text is then in `err`, and no
 * half-written file stays behind. */
int cap_finish(struct cap_writer *w, char err[CAP_ERROR_MAX]);

/* Close, and remove the file if it is a plain one. */
void cap_discard(struct cap_writer *w);

/* ---- Link types --------------------------------------------------------------------------- */

/* "ethernet", "ub", "ib", "erf", "ipoib", libpcap's name, or the number as text; in `buf` where it
 * has to be made. */
#define CAP_LINK_TEXT 32
const char *cap_link_name(int link, char buf[CAP_LINK_TEXT]);

/* The inverse; a number is taken too. -1 when there is no such link type. */
int cap_link_parse(const char *text);

/* Can packets that begin so be taken apart? */
bool cap_link_known(int link);

#endif
