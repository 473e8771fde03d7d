/* config: good configurations become the right values; each bad one is refused with its exact
 * path, value and reason. */
#include "test.h"
#include "daemon/control/config.h"

#define TOP(body)  "{\"causeway:causeway\":{" body "}}"
#define UB0        "{\"name\":\"ub0\",\"kind\":\"ub\",\"device\":\"packet:a\"}"
#define ETH(more)  "{\"name\":\"eth0\",\"kind\":\"ethernet\",\"device\":\"packet:b\"" more "}"
#define PORTS      "\"port\":[" UB0 "," ETH("") "]"
#define PORT(more) TOP("\"port\":[" ETH("," more) "]")
#define UBPORT(more) \
	TOP("\"port\":[{\"name\":\"ub0\",\"kind\":\"ub\",\"device\":\"packet:a\"," more "}]")
#define IBPORT(device, hca)                                                                  \
	TOP("\"hca\":[{\"name\":\"hca0\",\"carrier\":\"ethernet:a\",\"lid\":3,\"sm-lid\":1," \
	    "\"guid\":\"0x0000000000100004\"" hca "}],"                                      \
	    "\"port\":[{\"name\":\"ib0\",\"kind\":\"ipoib\",\"device\":\"" device "\"}]")
#define IBROUTE(mode, prefix, more)                                                          \
	TOP("\"hca\":[{\"name\":\"hca0\",\"carrier\":\"ethernet:a\",\"lid\":3,\"sm-lid\":1," \
	    "\"guid\":\"0x0000000000100004\"}],"                                             \
	    "\"port\":[{\"name\":\"ib0\",\"kind\":\"ipoib\",\"device\":\"ib:hca0.8001\","    \
	    "\"ipoib\":{\"mode\":\"" mode "\"}}],"                                           \
	    "\"route\":[{\"prefix\":\"" prefix "\",\"port\":\"ib0\"" more "}]")
#define ROUTE(body)  TOP(PORTS ",\"route\":[{" body "}]")
#define NPI(body)    TOP("\"ub2e\":{\"npi\":{" body "}}")
#define DAEMON(body) TOP("\"daemon\":{" body "}")

#define P          "/causeway:causeway/port[name='eth0']"
#define UP         "/causeway:causeway/port[name='ub0']"
#define IP_        "/causeway:causeway/port[name='ib0']"
#define R4         "/causeway:causeway/route[prefix='10.0.0.0/8']"
#define N          "/causeway:causeway/ub2e/npi"
#define D          "/causeway:causeway/daemon"
#define I          "/causeway:causeway/pnc/isis"
#define ISIS(body) TOP("\"pnc\":{\"isis\":{" body "}}")
#define LEAF(more) ISIS("\"enabled\":true,\"interface\":\"e\",\"area\":\"49.0001\"" more)

#define POINT(body) PORT("\"role\":\"congestion-point\",\"congestion-point\":{" body "}")
#define FAST(body)  TOP(PORTS ",\"fast-cnp\":{" body "}")
#define CP          P "/congestion-point"
#define F           "/causeway:causeway/fast-cnp"

