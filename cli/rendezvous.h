/* rendezvous.h - two endpoints agree over TCP: JSON lines, authenticated when both have a key.
 * docs/rendezvous.md describes what goes over the wire.
 */
#ifndef CLI_RENDEZVOUS_H
#define CLI_RENDEZVOUS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define RDV_ERROR_MAX 512
#define RDV_PORT      "4791" /* TCP; 4792 is UBoE's over UDP */
#define RDV_KEY_MAX   256

struct rdv_key {
	size_t len; /* 0: none */
	uint8_t octets[RDV_KEY_MAX];
};

/* Read a key file: 16 to 256 octets, a newline at the end is not part of it, readable by nobody but
 * its owner. 0 or -1 with `err`. */
int rdv_key_read(struct rdv_key *out, const char *path, char err[RDV_ERROR_MAX]);

struct rdv;

/* `family` is AF_INET, AF_INET6 or AF_UNSPEC. A listening socket, or -1. */
int rdv_listen(const char *host, const char *port, int family, char err[RDV_ERROR_MAX]);
/* `service` must be the same at both ends, such as "perf". The key is copied. */
int rdv_accept(struct rdv **out, int listener, const struct rdv_key *key, const char *service,
	       char err[RDV_ERROR_MAX]);
int rdv_connect(struct rdv **out, const char *host, const char *port, int family,
		const struct rdv_key *key, const char *service, char err[RDV_ERROR_MAX]);
/* On a connected stream socket, which is taken over. */
int rdv_begin(struct rdv **out, int fd, bool client, const struct rdv_key *key, const char *service,
	      char err[RDV_ERROR_MAX]);
void rdv_close(struct rdv *r);

int rdv_fd(const struct rdv *r);
/* A whole message was read already: rdv_fd() may never become readable. */
bool rdv_pending(const struct rdv *r);
/* Own and the peer's address of the connection. */
void rdv_addresses(const struct rdv *r, struct sockaddr_storage *own,
		   struct sockaddr_storage *peer);

/* Send a message; takes over the reference to it, whatever happens. */
int rdv_send(struct rdv *r, json_t *message, char err[RDV_ERROR_MAX]);
/* Receive one: 1, 0 when none came within timeout_ms, -1 with `err` (the peer's own words when it
 * sent an error). The caller owns *out. */
int rdv_recv(struct rdv *r, json_t **out, int timeout_ms, char err[RDV_ERROR_MAX]);
/* Tell the peer why this ends. */
void rdv_refuse(struct rdv *r, const char *why);

#endif
