#!/bin/sh
# drops.sh - late drops: what fails behind the rewrite, or on the way to control, is counted by name and
# in the capture with its reason, as the frame that would have gone out.
. "$(dirname "$0")/lib.sh"
ns gw && ns peer && ns far
pair "$gw" u0 "$far" u1
pair "$gw" e0 "$far" e1
pair "$gw" d0 "$far" d1
emac=02:00:00:00:00:02
drops=$tmp/drops.pcapng

# A drop's comments in the capture, by how many.
captured() { # REASON [FILTER]
	tshark -r "$drops" -Y "${2:-frame}" -T fields -e frame.comment -e _ws.col.Info 2>/dev/null | grep -c "^$1: "
}
has_captured() { # REASON PACKETS [FILTER]
	[ "$(captured "$1" "${3:-}")" = "$2" ]
}
dropped() { # PORT REASON PACKETS
	show counters | jq -e ".ports[] | select(.port == \"$1\").drops[\"$2\"] == $3"
}
late() { # PORT REASON PACKETS [FILTER]
	if wait_for 10 dropped "$1" "$2" "$3"; then ok "$2 is counted at $1"; else
		not_ok "$2 is counted at $1" "$(show counters | jq -c .)"
	fi
	if wait_for 10 has_captured "$2" "$3" "${4:-}"; then ok "$2 is in the capture"; else
		not_ok "$2 is in the capture" "$(tshark -r "$drops" -T fields -e frame.comment 2>&1 | sort | uniq -c)"
	fi
}
gen() { # OPTION... - from the UB side
	in_ns "$far" "$causeway" gen --to ub -i u1 --npi 7 --src 10.2.0.1 "$@" >"$tmp/gen" 2>&1
}

# The other end of a memif link, which can be stopped: then its ring fills up.
peer_json() {
	cat <<JSON
{"causeway:causeway": {
  "daemon": {"control-socket": "$tmp/peer.sock"},
  "port": [{"name": "m", "kind": "ethernet",
    "device": "dpdk:net_memif0,role=server,socket=$tmp/memif.sock,socket-abstract=no"}]}}
JSON
}
peer_json >"$tmp/peer.json"
ip netns exec "$peer" "$causewayd" -c "$tmp/peer.json" 2>"$tmp/peer.log" &
peerpid=$!
check "the other end of a memif starts" wait_for 30 grep -q 'is forwarding' "$tmp/peer.log"

gateway "$gw" <<JSON
{"causeway:causeway": {
  "daemon": {"drop-capture": "$drops"},
  "port": [
    {"name": "ub0", "kind": "ub", "device": "packet:u0", "mtu": 9216},
    {"name": "eth0", "kind": "ethernet", "device": "packet:e0", "mtu": 9216},
    {"name": "eth1", "kind": "ethernet", "device": "packet:d0", "mtu": 9216},
    {"name": "mem", "kind": "ethernet",
     "device": "dpdk:net_memif0,role=client,socket=$tmp/memif.sock,socket-abstract=no"}
  ],
  "route": [
    {"prefix": "10.1.0.0/16", "port": "eth0", "mac": "$emac"},
    {"prefix": "10.3.0.0/16", "port": "eth1", "mac": "$emac"},
    {"prefix": "10.4.0.0/16", "port": "mem", "mac": "$emac"}
  ]}}
JSON

# The interface takes less than the port's mtu says.
ip -n "$gw" link set e0 mtu 1500
gen --dst 10.1.0.1 --size 4000 --count 20
late eth0 tx-error 20 "eth.dst == $emac && vlan.id == 7 && ip.dst == 10.1.0.1 && udp.dstport == 4792"

ip -n "$gw" link set d0 down
gen --dst 10.3.0.1 --count 20
late eth1 port-down 20 "eth.dst == $emac && ip.dst == 10.3.0.1"

wait_for 10 sh -c "'$causeway' show -s '$sock' -j ports | jq -e '.ports[3].link == \"up\"'"
kill -STOP "$peerpid"
gen --dst 10.4.0.1 --count 1600 --rate 4000
kill -CONT "$peerpid"
shows "a link whose other end is stuck fills up" counters '.ports[3].drops["tx-full"] >= 500'
n=$(show counters | jq '.ports[3].drops["tx-full"]')
late mem tx-full "$n" "eth.dst == $emac && ip.dst == 10.4.0.1"
adds_up "late drops add up"