static const struct bad {
	const char *json, *path, *value, *reason;
} bads[] = {
	/* the text itself */
	{"", "", "", "line 1, column 0: '[' or '{' expected near end of file"},
	{"[]", "", "", "the file is not one JSON object"},
	{"{\n \"a\": 1,\n}", "", "", "line 3, column 1: string or '}' expected near '}'"},
	{"{\"a\":1,\"a\":2}", "", "", "line 1, column 10: duplicate object key near '\"a\"'"},
	{"{\"causeway\":{}}", "/causeway", "",
	 "the only member at the top is \"causeway:causeway\""},
	{"{\"causeway:causeway\":3}", "/causeway:causeway", "3", "an object is expected here"},
	/* names */
	{TOP("\"prot\":[]"), "/causeway:causeway/prot", "[]",
	 "there is no such setting in 'causeway'; did you mean 'port'?"},
	{TOP("\"ub2e\":{\"icrc\":{\"regenerate\":true}}"),
	 "/causeway:causeway/ub2e/icrc/regenerate", "true", "there is no such setting in 'icrc'"},
	{PORT("\"mut\":1500"), P "/mut", "1500",
	 "there is no such setting in 'port'; did you mean 'mtu'?"},
	{PORT("\"mtu\":1500,\"causeway:mtu\":1500"), P "/mtu", "1500", "is given twice"},
	{TOP("\"pnc\":{\"bmp\":{\"enabled\":true}}"), "/causeway:causeway/pnc/bmp/router", "",
	 "no router may connect"},
	/* the IS-IS leaf */
	{ISIS("\"enabled\":true"), I "/interface", "", "an IS-IS leaf needs it"},
	{LEAF(""), I "/system-id", "", "an IS-IS leaf needs it"},
	{LEAF(",\"system-id\":\"0000.0000.1\""), I "/system-id", "0000.0000.1",
	 "not a system ID like 0000.0000.0001"},
	{ISIS("\"area\":\"49.1\""), I "/area", "49.1", "not an area address like 49.0001"},
	{LEAF(",\"system-id\":\"0000.0000.0001\",\"refresh\":1200"), I "/refresh", "1200",
	 "not less than the lifetime, 1200"},
	/* types and ranges */
	{PORT("\"mtu\":70000"), P "/mtu", "70000", "value out of range 68..9216"},
	{PORT("\"mtu\":67"), P "/mtu", "67", "value out of range 68..9216"},
	{PORT("\"mtu\":-1"), P "/mtu", "-1", "value out of range 68..9216"},
	{PORT("\"mtu\":1500.5"), P "/mtu", "1500.5", "not an integer"},
	{PORT("\"mtu\":\"1500\""), P "/mtu", "1500", "a number is expected here"},
	{PORT("\"promiscuous\":\"yes\""), P "/promiscuous", "yes",
	 "true or false is expected here"},
	{PORT("\"tpid\":\"0x8101\""), P "/tpid", "0x8101", "not one of 0x8100, 0x88a8, 0x9100"},
	{PORT("\"tpid\":33024"), P "/tpid", "33024", "a string is expected here"},
	{PORT("\"outer-vid\":4095"), P "/outer-vid", "4095", "value out of range 0..4094"},
	{PORT("\"npi-filter\":[7,0]"), P "/npi-filter[.='0']", "0",
	 "value out of range 1..16777215"},
	{PORT("\"npi-filter\":[7,7]"), P "/npi-filter[.='7']", "7", "is listed twice"},
	{PORT("\"npi-filter\":7"), P "/npi-filter", "7", "an array is expected here"},
	{UBPORT("\"peer-mac\":\"02:00\""), UP "/peer-mac", "02:00",
	 "not a MAC address, such as 02:00:00:00:00:01"},
	{TOP("\"port\":[3]"), "/causeway:causeway/port[1]", "3", "an object is expected here"},
	{TOP("\"port\":[" UB0 ",{\"kind\":\"ub\"}]"), "/causeway:causeway/port[2]/name", "",
	 "is required, and missing"},
	{TOP("\"port\":[{\"name\":\"a b\"}]"), "/causeway:causeway/port[1]/name", "a b",
	 "not a port name: letters, digits, '_', '.' and '-' only"},
	{TOP("\"port\":[{\"name\":\"ub0\"}]"), UP "/kind", "", "is required, and missing"},
	{TOP("\"port\":[{\"name\":\"ub0\",\"kind\":\"ub\"}]"), UP "/device", "",
	 "is required, and missing"},
	{TOP("\"port\":[{\"name\":\"ub0\",\"kind\":\"ub\",\"device\":\"eth0\"}]"), UP "/device",
	 "eth0", "neither packet:IFNAME, dpdk:DEVARGS, pcap:rx=FILE,tx=FILE nor ib:HCA.PKEY"},
	{TOP("\"port\":[" UB0 "," UB0 "]"), UP, "", "is listed twice"},
	{DAEMON("\"control-socket\":\"run.sock\""), D "/control-socket", "run.sock",
	 "not an absolute path"},
	{DAEMON("\"workers\":0"), D "/workers", "0", "value out of range 1..64"},
	{DAEMON("\"metrics\":\"9797\""), D "/metrics", "9797",
	 "neither ADDRESS:PORT, [IPV6]:PORT nor unix:/PATH"},
	{DAEMON("\"metrics\":\"127.0.0.1:70000\""), D "/metrics", "127.0.0.1:70000",
	 "port out of range 1..65535"},
	{DAEMON("\"metrics\":\"127.0.0.999:70\""), D "/metrics", "127.0.0.999:70",
	 "not an IP address"},
	{DAEMON("\"metrics\":\"127.1:70\""), D "/metrics", "127.1:70", "not an IP address"},
	{DAEMON("\"metrics\":\"0.0.0.0:9797\""), D "/metrics", "0.0.0.0:9797",
	 "not a loopback address, and metrics-allow-remote is false"},
	{DAEMON("\"metrics\":\"[::]:9797\""), D "/metrics", "[::]:9797",
	 "not a loopback address, and metrics-allow-remote is false"},
	/* what a kind of port doesn't have */
	{UBPORT("\"vlan-strip\":true"), UP "/vlan-strip", "true",
	 "allowed only when ../kind = 'ethernet'"},
	{UBPORT("\"tpid\":\"0x8100\""), UP "/tpid", "0x8100",
	 "allowed only when ../kind = 'ethernet'"},
	{PORT("\"peer-mac\":\"02:00:00:00:00:01\""), P "/peer-mac", "02:00:00:00:00:01",
	 "allowed only when ../kind = 'ub'"},
	{UBPORT("\"address\":[{\"address\":\"10.0.0.1/24\"}]"),
	 UP "/address[address='10.0.0.1/24']", "", "allowed only when ../kind != 'ub'"},
	/* IPoIB */
	{IBPORT("packet:a", ""), IP_ "/device", "packet:a",
	 "an IPoIB port's device is ib:HCA.PKEY, such as ib:hca0.8001"},
	{IBPORT("ib:hca0.801", ""), IP_ "/device", "ib:hca0.801",
	 "an IPoIB port's device is ib:HCA.PKEY, such as ib:hca0.8001"},
	{IBPORT("ib:.8001", ""), IP_ "/device", "ib:.8001",
	 "an IPoIB port's device is ib:HCA.PKEY, such as ib:hca0.8001"},
	{IBPORT("ib:hca1.8001", ""), IP_ "/device", "ib:hca1.8001", "there is no hca 'hca1'"},
	{IBPORT("ib:hca0.0001", ""), IP_ "/device", "ib:hca0.0001",
	 "the P_Key's full bit must be set: a limited member can't use the broadcast group "
	 "(RFC 4391 5)"},
	{TOP("\"port\":[{\"name\":\"ub0\",\"kind\":\"ub\",\"device\":\"ib:hca0.8001\"}]"),
	 UP "/device", "ib:hca0.8001", "only IPoIB ports have such a device"},
	{IBROUTE("host", "192.0.2.0/24", ""),
	 "/causeway:causeway/route[prefix='192.0.2.0/24']/port", "ib0",
	 "is an IPoIB port in host mode: the kernel routes there"},
	{IBROUTE("router", "192.0.2.0/24", ",\"mac\":\"02:00:00:00:00:01\""),
	 "/causeway:causeway/route[prefix='192.0.2.0/24']/mac", "02:00:00:00:00:01",
	 "the route's port is an IPoIB port, which resolves always"},
	{IBPORT("ib:hca0.8001", ",\"sa\":\"built-in\""),
	 "/causeway:causeway/hca[name='hca0']/sm-lid", "1",
	 "the built-in subnet administration is at this hca's lid, 3"},
	{IBPORT("ib:hca0.8001", ",\"sa\":\"ibsim\""), "/causeway:causeway/hca[name='hca0']", "",
	 "needs a sa-device"},
	{IBPORT("ib:hca0.8001", ",\"sa\":\"umad\""), "/causeway:causeway/hca[name='hca0']", "",
	 "needs a sa-device"},
	{IBPORT("ib:hca0.8001", ",\"subnet-prefix\":\"100\""),
	 "/causeway:causeway/hca[name='hca0']/subnet-prefix", "100",
	 "not a subnet prefix: 0x and 16 hexadecimal digits"},
	/* ports */
	{TOP("\"port\":[" UB0
	     ",{\"name\":\"eth0\",\"kind\":\"ethernet\",\"device\":\"packet:a\"}]"),
	 P "/device", "packet:a", "port 'ub0' has the same device"},
	{PORT("\"address\":[{\"address\":\"10.0.0.1/33\"}]"),
	 P "/address[address='10.0.0.1/33']/address", "10.0.0.1/33",
	 "not an IP address with a prefix length, such as 192.0.2.1/24"},
	{PORT("\"address\":[{\"address\":\"10.0.0.1\"}]"), P "/address[1]/address", "10.0.0.1",
	 "not an IP address with a prefix length, such as 192.0.2.1/24"},
	{PORT("\"address\":[{\"address\":\"224.0.0.1/24\"}]"), P "/address[address='224.0.0.1/24']",
	 "224.0.0.1/24", "is a multicast address"},
	{PORT("\"address\":[{\"address\":\"::/64\"}]"), P "/address[address='::/64']", "::/64",
	 "is the unspecified address"},
	{PORT("\"address\":[{\"address\":\"10.0.0.1/24\"},{\"address\":\"10.0.0.1/16\"}]"),
	 P "/address[address='10.0.0.1/16']", "10.0.0.1/16", "port 'eth0' has the same address"},
	/* routes */
	{ROUTE("\"prefix\":\"10.0.0.0/33\",\"port\":\"eth0\""),
	 "/causeway:causeway/route[1]/prefix", "10.0.0.0/33",
	 "not an IPv4 or IPv6 prefix, such as 192.0.2.0/24"},
	{ROUTE("\"prefix\":\"10.0.0.0/8\",\"port\":\"eth9\""), R4 "/port", "eth9",
	 "refers to no existing /causeway/port/name"},
	{ROUTE("\"prefix\":\"10.0.0.0/8\""), R4 "/port", "", "is required, and missing"},
	{ROUTE("\"prefix\":\"10.0.0.0/8\",\"port\":\"eth0\"},{\"prefix\":\"10.1.0.0/8\",\"port\":"
	       "\"ub0\""),
	 "/causeway:causeway/route[prefix='10.1.0.0/8']", "", "is listed twice"},
	{ROUTE("\"prefix\":\"10.0.0.0/8\",\"port\":\"eth0\",\"next-hop\":\"fd00::1\""),
	 R4 "/next-hop", "fd00::1", "is not of the prefix's address family"},
	{ROUTE("\"prefix\":\"10.0.0.0/8\",\"port\":\"ub0\",\"next-hop\":\"10.0.0.1\""),
	 R4 "/next-hop", "10.0.0.1", "the route's port is a UB port, which has no next hops"},
	{ROUTE("\"prefix\":\"10.0.0.0/8\",\"port\":\"ub0\",\"mac\":\"02:00:00:00:00:01\""),
	 R4 "/mac", "02:00:00:00:00:01",
	 "the route's port is a UB port, which has a peer-mac instead"},
	{ROUTE("\"prefix\":\"10.0.0.0/8\",\"port\":\"eth0\",\"mac\":\"03:00:00:00:00:01\""),
	 R4 "/mac", "03:00:00:00:00:01", "is a group address"},
	{ROUTE("\"prefix\":\"10.0.0.0/8\",\"port\":\"eth0\",\"next-hop\":\"127.0.0.1\""),
	 R4 "/next-hop", "127.0.0.1", "is a loopback address"},
	{ROUTE("\"prefix\":\"10.0.0.0/8\",\"port\":\"eth0\",\"next-hop\":\"ten\""), R4 "/next-hop",
	 "ten", "not an IPv4 or IPv6 address"},
	{TOP("\"port\":[" ETH(
		 ",\"address\":[{\"address\":\"10.0.0.1/24\"}]") "],\"route\":[{"
								 "\"prefix\":\"10.0.0.0/"
								 "8\",\"port\":\"eth0\",\"next-"
								 "hop\":\"10.0.0.1\"}]"),
	 R4 "/next-hop", "10.0.0.1", "is an address of the gateway itself"},
	/* neighbours */
	{TOP(PORTS ",\"neighbour\":[{\"port\":\"ub0\",\"ip\":\"10.0.0.1\",\"vid\":0,\"mac\":"
		   "\"02:00:00:00:00:01\"}]"),
	 "/causeway:causeway/neighbour[port='ub0'][ip='10.0.0.1'][vid='0']/port", "ub0",
	 "is a UB port, which has no neighbours"},
	{TOP(PORTS ",\"neighbour\":[{\"port\":\"eth0\",\"ip\":\"10.0.0.1\",\"vid\":5,\"mac\":"
		   "\"00:00:00:00:00:00\"}]"),
	 "/causeway:causeway/neighbour[port='eth0'][ip='10.0.0.1'][vid='5']/mac",
	 "00:00:00:00:00:00", "is the null address"},
	/* conversion rules */
	{TOP("\"ub2e\":{\"udp\":{\"port\":0}}"), "/causeway:causeway/ub2e/udp/port", "0",
	 "value out of range 1..65535"},
	{TOP("\"ub2e\":{\"udp\":{\"pin\":[{\"prefix\":\"10.0.0.0/8\",\"family\":\"uec\"}]}}"),
	 "/causeway:causeway/ub2e/udp/pin[prefix='10.0.0.0/8']/family", "uec",
	 "not one of ub, uet"},
	{TOP("\"ub2e\":{\"icrc\":{\"order\":\"big\"}}"), "/causeway:causeway/ub2e/icrc/order",
	 "big", "not one of little-endian, big-endian"},
	{TOP("\"ub2e\":{\"ip\":{\"dscp-to-ub\":[{\"from\":64,\"to\":0}]}}"),
	 "/causeway:causeway/ub2e/ip/dscp-to-ub[1]/from", "64", "value out of range 0..63"},
	{TOP("\"ub2e\":{\"ip\":{\"dscp-to-ub\":[{\"from\":6}]}}"),
	 "/causeway:causeway/ub2e/ip/dscp-to-ub[from='6']/to", "", "is required, and missing"},
	{TOP("\"ub2e\":{\"ecn\":{\"strict\":true,\"light\":\"ce\"}}"),
	 "/causeway:causeway/ub2e/ecn/light", "ce", "allowed only when ../strict = 'false'"},
	{NPI("\"map\":[{\"id\":0,\"vid\":5}]"), N "/map[1]/id", "0",
	 "value out of range 1..16777215"},
	{NPI("\"map\":[{\"id\":7,\"vid\":4095}]"), N "/map[id='7']/vid", "4095",
	 "value out of range 1..4094"},
	{NPI("\"map\":[{\"id\":7,\"vid\":9,\"vid-low\":8}]"), N "/map[id='7']/vid-low", "8",
	 "allowed only when ../../mode = 'enhanced'"},
	{NPI("\"mode\":\"enhanced\",\"map\":[{\"id\":7,\"vid\":9}]"), N "/map[id='7']", "",
	 "enhanced mode needs vid-low too, the VLAN of low-privilege packets"},
	{NPI("\"mode\":\"enhanced\",\"map\":[{\"id\":7,\"vid\":9,\"vid-low\":9}]"),
	 N "/map[id='7']", "", "vid and vid-low are the same VLAN"},
	/* errors by ICMP */
	{TOP("\"icmp\":{\"source-address\":[\"224.0.0.1\"]}"),
	 "/causeway:causeway/icmp/source-address[.='224.0.0.1']", "224.0.0.1",
	 "is a multicast address"},
	{TOP("\"icmp\":{\"source-address\":[\"192.0.2.1\",\"192.0.2.2\"]}"),
	 "/causeway:causeway/icmp/source-address[.='192.0.2.2']", "192.0.2.2",
	 "there is another one of this address family"},
	{TOP("\"icmp\":{\"rate\":0}"), "/causeway:causeway/icmp/rate", "0",
	 "value out of range 1..100000"},
	/* collisions (draft 5.3) */
	{NPI("\"map\":[{\"id\":7,\"vid\":9},{\"id\":8,\"vid\":9}]"), N "/map[id='8']/vid", "9",
	 "VLAN 9 is given to partition 0x000007 and to partition 0x000008"},
	{NPI("\"partition\":[4097,1]"), N "/partition[.='4097']", "4097",
	 "partition 0x000001 and partition 0x001001 share VLAN 1 when cut to 12 bits "
	 "(draft-li-uboe-00 5.3); give one of them a VLAN in ub2e/npi/map"},
	{TOP("\"port\":[" ETH(",\"npi-filter\":[8192]") "]"), P "/npi-filter[.='8192']", "8192",
	 "the low 12 bits of partition 0x002000 give VLAN 0, which can't be used; give it a VLAN "
	 "in "
	 "ub2e/npi/map"},
	/* congestion points and the proxy */
	{TOP("\"port\":[{\"name\":\"ib0\",\"kind\":\"ipoib\",\"device\":\"ib:hca0.8001\","
	     "\"role\":\"congestion-point\"}]"),
	 IP_ "/role", "congestion-point", "allowed only when ../kind != 'ipoib'"},
	{PORT("\"congestion-point\":{\"rate\":1000}"), P "/congestion-point", "",
	 "allowed only when ../role = 'congestion-point'"},
	{POINT("\"rate\":0"), CP "/rate", "0", "value out of range 1..4000000000"},
	{POINT("\"ecn\":{\"min\":9000,\"max\":8000}"), CP "/ecn/min", "9000", "is above ecn/max"},
	{POINT("\"buffer\":100000"), CP "/detection/depth", "204800",
	 "is above the queue's buffer"},
	{POINT("\"message\":{\"option\":\"option-3\"}"), CP "/message/option", "option-3",
	 "not one of none, option-1, option-2, node"},
	{POINT("\"message\":{\"source\":[\"10.0.0.1\",\"10.0.0.2\"]}"),
	 CP "/message/source[.='10.0.0.2']", "10.0.0.2",
	 "there is another one of this address family"},
	{POINT("\"message\":{\"nrp-rule\":[{\"match\":\"dscp\",\"value\":64,\"nrp\":1}]}"),
	 CP "/message/nrp-rule[match='dscp'][value='64']/value", "64", "value out of range 0..63"},
	{POINT("\"message\":{\"nrp-rule\":[{\"match\":\"vlan\",\"value\":0,\"nrp\":1}]}"),
	 CP "/message/nrp-rule[match='vlan'][value='0']/value", "0", "value out of range 1..4094"},
	{POINT("\"message\":{\"nrp-rule\":[{\"match\":\"any\",\"value\":1,\"nrp\":1}]}"),
	 CP "/message/nrp-rule[match='any'][value='1']/value", "1", "is 0 where every packet fits"},
	{FAST("\"udp\":{\"option-2\":49791}"), F "/udp/option-2", "49791",
	 "is the port of option 1 too: they could not be told apart"},
	{FAST("\"proxy\":{\"enabled\":true}"), F "/proxy/enabled", "true",
	 "no interface is listed that messages are taken from"},
	{FAST("\"proxy\":{\"interface\":[\"ub0\"]}"), F "/proxy/interface[.='ub0']", "ub0",
	 "is a UB port"},
	{FAST("\"border\":[\"eth9\"]"), F "/border[.='eth9']", "eth9",
	 "refers to no existing /causeway/port/name"},
	{FAST("\"udp\":{\"option-2\":4793}"), F "/udp/option-2", "4793",
	 "is the port of a transport"},
	{FAST("\"nrp\":[{\"selector\":5,\"source-tpn\":3}]"), F "/nrp[selector='5']/source-tpn",
	 "3", "source-tpn needs a destination-tpn"},
	{FAST("\"nrp\":[{\"selector\":5,\"destination-tpn\":3}]"),
	 F "/nrp[selector='5']/destination-tpn", "3", "destination-tpn needs a source-tpn"},
	{FAST("\"vpn\":[{\"id\":5,\"port\":\"ub0\"}]"), F "/vpn[id='5']/port", "ub0",
	 "is a UB port"},
	{FAST("\"vpn\":[{\"id\":5,\"port\":\"eth0\",\"next-hop\":\"224.0.0.1\"}]"),
	 F "/vpn[id='5']/next-hop", "224.0.0.1", "is a multicast address"},
	{FAST("\"qpmap\":{\"static\":[{\"sender\":\"10.0.0.2\",\"receiver\":\"2001:db8::1\","
	      "\"destination-qp\":7,\"source-qp\":8}]}"),
	 F "/qpmap/static[sender='10.0.0.2'][receiver='2001:db8::1'][destination-qp='7']/receiver",
	 "2001:db8::1", "is not of the sender's address family"},
	{FAST("\"qpmap\":{\"static\":[{\"sender\":\"224.0.0.2\",\"receiver\":\"10.0.0.3\","
	      "\"destination-qp\":7,\"source-qp\":8}]}"),
	 F "/qpmap/static[sender='224.0.0.2'][receiver='10.0.0.3'][destination-qp='7']/sender",
	 "224.0.0.2", "is a multicast address"},
};

