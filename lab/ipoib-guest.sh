#!/bin/sh
# ipoib-guest.sh - Linux's own ib_ipoib, in guests over the adapter lab/guest/cw_hca, on a link with a
# gateway that is its subnet administration too. First the gateway is a host of two partitions; with
# CW_FULL a second guest joins, one starts again with other queue pairs, and the gateway becomes a
# router to a host on Ethernet, with DHCP from either side. With CW_SPEED it only measures, with iperf3, from
# guest to guest and from a guest through the router, and writes JSON lines into that file (bench/run).
#
#   guest a: ib0, ib0.8002 - cw_hca - eth0 - a0 \
#                                               bridge fabric: gateway: ib0, ib1 | e0 - e1 host
#   guest b: ib0           - cw_hca - eth0 - b0 /
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/guest.sh"
guest_need ip jq python3 dumpcap ethtool tshark ${CW_FULL:+dnsmasq iperf3} ${CW_SPEED:+iperf3}
guest_modules="virtio_net ib_ipoib"
guest_module "$CW_SRC/lab/guest/cw_hca"
. "$(dirname "$0")/ipoib-guest-lib.sh"
vlans=''
session=5
[ -z "${CW_FULL:-}" ] || session=40 # seconds: longer than neighbours stay unasked

# ---- A host of two partitions --------------------------------------------------------------------

as_host() {
	cat >"$tmp/gw.json" <<-'JSON'
		{"causeway:causeway": {
		  "daemon": {"buffers": 1024},
		  "hca": [{"name": "hca0", "carrier": "ethernet:fabric", "guid": "0x0000000000100001", "lid": 1,
		    "sm-lid": 1, "sa": "built-in",
		    "partition": [{"pkey": "0x8001"}, {"pkey": "0x8002", "qkey": "0x80020b1b"}]}],
		  "port": [
		    {"name": "ib0", "kind": "ipoib", "device": "ib:hca0.8001",
		      "address": [{"address": "10.77.1.1/24"}, {"address": "fd00:77:1::1/64"}]},
		    {"name": "ib1", "kind": "ipoib", "device": "ib:hca0.8002",
		      "address": [{"address": "10.77.2.1/24"}, {"address": "fd00:77:2::1/64"}]}]
		}}
	JSON
	serve
	joined a ib0
	pings a 10.77.1.1 56 2016 3000 20000
	pings net 10.77.1.3 56 2016 20000
	pings a fd00:77:1::1 56 1996 3000
	pings net fd00:77:1::3 56 20000
	neighbours
	check "TCP, 4 MB from the guest" bulk net 10.77.1.1 a 4
	check "TCP over IPv6, 4 MB to the guest" bulk a fd00:77:1::3 net 4
	check "a session from the guest goes on" chat net 10.77.1.1 a "$session"
	multicast
	duplicates
	partitions
}

# Each side looks for duplicates, and answers the other side's search.
duplicates() {
	for address in 10.77.1.3/24 fd00:77:1::3/64; do
		# shellcheck disable=SC2046 # the gateway searches, not this kernel
		inside net ip addr add "$address" dev ib0 $(case $address in *:*) echo nodad ;; esac)
		check "the guest's $address is none of the gateway's" wait_for 20 x lost "${address%/*}"
	done
	guest_do a 30 ip addr add fd00:77:1::1/64 dev ib0
	check "the gateway's fd00:77:1::1 is none of the guest's" guest_do a 30 sh -c \
		'until ip addr show dev ib0 dadfailed | grep -q fd00:77:1::1; do sleep 0.2; done'
	guest_do a 30 ip addr del fd00:77:1::1/64 dev ib0
	pings net 10.77.1.3 56
}
lost() { ! inside net ip -o addr show dev ib0 | grep -q " $1/"; }

