/* explain.c - causeway explain: what a drop or an event means, where its rule stands, what to do.
 */
#include <getopt.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include "causeway/drop.h"
#include "cli/args.h"
#include "cli/client.h"

struct advice {
	const char *rule;     /* document and section */
	const char *cause;    /* what usually is behind it */
	const char *remedy;   /* where to look, what to change */
	const char *settings; /* below /causeway:causeway, "A, B"; or "" */
};

#define SWITCH "draft-li-uboe-00 "
#define BASE   "UB Base Specification 2.0, "

/* Lines of a paragraph are made by the printer. */
// clang-format off
static const struct advice drop_advice[CW_DROP_COUNT] = {
	[CW_DROP_SHORT] = {SWITCH "4",
		"A frame ended before its headers did: cut off by a device or a broken sender, or not what the "
		"port's kind says.",
		"Capture the drops and look at the length of the frames. Compare the port's kind with what is "
		"really sent there.",
		"port/kind"},
	[CW_DROP_NOT_FOR_US] = {"IEEE 802.3 3.2.3",
		"The frame is addressed to another station: a switch floods it, or the sender has an old ARP "
		"entry.",
		"A few are normal on a shared segment, multicast above all. Many: compare the sender's neighbour "
		"entry with the address that `causeway show ports` shows.",
		"port/promiscuous"},
	[CW_DROP_ETHERTYPE] = {SWITCH "5.3",
		"The port's kind does not handle this EtherType: LLDP, IPv6 router advertisements on a UB link, "
		"another protocol.",
		"A few are normal: kernels and switches talk. If it is your traffic, the port has the wrong kind, "
		"or the outer tag another TPID than the port.",
		"port/kind, port/tpid"},
	[CW_DROP_VLAN_DEPTH] = {SWITCH "5.3",
		"More than two VLAN tags stand in front of the IP header.",
		"Take tags off at the switch in front: one for the partition, and at most one around it, are "
		"handled.",
		"port/outer-vid"},
	[CW_DROP_UB_CONTROL] = {BASE "4.3.2",
		"A control block of the UB link layer (credits, retry) got this far; it means nothing beyond its "
		"link.",
		"The UB side of the port hands up link control. Make it end there; nothing is lost by the drop.",
		""},
	[CW_DROP_UB_NETCTRL] = {SWITCH "4",
		"Network control of the UB domain (CFG 5); only the IP-compliant network header crosses.",
		"Nothing, if the UB domain floods it. Otherwise keep it off the link to the gateway.",
		""},
	[CW_DROP_UB_CNA16] = {SWITCH "4",
		"The sender uses compact 16-bit network addresses (CFG 6). Only the IP-compliant header can leave "
		"the UB domain.",
		"Give the sender IP addresses for destinations behind the gateway.",
		""},
	[CW_DROP_UB_CNA24] = {SWITCH "4",
		"The sender uses compact 24-bit network addresses (CFG 7). Only the IP-compliant header can leave "
		"the UB domain.",
		"Give the sender IP addresses for destinations behind the gateway.",
		""},
	[CW_DROP_UB_BYPASS] = {SWITCH "4",
		"Transport bypass (CFG 9): there is no transport header that UBoE could carry.",
		"Use RTP or UTP towards destinations behind the gateway.",
		""},
	[CW_DROP_UB_CTP] = {SWITCH "4",
		"Compact transport (CTP) is for short ways inside a UB domain; UBoE does not carry it.",
		"Use RTP or UTP towards destinations behind the gateway.",
		""},
	[CW_DROP_UB_CFG] = {BASE "4.3.2",
		"The LPH has a CFG that the specification reserves: a broken sender, or a newer one.",
		"Decode a captured drop. If its octets look shifted, the port's device hands up more or less than "
		"LPH to ICRC.",
		""},
	[CW_DROP_UB_LENGTH] = {BASE "4.3.2",
		"PLENGTH in the LPH and the octets that came disagree.",
		"Decode a captured drop. Where PLENGTH is counted differently on purpose, the check can be turned "
		"off; the IP length still has to agree.",
		"ub2e/link/check-length"},
	[CW_DROP_IP_VERSION] = {SWITCH "4.1",
		"The IP header's version is neither 4 nor 6, or it contradicts CFG or the EtherType.",
		"A broken sender: decode a captured drop.",
		""},
	[CW_DROP_IP_IHL] = {SWITCH "4.1, table 1",
		"The IPv4 header has options; UBoE has 5 words and none.",
		"Stop the sender from setting options (record route, router alert).",
		""},
	[CW_DROP_IP_LENGTH] = {SWITCH "4.1, tables 1 and 2",
		"The IP header announces more octets than the frame has: cut off on the way, or computed wrongly.",
		"Look for an MTU that is too small on the way and a device that cuts (`rx truncated` in `causeway "
		"show ports`).",
		"port/mtu"},
	[CW_DROP_IP_FRAGMENT] = {SWITCH "4.1, table 1",
		"A fragment: UBoE has DF set, and a piece of a packet has no transport header to be converted.",
		"Raise the MTU on the way, or lower that of the sender. Somebody clears DF.",
		"port/mtu"},
	[CW_DROP_IP_EXTENSION] = {SWITCH "4.1, table 2",
		"The packet has an IPv6 extension header; UBoE has UDP right behind the IPv6 header.",
		"Stop the sender, or a router between, from adding headers (hop-by-hop, SRv6).",
		""},
	[CW_DROP_IP_CHECKSUM] = {"RFC 1812 5.2.2",
		"The IPv4 header was damaged, or its checksum left to a device that did not compute it.",
		"On veth and tap devices turn transmit checksum offload of the sender off (ethtool -K DEV tx off). "
		"Otherwise look for damage on the link.",
		""},
	[CW_DROP_IP_ADDRESS] = {"RFC 1812 5.3.7",
		"Source or destination is one that no router passes on: multicast, loopback, unspecified, "
		"link-local.",
		"Often it is neighbour discovery or DHCP, and harmless. If it is your traffic, use routable "
		"addresses.",
		""},
	[CW_DROP_TTL] = {"RFC 1812 5.3.1",
		"The packet came with TTL or hop limit 1: a loop of routes, a traceroute, or a sender that starts "
		"too low. The sender is told by ICMP.",
		"Follow the routes at both gateways. The gateway need not count as a hop if ends depend on it.",
		"ub2e/ip/ttl-decrement, icmp"},
	[CW_DROP_UDP_LENGTH] = {SWITCH "4.1, figure 6",
		"UDP's length is not what IP's length leaves for it.",
		"A broken sender: decode a captured drop.",
		""},
	[CW_DROP_UDP_CHECKSUM] = {SWITCH "4.1",
		"The UDP checksum is neither zero nor right: damage on the way, or an offload that nobody did.",
		"Let UBoE senders send zero, as the draft says. Verifying can be turned off; the ICRC still "
		"protects the packet from end to end.",
		"ub2e/udp/verify-checksum"},
	[CW_DROP_TP_OPCODE] = {SWITCH "4",
		"The transport header has an opcode that neither RTP nor UTP defines.",
		"Decode a captured drop: often it is not UB at all what comes to this UDP port.",
		"ub2e/udp/port, ub2e/udp/pin"},
	[CW_DROP_TP_VERSION] = {SWITCH "4",
		"The transport header has another version than the one that UB 2.0 defines.",
		"Compare the releases of the ends.",
		""},
	[CW_DROP_TP_NLP] = {SWITCH "4",
		"The transport header names a next layer that is reserved.",
		"Compare the releases of the ends; decode a captured drop.",
		""},
	[CW_DROP_TP_LENGTH] = {SWITCH "4",
		"Between the UDP header and the end there is no room for the transport headers and the ICRC.",
		"Cut off on the way, or no UB: decode a captured drop.",
		""},
	[CW_DROP_UETX] = {"docs/decisions.md, \"port 4792\"",
		"It looks like a UET packet of the article, which uses the same UDP port.",
		"Give UET another port or destination, or pin the prefix to UB if it is UB after all.",
		"ub2e/udp/pin"},
	[CW_DROP_UEC_PORT] = {"docs/decisions.md, \"port 4792\"",
		"It looks like a packet of UE 1.0, whose own UDP port is 4793.",
		"Set the port of the UE sender, or pin the prefix to UB if it is UB after all.",
		"ub2e/udp/pin"},
	[CW_DROP_PLAIN_IP] = {BASE "B.1",
		"IP that is not UBoE (TCP, ping, another UDP port), and this gateway is told to keep it out.",
		"Turn crossing on if ends need it.",
		"ub2e/ip/plain-ip"},
	[CW_DROP_ICRC] = {SWITCH "4.2",
		"The invariant CRC does not fit the packet: damage somewhere since the sender, or the other order "
		"of its four octets.",
		"If all packets of a sender are wrong, try the other order (`causeway decode --icrc-order be`). If "
		"some are, look for the link or memory that damages them.",
		"ub2e/icrc/check-from-ub, ub2e/icrc/check-from-ethernet, ub2e/icrc/order"},
	[CW_DROP_CCI_MODE] = {SWITCH "5.2, table 4",
		"The sender marks congestion by CAQM, FECN_RTT or a reserved mode, which ECN cannot express, and "
		"this gateway is told to drop that.",
		"Let the sender use FECN mode towards the gateway, or let such packets cross as Not-ECT.",
		"ub2e/cci/unmappable, ub2e/cci/fecn-rtt-as-fecn"},
	[CW_DROP_NPI_ZERO] = {SWITCH "5.3",
		"Partition ID 0 is no partition.",
		"Give the sender a partition; 1 is the default one.",
		""},
	[CW_DROP_NPI_FILTER] = {SWITCH "5.3; " BASE "5.3.3",
		"The port where the packet came in or would leave has a filter without its partition.",
		"Add the partition to the port's filter, if it may cross.",
		"port/npi-filter"},
	[CW_DROP_NPI_UNMAPPED] = {SWITCH "5.3",
		"The partition has no VLAN: its low 12 bits are 0 or 4095, or the mode goes by the table alone, "
		"and the table does not have it.",
		"Add a pair of partition and VLAN to the table.",
		"ub2e/npi/map, ub2e/npi/mode"},
	[CW_DROP_VLAN_UNMAPPED] = {SWITCH "5.3",
		"The VLAN has no partition: it is 0 or 4095, or not in the table in a mode that goes by the table "
		"alone; or the outer tag is not the port's; or untagged frames are not allowed.",
		"Add a pair, compare the outer tag with the port's, or name a partition for untagged frames.",
		"ub2e/npi/map, ub2e/npi/untagged, port/outer-vid"},
	[CW_DROP_NO_ROUTE] = {SWITCH "3",
		"No prefix of the routes holds the destination. The sender is told by ICMP.",
		"`causeway show routes`; add a route, or a shorter prefix.",
		"route"},
	[CW_DROP_SAME_DOMAIN] = {SWITCH "5",
		"The best route leads from an Ethernet port to an Ethernet port: nothing to convert.",
		"Add the missing route to the UB port, or allow routing between Ethernet ports.",
		"route, forwarding/between-ethernet"},
	[CW_DROP_NEIGHBOUR_WAIT] = {SWITCH "3",
		"The link address of the next hop is not known yet, and 64 packets wait for it (or a quarter of "
		"all buffers for all of them).",
		"A few after a start are normal. If they go on: `causeway show neighbours`; is the next hop up, in "
		"this VLAN, and has the port an address there?",
		"neighbour, route/mac, port/address"},
	[CW_DROP_NEIGHBOUR_FAIL] = {"RFC 826; RFC 4861 7.2.2",
		"The next hop did not answer ARP or neighbour discovery. The sender is told by ICMP.",
		"`causeway show neighbours`; is the next hop up and in this VLAN? Has the port an address of the "
		"subnet and the VLAN? Without ARP on that link set the address by hand.",
		"neighbour, route/mac, port/address"},
	[CW_DROP_MTU] = {SWITCH "4.1, table 1",
		"The packet is larger than the MTU of the port it would leave by, and DF is set. The sender is "
		"told by ICMP.",
		"Raise the MTU of the port and of its device, or lower the sender's (UB payload and headers).",
		"port/mtu"},
	[CW_DROP_PORT_DOWN] = {SWITCH "3",
		"The link of the egress port is down, or the port went away by a reload.",
		"`causeway show ports`; cable, peer, `ip link set DEV up`.",
		"port/device"},
	[CW_DROP_QUEUE_FULL] = {"draft Fast CNP with Proxy 4",
		"The shaped queue of a congestion point had no room: senders do not slow down enough, or a burst is "
		"larger than the queue.",
		"`causeway show congestion`. Do marks and messages reach the senders? Else a larger buffer, or "
		"marking that begins earlier.",
		"port/congestion-point/buffer, port/congestion-point/ecn, port/congestion-point/rate"},
	[CW_DROP_TX_FULL] = {"docs/performance.md",
		"The device takes packets more slowly than the gateway brings them.",
		"More comes in than the egress link carries: shape or spread it. On AF_PACKET ports use DPDK's "
		"driver of the device.",
		"port/device, daemon/workers"},
	[CW_DROP_TX_ERROR] = {"the device",
		"The device or the kernel refused the frame, mostly because it is larger than the device's own "
		"MTU.",
		"Compare the port's MTU with that of its device (`ip link show DEV`).",
		"port/mtu"},
	[CW_DROP_PUNT_FULL] = {"docs/architecture.md, \"The way of a packet\"",
		"More ARP, neighbour discovery and ping arrives than the control thread answers.",
		"Look for a storm of them on the link; forwarding does not suffer from it.",
		""},
	[CW_DROP_CN_BORDER] = {"draft Fast CNP with Proxy 6",
		"A congestion message came from outside of the domain, or would have left it.",
		"If the neighbour belongs to the domain, name its interface; else this is what the filter is for.",
		"fast-cnp"},
	[CW_DROP_CN_FULL] = {"draft Fast CNP with Proxy 5",
		"A congestion message for the gateway itself, whose proxy is off or has a full queue.",
		"Turn the proxy on, or stop announcing this gateway as one. `causeway show notifications`.",
		"fast-cnp, pnc"},
	[CW_DROP_NO_MEMORY] = {"docs/configuration.md, \"buffers\"",
		"All packet buffers are in use: in queues, waiting for next hops, in rings of devices.",
		"`causeway show memory`; more buffers (at the next start), smaller queues.",
		"daemon/buffers"},
	[CW_DROP_SHUTDOWN] = {"causewayd(8)",
		"The gateway was ending while the packet still waited for something.",
		"Nothing: move traffic away before a planned stop.",
		""},
};