static void bad_configurations_are_refused_with_path_value_reason(void **state)
{
	struct cw_config *c;
	struct cw_diag d;
	size_t i;

	for (i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
		char *json = (char *)exact_copy(bads[i].json, strlen(bads[i].json));

		memset(&d, 0, sizeof(d));
		c = (struct cw_config *)&d; /* untouched on failure */
		if (cw_config_parse(&c, json, strlen(bads[i].json), &d) == CW_OK)
			fail_msg("accepted: %s", bads[i].json);
		assert_ptr_equal(c, &d);
		assert_string_equal(d.path, bads[i].path);
		assert_string_equal(d.value, bads[i].value);
		assert_string_equal(d.reason, bads[i].reason);
		free(json);
	}
}

static struct cw_config *parse(const char *json)
{
	struct cw_config *c = NULL;
	struct cw_diag d;
	char text[640];

	if (cw_config_parse(&c, json, strlen(json), &d) != CW_OK)
		fail_msg("%s", cw_config_diag_text(&d, text, sizeof(text)));
	return c;
}

static void an_empty_file_gives_the_drafts_defaults(void **state)
{
	struct cw_config *c;
	unsigned i;

	assert_int_equal(cw_config_default(&c), CW_OK);
	assert_int_equal(c->workers, 1);
	assert_int_equal(c->idle_sleep_us, 50);
	assert_int_equal(c->mbufs, 16384);
	assert_string_equal(c->control_socket, "/run/causeway/control.sock");
	assert_string_equal(c->metrics, "");
	assert_false(c->metrics_allow_remote);
	assert_string_equal(c->log_level, "info");
	assert_string_equal(c->drop_capture, "");
	assert_int_equal(c->nports + c->nroutes + c->nneighbours + c->npartitions, 0);
	assert_int_equal(c->ub2e.udp_port, 4792);
	assert_true(c->ub2e.udp_verify && c->ub2e.ttl_decrement && c->ub2e.plain_ip);
	assert_int_equal(c->ub2e.icrc_check_ub, CW_ICRC_CHECK_OFF);
	assert_int_equal(c->ub2e.icrc_check_eth, CW_ICRC_CHECK_OFF);
	assert_int_equal(c->ub2e.rt, 2);
	assert_int_equal(c->ub2e.cci_policy, CW_CCI_NOT_ECT);
	assert_true(c->ub2e.light_to_ce);
	assert_int_equal(c->ub2e.ect, 2);
	assert_int_equal(c->ub2e.ce_to_fecn, 3);
	assert_int_equal(c->ub2e.npi_mode, CW_NPI_LOW12);
	assert_int_equal(c->ub2e.untagged_npi, 1);
	for (i = 0; i < 64; i++) {
		assert_int_equal(c->ub2e.dscp_in[i], i);
		assert_int_equal(c->ub2e.dscp_out[i], i);
		assert_int_equal(c->ub2e.vl[i] + c->ub2e.pcp[i], 0);
	}
	cw_config_free(c);
}

