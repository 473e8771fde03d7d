#!/bin/sh
# ipoib-router.sh - router mode: a gateway between an IPoIB link and an Ethernet segment. The host on
# the link is a gateway in host mode, the host on Ethernet is a namespace with Linux's own IP; so is another one, in
# a VLAN of the same segment.
. "$(dirname "$0")/ipoib-lib.sh"
within=10
ns gw && ns ib && ns eth && ns vl
for n in "$ib" "$eth" "$vl"; do in_ns "$n" sysctl -qw net.ipv6.conf.default.disable_ipv6=0; done
pair "$gw" v0 "$ib" v1
pair "$gw" e0 "$eth" e1
in_ns "$ib" sysctl -qw net.ipv6.conf.v1.disable_ipv6=1
in_ns "$eth" sysctl -qw net.ipv6.conf.e1.disable_ipv6=0 net.ipv6.conf.e1.accept_dad=0
# A packet socket would see what TCP leaves to the device to cut.
in_ns "$eth" ethtool -K e1 tso off gso off >/dev/null
ip -n "$eth" link set e1 mtu 1500
ip -n "$eth" addr add 192.0.2.2/24 dev e1
ip -n "$eth" addr add 2001:db8:2::2/64 dev e1 nodad
ip -n "$eth" route add 10.77.0.0/24 via 192.0.2.1
ip -n "$eth" route add 2001:db8:77::/64 via 2001:db8:2::1

in_vlan() { # VID IF ADDRESS... - an interface of $vl in a VLAN of e1
	ip netns exec "$eth" "$python" "$CW_SRC/tests/system/vlantap.py" e1 "$2" "$1" 2>"$tmp/$2.log" &
	wait_for 20 ip -n "$eth" link set "$2" netns "$vl" || not_ok "VLAN $1" "$(cat "$tmp/$2.log")"
	vl_if=$2
	shift 2
	in_ns "$vl" sysctl -qw "net.ipv6.conf.$vl_if.disable_ipv6=0" "net.ipv6.conf.$vl_if.accept_dad=0"
	ip -n "$vl" link set "$vl_if" up
	for address; do ip -n "$vl" addr add "$address" dev "$vl_if"; done
}
in_vlan 100 t100 203.0.113.2/24 2001:db8:3::2/64
ip -n "$vl" route add 10.77.0.0/24 via 203.0.113.1
ip -n "$vl" route add 2001:db8:77::/64 via 2001:db8:3::1

