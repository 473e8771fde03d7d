#!/bin/sh
# cnlearn.sh - what a gateway learns from what passes it, and what it makes of that: rdma_rxe's own packets
# replayed through it, with CM and without; IPv6; UB and UEC flows.
#
#	hosts x0 - hosts gateway core - x1 hosts      both ends in one namespace, so that order is kept
. "$(dirname "$0")/lib.sh"
ns x && ns gw
pair "$x" x0 "$gw" e0
pair "$x" x1 "$gw" e1
cn="/usr/bin/python3 $CW_SRC/tests/system/cn.py"
m0=$(mac_of "$x" x0) m1=$(mac_of "$x" x1) g0=$(mac_of "$gw" e0) g1=$(mac_of "$gw" e1)

station() { # PORT IP MAC [VID]
	echo "{\"port\": \"$1\", \"ip\": \"$2\", \"vid\": ${4:-0}, \"mac\": \"$3\"}"
}
gateway "$gw" <<JSON
{"causeway:causeway": {
  "forwarding": {"between-ethernet": true}, "daemon": {"buffers": 4096},
  "port": [
    {"name": "hosts", "kind": "ethernet", "device": "packet:e0",
     "address": [{"address": "10.0.1.1/24"}, {"address": "2001:db8:1::1/64"}]},
    {"name": "core", "kind": "ethernet", "device": "packet:e1",
     "address": [{"address": "10.0.3.1/24"}, {"address": "2001:db8:3::1/64"}]}],
  "neighbour": [$(station hosts 10.0.1.2 "$m0"), $(station core 10.0.3.2 "$m1"),
    $(station hosts 10.0.1.4 "$m0" 30), $(station core 10.0.3.2 "$m1" 30),
    $(station hosts 10.0.1.5 "$m0" 30), $(station hosts 10.0.1.5 "$m0" 44),
    $(station hosts 10.66.0.1 "$m0"), $(station core 10.66.0.2 "$m1"),
    $(station hosts 2001:db8:1::2 "$m0"), $(station core 2001:db8:3::2 "$m1")],
  "route": [{"prefix": "10.0.1.0/24", "port": "hosts"}, {"prefix": "10.66.0.1/32", "port": "hosts"},
    {"prefix": "10.66.0.2/32", "port": "core"}, {"prefix": "10.0.3.0/24", "port": "core"},
    {"prefix": "10.0.2.0/24", "port": "core", "next-hop": "10.0.3.2"},
    {"prefix": "2001:db8:1::/64", "port": "hosts"}, {"prefix": "2001:db8:3::/64", "port": "core"},
    {"prefix": "2001:db8:2::/64", "port": "core", "next-hop": "2001:db8:3::2"}],
  "ub2e": {"npi": {"pcp": [{"dscp": 48, "pcp": 6}]}},
  "pnc": {"proxy-address": ["10.0.3.1", "2001:db8:3::1"]},
  "fast-cnp": {"proxy": {"enabled": true, "interface": ["core"],
    "allowed-source": ["10.0.3.2/32", "2001:db8:3::2/128"],
    "sender": [{"prefix": "10.0.1.0/24", "kind": "auto"}, {"prefix": "10.0.1.5/32", "kind": "auto", "vid": 44}, {"prefix": "10.66.0.0/24", "kind": "cnp"},
      {"prefix": "2001:db8:1::/64", "kind": "cnp"}]}}}}
JSON
in_ns "$x" dumpcap -q -P -i x0 -f 'inbound and udp' -w "$tmp/at-x" >"$tmp/dumpcap" 2>&1 &
wait_for 30 test -s "$tmp/at-x"

replay() { # FILE FIRST LAST
	in_ns "$x" $cn replay "$fixtures/$1" "$2" "$3" 10.66.0.1 x0 "$g0" x1 "$g1"
}
tell() { # KEY=VALUE... [-- KEY=VALUE...] - messages to the proxy
	in_ns "$x" $cn message x1 "$g1" "$@"
}
after() { # NAME WHAT JQ - waits until it is so
	wait_for 20 sh -c "$causeway show -s $sock -j $2 | jq -e '$3'"
	shows "$@"
}
caught() { # PATTERN NUMBER
	$cn show "$tmp/at-x" 2>/dev/null >"$tmp/shown" && [ "$(grep -c "$1" "$tmp/shown")" = "$2" ]
}
gets() { # NAME PATTERN - waits for one such packet at the sender
	if wait_for 2 caught "$2" 1; then ok "$1"; else not_ok "$1" "$(cat "$tmp/shown")"; fi
}

# ---- rdma_rxe, votes: the same pairs as causeway qpmap finds in the file
pairs='map({sender, receiver, dqpn: (.dqpn // .destination_qp), sqpn: (.sqpn // .source_qp), how, state, votes})
	| map(select(.state == "sure")) | sort_by(.sender, .dqpn)'