static void the_schemas_defaults_are_the_librarys(void **state)
{
	struct cw_ub2e_settings want;
	struct cw_config *c;

	memset(&want, 0, sizeof(want)); /* the padding too: both are compared as octets */
	cw_ub2e_settings_init(&want);
	assert_int_equal(cw_config_default(&c), CW_OK);
	assert_memory_equal(&c->ub2e, &want, sizeof(want));
	cw_config_free(c);
}

/* Section 6 of the draft: nothing of it is on, and its defaults are the library's. */
static void congestion_notification_is_off(void **state)
{
	struct cw_relay_settings relay;
	struct cw_point_settings point;
	struct cw_qpmap_opts map;
	struct cw_config *c;
	const struct cw_fast_cnp_config *f;
	static const char json[] = POINT("");

	assert_int_equal(cw_config_parse(&c, json, sizeof(json) - 1, NULL), CW_OK);
	f = &c->fast_cnp;
	assert_false(c->between_ethernet || f->relay.enabled);
	assert_int_equal(f->border | f->interfaces, 0);
	cw_relay_settings_init(&relay);
	cw_qpmap_opts_init(&map);
	cw_point_settings_init(&point);
	assert_int_equal(point.option, 0);
	assert_memory_equal(&f->map, &map, sizeof(map));
#define SAME(a, b, member) assert_int_equal((a).member, (b).member)
	SAME(f->relay, relay, port1);
	SAME(f->relay, relay, port2);
	SAME(f->relay, relay, bts_default);
	SAME(f->relay, relay, bts_dscp);
	SAME(f->relay, relay, cnp_dscp);
	SAME(f->relay, relay, cnp_ecn);
	SAME(f->relay, relay, coalesce_ns);
	SAME(f->relay, relay, total_rate);
	SAME(f->relay, relay, source_rate);
	SAME(f->relay, relay, flow_ns);
	SAME(c->ports[0].point.s, point, rate);
	SAME(c->ports[0].point.s, point, limit);
	SAME(c->ports[0].point.s, point, ecn_min);
	SAME(c->ports[0].point.s, point, ecn_max);
	SAME(c->ports[0].point.s, point, ecn_percent);
	SAME(c->ports[0].point.s, point, detect_depth);
	SAME(c->ports[0].point.s, point, detect_ns);
	SAME(c->ports[0].point.s, point, option);
	SAME(c->ports[0].point.s, point, dscp);
	SAME(c->ports[0].point.s, point, flow_ns);
	SAME(c->ports[0].point.s, point, flows);
	SAME(c->ports[0].point.s, point, total_rate);
#undef SAME
	cw_config_free(c);
}

