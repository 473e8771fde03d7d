#!/bin/sh
# ipoib.sh - IPoIB hosts: two and three gateways on one link of Ethernet 0x88B5, with the built-in
# subnet administration of one of them.
. "$(dirname "$0")/ipoib-lib.sh"
ns a && ns b && ns c && ns sw
for n in "$a" "$b" "$c"; do in_ns "$n" sysctl -qw net.ipv6.conf.default.disable_ipv6=0; done
in_ns "$sw" ip link add br0 type bridge mcast_snooping 0
in_ns "$sw" ip link set br0 mtu 4200 up
for n in a b c; do
	eval "at=\$$n"
	ip -n "$at" link add v0 mtu 4200 type veth peer name "v$n" mtu 4200 netns "$sw"
	ip -n "$sw" link set "v$n" master br0 up
	in_ns "$at" sysctl -qw net.ipv6.conf.v0.disable_ipv6=1
	ip -n "$at" link set v0 up
	wait_for 10 is_up "$at" v0
done
wait_for 10 is_up "$sw" vc

# One gateway a namespace, each with a socket of its own.
host() { # NAME - its configuration is there
	eval "gwns=\$$1"
	: >"$tmp/$1.log"
	ip netns exec "$gwns" "$causewayd" -c "$tmp/$1.json" -s "$tmp/$1.sock" 2>"$tmp/$1.log" &
	eval "pid_$1=$!"
	wait_for 30 grep -q 'is forwarding' "$tmp/$1.log" || not_ok "$1 starts" "$(cat "$tmp/$1.log")"
}
stop() { # NAME
	eval "old_pid=\$pid_$1"
	kill -TERM "$old_pid"
	wait "$old_pid"
}
restart() { # NAME
	stop "$1"
	host "$1"
}
ping_again() { # in a network that heals
	for try in 1 2 3 4 5 6; do ping "$@" && return; done
	echo "gave up after $try tries"
	return 1
}
host_json() { # GUID LID SA PORTS
	cat <<EOF2
{"causeway:causeway": {
  "daemon": {"buffers": 1024},
  "hca": [{"name": "hca0", "carrier": "ethernet:v0", "guid": "0x00000000001000$1", "lid": $2, "sm-lid": 1 $3}],
  "port": [$4]
}}
EOF2
}
port() { # NAME PKEY ADDRESSES - comma between ports is the caller's
	echo "{\"name\": \"$1\", \"kind\": \"ipoib\", \"device\": \"ib:hca0.$2\", \"address\": [$3],
		\"ipoib\": {\"refresh-time\": 2}}"
}
sa=', "sa": "built-in", "partition": [{"pkey": "0x8001"}, {"pkey": "0x8002", "qkey": "0x80020b1b"}]'
addr() { echo "{\"address\": \"10.77.$1.$2/24\"}, {\"address\": \"fd00:77:$1::$2/64\"}"; }

# A alone is the subnet administration; B has both partitions, C the second one only.
host_json 01 1 "$sa" "$(port ib0 8001 "$(addr 1 1)")" >"$tmp/a.json"
host_json 04 3 '' "$(port ib0 8001 "$(addr 1 2)"), $(port ib1 8002 "$(addr 2 2)")" >"$tmp/b.json"
host_json 07 4 '' "$(port ib1 8002 "$(addr 2 3)")" >"$tmp/c.json"
host a
host b
host c
asks "link is up, MTU and Q_Key are the broadcast group's" a links \
	'.links[0] | .state == "up" and .mtu == 2044 and .qkey == "0x80000b1b" and .controlled'
asks "in-band subnet administration: two partitions on one hca" b links \
	'[.links[] | select(.state == "up") | .qkey] == ["0x80000b1b", "0x80020b1b"]'
asks "third host is up" c links '.links[0].state == "up"'
check "interface has carrier and the group's MTU" sh -c \
	"ip -n $a -j link show ib0 | jq -e '.[0] | .mtu == 2044 and (.flags | index(\"LOWER_UP\") != null)'"

for size in 56 2000 2016 3000 30000; do
	check "IPv4, $size octets" ping a 10.77.1.2 $size
	check "IPv6, $size octets" ping a fd00:77:1::2 $size
done
check "second partition" ping b 10.77.2.3 56
asks "neighbours have addresses of 20 octets" a neighbours \
	'.neighbours[] | select(.ip == "10.77.1.2") | .state == "reachable" and
	(.link_layer_address | test("^00:..:..:..:fe:80:00:00:00:00:00:00:00:00:00:00:00:10:00:04$"))'
asks "path from the subnet administration" a paths '.paths[] | select(.dlid == 3) | .state == "valid"'

# Partitions do not hear each other: C's address of partition 2 seems to be on A's subnet too.
ip -n "$c" addr add 10.77.1.3/24 dev ib1
ip -n "$c" route replace 10.77.1.0/24 dev ib1
if ping a 10.77.1.3 56 >/dev/null 2>&1; then not_ok "partitions are apart"; else ok "partitions are apart"; fi
ip -n "$c" addr del 10.77.1.3/24 dev ib1
asks "C heard the other partition and has no port for it" c counters \
	'.counters[] | select(.counter == "rx_no_partition") | .value > 0'

