/* uet.h - causeway uet: shared by its subcommands. */
#ifndef CLI_UET_H
#define CLI_UET_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include "causeway/uet.h"
#include "cli/cmd.h"

enum { UET_PATHS = 64, UET_ERROR = 200 };

struct uet_opts {
	bool json, quiet;
	const char *to, *bind, *file;
	uint16_t port;
	unsigned paths, ranks;
	uint64_t size, count, elements, seed, timeout_ms;
	double loss;
	struct cw_uet_settings s;
};

/* The subcommands; exit codes. */
int uet_send_file(const struct uet_opts *o);
int uet_perf(const struct uet_opts *o);
int uet_recv(const struct uet_opts *o);
int uet_allreduce(const struct uet_opts *o);

/* An engine on UDP sockets: one socket a path when sending, one for all when receiving. */
struct uet_io {
	struct cw_uet *u;
	unsigned nsock, npeers_paths;
	int sock[UET_PATHS];
	bool server;
	struct sockaddr_in6 peer[UET_PATHS]; /* by path; IPv4 as mapped addresses */
	unsigned known;                      /* paths seen so far (server) */
	uint64_t strangers;                  /* packets from other hosts */
	char err[UET_ERROR];
};

/* 0, or -1 with io->err. */
int uet_io_client(struct uet_io *io, const struct uet_opts *o);
int uet_io_server(struct uet_io *io, const struct uet_opts *o);
void uet_io_close(struct uet_io *io);
/* Send what is due, wait for packets or time (at most `wait_ns`), take them in. */
int uet_io_turn(struct uet_io *io, uint64_t wait_ns);

/* Numbers of a run, as text or as JSON members. */
void uet_report(const struct uet_io *io, const struct uet_opts *o, const char *what,
		uint64_t octets, uint64_t messages, uint64_t ns);

#endif