static const struct advice note_advice[CW_NOTE_COUNT] = {
	[CW_NOTE_CCI_NOT_ECT] = {SWITCH "5.2, table 4",
		"The sender marks congestion by a mode that ECN cannot express; the packet crosses, and no router "
		"can mark it.",
		"Let the sender use FECN mode towards the gateway.",
		"ub2e/cci/unmappable"},
	[CW_NOTE_RTT_AS_FECN] = {SWITCH "5.2, table 4",
		"FECN_RTT was taken as FECN, as configured; the timestamp is lost.",
		"Nothing, if the sender can do without the timestamp.",
		"ub2e/cci/fecn-rtt-as-fecn"},
	[CW_NOTE_LIGHT_TO_CE] = {SWITCH "5.2.1",
		"IP has one mark for congestion, so light became CE; the far gateway makes it severe by default.",
		"To keep the levels apart send light as ECN-capable, or use the strict mode, if the network "
		"between leaves ECT(1) alone.",
		"ub2e/ecn/light, ub2e/ecn/ce, ub2e/ecn/strict"},
	[CW_NOTE_LOC_LOST] = {SWITCH "5.2.1",
		"The location-of-congestion bit has no place in IP.",
		"Nothing: the mark itself crosses.",
		""},
	[CW_NOTE_PERMISSION_LOST] = {SWITCH "5.3",
		"The Permission bit was set (low privilege), and a VLAN does not carry it: behind the far gateway "
		"it is 0.",
		"With a gateway at both ends use the enhanced mode: two VLANs a partition.",
		"ub2e/npi/mode, ub2e/npi/map/vid-low"},
	[CW_NOTE_NO_DF] = {SWITCH "4.1, table 1",
		"The sender did not set DF. The ICRC covers the flags, so they stay as they are.",
		"Let the sender set DF; a router between could fragment the packet.",
		""},
	[CW_NOTE_ICRC_BAD] = {SWITCH "4.2",
		"The invariant CRC is wrong, and the check only counts: the packet goes on, its receiver will "
		"refuse it.",
		"See `causeway explain icrc`.",
		"ub2e/icrc/check-from-ub, ub2e/icrc/check-from-ethernet, ub2e/icrc/order"},
	[CW_NOTE_UNTAGGED] = {SWITCH "5.3",
		"A frame without a VLAN tag was put into the partition for such frames.",
		"Nothing, if that is meant; else tag it at the switch, or let untagged frames be dropped.",
		"ub2e/npi/untagged"},
	[CW_NOTE_UDP_CSUM_ZEROED] = {SWITCH "4.1",
		"The packet had a UDP checksum; native UB has zero there.",
		"Nothing: the ICRC protects the packet.",
		"ub2e/udp/verify-checksum"},
};
// clang-format on

