/* station.h - the stations of a carrier over RoCEv2, by LID and by IP address. */
#ifndef DAEMON_IPOIB_STATION_H
#define DAEMON_IPOIB_STATION_H

#include "causeway/gid.h"
#include "daemon/ipoib/int.h"

struct stations {
	struct cw_gid own;
	struct cw_gid group; /* an IP group for all groups of the link; zero: there is none */
	unsigned n;
	struct {
		struct cw_gid addr;
		uint16_t lid;
	} at[CARRIER_STATIONS];
};

/* "ADDRESS[,group=ADDRESS],LID=ADDRESS,..." into `s`, which is zero before. CW_E_SYNTAX and
 * CW_E_SPACE, with the reason in `why`. */
int stations_parse(struct stations *s, const char *arg, char *why, size_t size);

bool stations_grouped(const struct stations *s);

/* The LID of an address; 0: nobody's. */
uint16_t stations_lid(const struct stations *s, const uint8_t addr[16]);

/* To which addresses a datagram goes: none, one, or all stations. */
unsigned stations_for(const struct stations *s, const struct cw_ipoib_tx *tx,
		      const struct cw_gid *out[CARRIER_STATIONS]);

/* Which MGID a datagram to a group had, into rx->dgid. False: no port has its partition, or there
 * is no such group. */
bool stations_mgid(const struct hca *h, struct cw_ipoib_tx *rx, const uint8_t *data, size_t len);

/* Be in the IP group as long as the UDP socket `fd` is open; let a socket send groups out of the
 * interface that has the own address. -1 and errno. */
int stations_join(const struct stations *s, int fd);
int stations_send_by(const struct stations *s, int fd);

#endif