/* Section 4 of the draft: the option is a port's own, or else the node's. */
static void s4_option_of_port_or_node(void **state)
{
	static const struct {
		const char *node, *port;
		unsigned option;
	} want[] = {
		{"none", "node", 0},     {"none", "option-1", 1},     {"option-2", "node", 2},
		{"option-2", "none", 0}, {"option-2", "option-1", 1}, {"option-1", "option-2", 2},
	};
	char json[400];
	unsigned i;
	int n;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct cw_config *c;

		n = snprintf(
			json, sizeof(json),
			"{\"causeway:causeway\":{\"fast-cnp\":{\"message-option\":\"%s\"},"
			"\"port\":[{\"name\":\"e\",\"kind\":\"ethernet\",\"device\":\"packet:e\","
			"\"role\":\"congestion-point\",\"congestion-point\":"
			"{\"message\":{\"option\":\"%s\"}}}]}}",
			want[i].node, want[i].port);
		assert_int_equal(cw_config_parse(&c, json, (size_t)n, NULL), CW_OK);
		assert_int_equal(c->ports[0].point.s.option, want[i].option);
		cw_config_free(c);
	}
}

static void ports_routes_and_neighbours_are_read(void **state)
{
	struct cw_config *c = parse(TOP(
		"\"neighbour\":[{\"port\":\"eth0\",\"ip\":\"fd00::9\",\"vid\":7,"
		"\"mac\":\"02:aB:cd:ef:01:02\"}],"
		"\"route\":[{\"prefix\":\"10.1.2.3/9\",\"port\":\"ub0\"},"
		"{\"prefix\":\"fd00::/48\",\"port\":\"eth0\",\"next-hop\":\"fd00::2\","
		"\"mac\":\"02:11:22:33:44:55\"}],"
		"\"port\":[" UB0 "," ETH(",\"mtu\":1500,\"outer-vid\":9,\"tpid\":\"0x88a8\","
					 "\"vlan-strip\":true,"
					 "\"npi-filter\":[9,7,8],\"address\":["
					 "{\"address\":\"10.0.0.1/24\",\"vid\":3},"
					 "{\"address\":\"fd00::1/64\"}]") "],"
									  "\"ub2e\":{\"npi\":{"
									  "\"partition\":[8,1]}}"));
	const struct cw_port_config *p = &c->ports[1];

	assert_int_equal(c->nports, 2);
	assert_int_equal(c->ports[0].kind, CW_PORT_UB);
	assert_memory_equal(c->ports[0].peer_mac, "\xff\xff\xff\xff\xff\xff", 6);
	assert_string_equal(p->name, "eth0");
	assert_string_equal(p->device, "packet:b");
	assert_int_equal(p->kind, CW_PORT_ETHERNET);
	assert_int_equal(p->mtu, 1500);
	assert_int_equal(p->tpid, 0x88a8);
	assert_int_equal(p->outer_vid, 9);
	assert_true(p->vlan_strip);
	assert_false(c->ports[0].vlan_strip);
	assert_int_equal(p->nnpi_filter, 3);
	assert_int_equal(p->npi_filter[0] * 100 + p->npi_filter[1] * 10 + p->npi_filter[2], 789);
	assert_int_equal(p->naddr, 2);
	assert_memory_equal(p->addr[0].a, "\x0a\x00\x00\x01", 4);
	assert_int_equal(p->addr[0].plen, 24);
	assert_int_equal(p->addr_vid[0], 3);
	assert_int_equal(p->addr[1].version * 1000 + p->addr[1].plen, 6064);
	assert_int_equal(c->npartitions, 4);
	assert_int_equal(c->partitions[0] * 1000 + c->partitions[1] * 100 + c->partitions[2] * 10 +
				 c->partitions[3],
			 1789);
	assert_int_equal(c->nroutes, 2);
	assert_memory_equal(c->routes[0].prefix.a, "\x0a\x00\x00\x00",
			    4); /* host bits are masked */
	assert_int_equal(c->routes[0].prefix.plen, 9);
	assert_false(c->routes[0].has_next_hop || c->routes[0].has_mac);
	assert_int_equal(c->routes[1].port, 1);
	assert_true(c->routes[1].has_next_hop && c->routes[1].has_mac);
	assert_memory_equal(c->routes[1].mac, "\x02\x11\x22\x33\x44\x55", 6);
	assert_int_equal(c->routes[1].next_hop.a[15], 2);
	assert_int_equal(c->neighbours[0].vid, 7);
	assert_memory_equal(c->neighbours[0].mac, "\x02\xab\xcd\xef\x01\x02", 6);
	cw_config_free(c);
}