/* ---- Finding -------------------------------------------------------------------------------- */

// clang-format off
static const struct {
	const char *name, *text;
	struct advice advice;
} counters[] = {
	{"local", "came in and was for the gateway itself", {"docs/control-protocol.md",
		"ARP, neighbour discovery, echo requests and messages to an address of the gateway.",
		"Nothing. It is one side of rx_packets + originated = tx_packets + dropped + local + held.",
		"port/address"}},
	{"originated", "made by the gateway itself", {"docs/control-protocol.md",
		"Questions and answers of ARP and neighbour discovery, echo replies, ICMP errors, congestion "
		"messages and notifications.",
		"Nothing. A gateway that asks again and again lacks a next hop: see `causeway show neighbours`.",
		""}},
	{"held", "waits for a next hop or in a shaped queue", {"docs/control-protocol.md",
		"The one count that falls again: a next hop is being asked for, or more comes than the port's "
		"rate lets out.",
		"If it stays: `causeway show neighbours` has who does not answer, `causeway show congestion` the "
		"queues.",
		"neighbour, port"}},
	{"icmp_errors", "ICMP errors to senders of packets that came here", {"RFC 1812 4.3.2",
		"Packets were dropped for which their senders have to be told: TTL, MTU, no route, no next hop.",
		"`causeway show drops --port NAME` has the reasons, `causeway show` the errors by kind.",
		"icmp"}},
	{"icmp_limited", "ICMP errors kept back by the rate limit", {"RFC 1812 4.3.2.8",
		"More packets were dropped than senders are told of.",
		"Mend the reason of the drops; the limit protects the network, not the gateway.",
		"icmp/rate, icmp/burst"}},
	{"rx_missed", "came, and the device had no room", {"docs/control-protocol.md",
		"The worker did not fetch frames in time: it waits for a processor, sleeps too long, or gets more "
		"than it can convert. These frames never were in the gateway and are in no other count.",
		"A CPU of its own for each worker (causewayd --pin), more workers, or no sleep.",
		"daemon/workers, daemon/idle-sleep"}},
	{"rx_truncated", "longer than the gateway takes, or broken on arrival", {"docs/control-protocol.md",
		"Frames of more than 9216 octets of IP, or with a wrong FCS at an adapter.",
		"Turn off receive offloads (LRO, GRO) of the interface, or lower the senders' MTU; look at the "
		"cable of an adapter.",
		"port/mtu"}},
	{"rx_no_buffer", "no packet buffer was free", {"docs/control-protocol.md",
		"All buffers hold packets: in shaped queues, waiting for next hops, or in the devices' rings.",
		"`causeway show memory` has how many there are and are free.",
		"daemon/buffers"}},
	{"tx_errors", "the device refused to send", {"docs/control-protocol.md",
		"The kernel's interface or the adapter did not take a frame: down, or too long for it.",
		"`causeway show ports` has the link and the MTU in use; the interface's own counters say more.",
		"port/mtu"}},
};
// clang-format on