# Control is stuck: its queue fills up.
cat >"$tmp/hold.py" <<'PY'
# Stop one thread until this process ends.
import ctypes, os, signal, sys
libc, tid = ctypes.CDLL(None), int(sys.argv[1])
SEIZE, INTERRUPT, WALL = 0x4206, 0x4207, 0x40000000
if any(libc.ptrace(request, tid, None, None) for request in (SEIZE, INTERRUPT)):
    sys.exit("can't hold it")
os.waitpid(tid, WALL)
print("held", flush=True)
signal.pause()
PY
cat >"$tmp/arp.py" <<'PY'
import socket, sys
arp = bytes.fromhex("ffffffffffff02000000000208060001080006040001020000000002c0000202000000000000c0000201")
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind((sys.argv[1], 0))
for i in range(1100):
    s.send(arp.ljust(60, b"\0"))
PY
"$python" "$tmp/hold.py" "$gwpid" >"$tmp/hold" &
holder=$!
check "control is held" wait_for 10 grep -q held "$tmp/hold"
gen --dst 10.99.0.1 --size 1400 --count 200 --rate 2000 # no route
in_ns "$far" "$python" "$tmp/arp.py" e1
kill $holder
late eth0 punt-full 77 arp
late ub0 no-route 200
adds_up "drops on the way to control add up"
shows "no drop is missing in the captures" summary '.drop_capture.lost == 0'

# A pipe that nobody reads holds nothing up: what it has no room for is counted.
mkfifo "$tmp/fifo"
run 1 "a pipe without a reader" "$causeway" capture-drops -s "$sock" "$tmp/fifo"
err_has "is refused" 'nobody reads from this pipe'
sleep 60 <>"$tmp/fifo" &
holder=$!
check "capture into a pipe" "$causeway" capture-drops -s "$sock" "$tmp/fifo"
gen --dst 10.99.0.1 --size 1400 --count 600 --rate 2000
check "control goes on" wait_for 10 dropped ub0 no-route 800
check "and has counted what found no room" wait_for 10 sh -c \
	"'$causeway' show -s '$sock' -j summary | jq -e '.drop_capture | .lost > 100 and .lost + .packets == 600'"
drops=$tmp/fromfifo.pcapng
cat "$tmp/fifo" >"$drops" &
n=$(show summary | jq .drop_capture.packets)
check "the $n others are there, each whole" wait_for 10 has_captured no-route "$n"
check "the capture ends" "$causeway" capture-drops -s "$sock" --stop
kill $holder
stop_gateway "SIGTERM ends it with exit code 0"

# A frame too long for one buffer (no port is told of such a size; a file has it), and packets that still
# wait for a next hop when the gateway ends.
cat >"$tmp/long.py" <<'PY'
import struct, sys
frame = bytes.fromhex("020000000001020000000002810000070800") + bytes(range(240)) * 50
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    f.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)
PY
"$python" "$tmp/long.py" "$tmp/long.pcap"
ip -n "$gw" link set d0 up
wait_for 10 is_up "$gw" d0
drops=$tmp/end.pcapng
gateway "$gw" <<JSON
{"causeway:causeway": {
  "daemon": {"drop-capture": "$drops"},
  "port": [
    {"name": "ub0", "kind": "ub", "device": "packet:u0"},
    {"name": "eth1", "kind": "ethernet", "device": "packet:d0", "address": [{"address": "10.3.0.1/16"}]},
    {"name": "file", "kind": "ethernet", "device": "pcap:rx=$tmp/long.pcap"}
  ],
  "route": [{"prefix": "10.3.0.0/16", "port": "eth1"}]}}
JSON
late file no-memory 1 "frame.len == 12018 && frame.cap_len < 10000"
gen --dst 10.3.0.9 --count 20
check "packets wait for a next hop" wait_for 5 sh -c \
	"'$causeway' show -s '$sock' -j counters | jq -e '.ports[0].held == 20'"
stop_gateway "SIGTERM meanwhile"
if has_captured shutdown 20 "eth.type == 0x88b6"; then ok "shutdown is in the capture"; else
	not_ok "shutdown is in the capture" "$(tshark -r "$drops" -T fields -e frame.comment 2>&1 | sort | uniq -c)"
fi
check "and counted" grep -q 'port ub0: 20 in, 0 out, 0 local, 20 dropped' "$tmp/gw.log"
plan