# Linux sets the first bit of its own address: connected mode is there. It is no part of who it is.
neighbours() {
	check "the guest has an address of 20 octets for the gateway" guest_do a 30 sh -c \
		'ip neigh show dev ib0 | grep "^10.77.1.1 lladdr 00:..:..:..:fe:80:.*:00:10:00:01 "'
	check "by neighbour discovery, too" guest_do a 30 sh -c \
		'ip neigh show dev ib0 | grep "^fd00:77:1::1 lladdr 00:..:..:..:fe:80:.*:00:10:00:01 "'
	asks "the gateway has one for the guest, without the bit for connected mode" neighbours \
		'[.neighbours[] | select(.ip == "10.77.1.3" or .ip == "fd00:77:1::3") | .link_layer_address] |
		unique == ["00:00:00:48:fe:80:00:00:00:00:00:00:00:00:00:00:00:10:00:04"]'
}

multicast() {
	check "multicast 239.1.2.3 to the guest" mcast a ib0 239.1.2.3 net ib0
	check "multicast 239.9.9.9 from the guest" mcast net ib0 239.9.9.9 a ib0
	check "multicast ff05::77 to the guest" mcast a ib0 ff05::77 net ib0
	check "multicast ff05::99 from the guest" mcast net ib0 ff05::99 a ib0
	check "broadcast to the guest" mcast a ib0 255.255.255.255 net ib0
	check "broadcast from the guest" mcast net ib0 255.255.255.255 a ib0
}

partitions() {
	guest_do a 30 sh -ec 'echo 0x8002 >/sys/class/net/ib0/create_child
		ip link set ib0.8002 up
		ip addr add 10.77.2.3/24 dev ib0.8002' >"$tmp/child" || not_ok "second partition" "$(cat "$tmp/child")"
	joined a ib0.8002
	pings net 10.77.2.3 56 3000
	# An address of the gateway's first subnet is moved from partition to partition.
	guest_do a 30 ip addr add 10.77.1.9/32 dev ib0.8002
	if ping net 10.77.1.9 >/dev/null 2>&1; then not_ok "partitions are apart"; else ok "partitions are apart"; fi
	guest_do a 30 sh -c 'ip addr del 10.77.1.9/32 dev ib0.8002 && ip addr add 10.77.1.9/32 dev ib0'
	pings net 10.77.1.9 56
	check "multicast does not leave its partition" mcast_apart
}

# Nothing comes of the first partition's packets; the listener still waits for the second one's.
mcast_apart() {
	background a mcast python3 "$tests/mcast.py" listen 239.7.7.7 ib0.8002
	said mcast listening || return
	inside net timeout 3 python3 "$tests/mcast.py" send 239.7.7.7 ib0 "$share/mcast" && return 1
	on net python3 "$tests/mcast.py" send 239.7.7.7 ib1 "$share/mcast"
}

# ---- More guests, and other lives ----------------------------------------------------------------

# A guest of one partition only: its adapter hears no packet with the default P_Key.
second_guest() {
	boot b 07 4 0x48 0x8001
	joined b ib0
	pings b 10.77.1.3 56 2016 20000
	pings b fd00:77:1::3 3000
	pings b 10.77.1.1 2016
	check "TCP, 4 MB from guest to guest" bulk a 10.77.1.3 b 4
	check "iperf3, TCP from guest to guest" iperf_tcp a 10.77.1.3 b
	check "multicast 239.4.4.4 from guest to guest" mcast a ib0 239.4.4.4 b ib0
	leave b
}

# The driver starts again within the life of the gateway's entry, and the guest later than that. Linux
# announces nothing: until the entry is half a minute old the gateway sends to the old queue pair.
restart() {
	pings net 10.77.1.3 56
	unplug a
	plug a 04 3 0x1048 0x8001,0x8002,0xffff
	joined a ib0
	check "net to 10.77.1.3, when the entry has been looked at" wait_for 2 x ping net 10.77.1.3
	asks "the gateway has noticed another queue pair" counters \
		'[.counters[] | select(.of == "ib0" and .counter == "qpn_changed")][0].value > 0'
	leave a
	asks "the groups of the guest are left" groups '[.groups[] | select(.ip == "239.1.2.3")] == []'
	boot a 04 3 0x2048 0x8001,0x8002,0xffff
	joined a ib0
	check "net to 10.77.1.3, when the entry has been looked at" wait_for 2 x ping net 10.77.1.3
	asks "the gateway has the guest's new address" neighbours '.neighbours[] |
		select(.ip == "10.77.1.3") | .link_layer_address | startswith("00:00:20:48:fe:80:")'
	pings net fd00:77:1::3 56
}