static void the_longest_prefix_is_the_route(void **state)
{
	struct cw_config *c =
		parse(TOP(PORTS ",\"route\":["
				"{\"prefix\":\"0.0.0.0/0\",\"port\":\"ub0\"},"
				"{\"prefix\":\"10.128.0.0/9\",\"port\":\"eth0\"},"
				"{\"prefix\":\"10.0.0.0/8\",\"port\":\"ub0\"},"
				"{\"prefix\":\"fd00::8/125\",\"port\":\"eth0\"},"
				"{\"prefix\":\"::/1\",\"port\":\"eth0\"},"
				"{\"prefix\":\"::ffff:10.0.0.0/104\",\"port\":\"ub0\"}]"));
	uint8_t six[16] = {0xfd, [15] = 0x0f}, mapped[16] = {[10] = 0xff, 0xff, 10};
	struct cw_lpm *t = NULL;

	assert_int_equal(cw_config_route_table(&t, c), CW_OK);
	assert_ptr_equal(cw_config_route(c, t, 4, (const uint8_t *)"\x0a\x80\x00\x01"),
			 &c->routes[1]);
	assert_ptr_equal(cw_config_route(c, t, 4, (const uint8_t *)"\x0a\x7f\x00\x01"),
			 &c->routes[2]);
	assert_ptr_equal(cw_config_route(c, t, 4, (const uint8_t *)"\x0b\x80\x00\x01"),
			 &c->routes[0]);
	assert_ptr_equal(cw_config_route(c, t, 6, six), &c->routes[3]);
	six[15] = 0x10;
	assert_null(cw_config_route(c, t, 6, six));
	assert_ptr_equal(cw_config_route(c, t, 6, mapped), &c->routes[5]);
	mapped[12] = 11;
	assert_ptr_equal(cw_config_route(c, t, 6, mapped), &c->routes[4]);
	cw_lpm_free(t);
	cw_config_free(c);
}