gateway "$gw" <<'JSON'
{"causeway:causeway": {
  "hca": [{"name": "hca0", "carrier": "ethernet:v0", "guid": "0x0000000000100001", "lid": 1, "sm-lid": 1,
    "sa": "built-in", "partition": [{"pkey": "0x8001"}]}],
  "port": [
    {"name": "ib0", "kind": "ipoib", "device": "ib:hca0.8001", "ipoib": {"mode": "router"}, "multicast": true, "dhcp-relay": ["192.0.2.2"],
      "address": [{"address": "10.77.0.1/24"}, {"address": "2001:db8:77::1/64"}]},
    {"name": "eth0", "kind": "ethernet", "device": "packet:e0", "mtu": 1500, "multicast": true,
      "dhcp-relay": ["10.77.0.2"],
      "address": [{"address": "192.0.2.1/24"}, {"address": "2001:db8:2::1/64"},
        {"address": "203.0.113.1/24", "vid": 100}, {"address": "2001:db8:3::1/64", "vid": 100}]}
  ],
  "route": [
    {"prefix": "10.77.0.0/24", "port": "ib0"}, {"prefix": "2001:db8:77::/64", "port": "ib0"},
    {"prefix": "10.99.0.0/16", "port": "ib0", "next-hop": "10.77.0.2"},
    {"prefix": "192.0.2.0/24", "port": "eth0"}, {"prefix": "2001:db8:2::/64", "port": "eth0"},
    {"prefix": "203.0.113.0/24", "port": "eth0"}, {"prefix": "2001:db8:3::/64", "port": "eth0"}
  ]
}}
JSON
cat >"$tmp/ib.json" <<'JSON'
{"causeway:causeway": {
  "daemon": {"buffers": 1024},
  "hca": [{"name": "hca0", "carrier": "ethernet:v1", "guid": "0x0000000000100004", "lid": 3, "sm-lid": 1}],
  "port": [{"name": "ib0", "kind": "ipoib", "device": "ib:hca0.8001",
    "address": [{"address": "10.77.0.2/24"}, {"address": "2001:db8:77::2/64"}]}]
}}
JSON
ip netns exec "$ib" "$causewayd" -c "$tmp/ib.json" -s "$tmp/ib.sock" 2>"$tmp/ib.log" &
is_link_up() { "$causeway" ipoib show links -j -s "$tmp/ib.sock" | jq -e '.links[0].state == "up"'; }
if wait_for 30 is_link_up; then ok "the host's link is up"; else not_ok "the host's link is up" "$(cat "$tmp/ib.log")"; fi
wait_for 10 ip -n "$ib" route add 192.0.2.0/24 via 10.77.0.1 dev ib0
wait_for 10 ip -n "$ib" route add 2001:db8:2::/64 via 2001:db8:77::1 dev ib0
wait_for 10 ip -n "$ib" route add 203.0.113.0/24 via 10.77.0.1 dev ib0
wait_for 10 ip -n "$ib" route add 2001:db8:3::/64 via 2001:db8:77::1 dev ib0
ip -n "$ib" addr add 10.99.0.1/32 dev lo
ip -n "$eth" route add 10.99.0.0/16 via 192.0.2.1

ping_again() { # the first packets may teach the path MTU
	ping "$@" || ping "$@" || ping "$@"
}
pings() { # TEXT FROM ADDRESS OCTETS
	text=$1
	shift
	check "$text" ping_again "$@"
}
for size in 56 1400 2000 3000 8000; do
	pings "IPoIB to Ethernet, IPv4, $size octets" ib 192.0.2.2 $size
	pings "Ethernet to IPoIB, IPv4, $size octets" eth 10.77.0.2 $size
	pings "IPoIB to Ethernet, IPv6, $size octets" ib 2001:db8:2::2 $size
	pings "Ethernet to IPoIB, IPv6, $size octets" eth 2001:db8:77::2 $size
done
for size in 56 3000; do
	pings "a VLAN to IPoIB, IPv4, $size octets" vl 10.77.0.2 $size
	pings "IPoIB to a VLAN, IPv4, $size octets" ib 203.0.113.2 $size
	pings "a VLAN to IPoIB, IPv6, $size octets" vl 2001:db8:77::2 $size
	pings "IPoIB to a VLAN, IPv6, $size octets" ib 2001:db8:3::2 $size
done
# The port answers ARP in every VLAN for an address without one, and does not route from there.
in_vlan 200 t200 192.0.2.3/24
ip -n "$vl" route add 10.99.0.0/16 via 192.0.2.1
within=3
if ping vl 10.99.0.1 56 >/dev/null 2>&1; then not_ok "no way from a VLAN without an address"; else ok "no way from a VLAN without an address"; fi
within=10
pings "next hop behind the link" eth 10.99.0.1 56
pings "the gateway itself, from the link" ib 10.77.0.1 56
pings "its Ethernet side, from the link" ib 192.0.2.1 56
pings "its address on the link, from Ethernet" eth 10.77.0.1 56
pings "the gateway itself, from the link, IPv6" ib 2001:db8:77::1 56

