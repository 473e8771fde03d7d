/* io_ops.h - what a back end of io.h is made of. */
#ifndef CLI_IO_OPS_H
#define CLI_IO_OPS_H

#include "cli/io.h"

struct io_ops {
	int (*open)(struct io *io, char err[IO_ERROR_MAX]); /* fills priv, mac, mtu, fd */
	void (*close)(struct io *io);                       /* after a failed open, too */
	unsigned (*recv)(struct io *io, struct io_frame *f, unsigned n);
	uint8_t *(*room)(struct io *io, unsigned i);
	int (*send)(struct io *io, const size_t *len, unsigned n, char err[IO_ERROR_MAX]);
	uint64_t (*drops)(struct io *io);
	void (*ask)(struct io *io, const uint8_t *hop); /* both NULL where a kernel does this */
	int (*hop)(const struct io *io, uint8_t mac[6]);
};

struct io {
	const struct io_ops *ops;
	struct io_opts o;
	void *priv;
	char device[256]; /* what o.device points to */
	uint8_t mac[6];
	unsigned mtu;
	int fd;
};

extern const struct io_ops io_packet, io_dpdk;

#endif
