#!/bin/sh
# neigh.sh - next hops by ARP and neighbour discovery with Linux as the neighbour; echo; failures.
. "$(dirname "$0")/lib.sh"
ns gw && ns ub && ns eth
pair "$gw" u0 "$ub" u1
pair "$gw" e0 "$eth" e1
emac=$(mac_of "$eth" e1) gmac=$(mac_of "$gw" e0)
vlan() { # IF VID
	ip netns exec "$eth" "$python" "$CW_SRC/tests/system/vlantap.py" e1 "$1" "$2" &
	wait_for 10 ip -n "$eth" link show "$1"
}
vlan v7 7
in_ns "$eth" sysctl -qw net.ipv6.conf.v7.disable_ipv6=0 net.ipv6.conf.v7.accept_dad=0
ip -n "$eth" link set v7 address "$emac" mtu 9000 up
ip -n "$eth" addr add 10.1.0.2/24 dev v7
ip -n "$eth" addr add 2001:db8:1::2/64 dev v7 nodad

gateway "$gw" <<'EOF'
{"causeway:causeway": {
  "port": [
    {"name": "ub0", "kind": "ub", "device": "packet:u0"},
    {"name": "eth0", "kind": "ethernet", "device": "packet:e0", "address": [
      {"address": "10.1.0.1/24", "vid": 7}, {"address": "2001:db8:1::1/64", "vid": 7}]}
  ],
  "route": [
    {"prefix": "10.1.0.0/24", "port": "eth0"},
    {"prefix": "10.9.0.0/16", "port": "eth0", "next-hop": "10.1.0.2"},
    {"prefix": "10.8.0.0/16", "port": "eth0", "next-hop": "10.1.0.77"},
    {"prefix": "10.7.0.0/16", "port": "eth0", "next-hop": "10.1.0.5"},
    {"prefix": "10.2.0.0/16", "port": "ub0"},
    {"prefix": "2001:db8:1::/64", "port": "eth0"},
    {"prefix": "2001:db8:9::/48", "port": "eth0", "next-hop": "2001:db8:1::2"}
  ],
  "neighbour": [{"port": "eth0", "ip": "10.1.0.5", "vid": 7, "mac": "02:00:00:00:00:05"}]
}}
EOF

to_eth="$ub u1 $eth e1 --to ub --npi 7 --count 100 --rate 400 --src 10.2.0.1"
to_eth6="$ub u1 $eth e1 -6 --to ub --npi 7 --count 100 --rate 400 --src 2001:db8:2::1"
# shellcheck disable=SC2086
{
traffic "next hop by ARP, none lost while it is asked" $to_eth --dst 10.9.0.1+9 -- --hops 1
traffic "destination on the link, by ARP" $to_eth --dst 10.1.0.2 -- --hops 1
traffic "next hop by neighbour discovery" $to_eth6 --dst 2001:db8:9::1+9 -- --hops 1
traffic "destination on the link, by neighbour discovery" $to_eth6 --dst 2001:db8:1::2 -- --hops 1
traffic "static neighbour" $to_eth --dst 10.7.0.1 -- --hops 1
}
shows "ARP found Linux's address" neighbours \
	".neighbours[] | select(.ip == \"10.1.0.2\") | .mac == \"$emac\" and .vlan == 7 and .state == \"reachable\""
shows "neighbour discovery found it too" neighbours \
	".neighbours[] | select(.ip == \"2001:db8:1::2\") | .mac == \"$emac\" and .state == \"reachable\""
shows "one question was enough for each" summary \
	'.next_hops | .arp_requests_out == 1 and .ns_out == 1 and .arp_replies_in == 1 and .na_in == 1'
shows "nothing from UB was dropped" counters '.ports[0].dropped == 0'

# What there is of one port, and by which route an address is reached.
shows "the route that packets to an address take" "routes --to 10.8.1.2" \
	'.routes | length == 1 and .[0].prefix == "10.8.0.0/16" and .[0].next_hop == "10.1.0.77"'