# Multicast, both ways: IGMP and MLD of Linux on Ethernet, joins on the link.
mcast() { # LISTENER IF GROUP SENDER IF
	eval "l_at=\$$1 s_at=\$$4"
	ip netns exec "$l_at" "$python" "$CW_SRC/tests/system/mcast.py" listen "$3" "$2" >"$tmp/mcast" 2>&1 &
	m_pid=$!
	wait_for 20 grep -q listening "$tmp/mcast"
	timeout 30 ip netns exec "$s_at" "$python" "$CW_SRC/tests/system/mcast.py" send "$3" "$5" "$tmp/mcast"
	wait "$m_pid"
}
check "multicast 239.1.2.3 from the link to Ethernet" mcast eth e1 239.1.2.3 ib ib0
check "multicast 239.1.2.4 from Ethernet to the link" mcast ib ib0 239.1.2.4 eth e1
check "multicast ff05::1234 from the link to Ethernet" mcast eth e1 ff05::1234 ib ib0
check "multicast ff05::1235 from Ethernet to the link" mcast ib ib0 ff05::1235 eth e1

# DHCP: clients on either side, servers on the other, over the relay.
dhcp() { # CLIENT IF HTYPE SERVER RELAY
	eval "c_at=\$$1 s_at=\$$4"
	ip netns exec "$s_at" "$python" "$CW_SRC/tests/system/dhcp.py" serve "$5" "$3" >"$tmp/dhcp" 2>&1 &
	d_pid=$!
	wait_for 20 grep -q serving "$tmp/dhcp"
	timeout 30 ip netns exec "$c_at" "$python" "$CW_SRC/tests/system/dhcp.py" ask "$2" "$3"
	rc=$?
	wait "$d_pid" && [ $rc = 0 ]
}
check "DHCP of a client on the link (hardware type 32)" dhcp ib ib0 32 eth 10.77.0.1
check "DHCP of a client on Ethernet" dhcp eth e1 1 ib 192.0.2.1

# What can't be forwarded: the sender hears of it.
icmp() { # TEXT FROM ADDRESS TTL OCTETS DF WANTED-TYPE WANTED-CODE
	text=$1 at=$2
	shift 2
	eval "from=\$$at"
	check "$text" timeout 30 ip netns exec "$from" "$python" "$CW_SRC/tests/system/icmperr.py" "$@"
}
icmp "time exceeded to the link" ib 192.0.2.2 1 100 0 11 0
icmp "time exceeded to Ethernet" eth 10.77.0.2 1 100 0 11 0
icmp "time exceeded to a VLAN" vl 10.77.0.2 1 100 0 11 0
icmp "hop limit exceeded to the link" ib 2001:db8:2::2 1 100 0 3 0
ip -n "$eth" link set e1 mtu 9000
ip -n "$eth" route flush cache
icmp "fragmentation needed, from Ethernet: the link's MTU" eth 10.77.0.2 64 3000 1 3 4 2044
icmp "fragmentation needed, from the link: Ethernet's MTU" ib 192.0.2.2 64 1900 1 3 4 1500
icmp "packet too big, from the link" ib 2001:db8:2::2 64 1900 1 2 0 1500
pings "from Ethernet in one piece, as fragments on the link" eth 10.77.0.2 4000
ip -n "$ib" route add 198.51.100.0/24 via 10.77.0.1
icmp "no route, to the link" ib 198.51.100.7 64 100 0 3 0

# Many packets, both ways, checked by TCP.
bulk() { # SERVER ADDRESS CLIENT
	eval "s_at=\$$1 c_at=\$$3"
	ip netns exec "$s_at" "$python" "$CW_SRC/tests/system/bulk.py" serve "$2" >"$tmp/bulk" 2>&1 &
	b_pid=$!
	wait_for 20 grep -q listening "$tmp/bulk" &&
		timeout 60 ip netns exec "$c_at" "$python" "$CW_SRC/tests/system/bulk.py" send "$2" 8 >"$tmp/bulk2" 2>&1
	rc=$?
	wait "$b_pid" && [ $rc = 0 ]
}
check "8 MB by TCP from the link to Ethernet" bulk eth 192.0.2.2 ib
check "8 MB by TCP from Ethernet to the link" bulk ib 10.77.0.2 eth
check "8 MB by TCP over IPv6" bulk eth 2001:db8:2::2 ib
shows "the link is a port of the gateway" ports '.ports[] | select(.name == "ib0") | .kind == "ipoib"'
adds_up
stop_gateway "the gateway ends"
plan
