#!/bin/sh
# ubqueue.sh - a shaped queue towards UB: FECN marks, messages, and UB CNPs in the flow's own partition. The
# gateway is the congested node and its own proxy.
#
#	sender e1 (UBoE, VLAN 7) - e0 gateway u0 - u1 receiver (UB)
. "$(dirname "$0")/lib.sh"
ns gw && ns ub && ns eth
pair "$gw" u0 "$ub" u1
pair "$gw" e0 "$eth" e1

option1='"option": "option-1"'
config() { # RATE BUFFER DEPTH PROXY MESSAGE [MORE] - of the queue, of detection; whether the proxy is on; how it is told
	cat <<JSON
{"causeway:causeway": {
  "daemon": {"buffers": 4096},
  "port": [
    {"name": "ub0", "kind": "ub", "device": "packet:u0", "role": "congestion-point",
     "congestion-point": {"rate": $1, "buffer": $2,
       "ecn": {"min": 5000, "max": 20000, "probability": 100},
       "detection": {"depth": $3, "time": 0}, "message": {$5, "flow-interval": 1000}}},
    {"name": "eth0", "kind": "ethernet", "device": "packet:e0", "address": [{"address": "10.3.0.1/24"}]}],
  "route": [{"prefix": "10.1.0.0/16", "port": "eth0", "mac": "$(mac_of "$eth" e1)"},
    {"prefix": "10.2.0.0/16", "port": "ub0"}],
  "pnc": {"static": [{"prefix": "10.1.0.0/16", "proxy": "10.3.0.1"}]},
  "fast-cnp": {"proxy": {"enabled": $4, "interface": ["eth0"], "allowed-source": ["10.3.0.1/32"],
    "sender": [{"prefix": "10.1.0.0/16", "kind": "auto"}]} ${6:-}}
}}
JSON
}
config 8000 60000 10000 true "$option1" >"$tmp/first.json"
gateway "$gw" <"$tmp/first.json"

capture() { # FILE NAMESPACE IF
	in_ns "$2" dumpcap -q -P -i "$3" -w "$tmp/$1" >"$tmp/dumpcap" 2>&1 &
	wait_for 30 test -s "$tmp/$1"
}
capture at-ub "$ub" u1
capture at-eth "$eth" e1
burst() { # MORE... - of options
	in_ns "$eth" "$causeway" gen --to uboe -i e1 --dmac "$(mac_of "$gw" e0)" --vlan 7 --src 10.1.0.1 --dst 10.2.0.1 \
		--ecn 10 --size 1024 "$@"
}
run 0 "a burst of UBoE packets" burst --count 300 --rate 10000

number() { # JQ - of the queue's counters
	show congestion | jq ".congestion[0].counters | $1"
}
all_left() { # as many as found room
	[ "$(decoded at-ub 'any(.layers[]; .layer == "npi")')" = "$(number '.packets - .overflow')" ] &&
		[ "$(number .packets)" = 300 ]
}
decoded() { # FILE JQ - packets for which it is true
	"$causeway" decode -j "$tmp/$1" 2>/dev/null | jq -c "select($2)" | wc -l
}
fecn() { # NAME - UB packets with that FECN
	decoded at-ub "any(.layers[]; .layer == \"cci_fecn\" and .fecn == $1)"
}
wait_for 60 all_left
check "every packet that found room arrives" all_left
light=$(fecn 1) severe=$(fecn 3)
check "some are marked light" test "$light" -gt 0
check "some severe" test "$severe" -gt 0
check "as many as the queue counted" test $((light + severe)) = "$(number .marked)"
check "no ICRC is wrong" test "$(decoded at-ub '.icrc.status == "bad"')" = 0

sent=$(number .sent)
check "the congested node tells the proxy" test "$sent" -gt 0
shows "which makes UB CNPs" notifications ".messages[\"ub-cnp\"] == $sent"
in_partition() {
	[ "$(decoded at-eth 'any(.layers[]; .layer == "vlan" and .vid == 7) and
		any(.layers[]; .layer == "rtph" and .opcode == 8) and .icrc.status == "ok"')" = "$sent" ]
}
wait_for 20 in_partition
check "each in the VLAN of its flow, with a right ICRC" in_partition

# Option 2: of the packet itself the message has its addresses and ports only. Partition 7 is selector 70, which
# stands for both transport endpoints; the receiver's, 0x20000, is that of the packets, whose VLAN is known by it.
config 8000 60000 10000 true '"option": "option-2", "nrp-rule": [{"match": "npi", "value": 7, "nrp": 70}]' \
	', "nrp": [{"selector": 70, "source-tpn": 1122867, "destination-tpn": 131072}]' >"$tmp/nrp.json"
run 0 "selectors instead of a deep look" "$causeway" reload -s "$sock" "$tmp/nrp.json"
run 0 "one more burst" burst --count 100 --rate 10000
by_selector() { # as many as the queue has sent, which is a new one
	sent=$(number .sent)
	[ "$sent" -gt 0 ] && [ "$(decoded at-eth 'any(.layers[]; .layer == "vlan" and .vid == 7) and .icrc.status == "ok" and
		any(.layers[]; .layer == "rtph" and .opcode == 8 and .src_tpn == "0x020000" and .dst_tpn == "0x112233")')" = "$sent" ]
}
check "UB CNPs are for the endpoint of the selector, from its peer's" wait_for 20 by_selector

# A queue with room for one packet, which takes a second to leave; its messages go to a proxy that is off.
config 8 1500 0 false "$option1" >"$tmp/full.json"
run 0 "a smaller queue, and no proxy" "$causeway" reload -s "$sock" "$tmp/full.json"
before=$(show counters | jq '.ports[0].drops["queue-full"]')
run 0 "twenty packets at once" burst --count 20
full() {
	show counters | jq -e ".ports[0].drops[\"queue-full\"] - $before | . >= 10 and . < 20"
}
proxy_off() {
	show counters | jq -e '[.ports[].drops["cn-full"]] | add > 0'
}
check "what finds no room is dropped as queue-full" wait_for 10 full
check "messages to a proxy that is off as cn-full" wait_for 10 proxy_off
adds_up
stop_gateway "SIGTERM ends it with exit code 0"
plan