/* `n` Ethernet ports, the first `dpdk` of them by DPDK. */
static int parse_ports(unsigned n, unsigned dpdk, struct cw_diag *d)
{
	size_t len = 0, size = 64 + 96 * (size_t)n;
	char *json = malloc(size);
	struct cw_config *c = NULL;
	unsigned i;
	int err;

	len += (size_t)snprintf(json, size, "{\"causeway:causeway\":{\"port\":[");
	for (i = 0; i < n; i++)
		len += (size_t)snprintf(
			json + len, size - len,
			"%s{\"name\":\"e%u\",\"kind\":\"ethernet\",\"device\":\"%s%u\"}",
			i > 0 ? "," : "", i, i < dpdk ? "pcap:tx=" : "packet:x", i);
	len += (size_t)snprintf(json + len, size - len, "]}}");
	err = cw_config_parse(&c, json, len, d);
	free(json);
	cw_config_free(c);
	return err;
}

static void s3_ports_up_to_the_limits(void **state)
{
	struct cw_diag d = {0};

	assert_int_equal(parse_ports(64, 32, &d), CW_OK);
	assert_int_equal(parse_ports(65, 0, &d), CW_E_RANGE);
	assert_string_equal(d.path, "/causeway:causeway/port");
	assert_string_equal(d.reason, "has 65 entries; at most 64 are possible");
	assert_int_equal(parse_ports(33, 33, &d), CW_E_RANGE);
	assert_string_equal(d.path, "/causeway:causeway/port[name='e32']/device");
	assert_string_equal(d.value, "pcap:tx=32");
	assert_string_equal(d.reason, "DPDK takes 32 devices at most");
}

