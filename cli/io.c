/* io.c - frames in bursts: the back end is chosen here. */
#include <stdio.h>
#include <stdlib.h>
#include "cli/io_ops.h"

int io_open(struct io **out, const struct io_opts *o, char err[IO_ERROR_MAX])
{
	struct io *io = calloc(1, sizeof(*io));

	if (io == NULL) {
		(void)snprintf(err, IO_ERROR_MAX, "out of memory");
		return -1;
	}
	io->ops = o->dpdk ? &io_dpdk : &io_packet;
	io->o = *o;
	io->fd = -1;
	(void)snprintf(io->device, sizeof(io->device), "%s", o->device);
	io->o.device = io->device;
	if (io->ops->open(io, err) < 0) {
		io_close(io);
		return -1;
	}
	*out = io;
	return 0;
}

void io_close(struct io *io)
{
	if (io == NULL)
		return;
	io->ops->close(io);
	free(io);
}

const uint8_t *io_mac(const struct io *io)
{
	return io->mac;
}

unsigned io_mtu(const struct io *io)
{
	return io->mtu;
}

int io_fd(const struct io *io)
{
	return io->fd;
}

uint64_t io_drops(struct io *io)
{
	return io->ops->drops(io);
}

void io_ask(struct io *io, const uint8_t *hop)
{
	io->ops->ask(io, hop);
}

int io_hop(const struct io *io, uint8_t mac[6])
{
	return io->ops->hop(io, mac);
}

unsigned io_recv(struct io *io, struct io_frame *f, unsigned n)
{
	return io->ops->recv(io, f, n);
}

uint8_t *io_room(struct io *io, unsigned i)
{
	return io->ops->room(io, i);
}

int io_send(struct io *io, const size_t *len, unsigned n, char err[IO_ERROR_MAX])
{
	return io->ops->send(io, len, n, err);
}