struct subject {
	const char *kind, *name, *text;
	const struct advice *advice;
};

enum {
	NDROPS = CW_DROP_COUNT - 1,
	NREASONS = NDROPS + CW_NOTE_COUNT,
	NSUBJECTS = NREASONS + sizeof(counters) / sizeof(counters[0])
};

/* All drops, then all events, then counters of ports. */
static struct subject subject(unsigned i)
{
	enum cw_note n = (enum cw_note)(i - NDROPS);
	enum cw_drop d = (enum cw_drop)(i + 1);

	if (i < NDROPS)
		return (struct subject){"drop", cw_drop_name(d), cw_drop_text(d), &drop_advice[d]};
	if (i >= NREASONS)
		return (struct subject){"count", counters[i - NREASONS].name,
					counters[i - NREASONS].text,
					&counters[i - NREASONS].advice};
	return (struct subject){"event", cw_note_name(n), cw_note_text(n), &note_advice[n]};
}

static int find(const char *name, struct subject *out)
{
	const char *names[NSUBJECTS], *near;
	unsigned i;

	for (i = 0; i < NSUBJECTS; i++) {
		*out = subject(i);
		if (strcmp(out->name, name) == 0)
			return EXIT_DONE;
		names[i] = out->name;
	}
	if ((near = args_nearest(name, names, NSUBJECTS)) != NULL)
		return cmd_usage(&cmd_explain, "no drop, event or counter '%s'; did you mean %s?",
				 name, near);
	return cmd_usage(&cmd_explain,
			 "no drop, event or counter '%s'; without a name all are listed", name);
}