# ---- A router ------------------------------------------------------------------------------------

router_starts() {
	space eth
	cable net e0 eth e1
	inside net sysctl -qw net.ipv6.conf.e0.disable_ipv6=1
	inside eth sysctl -qw net.ipv6.conf.e1.disable_ipv6=0
	ip -n "$(ns eth)" link set e1 mtu 1500
	ip -n "$(ns eth)" addr add 192.0.2.2/24 dev e1
	ip -n "$(ns eth)" addr add 2001:db8:2::2/64 dev e1 nodad
	ip -n "$(ns eth)" route add 10.77.1.0/24 via 192.0.2.1
	ip -n "$(ns eth)" route add fd00:77:1::/64 via 2001:db8:2::1
	cat >"$tmp/gw.json" <<-'JSON'
		{"causeway:causeway": {
		  "hca": [{"name": "hca0", "carrier": "ethernet:fabric", "guid": "0x0000000000100001", "lid": 1,
		    "sm-lid": 1, "sa": "built-in",
		    "partition": [{"pkey": "0x8001"}, {"pkey": "0x8002", "qkey": "0x80020b1b"}]}],
		  "port": [
		    {"name": "ib0", "kind": "ipoib", "device": "ib:hca0.8001", "ipoib": {"mode": "router"},
		      "multicast": true, "dhcp-relay": ["192.0.2.2"],
		      "address": [{"address": "10.77.1.1/24"}, {"address": "fd00:77:1::1/64"}]},
		    {"name": "eth0", "kind": "ethernet", "device": "packet:e0", "mtu": 1500, "multicast": true,
		      "dhcp-relay": ["10.77.1.3"],
		      "address": [{"address": "192.0.2.1/24"}, {"address": "2001:db8:2::1/64"}]}],
		  "route": [
		    {"prefix": "10.77.1.0/24", "port": "ib0"}, {"prefix": "fd00:77:1::/64", "port": "ib0"},
		    {"prefix": "192.0.2.0/24", "port": "eth0"}, {"prefix": "2001:db8:2::/64", "port": "eth0"}]
		}}
	JSON
	serve
	# The subnet administration has forgotten everybody. It learns who sends to a group; but Linux joins
	# again only when the subnet manager asks for it, by QP0, which this carrier has not.
	pings a 10.77.1.1 56
	guest_do a 30 sh -c 'ip link set ib0 down; ip link set ib0 up
		ip addr add fd00:77:1::3/64 dev ib0 nodad
		ip route add 192.0.2.0/24 via 10.77.1.1
		ip route add 2001:db8:2::/64 via fd00:77:1::1' >"$tmp/routes" || die "no routes" "$tmp/routes"
	joined a ib0
}

as_router() {
	kill -TERM "$gwpid"
	wait "$gwpid"
	router_starts
	pings a 192.0.2.2 56 2016 3000 20000
	pings eth 10.77.1.3 56 1472 3000 20000
	pings a 2001:db8:2::2 56 1996 3000
	pings eth fd00:77:1::3 56 3000
	check "TCP, 4 MB from the guest to Ethernet" bulk eth 192.0.2.2 a 4
	check "TCP over IPv6, 4 MB from Ethernet to the guest" bulk a fd00:77:1::3 eth 4
	check "iperf3, TCP from the guest to Ethernet" iperf_tcp eth 192.0.2.2 a
	check "iperf3, TCP from Ethernet to the guest" iperf_tcp eth 192.0.2.2 a -R
	check "iperf3, TCP over IPv6" iperf_tcp eth 2001:db8:2::2 a
	check "a session of 45 s from Ethernet to the guest goes on" chat a 10.77.1.3 eth 45
	check "multicast 239.1.2.3 from Ethernet to the guest" mcast a ib0 239.1.2.3 eth e1
	check "multicast 239.1.2.4 from the guest to Ethernet" mcast eth e1 239.1.2.4 a ib0
	check "multicast ff05::1234 from Ethernet to the guest" mcast a ib0 ff05::1234 eth e1
	check "multicast ff05::1235 from the guest to Ethernet" mcast eth e1 ff05::1235 a ib0
	check "DHCP: a client in the guest, dnsmasq on Ethernet" dhcp_from_ethernet
	check "DHCP: a client on Ethernet, dnsmasq in the guest" dhcp_from_guest
}

