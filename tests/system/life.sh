#!/bin/sh
# life.sh - start and end: usage, a second gateway, files as ports, DPDK devices, drop capture, metrics.
. "$(dirname "$0")/lib.sh"
run 0 "--version" "$causewayd" --version
out_has "names itself" "^causewayd [0-9]"
run 0 "--help" "$causewayd" --help
grep -oE -e '--[a-z-]+' "$tmp/out" | sort -u >"$tmp/help"
sed -n '/^\.It Fl/s/Fl -/\n--/gp' "$CW_SRC/docs/man/causewayd.8" | grep -oE '^--[a-z-]+' | sort -u >"$tmp/man"
check "causewayd(8) has its options" diff "$tmp/help" "$tmp/man"
run 2 "no configuration" "$causewayd"
err_has "says so" "a configuration (-c FILE) is needed"
run 2 "no such level" "$causewayd" -c x -l loud
run 1 "no such file" "$causewayd" -c "$tmp/none.json"
err_has "says which" "none.json"
echo '{"causeway:causeway": {"daemon": {"workers": 0}}}' >"$tmp/bad.json"
run 1 "a wrong value" "$causewayd" -c "$tmp/bad.json"
err_has "says path, value and reason" '/causeway:causeway/daemon/workers: "0": value out of range'

# Files in, files out: what the gateway makes is what `causeway convert` makes.
ns gw
"$causeway" gen --to ub -w "$tmp/in.pcap" --count 200 --npi 7 --src 10.2.0.1 --dst 10.1.0.1 >/dev/null
"$causeway" gen --to ub -w "$tmp/raw.pcap" --bare --count 200 --npi 7 --src 10.2.0.1 --dst 10.1.0.1 >/dev/null
: >"$tmp/none.pcap"
gateway "$gw" <<EOF
{"causeway:causeway": {
  "daemon": {"metrics": "unix:$tmp/metrics.sock", "drop-capture": "$tmp/drops.pcapng"},
  "port": [
    {"name": "ub0", "kind": "ub", "device": "pcap:rx=$tmp/in.pcap,tx=$tmp/ubout.pcap"},
    {"name": "raw", "kind": "ub", "device": "pcap:rx=$tmp/raw.pcap,tx=$tmp/rawout.pcap"},
    {"name": "eth0", "kind": "ethernet", "device": "pcap:tx=$tmp/out.pcap"}
  ],
  "route": [{"prefix": "10.1.0.0/16", "port": "eth0", "mac": "02:00:00:00:00:02"}]
}}
EOF
check "both files went through" wait_for 5 sh -c \
	"'$causeway' show -s '$sock' -j counters | jq -e '.ports[2].tx_packets == 400'"
check "metrics tell it" sh -c "curl -s --unix-socket '$tmp/metrics.sock' http://localhost/metrics |
	grep -q 'causeway_port_tx_packets_total{port=\"eth0\"} 400'"

# The socket is taken.
run 1 "a second gateway on the same socket" ip netns exec "$gw" "$causewayd" -c "$tmp/gw.json" -s "$sock"
err_has "is refused, and says why" 'control socket: .*gw.sock'
adds_up
shows "the first one does not mind" summary '.ports == 3'
stop_gateway "SIGTERM ends it with exit code 0"
check "its socket is gone" [ ! -e "$sock" ]
run 0 "the output is good UBoE" "$causeway" decode --summary "$tmp/out.pcap"
out_has "all of it" 'uboe  *400 '
frames "$tmp/out.pcap" | cut -c25- | sort >"$tmp/ours"
for f in in raw; do
	"$causeway" convert --to uboe "$tmp/$f.pcap" "$tmp/conv.pcap" >/dev/null
	frames "$tmp/conv.pcap"
done | cut -c25- | sort >"$tmp/theirs"
same "convert makes the same packets" "$tmp/ours" "$tmp/theirs"

# A DPDK device that takes tags out of the frame; drops by name, each in the capture.
ns far
pair "$gw" u0 "$far" u1
pair "$gw" e0 "$far" e1
gateway "$gw" <<EOF
{"causeway:causeway": {
  "daemon": {"drop-capture": "$tmp/drops.pcapng", "workers": 2},
  "port": [
    {"name": "ub0", "kind": "ub", "device": "packet:u0"},
    {"name": "eth0", "kind": "ethernet", "device": "dpdk:net_af_packet0,iface=e0,framesz=8192,blocksz=65536,framecnt=2048"}
  ],
  "route": [
    {"prefix": "10.1.0.0/16", "port": "eth0", "mac": "$(mac_of "$far" e1)"},
    {"prefix": "10.2.0.0/16", "port": "ub0"}
  ]
}}
EOF
traffic "two workers, UB to a DPDK device" "$far" u1 "$far" e1 --to ub --count 2000 --rate 2000 \
	--src 10.2.0.1+8 --dst 10.1.0.1+8 --npi 7 -- --hops 1 --allow-reorder
