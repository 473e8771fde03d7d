#!/bin/sh
# ipoib-ub.sh - a gateway with a UB port, an Ethernet port and an IPoIB link in router mode: UB packets become UBoE
# on the link, and UBoE from a host on the link becomes UB; UBoE from Ethernet is routed onto the link as it is.
# The host on the link is a gateway in host mode.
. "$(dirname "$0")/ipoib-lib.sh"
ns gw && ns a && ns ub && ns eth
pair "$gw" v0 "$a" v1
pair "$gw" u0 "$ub" u1
pair "$gw" e0 "$eth" e1
ip netns exec "$eth" ethtool -K e1 txvlan off >/dev/null
gateway "$gw" <<JSON
{"causeway:causeway": {
  "hca": [{"name": "hca0", "carrier": "ethernet:v0", "guid": "0x0000000000100001", "lid": 1, "sm-lid": 1,
    "sa": "built-in", "partition": [{"pkey": "0x8001"}]}],
  "port": [
    {"name": "ib0", "kind": "ipoib", "device": "ib:hca0.8001", "ipoib": {"mode": "router"},
      "address": [{"address": "10.77.0.1/24"}]},
    {"name": "eth0", "kind": "ethernet", "device": "packet:e0", "address": [{"address": "192.0.2.1/24"}]},
    {"name": "ub0", "kind": "ub", "device": "packet:u0"}],
  "route": [{"prefix": "10.77.0.0/24", "port": "ib0"}, {"prefix": "10.2.0.0/16", "port": "ub0"},
    {"prefix": "192.0.2.0/24", "port": "eth0"}]
}}
JSON
cat >"$tmp/a.json" <<'JSON'
{"causeway:causeway": {
  "daemon": {"buffers": 1024},
  "hca": [{"name": "hca0", "carrier": "ethernet:v1", "guid": "0x0000000000100004", "lid": 3, "sm-lid": 1}],
  "port": [{"name": "ib0", "kind": "ipoib", "device": "ib:hca0.8001", "address": [{"address": "10.77.0.2/24"}]}]
}}
JSON
ip netns exec "$a" "$causewayd" -c "$tmp/a.json" -s "$tmp/a.sock" 2>"$tmp/a.log" &
asks "the host's link is up" a links '.links[0].state == "up"'
asks "its address is valid" a addresses '[.addresses[] | select(.ip == "10.77.0.2")][0].state == "valid"'
wait_for 10 ip -n "$a" route add default via 10.77.0.1 dev ib0

# Takes UBoE, and sends each packet back to where it came from: "N of COUNT".
cat >"$tmp/echo.py" <<'PY'
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("10.77.0.2", 4792))
s.settimeout(20)
print("listening", flush=True)
want, n = int(sys.argv[1]), 0
while n < want:
    data, (who, port) = s.recvfrom(9000)
    s.sendto(data, (who, 4792))
    n += 1
    print(n, "from", who, len(data), flush=True)
PY
echo_of() { # COUNT
	: >"$tmp/echo"
	in_ns "$a" "$python" "$tmp/echo.py" "$1" >"$tmp/echo" 2>&1 &
	wait_for 20 grep -q listening "$tmp/echo"
}
# Packets in a capture that is being written. (Their ICRC is that of the way there, and wrong for the way back.)
back() { # COUNT FILE JQ
	[ "$("$causeway" decode -j "$2" 2>/dev/null | jq -c "select($3)" | wc -l)" -ge "$1" ]
}
capture() { # NAMESPACE INTERFACE FILTER
	ip netns exec "$1" dumpcap -q -P -i "$2" -w "$tmp/$2.pcap" -f "$3" 2>"$tmp/dumpcap" &
	wait_for 20 test -s "$tmp/$2.pcap"
}

capture "$ub" u1 'ether proto 0x88b6'
echo_of 20
in_ns "$ub" "$causeway" gen -i u1 --to ub --count 1 --src 10.2.0.1 --dst 10.77.0.2 >/dev/null # teaches the neighbour
wait_for 10 grep -q '^1 from' "$tmp/echo"
in_ns "$ub" "$causeway" gen -i u1 --to ub --count 19 --rate 100 --size 256,1400 --src 10.2.0.1 --dst 10.77.0.2 >"$tmp/gen" 2>&1
check "UB packets reach the host on the link as UBoE" wait_for 20 grep -q '^20 from' "$tmp/echo"
check "and its UBoE comes back as UB" wait_for 20 back 20 "$tmp/u1.pcap" \
	'.family == "ub" and [.layers[] | select(.layer == "ipv4")][0].src == "10.77.0.2"'

from_ethernet() { # GEN-OPTION...
	in_ns "$eth" "$causeway" gen -i e1 --to uboe "$@" --dmac "$(mac_of "$gw" e0)" --count 20 --rate 100 \
		--size 256,1400 --src 192.0.2.2 --dst 10.77.0.2 >"$tmp/gen" 2>&1 || cat "$tmp/gen"
}
in_ns "$eth" ip addr replace 192.0.2.2/24 dev e1
echo_of 20
from_ethernet --vlan untagged
check "UBoE from Ethernet is routed onto the link" wait_for 20 grep -q '^20 from' "$tmp/echo"
dropped() { show counters | jq -e '.ports[] | select(.port == "eth0") | .dropped == 20'; }
from_ethernet --vlan 7
check "tagged, it is not: a link has no VLANs; it is counted" wait_for 10 dropped
adds_up
stop_gateway "the gateway ends"
plan
