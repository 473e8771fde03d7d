/* drop.h - every reason for which a packet is refused, and every event that is only counted.
 *
 * Names are stable: they are counters in `causeway show`, labels in the metrics, and comments in
 * captures of dropped packets.
 */
#ifndef CAUSEWAY_DROP_H
#define CAUSEWAY_DROP_H

#ifdef __cplusplus
extern "C" {
#endif

// clang-format off
/* X(NAME, "name", "text") */
#define CW_DROPS(X)                                                                                \
	X(SHORT,           "short",            "frame ends inside a header")                       \
	X(NOT_FOR_US,      "not-for-us",       "Ethernet destination is another station")          \
	X(ETHERTYPE,       "ethertype",        "EtherType is not handled on this kind of port")    \
	X(VLAN_DEPTH,      "vlan-depth",       "more VLAN tags than are handled")                  \
	X(UB_CONTROL,      "ub-control",       "UB link control block (CFG 0), never leaves its link") \
	X(UB_NETCTRL,      "ub-netctrl",       "UB network control packet (CFG 5)")                \
	X(UB_CNA16,        "ub-cna16",         "CNA16 network header (CFG 6); only IP format crosses") \
	X(UB_CNA24,        "ub-cna24",         "CNA24 network header (CFG 7); only IP format crosses") \
	X(UB_BYPASS,       "ub-bypass",        "transport bypass (CFG 9) is not supported over Ethernet") \
	X(UB_CTP,          "ub-ctp",           "compact transport (CTP) is not supported over Ethernet") \
	X(UB_CFG,          "ub-cfg",           "reserved CFG code point")                          \
	X(UB_LENGTH,       "ub-length",        "PLENGTH disagrees with the packet")                \
	X(IP_VERSION,      "ip-version",       "IP version is unknown or contradicts CFG or EtherType") \
	X(IP_IHL,          "ip-ihl",           "IPv4 header length is not 5 words")                \
	X(IP_LENGTH,       "ip-length",        "IP length disagrees with the packet")              \
	X(IP_FRAGMENT,     "ip-fragment",      "IP fragment")                                      \
	X(IP_EXTENSION,    "ip-extension",     "IPv6 extension header")                            \
	X(IP_CHECKSUM,     "ip-checksum",      "IPv4 header checksum is wrong")                    \
	X(IP_ADDRESS,      "ip-address",       "IP address may not be forwarded")                  \
	X(TTL,             "ttl",              "TTL or hop limit ran out")                         \
	X(UDP_LENGTH,      "udp-length",       "UDP length disagrees with the packet")             \
	X(UDP_CHECKSUM,    "udp-checksum",     "UDP checksum is wrong")                            \
	X(TP_OPCODE,       "tp-opcode",        "reserved transport opcode")                        \
	X(TP_VERSION,      "tp-version",       "unsupported transport version")                    \
	X(TP_NLP,          "tp-nlp",           "reserved next-layer protocol")                     \
	X(TP_LENGTH,       "tp-length",        "packet is too short for its transport headers and ICRC") \
	X(UETX,            "uetx",             "article UET packet on the UBoE port")              \
	X(UEC_PORT,        "uec-port",         "UE 1.0 packet on the UBoE port instead of its own") \
	X(PLAIN_IP,        "plain-ip",         "plain TCP/IP, and crossing is turned off for it")  \
	X(ICRC,            "icrc",             "ICRC is wrong")                                    \
	X(CCI_MODE,        "cci-mode",         "congestion mode has no mapping to ECN")            \
	X(NPI_ZERO,        "npi-zero",         "partition ID 0 is invalid")                        \
	X(NPI_FILTER,      "npi-filter",       "partition is not allowed on this port")            \
	X(NPI_UNMAPPED,    "npi-unmapped",     "partition has no VLAN")                            \
	X(VLAN_UNMAPPED,   "vlan-unmapped",    "VLAN has no partition")                            \
	X(NO_ROUTE,        "no-route",         "no route to the destination")                      \
	X(SAME_DOMAIN,     "same-domain",      "route leads back to the domain the packet came from") \
	X(NEIGHBOUR_WAIT,  "neighbour-wait",   "next hop is not resolved and its queue is full")   \
	X(NEIGHBOUR_FAIL,  "neighbour-fail",   "next hop did not answer ARP or neighbour discovery") \
	X(MTU,             "mtu",              "packet is larger than the egress port's MTU")      \
	X(PORT_DOWN,       "port-down",        "egress port is down")                              \
	X(QUEUE_FULL,      "queue-full",       "egress port's shaped queue is full")               \
	X(TX_FULL,         "tx-full",          "egress port's transmit queue is full")             \
	X(TX_ERROR,        "tx-error",         "egress device refused the frame")                  \
	X(PUNT_FULL,       "punt-full",        "queue to the control thread is full")              \
	X(CN_BORDER,       "cn-border",        "congestion message from or to outside of its domain") \
	X(CN_FULL,         "cn-full",          "the congestion notification proxy is off, or its queue is full") \
	X(NO_MEMORY,       "no-memory",        "out of packet buffers")                            \
	X(SHUTDOWN,        "shutdown",         "gateway is shutting down")

/* Counted, and the packet goes on. */
#define CW_NOTES(X)                                                                                \
	X(CCI_NOT_ECT,     "cci-not-ect",      "unmappable congestion mode, sent as Not-ECT")      \
	X(RTT_AS_FECN,     "rtt-as-fecn",      "FECN_RTT taken as FECN")                           \
	X(LIGHT_TO_CE,     "light-to-ce",      "light congestion became CE, severity lost")        \
	X(LOC_LOST,        "loc-lost",         "location-of-congestion bit dropped")               \
	X(PERMISSION_LOST, "permission-lost",  "low-privilege Permission bit dropped")             \
	X(NO_DF,           "no-df",            "IPv4 flags are not 010 (no DF); kept, the ICRC covers them")  \
	X(ICRC_BAD,        "icrc-bad",         "ICRC is wrong; forwarded as it came")              \
	X(UNTAGGED,        "untagged",         "untagged frame took the default partition")        \
	X(UDP_CSUM_ZEROED, "udp-csum-zeroed",  "non-zero UDP checksum zeroed (verified before by default)")
// clang-format on

enum cw_drop {
	CW_PASS = 0,
#define CW_X(id, name, text) CW_DROP_##id,
	CW_DROPS(CW_X)
#undef CW_X
		CW_DROP_COUNT
};

enum cw_note {
#define CW_X(id, name, text) CW_NOTE_##id,
	CW_NOTES(CW_X)
#undef CW_X
		CW_NOTE_COUNT
};

/* Static texts; "pass" for CW_PASS, "unknown" for numbers not in the list. */
const char *cw_drop_name(enum cw_drop d);
const char *cw_drop_text(enum cw_drop d);
const char *cw_note_name(enum cw_note n);
const char *cw_note_text(enum cw_note n);

#ifdef __cplusplus
}
#endif
#endif