static void s5_3_a_filter_of_many_partitions(void **state)
{
	enum { MANY = 10000 };
	static char json[256 + 8 * MANY];
	int len = sprintf(json, "{\"causeway:causeway\":{\"ub2e\":{\"npi\":{\"mode\":\"table\"}},"
				"\"port\":[{\"name\":\"ub0\",\"kind\":\"ub\","
				"\"device\":\"packet:ub0\",\"npi-filter\":[1");
	struct cw_config *c;
	unsigned i;

	(void)state;
	for (i = 2; i <= MANY; i++)
		len += sprintf(json + len, ",%u", i);
	len += sprintf(json + len, "]}]}}");
	assert_int_equal(cw_config_parse(&c, json, (size_t)len, NULL), CW_OK);
	assert_int_equal(c->ports[0].nnpi_filter, MANY);
	for (i = 0; i < MANY; i++)
		assert_int_equal(c->ports[0].npi_filter[i], i + 1);
	cw_config_free(c);
}

static void the_effective_configuration_gives_itself(void **state)
{
	struct cw_config *a =
		parse(TOP(PORTS ",\"ub2e\":{\"rt\":{\"to-ub\":\"per-packet-shortest\"}}"));
	struct cw_config *b = parse(cw_config_json(a));

	assert_string_equal(cw_config_json(a), cw_config_json(b));
	assert_non_null(strstr(cw_config_json(a), "\"to-ub\": \"per-packet-shortest\""));
	assert_non_null(strstr(cw_config_json(a), "\"verify-checksum\": true"));
	cw_config_free(a);
	cw_config_free(b);
}

static void files_that_cannot_be_read_say_so(void **state)
{
	struct cw_config *c;
	struct cw_diag d;

	assert_int_equal(cw_config_load(&c, "/nonexistent/file", &d), CW_E_IO);
	assert_string_equal(d.reason, "No such file or directory");
	assert_int_equal(cw_config_load(&c, "/", &d), CW_E_IO);
	assert_string_equal(d.reason, "Is a directory");
}

static void a_truncated_configuration_never_passes(void **state)
{
	static const char json[] =
		TOP(PORTS ",\"route\":[{\"prefix\":\"0.0.0.0/0\",\"port\":\"ub0\"}]");
	struct cw_config *c;
	size_t n;

	for (n = 0; n < sizeof(json) - 1; n++) {
		char *cut = (char *)exact_copy(json, n);

		assert_int_equal(cw_config_parse(&c, cut, n, NULL), CW_E_SYNTAX);
		free(cut);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_configurations_are_refused_with_path_value_reason),
		cmocka_unit_test(an_empty_file_gives_the_drafts_defaults),
		cmocka_unit_test(the_schemas_defaults_are_the_librarys),
		cmocka_unit_test(congestion_notification_is_off),
		cmocka_unit_test(s4_option_of_port_or_node),
		cmocka_unit_test(ports_routes_and_neighbours_are_read),
		cmocka_unit_test(the_longest_prefix_is_the_route),
		cmocka_unit_test(s3_ports_up_to_the_limits),
		cmocka_unit_test(s5_3_a_filter_of_many_partitions),
		cmocka_unit_test(the_effective_configuration_gives_itself),
		cmocka_unit_test(files_that_cannot_be_read_say_so),
		cmocka_unit_test(a_truncated_configuration_never_passes),
	};

	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