/* ---- Printing ------------------------------------------------------------------------------- */

enum { INDENT = 12, RIGHT = 80 };

/* A paragraph behind its label, broken at blanks. */
static void put_paragraph(const char *label, const char *text)
{
	int column = printf("  %-*s", INDENT - 2, label), n;

	while (*text != '\0') {
		n = (int)strcspn(text, " ");
		if (column > INDENT && column + 1 + n > RIGHT)
			column = printf("\n%*s", INDENT, "") - 1;
		else if (column > INDENT)
			column += printf(" ");
		column += printf("%.*s", n, text);
		text += n;
		text += strspn(text, " ");
	}
	(void)putchar('\n');
}

static void print_text(const struct subject *s, json_int_t packets)
{
	const struct advice *a = s->advice;

	printf("%s: %s\n", s->name, s->text);
	put_paragraph("kind", strcmp(s->kind, "drop") == 0    ? "drop: the packet is gone"
			      : strcmp(s->kind, "event") == 0 ? "event: counted, the packet goes on"
							      : "count: of a port");
	if (packets >= 0)
		printf("  %-*s%lld packets\n", INDENT - 2, "counted", (long long)packets);
	put_paragraph("rule", a->rule);
	put_paragraph("cause", a->cause);
	put_paragraph("remedy", a->remedy);
	if (a->settings[0] != '\0')
		put_paragraph("settings", a->settings);
}

