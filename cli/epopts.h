/* epopts.h - the options of a software UB endpoint: what perf and copy have in common. */
#ifndef CLI_EPOPTS_H
#define CLI_EPOPTS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include "causeway/uboe.h"
#include "cli/cmd.h"
#include "cli/knobs.h"
#include "cli/rendezvous.h"

#define EP_CHANNELS_MAX 64

struct ep_opts {
	bool server, client;
	const char *host; /* client: who is called; server: address that is listened on, or NULL */
	const char *port, *ifname, *address;
	const char *dpdk; /* device of DPDK instead of an interface */
	/* DPDK: who takes the frames, a link address or one that is asked for; else the peer */
	enum { EP_HOP_PEER, EP_HOP_MAC, EP_HOP_IP } hop_kind;
	uint8_t hop[16];
	unsigned hop_version; /* 4 or 6 */
	unsigned ip_version;  /* 0: what the connection has */
	bool native;
	uint32_t npi, mtu, window; /* 0: by interface; packets */
	unsigned channels, dscp, sport_bits;
	enum cw_uboe_service service;
	enum cw_uboe_spread spread, spray; /* over channels; over the ports of a channel */
	enum cw_uboe_cc cc;
	enum cw_uboe_retx retx;
	uint64_t line_rate; /* bit/s */
	unsigned spin_us;
	struct rdv_key key;
	struct knobs knobs; /* the client's; the server takes them over */
};
void ep_defaults(struct ep_opts *o);

/* Options of both commands; values from 1000 on are theirs, perf's and copy's own begin at 2000. */
enum {
	EP_NATIVE = 1000,
	EP_NPI,
	EP_MTU,
	EP_WINDOW,
	EP_CHANNELS,
	EP_SPRAY,
	EP_CC,
	EP_LINE_RATE,
	EP_RETX,
	EP_DSCP,
	EP_KEY,
	EP_SPIN,
	EP_DPDK,
	EP_HOP,
	EP_SERVICE,
	EP_SPREAD,
	EP_SPRAY_BY
};
#define EP_SHORT "46sc:i:a:p:o:"
// clang-format off
#define EP_LONG                                                                                    \
	{"server", no_argument, NULL, 's'}, {"client", required_argument, NULL, 'c'},              \
	{"interface", required_argument, NULL, 'i'}, {"address", required_argument, NULL, 'a'},    \
	{"port", required_argument, NULL, 'p'}, {"native", no_argument, NULL, EP_NATIVE},          \
	{"npi", required_argument, NULL, EP_NPI}, {"mtu", required_argument, NULL, EP_MTU},        \
	{"window", required_argument, NULL, EP_WINDOW},                                            \
	{"channels", required_argument, NULL, EP_CHANNELS},                                        \
	{"spray", required_argument, NULL, EP_SPRAY}, {"cc", required_argument, NULL, EP_CC},      \
	{"line-rate", required_argument, NULL, EP_LINE_RATE},                                      \
	{"retx", required_argument, NULL, EP_RETX}, {"dscp", required_argument, NULL, EP_DSCP},    \
	{"key", required_argument, NULL, EP_KEY}, {"spin", required_argument, NULL, EP_SPIN},      \
	{"dpdk", required_argument, NULL, EP_DPDK}, {"hop", required_argument, NULL, EP_HOP},          \
	{"service", required_argument, NULL, EP_SERVICE},      \
	{"spread", required_argument, NULL, EP_SPREAD},                                            \
	{"spray-by", required_argument, NULL, EP_SPRAY_BY}
#define EP_HELP                                                                                    \
	"  -4, -6               IP version of the data (that of the connection)\n"                 \
	"  -i, --interface IF   interface of the data (the one that has the address)\n"            \
	"  -a, --address ADDR   own address of the data (that of the connection)\n"                \
	"  -p, --port PORT      TCP port of the rendezvous (4791)\n"                               \
	"      --native         native UB on the emulated UB link IF (EtherType 0x88B6);\n"        \
	"                       needs -i and -a, and the rendezvous goes another way\n"            \
	"      --dpdk DEVICE    a port of DPDK instead of -i: 0000:3b:00.0, or a virtual one\n"     \
	"                       with its arguments: net_af_packet0,iface=eth0\n"                   \
	"      --hop ADDR       DPDK: the router when one is between: its IP address, found by\n"   \
	"                       ARP or ND, or its link address (the peer itself)\n"                \
	"      --npi N          native: partition and permission, 25 bits (1)\n"                   \
	"      --mtu N          payload of a packet: 256, 512 ... 8192 (4096, or what the\n"       \
	"                       interface takes)\n"                                                \
	"      --key FILE       shared key: the rendezvous is authenticated (HMAC-SHA256)\n"       \
	"      --spin US        poll this long before sleeping; 0 saves CPU (0)\n"
#define EP_HELP_CLIENT                                                                             \
	"      --cc KIND        congestion control: none, dcqcn, ldcp (none)\n"                    \
	"      --line-rate MB   Mbit/s that dcqcn starts from and never exceeds (100000)\n"        \
	"      --retx KIND      retransmission: selective, gbn (selective)\n"                      \
	"      --window N       packets in flight: 128, 256 ... 2048 (256)\n"                      \
	"      --service KIND   who keeps the order: roi, rot, rol (roi)\n"                        \
	"      --channels N     TP channels, 1 to 64 (1)\n"                                        \
	"      --spread KIND    which channel a message takes: flow (the same), packet (each its\n" \
	"                       turn) (packet)\n"                                                  \
	"      --spray N        2^N UDP source ports for a channel to choose, 0-8 (0)\n"           \
	"      --spray-by KIND  flow: a channel has one of them; packet: each packet (flow)\n"     \
	"      --dscp N         DSCP 0 to 63 (0)\n"                                                \
	"  -o NAME=VALUE,...    settings of the transport at both ends: timeouts, retries,\n"      \
	"                       acknowledgements, congestion control; -o help lists them\n"
// clang-format on

/* 0, EXIT_USAGE, or -1: the option is none of these. */
int ep_option(const struct cmd *c, struct ep_opts *o, int opt, const char *arg);
int ep_check(const struct cmd *c, const struct ep_opts *o);

/* The names of these options' values, by the library's numbers; which of `n` names, or -1. */
extern const char *const ep_cc[3], *const ep_retx[2], *const ep_spread[2], *const ep_service[4];
int ep_one_of(const char *text, const char *const *names, unsigned n);

/* An IP address, an IPv4 one in the first four octets; `version`: 4, 6, or 0 and false. */
bool ep_address(const char *text, uint8_t out[16], unsigned *version);

#endif