shows "an address of the gateway is local" "routes --to 10.1.0.1" '.routes[0].kind == "local" and .routes[1] == null'
shows "no route" "routes 192.0.2.1" '.routes == []'
shows "the routes within a prefix" "routes --to 10.8.0.0/15" '[.routes[].prefix] == ["10.9.0.0/16", "10.8.0.0/16"]'
shows "those of a port" "routes --port ub0" '[.routes[].prefix] == ["10.2.0.0/16"]'
shows "neighbours of a port" "neighbours --port ub0" '.neighbours == []'
shows "those of another" "neighbours --port eth0" '.neighbours | length > 2'
shows "counters of a port" "counters --port eth0" '[.ports[].port] == ["eth0"]'
shows "drops of a port" "drops --port ub0" '[.drops[].packets] | add == 0'
for wrong in "ports --port eth1" "routes --to 10.8.0.0/33"; do
	# shellcheck disable=SC2086
	show $wrong >"$tmp/show" 2>&1
	check "$wrong: refused" [ $? = 1 ]
done

# Packets that waited leave in front of newer ones of their flow. So fast that there are newer ones; that
# some find the queue full is not the point here.
for i in 100 110 120; do
	ip -n "$eth" addr add 10.1.0.$i/32 dev v7
	ip -n "$eth" addr add 10.1.0.$((i + 1))/32 dev v7
	in_ns "$eth" "$causeway" sink -j -i e1 --timeout 30 --idle 2 --hops 1 >"$tmp/order$i" 2>&1 &
	sinkpid=$!
	listening "$eth"
	in_ns "$ub" "$causeway" gen --to ub -i u1 --npi 7 --count 10000 --rate 50000 --flows 2 \
		--src 10.2.0.1 --dst 10.1.0.$i+2 >/dev/null
	wait $sinkpid
done
cat "$tmp/order100" "$tmp/order110" "$tmp/order120" >"$tmp/order"
check "packets came meanwhile" jq -se 'map(.runs[].received) | add > 20000' "$tmp/order"
check "packets that waited keep their order" jq -se 'map(.runs[].reordered) | add == 0' "$tmp/order"
adds_up

# Linux asks us.
ping() {
	ip netns exec "$eth" "$python" "$CW_SRC/tests/system/ping.py" "$@"
}
check "ping, IPv4" ping 10.1.0.1
check "ping, IPv6" ping 2001:db8:1::1
check "ping, 8000 octets, IPv4" ping 10.1.0.1 2 8000
check "ping, 8000 octets, IPv6" ping 2001:db8:1::1 2 8000
check "Linux has our address by ARP" sh -c "ip -n $eth neigh show 10.1.0.1 | grep -q $gmac"
check "and by neighbour discovery" sh -c "ip -n $eth neigh show 2001:db8:1::1 | grep -q $gmac"
vlan v8 8
ip -n "$eth" link set v8 up
ip -n "$eth" addr add 10.1.0.3/32 dev v8
ip -n "$eth" rule add from 10.1.0.3 table 8
ip -n "$eth" route add 10.1.0.0/24 dev v8 table 8
run 1 "an address is not ours in another VLAN" ping 10.1.0.1 1 56 10.1.0.3

# The neighbour gets a new Ethernet address and says so.
ip -n "$eth" link set v7 address 02:00:00:00:00:77
in_ns "$eth" sysctl -qw net.ipv4.conf.v7.arp_notify=1
ip -n "$eth" link set v7 down && ip -n "$eth" link set v7 up
check "a changed address is learnt from an announcement" wait_for 5 sh -c \
	"'$causeway' show -s '$sock' -j neighbours | jq -e '.neighbours[] | select(.ip == \"10.1.0.2\").mac == \"02:00:00:00:00:77\"'"

# Nobody answers: packets wait, then are dropped by name, none is forgotten.
in_ns "$ub" "$causeway" gen --to ub -i u1 --npi 7 --count 100 --rate 1000 --src 10.2.0.1 \
	--dst 10.8.0.1 >/dev/null
shows "packets wait for the next hop" neighbours \
	'.neighbours[] | select(.ip == "10.1.0.77") | .held == 64 and .state == "incomplete"'
adds_up "waiting packets are counted as held"
shows "beyond the queue they are dropped" drops \
	'(.drops[] | select(.reason == "neighbour-wait").packets) >= 36'
check "then it has failed" wait_for 6 sh -c \
	"'$causeway' show -s '$sock' -j neighbours | jq -e '.neighbours[] | select(.ip == \"10.1.0.77\").state == \"failed\"'"
shows "waiting packets are dropped by name" drops \
	'(.drops[] | select(.reason == "neighbour-fail").packets) == 64'
shows "three questions were asked" summary '.next_hops.arp_requests_out == 10'
adds_up "every packet is accounted for"
stop_gateway "SIGTERM ends it with exit code 0"
plan
