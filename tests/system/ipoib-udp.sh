#!/bin/sh
# ipoib-udp.sh - IPoIB over the UDP carrier: A is the subnet administration, and the switch between B
# and C, which know only A. A stranger's datagrams are not taken.
. "$(dirname "$0")/ipoib-lib.sh"
within=20
ns a && ns b && ns c && ns sw
in_ns "$sw" ip link add br0 type bridge
in_ns "$sw" ip link set br0 mtu 4200 up
i=1
for n in a b c; do
	eval "at=\$$n"
	ip -n "$at" link add v0 mtu 4200 type veth peer name "v$n" mtu 4200 netns "$sw"
	ip -n "$sw" link set "v$n" master br0 up
	ip -n "$at" addr add 192.0.2.$i/24 dev v0
	ip -n "$at" link set v0 up
	wait_for 10 is_up "$at" v0
	i=$((i + 1))
done
host() { # NAME GUID LID CARRIER SA
	eval "at=\$$1"
	cat >"$tmp/$1.json" <<JSON
{"causeway:causeway": {
  "daemon": {"buffers": 1024},
  "hca": [{"name": "hca0", "carrier": "udp:$4", "guid": "0x00000000001000$2", "lid": $3, "sm-lid": 1 $5}],
  "port": [{"name": "ib0", "kind": "ipoib", "device": "ib:hca0.8001", "address": [{"address": "10.77.0.$3/24"}]}]
}}
JSON
	ip netns exec "$at" "$causewayd" -c "$tmp/$1.json" -s "$tmp/$1.sock" 2>"$tmp/$1.log" &
}
host a 01 1 192.0.2.1:20000,192.0.2.2:20001,192.0.2.3:20002 ', "sa": "built-in", "partition": [{"pkey": "0x8001"}]'
host b 04 3 192.0.2.2:20001,192.0.2.1:20000 ''
host c 07 4 192.0.2.3:20002,192.0.2.1:20000 ''
for n in a b c; do asks "$n: link is up" $n links '.links[0].state == "up"'; done
for size in 56 2016 8000; do
	check "A and B, $size octets" ping a 10.77.0.3 $size
	check "B and C over A, $size octets" ping b 10.77.0.4 $size
done
asks "A passed packets on" a counters '[.counters[] | select(.counter == "switched")][0].value > 10'
asks "none came damaged" c counters '[.counters[] | select(.counter == "rx_bad")][0].value == 0'

# Damaged packets, from an address that is nobody's: heard, they would be counted.
in_ns "$b" "$python" -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("192.0.2.2", 20009))
for _ in range(20):
    s.sendto(b"\xff" * 12 + b"\x88\xb5" + bytes(64), ("192.0.2.1", 20000))'
check "A and B once more" ping a 10.77.0.3 56
asks "a stranger is not heard" a counters '[.counters[] | select(.counter == "rx_bad")][0].value == 0'
plan