# Multicast, both families: what the kernel joins the link joins.
mcast() { # LISTENER GROUP SENDER-ADDRESS SENDER
	eval "l_at=\$$1 s_at=\$$4"
	ip netns exec "$l_at" "$python" "$CW_SRC/tests/system/mcast.py" listen "$2" ib0 >"$tmp/mcast" 2>&1 &
	m_pid=$!
	wait_for 20 grep -q listening "$tmp/mcast"
	timeout 30 ip netns exec "$s_at" "$python" "$CW_SRC/tests/system/mcast.py" send "$2" ib0 "$tmp/mcast"
	wait "$m_pid"
}
check "multicast 239.1.2.3 from A to B" mcast b 239.1.2.3 10.77.1.1 a
check "multicast 239.9.9.9 from B to A" mcast a 239.9.9.9 10.77.1.2 b
check "multicast ff05::77 from A to B" mcast b ff05::77 fd00:77:1::1 a
asks "and leaves when nobody listens any more" b groups \
	'[.groups[] | select(.ip == "239.1.2.3" and .hosts > 0)] == []'
check "broadcast from A to B" mcast b 255.255.255.255 10.77.1.1 a

# Addresses follow the kernel's.
ip -n "$b" addr add 10.77.1.22/24 dev ib0
check "an address that the kernel got later" ping a 10.77.1.22 56
ip -n "$a" route add 10.99.0.0/16 via 10.77.1.22 dev ib0
ip -n "$b" addr add 10.99.0.1/32 dev lo
check "next hop from the kernel's routes" ping a 10.99.0.1 56

# What A has is none of B's; A goes on.
counted() { # COUNTER JQ - of ib0
	echo "[.counters[] | select(.of == \"ib0\" and .counter == \"$1\")][0].value $2"
}
lost() { ! ip -n "$b" -o addr show dev ib0 | grep -q " $1/"; }
for address in 10.77.1.1/24 fd00:77:1::1/64; do
	# shellcheck disable=SC2046 # the kernel's own search would not find it: there is no such device
	ip -n "$b" addr add "$address" dev ib0 $(case $address in *:*) echo nodad ;; esac)
	check "$address is a duplicate, B's interface loses it" wait_for 20 lost "${address%/*}"
done
asks "both were noticed" b counters "$(counted addr_duplicate '== 2')"
check "and A is reached" ping b 10.77.1.1 56
asks "nobody claimed what A uses" a counters "$(counted addr_conflict '== 0')"

# B restarts with a new queue pair: A's neighbour changes. Its link-local address is taken meanwhile, so that
# another identifier is made (RFC 7217 6).
link_local() { ip -n "$b" -o -6 addr show dev ib0 scope link | sed -n 's/.*inet6 \([^/]*\).*/\1/p'; }
another() { [ "$(link_local)" != "$old_address" ] && link_local | grep -q '^fe80:'; }
old_address=$(link_local)
qpn=$("$causeway" ipoib show -j links -s "$tmp/b.sock" | jq -r '.links[0].qpn')
stop b
ip -n "$a" addr add "$old_address/64" dev ib0 nodad
asks "A has it" a addresses ".addresses[] | select(.ip == \"$old_address\") | .state == \"valid\""
host b
check "B has made another link-local address" wait_for 20 another
ip -n "$a" addr del "$old_address/64" dev ib0
asks "B is back" b links '.links[0].state == "up"'
check "B has another queue pair" test "$qpn" != "$("$causeway" ipoib show -j links -s "$tmp/b.sock" | jq -r '.links[0].qpn')"
check "and is reached" ping_again a 10.77.1.2 56
asks "the change was noticed" a counters \
	'[.counters[] | select(.of == "ib0" and .counter == "qpn_changed")][0].value > 0'

# The subnet administration restarts, and knows nobody: everybody joins again.
restart a
asks "the subnet administration is back" a links '.links[0].state == "up"'
asks "B's memberships are renewed" b links '[.links[].state] == ["up", "up"]'
check "traffic after the restart" ping_again a 10.77.1.2 56
check "traffic between others" ping_again b 10.77.2.3 56
check "multicast after the restart" mcast b 239.1.2.3 10.77.1.1 a

# A reload that changes one port keeps the other.
old=$("$causeway" ipoib show -j links -s "$tmp/b.sock" | jq -r '.links[0].qpn')
jq '."causeway:causeway".port[1].address += [{"address": "10.77.2.22/24"}]' "$tmp/b.json" >"$tmp/b2.json"
check "reload" "$causeway" reload -s "$tmp/b.sock" "$tmp/b2.json"
check "the port that did not change keeps its queue pair" test "$old" = \
	"$("$causeway" ipoib show -j links -s "$tmp/b.sock" | jq -r '.links[0].qpn')"
asks "the other is up again" b links '.links[1].state == "up"'
check "the new address answers" ping_again c 10.77.2.22 56
plan