static json_t *settings_json(const char *settings)
{
	json_t *list = json_array();
	size_t n;

	for (; *settings != '\0'; settings += n, settings += strspn(settings, ", ")) {
		n = strcspn(settings, ",");
		json_array_append_new(list, json_stringn(settings, n));
	}
	return list;
}

static void print_json(const struct subject *s, json_int_t packets)
{
	const struct advice *a = s->advice;
	json_t *v = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "name", s->name, "kind",
			      s->kind, "text", s->text, "rule", a->rule, "cause", a->cause,
			      "remedy", a->remedy, "settings", settings_json(a->settings));

	if (packets >= 0)
		json_object_set_new(v, "packets", json_integer(packets));
	client_print_json(v);
	json_decref(v);
}

/* ---- The command ---------------------------------------------------------------------------- */

struct options {
	bool json, counted, help;
	const char *socket;
	int nargs;
	char **args;
};

static void print_one(const struct options *o, const struct subject *s, json_int_t packets,
		      bool first)
{
	if (o->json) {
		print_json(s, packets);
		return;
	}
	if (!first)
		(void)putchar('\n');
	print_text(s, packets);
}

static int explain_names(const struct options *o)
{
	struct subject s;
	int i, err;

	for (i = 0; i < o->nargs; i++) {
		if ((err = find(o->args[i], &s)) != EXIT_DONE)
			return err;
		print_one(o, &s, -1, i == 0);
	}
	return EXIT_DONE;
}