dnsmasq_on() { # WHERE INTERFACE ADDRESS
	background "$1" dnsmasq dnsmasq --no-daemon --user=root --port=0 "--interface=$2" \
		"--dhcp-range=$3,$3,255.255.255.0,1h" --log-dhcp --conf-file=/dev/null --pid-file= \
		--dhcp-leasefile=/tmp/leases.$$
	said dnsmasq 'DHCP, IP range'
}

dhcp_from_ethernet() {
	dnsmasq_on eth e1 10.77.1.77 && on a python3 "$tests/dhcp.py" ask ib0 32 10.77.1.77
	got=$?
	cat "$share/dnsmasq"
	rm -f "/tmp/leases.$$"
	return $got
}

dhcp_from_guest() {
	printf '#!/bin/sh\n[ "$1" != bound ] || echo "bound to $ip"\n' >"$tmp/udhcpc"
	chmod +x "$tmp/udhcpc"
	dnsmasq_on a ib0 192.0.2.77 &&
		on eth busybox udhcpc -f -q -n -i e1 -t 10 -T 2 -s "$tmp/udhcpc" >"$tmp/client" 2>&1
	cat "$share/dnsmasq" "$tmp/client"
	grep -q 'bound to 192.0.2.77' "$tmp/client"
}

# ---- Speed ---------------------------------------------------------------------------------------

# One line: what a path reaches. IP packets of 64 octets first, then datagrams that fill its MTU.
reaches() { # NAME OCTETS SERVER ADDRESS CLIENT
	name=$1 octets=$2
	shift 2
	iperf "$@" -t 2 -u -b 0 -l 36 || return
	pps=$(jq '.end.sum | (.packets - .lost_packets) / .seconds' "$tmp/iperf")
	iperf "$@" -t 2 -u -b 0 -l "$octets" || return
	udp=$(jq '.end.sum | .bits_per_second * (1 - .lost_percent / 100) / 1e6' "$tmp/iperf")
	iperf "$@" -t 2 || return
	tcp=$(jq '.end.sum_received.bits_per_second / 1e6' "$tmp/iperf")
	iperf "$@" -t 2 -R || return
	jq -nc --arg name "$name" --argjson pps "$pps" --argjson udp "$udp" --argjson tcp "$tcp" \
		--argjson back "$(jq '.end.sum_received.bits_per_second / 1e6' "$tmp/iperf")" \
		'{name: $name, pps: $pps, udp_mbit: $udp, tcp_mbit: $tcp, tcp_back_mbit: $back}' >>"$tmp/speed"
}

speed() {
	router_starts
	boot b 07 4 0x48 0x8001
	joined b ib0
	pings b 10.77.1.3 56
	check "speed from guest to guest" reaches "ib_ipoib to ib_ipoib" 2016 a 10.77.1.3 b
	check "speed through the router" reaches "ib_ipoib, router mode, Ethernet" 1472 eth 192.0.2.2 a
	cp "$tmp/speed" "$CW_SPEED"
	leave b
}

space net
bridge net fabric
inside net sysctl -qw net.ipv6.conf.default.disable_ipv6=0
boot a 04 3 0x48 0x8001,0x8002,0xffff
if [ -n "${CW_SPEED:-}" ]; then
	speed
	leave a
	plan
fi
start dump net dumpcap -q -i fabric -f 'ether proto 0x88b5' -w "$tmp/ib.pcapng"
dump=$pid
as_host
kill -INT "$dump"
wait "$dump"
"$causeway" decode -j --summary "$tmp/ib.pcapng" >"$tmp/ib.json" 2>"$tmp/ib.err"
check "causeway reads every frame, every ICRC is right" jq -e '.packets > 500 and
	.icrc.ok.packets == .packets and .verdict.ok.packets + .verdict.fragment.packets == .packets' \
	"$tmp/ib.json"
if [ -n "${CW_FULL:-}" ]; then
	second_guest
	restart
	as_router
fi
leave a
plan