"$causeway" qpmap -j "$fixtures/rxe-pairs.pcap" | jq -sc "$pairs" >"$tmp/from-file"
replay rxe-pairs.pcap 1 1000
same_pairs() {
	show qpmap | jq -c ".qpmap | $pairs" >"$tmp/from-wire" && cmp "$tmp/from-wire" "$tmp/from-file"
}
wait_for 20 same_pairs
check "rxe: the gateway learns what causeway qpmap finds in the capture" same_pairs
check "rxe: ten pairs" jq -e 'length == 10' "$tmp/from-file"
tell src=10.66.0.1 dst=10.66.0.2 dqpn=20
gets "rxe: a message about one becomes a CNP of its queue pair" '^cnp 10.66.0.2 10.66.0.1 dscp 48 qp 20 '
tell src=10.66.0.1 dst=10.66.0.2 dqpn=19
after "rxe: UC is undecided, and gets nothing" notifications '.messages.undecided == 1'

# ---- rdma_rxe, CM: rping's handshake, its data, its end
cm='.qpmap[] | select(.sender == "10.66.0.1" and .destination_qp == 24)'
replay rxe-rping.pcap 1 3
after "CM: a handshake gives the pair before any data" qpmap \
	"[$cm | .source_qp, .how, .state, .votes] == [24, \"cm\", \"sure\", 0]"
tell src=10.66.0.1 dst=10.66.0.2 dqpn=24
gets "CM: and a message about it a CNP" '^cnp 10.66.0.2 10.66.0.1 dscp 48 qp 24 '
replay rxe-rping.pcap 4 1000
after "CM: DREQ closes the pair" qpmap "[$cm | .how, .state] == [\"cm\", \"closed\"]"
tell src=10.66.0.1 dst=10.66.0.2 dqpn=24
after "CM: which gets nothing from then on" notifications '.messages.undecided == 2'

# ---- Source ports that are the NIC's own QPN: eight pairs of the same hosts, all from PSN 0 on
flows() { # KEY=VALUE...
	in_ns "$x" $cn flows x0 "$g0" x1 "$g1" "$@"
}
flows pairs=8 own=1 dst=10.0.2.3
after "own QPN: all eight pairs are learned, none wrong" qpmap '[.qpmap[] | select(.receiver == "10.0.2.3") |
	[.source_qp, .destination_qp, .how, .state]] | sort == [range(256; 264) | [., . + 256, "vote", "sure"]]'
for q in 512 516 519; do
	tell dst=10.0.2.3 dqpn=$q
	gets "own QPN: a message about $q becomes a CNP of its queue pair" \
		"^cnp 10.0.2.3 10.0.1.2 dscp 48 qp $((q - 256)) vlan 0 as-scapy\$"
done

# ---- VLANs: the gateway has no address in VLAN 30
flows src=10.0.1.4 vlan=30 qa=48 qb=49
after "VLAN: a pair's VLAN is learned" qpmap \
	'[.qpmap[] | select(.sender == "10.0.1.4") | [.source_qp, .vlan]] == [[48, 30]]'
tell src=10.0.1.4 dqpn=49
gets "VLAN: the CNP leaves in that of its flow, with the priority of its DSCP" \
	'^cnp 10.0.2.2 10.0.1.4 dscp 48 qp 48 vlan 30 pcp 6 as-scapy$'
flows src=10.0.1.5 vlan=30 qa=50 qb=51
after "VLAN: another one" qpmap '[.qpmap[] | select(.sender == "10.0.1.5") | .vlan] == [30]'
tell src=10.0.1.5 dqpn=51
gets "VLAN: a sender's prefix may name another" '^cnp 10.0.2.2 10.0.1.5 dscp 48 qp 50 vlan 44 pcp 6 as-scapy$'

# ---- IPv6; UB and UEC flows
in_ns "$x" $cn exchange x0 "$g0" x1 "$g1"
after "IPv6: a pair is learned from votes" qpmap '[.qpmap[] | select(.sender == "2001:db8:1::2") |
	[.receiver, .destination_qp, .source_qp, .how, .state]] == [["2001:db8:2::2", 34, 17, "vote", "sure"]]'
tell from=2001:db8:3::2 to=2001:db8:3::1 src=2001:db8:1::2 dst=2001:db8:2::2
gets "IPv6: a message over IPv6 becomes a CNP, with the flow's P_Key" \
	'^cnp 2001:db8:2::2 2001:db8:1::2 dscp 48 qp 17 pkey 0x8123 length 40 right$'
tell dport=4792 dqpn=4478310
gets "UB: the sender gets a UB CNP for its endpoint" \
	'^packet 10.0.2.2 10.0.1.2 port 4792 08004455661122330000000000000000c0000000000000000000000000000000........$'
tell dport=4792 dqpn=4478311
after "UB: another endpoint is an unknown flow" notifications '.messages["unknown-flow"] == 1'
tell dport=4793 dqpn=0 tc=107
gets "UEC: the sender gets a Back To Sender packet by the default profile" \
	'^packet 10.0.2.2 10.0.1.2 port 4793 50280100000000000000000000000000........$'
tell dport=4793 dqpn=0 tc=0
after "UEC: another traffic class is another flow" notifications '.messages["unknown-flow"] == 2'
shows "all copies were learned from" notifications '.copies_lost == 0'
adds_up
stop_gateway "SIGTERM ends it with exit code 0"
plan