traffic "a DPDK device to UB" "$far" e1 "$far" u1 --to uboe --count 2000 --rate 2000 \
	--src 10.1.0.1+8 --dst 10.2.0.1+8 --vlan 7 --dmac "$(mac_of "$gw" e0)" -- --hops 1 --allow-reorder
shows "both workers had work" workers '[.workers[].busy_walks] | all(. > 0)'
in_ns "$far" "$causeway" gen --to ub -i u1 --count 1 --npi 7 --src 10.2.0.1 --dst 10.99.0.1 >/dev/null
in_ns "$far" "$causeway" gen --to ub -i u1 --count 1 --npi 4096 --src 10.2.0.1 --dst 10.1.0.1 >/dev/null
check "drops have names" wait_for 5 sh -c "'$causeway' show -s '$sock' -j drops | jq -e \
	'[.drops[] | select(.reason == \"no-route\" or .reason == \"npi-unmapped\").packets] | all(. >= 1)'"
check "the capture has them, with the reason" sh -c \
	"tshark -r '$tmp/drops.pcapng' -T fields -e frame.comment | sort -u | grep -q '^no-route: no route'"

adds_up
# The same numbers in DPDK's telemetry.
cat >"$tmp/tel.py" <<'PY'
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(sys.argv[1])
s.recv(65536)
s.send(sys.argv[2].encode())
print(s.recv(65536).decode())
PY
telemetry() { # COMMAND
	"$python" "$tmp/tel.py" "$(echo /var/run/dpdk/causewayd-"$gwpid"/dpdk_telemetry.v2*)" "$1"
}
telemetry /causeway/counters >"$tmp/tel1"
telemetry /causeway/drops >"$tmp/tel2"
telemetry /causeway/drops,ub0 >"$tmp/tel3"
show counters >"$tmp/show"
check "telemetry tells the same counters" jq -es '.[0].ports as $p | (.[1]["/causeway/counters"] | map(.)) as $t
	| ($t | map(.port)) == ($p | map(.port)) and ($t | map(.tx_octets)) == ($p | map(.tx_octets))
	and ($t | map(.rx_packets)) == ($p | map(.rx_packets))' "$tmp/show" "$tmp/tel1"
check "and drops, of all ports and of one" jq -es '.[0].ports as $p | .[1]["/causeway/drops"] as $all
	| .[2]["/causeway/drops"] as $ub | $all.no_route == ($p | map(.drops["no-route"] // 0) | add)
	and $ub.npi_unmapped == ($p[0].drops["npi-unmapped"] // 0) and $ub.no_route >= 1 and $ub.tx_full == 0' \
	"$tmp/show" "$tmp/tel2" "$tmp/tel3"
check "a port that is not there" sh -c "'$python' '$tmp/tel.py' \
	/var/run/dpdk/causewayd-$gwpid/dpdk_telemetry.v2* /causeway/drops,nope | jq -e '.[\"/causeway/drops\"] == null'"

# SIGTERM in the middle of traffic: what came in went out.
ip netns exec "$far" "$causeway" gen --to ub -i u1 --count 100000 --rate 20000 --npi 7 --src 10.2.0.1+8 \
	--dst 10.1.0.1+8 >/dev/null &
genpid=$!
sleep 1
before=$(in_ns "$far" cat /sys/class/net/e1/statistics/rx_packets)
stop_gateway "SIGTERM under traffic"
kill $genpid 2>/dev/null
wait $genpid 2>/dev/null
check "it was forwarding" [ "$before" -gt 4000 ]
in=$(sed -n 's/.*port ub0: \([0-9]*\) in.*/\1/p' "$tmp/gw.log")
dropped=$(sed -n 's/.*port ub0:.* \([0-9]*\) dropped/\1/p' "$tmp/gw.log")
sent=$(in_ns "$far" cat /sys/class/net/e1/statistics/rx_packets)
check "all $in packets that came in are out ($sent) or dropped by name ($dropped)" \
	[ $((in - dropped)) -le "$sent" ]
plan