static int list_all(const struct options *o)
{
	struct subject s;
	unsigned i;

	for (i = 0; i < NSUBJECTS; i++) {
		s = subject(i);
		if (o->json)
			print_json(&s, -1);
		else
			printf("%-5s  %-16s  %s\n", s.kind, s.name, s.text);
	}
	return EXIT_DONE;
}

/* What a running gateway has counted. */
static int explain_counted(const struct options *o)
{
	json_t *data = NULL;
	struct client c;
	bool first = true;
	unsigned i;
	int err;

	if ((err = client_open(&c, &cmd_explain, o->socket)) != EXIT_DONE)
		return err;
	c.json = o->json;
	err = client_ask(&c, json_pack("{s:s, s:s}", "cmd", "show", "what", "summary"), &data);
	client_close(&c);
	for (i = 0; err == EXIT_DONE && i < NREASONS; i++) {
		struct subject s = subject(i);
		const json_t *n = json_object_get(
			json_object_get(data, i < NDROPS ? "drops" : "notes"), s.name);

		if (json_integer_value(n) == 0)
			continue;
		print_one(o, &s, json_integer_value(n), first);
		first = false;
	}
	if (err == EXIT_DONE && first && !o->json)
		puts("nothing was dropped, and no event counted");
	json_decref(data);
	return err;
}

static int parse_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{"json", no_argument, NULL, 'j'},
		{"counted", no_argument, NULL, 'c'},
		{"socket", required_argument, NULL, 's'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int opt;

	optind = 1;
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":jcs:h", longs, NULL)) != -1) {
		if (opt == 'j')
			o->json = true;
		else if (opt == 'c')
			o->counted = true;
		else if (opt == 's')
			o->socket = optarg;
		else if (opt == 'h')
			o->help = true;
		else
			return args_bad_option(&cmd_explain, argv, opt);
	}
	o->nargs = argc - optind;
	o->args = argv + optind;
	if (o->counted && o->nargs > 0 && !o->help)
		return cmd_usage(&cmd_explain, "either names or --counted");
	if (o->socket != NULL && !o->counted && !o->help)
		return cmd_usage(&cmd_explain, "--socket goes with --counted");
	return EXIT_DONE;
}

static int run(int argc, char **argv)
{
	struct options o = {0};
	int err;

	if ((err = parse_options(argc, argv, &o)) != EXIT_DONE)
		return err;
	if (o.help)
		(void)fputs(cmd_explain.help, stdout);
	else if (o.counted)
		err = explain_counted(&o);
	else
		err = o.nargs > 0 ? explain_names(&o) : list_all(&o);
	return err;
}

const struct cmd cmd_explain = {
	.name = "explain",
	.run = run,
	.brief = "what a drop or an event means, and what to do about it",
	.help = "usage: causeway explain [-j] [REASON...]\n"
		"       causeway explain --counted [-j] [-s SOCKET]\n\n"
		"Say what a reason for drops or a counted event means: the rule behind it with "
		"its\n"
		"section, the usual cause, what to do, and the settings that matter. REASON is a\n"
		"name as in 'causeway show drops', in metrics and in captures of dropped packets,\n"
		"or of a counter in 'causeway show -j counters' and 'ports'. Without one all are\n"
		"listed.\n\n"
		"  -c, --counted        those that a running gateway has counted, with their "
		"counts\n"
		"  -s, --socket PATH    its control socket; else $CAUSEWAY_SOCKET, else\n"
		"                       /run/causeway/control.sock\n"
		"  -j, --json           JSON lines: one object a reason\n"
		"  -h, --help           this text\n\n"
		"exit code: 0 done, 1 the gateway refused, 2 usage, or no gateway\n\n"
		"examples:\n"
		"  causeway explain npi-unmapped\n"
		"  causeway explain --counted\n"
		"  causeway explain -j | jq -r 'select(.settings | index(\"port/mtu\")) | .name'\n",
};
