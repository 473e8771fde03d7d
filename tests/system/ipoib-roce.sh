#!/bin/sh
# ipoib-roce.sh - IPoIB over the RoCEv2 carrier, with IPv4 and with IPv6 below: A is the subnet
# administration, tshark checks what is on the wire; a damaged packet and a stranger are not heard.
# Then a capture file as carrier.
. "$(dirname "$0")/ipoib-lib.sh"
ns a && ns b
for at in "$a" "$b"; do in_ns "$at" sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.disable_ipv6=0; done
ip -n "$a" link add v0 mtu 4200 type veth peer name v0 mtu 4200 netns "$b"
ip -n "$a" addr add 192.0.2.1/24 dev v0
ip -n "$b" addr add 192.0.2.2/24 dev v0
ip -n "$a" addr add 2001:db8::1/64 dev v0 nodad
ip -n "$b" addr add 2001:db8::2/64 dev v0 nodad
for at in "$a" "$b"; do
	ip -n "$at" link set v0 up
done
for at in "$a" "$b"; do
	wait_for 10 is_up "$at" v0
done
host() { # NAME GUID LID CARRIER SA
	eval "at=\$$1"
	cat >"$tmp/$1.json" <<JSON
{"causeway:causeway": {
  "daemon": {"buffers": 1024},
  "hca": [{"name": "hca0", "carrier": "$4", "guid": "0x00000000001000$2", "lid": $3, "sm-lid": 1 $5}],
  "port": [{"name": "ib0", "kind": "ipoib", "device": "ib:hca0.8001",
    "address": [{"address": "10.77.0.$3/24"}, {"address": "fd00:77::$3/64"}]}]
}}
JSON
	ip netns exec "$at" "$causewayd" -c "$tmp/$1.json" -s "$tmp/$1.sock" 2>"$tmp/$1.log" &
	last=$!
}
sa=', "sa": "built-in", "partition": [{"pkey": "0x8001"}]'
stop() { # NUMBER
	kill "$1"
	wait "$1"
}
pair() { # TEXT ADDRESS-A ADDRESS-B
	host a 01 1 "roce:$2,3=$3" "$sa"
	one=$last
	host b 04 3 "roce:$3,1=$2" ''
	two=$last
	for n in a b; do asks "$1: $n: link is up" $n links '.links[0].state == "up"'; done
	for size in 2016 8000; do check "$1: $size octets" ping a 10.77.0.3 $size; done
	check "$1: IPv6 in it" ping b fd00:77::1 56
	asks "$1: none came damaged" b counters '[.counters[] | select(.counter == "rx_bad")][0].value == 0'
}
ip netns exec "$a" dumpcap -q -i v0 -w "$tmp/v0.pcapng" -f 'udp port 4791' 2>"$tmp/dumpcap.log" &
dumpcap=$!
wait_for 20 test -s "$tmp/v0.pcapng"
fields() { tshark -r "$tmp/v0.pcapng" -Y "$1" -T fields -e frame.number 2>/dev/null | wc -l; }
at_least() { [ "$(fields "$2")" -ge "$1" ]; } # PACKETS FILTER
pair IPv4 192.0.2.1 192.0.2.2
# Packets reach the file in blocks, some time after they came.
check "tshark sees ICMP in UD packets of UDP 4791" wait_for 20 at_least 3 \
	'infiniband.bth.p_key == 0x8001 && icmp.type == 8'
check "and the joins of B" wait_for 20 at_least 2 'infiniband.mad.attributeid == 0x0038'
kill "$dumpcap"; wait "$dumpcap"
check "no packet is in fragments" test "$(fields 'ip.flags.mf#1 == 1')" = 0

# Good but for its ICRC, from B's address; then from one that is nobody's.
ip -n "$b" addr add 192.0.2.9/24 dev v0
in_ns "$b" "$python" -c '
import socket
for source in "192.0.2.2", "192.0.2.9":
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind((source, 0))
    for _ in range(5):
        s.sendto(bytes.fromhex("6440800100ffffff0000000180000b1b00000048") + bytes(64), ("192.0.2.1", 4791))'
asks "damaged packets are counted" a counters '[.counters[] | select(.counter == "rx_bad")][0].value == 10'
check "A and B once more" ping a 10.77.0.3 56

# A good packet of B's again, as from the address that is nobody's.
"$causeway" decode -j "$tmp/v0.pcapng" 2>/dev/null |
	jq -c 'select(.layers[1].src == "192.0.2.2") | .layers[1].src = "192.0.2.9" |
		del(.icrc, .layers[1].checksum) | range(7) as $i | .' | head -7 | "$causeway" craft - "$tmp/stranger.pcap"
in_ns "$b" "$python" "$CW_SRC/tests/system/send.py" v0 "$tmp/stranger.pcap"
asks "a stranger's packets are counted, and none is heard" a counters '[.counters[] |
	select(.of == "hca0" and (.counter == "rx_forbidden" or .counter == "rx_bad")) | .value] | sort == [7, 10]'
stop "$one"
stop "$two"
pair IPv6 2001:db8::1 2001:db8::2
stop "$one"
stop "$two"

# The frames of two real kernels, from a file: everything in it is for others, and nothing is damaged.
host a 01 1 "file:rx=$CW_SRC/tests/pcap/ipoib-247.pcap,tx=$tmp/out.pcap" "$sa"
asks "file: the link is up" a links '.links[0].state == "up"'
asks "file: all frames were read" a counters '[.counters[] | select(.counter == "rx_packets")][0].value > 5'
asks "file: none is damaged" a counters '[.counters[] | select(.counter == "rx_bad")][0].value == 0'
in_ns "$a" "$python" -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b"x", ("10.77.0.9", 9))'
wrote() { "$causeway" decode -j "$tmp/out.pcap" 2>/dev/null | grep -q '10.77.0.9'; }
check "file: the search for a neighbour is written" wait_for 20 wrote

# What can't be had is refused in so many words.
refused() { # TEXT CARRIER-AND-SA REASON
	printf '{"causeway:causeway": {"hca": [{"name": "hca0", "guid": "0x0000000000100001", "lid": 1,
		"sm-lid": 1, "carrier": %s}], "port": [{"name": "ib0", "kind": "ipoib",
		"device": "ib:hca0.8001"}]}}' "$2" >"$tmp/no.json"
	ip netns exec "$a" timeout 20 "$causewayd" -c "$tmp/no.json" -s "$tmp/no.sock" >"$tmp/no" 2>&1
	if grep -q "$3" "$tmp/no"; then ok "$1"; else not_ok "$1" "$(cat "$tmp/no")"; fi
}
sa='"sa": "built-in", "partition": [{"pkey": "0x8001"}]'
refused "a device that is not there" "\"verbs:nosuch0\", $sa" \
	'"verbs:nosuch0": \(no RDMA device nosuch0; there are:\|this build has no libibverbs\)'
refused "user MADs of such a device" '"ethernet:v0", "sa": "umad", "sa-device": "nosuch0/1"' \
	'"nosuch0/1": \(no port 1 of an RDMA device nosuch0\|this kernel has no user MADs\|this build has no libibumad\)'
refused "a group that is none" "\"roce:192.0.2.1,group=192.0.2.3,3=192.0.2.2\", $sa" \
	"'group=192.0.2.3' is neither LID=ADDRESS nor group=ADDRESS of the same IP version"
plan
