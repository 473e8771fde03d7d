#!/bin/sh
# cn-rxe.sh - figure 4 of draft-xiao-fann-fast-cnp-with-proxy-02 with real senders: two guests run perftest over
# Linux's soft RoCE (rdma_rxe), with CM and without it, through a proxy near the sender and a congested
# node. What the proxy learns of queue pairs is held against what the guests say of theirs, and so is
# the queue pair of every CNP in front of the sender.
#
#   guest a: eth0 - a0 bridge x - hosts p core - core c out: b0 - eth0: guest b
#
# Linux's rdma_rxe ignores CNPs: that senders slow down is shown with a model of DCQCN (cn-loops.sh).
# shellcheck disable=SC2154 # lib.sh sets $tmp, $pid and the like
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cn-net.sh"
. "$(dirname "$0")/guest.sh"
[ -n "${CW_FULL:-}" ] || { echo "1..0 # SKIP two guests: tests/run --full"; exit 0; }
guest_need ip ethtool jq dumpcap tshark rdma ib_write_bw ib_send_bw ibv_rc_pingpong
guest_modules="virtio_net rdma_rxe ib_uverbs rdma_ucm"
guest_cpu=max,-pclmulqdq # as in rxe.sh
seconds=${1:-25} rate=3000 depth=12000 vlans=''
plain=4 by_cm=3 # queue pairs; with CM perftest has one more to talk by

# ---- Gateways ------------------------------------------------------------------------------------

configs() {
	proxy_config "$(proxy core 10.0.3.2 cnp)"
	cat >"$tmp/c.json" <<-JSON
		{"causeway:causeway": { $(common c),
		  "port": [
		    {"name": "core", "kind": "ethernet", "device": "packet:core", "address": [{"address": "10.0.3.2/24"}]},
		    {"name": "out", "kind": "ethernet", "device": "packet:b0", "address": [{"address": "10.0.2.1/24"}],
		     "role": "congestion-point",
		     "congestion-point": {"rate": $rate, "buffer": 2000000, "ecn": {"enabled": false},
		       "detection": {"depth": $depth}, "message": {"option": "option-1", "flow-interval": 20000}}}],
		  "route": [{"prefix": "10.0.1.0/24", "port": "core", "next-hop": "10.0.3.1"},
		    {"prefix": "10.0.2.0/24", "port": "out"}, {"prefix": "10.0.3.0/24", "port": "core"}],
		  "pnc": {"static": [{"prefix": "10.0.1.0/24", "proxy": "10.0.3.1"}]} }}
	JSON
}

# ---- Guests --------------------------------------------------------------------------------------

ready() { # GUEST NET
	guest_do "$1" 240 sh -ec "
		ip link set eth0 mtu 1200 up
		ip addr add 10.0.$2.2/24 dev eth0
		ip route add default via 10.0.$2.1
		rdma link add rxe0 type rxe netdev eth0" >"$tmp/ready" || die "guest $1 has no rxe0" "$tmp/ready"
}
# Both kinds at once, in the background. GID 1 is the IPv4 address; what may be under way is less than the
# queue holds, and waits for 0.4 s. The timeout, 4.1 us * 2^21 = 8.6 s, is for guests that wait for their
# processor: with 1.1 s busy machines had timeouts, and the receiver as many duplicates, of packets that were not lost.
run_perftest() { # GUEST [SERVER]
	options="-d rxe0 -x 1 -F -m 1024 -s 4096 -t 4 -u 21 -D $seconds"
	guest_do "$1" 30 sh -c "
		again() { until \"\$@\"; do [ -n '${2:-}' ] && [ \$((n += 1)) -lt 40 ] || return 1; sleep 0.3; done; }
		one() { again \"\$@\" >/share/\$name.report 2>&1 </dev/null; echo \$? >/share/\$name.status; }
		name=$1-plain one ib_write_bw $options -q $plain -p 18515 ${2:-} &
		name=$1-cm one ib_send_bw $options -R -q $((by_cm - 1)) -p 18516 ${2:-} & "
}
ended() { [ -s "$share/$1-plain.status" ] && [ -s "$share/$1-cm.status" ]; } # GUEST
fine() { # GUEST KIND
	[ "$(cat "$share/$1-$2.status")" = 0 ] || { cat "$share/$1-$2.report"; return 1; }
}
# What a guest says of its connected queue pairs: [LOCAL, REMOTE]. Those of a server that only listens
# stay in RTR.
truth() { # GUEST
	guest_do "$1" 30 rdma -j res show qp link rxe0/1 |
		jq -c '[.[] | select(.type == "RC" and (.state == "RTR" or .state == "RTS")) | [.lqpn, .rqpn]] | sort'
}
connected() { [ "$(truth a | tee "$tmp/a.truth" | jq length)" = $((plain + by_cm)) ]; }
# Those of its rxe that have counted. A timeout is a completer_retry_err; what the network loses, and what it
# overtakes, is an out_of_seq_request at one side or a rcvd_seq_err at the other.
counters() { # GUEST
	guest_do "$1" 30 sh -c 'cd /sys/class/infiniband/rxe0/ports/1/hw_counters && grep . *' | sed '/:0$/d'
}

# ---- What the proxy knows ------------------------------------------------------------------------

learned() { # SENDER RECEIVER - sure pairs [source, destination]
	show p qpmap | jq -c --arg s "$1" --arg r "$2" '[.. | objects | select(.sender? == $s and .receiver? == $r
		and .state == "sure") | [(.source_qp // .sqpn), (.destination_qp // .dqpn)]] | sort'
}
all_learned() {
	[ "$(learned 10.0.1.2 10.0.2.2)" = "$(cat "$tmp/a.truth")" ] && show p qpmap >"$tmp/qpmap"
}
wrong() { # SENDER RECEIVER TRUTH - pairs that the guest has not
	learned "$1" "$2" | jq --argjson t "$3" '. - $t | length'
}
notified() { show p notifications | jq -e '.messages.cnp > 20'; }
accounted() { # messages that the congested node sent, and those of the proxy, by what became of them
	[ "$(show c congestion | jq '[.congestion[].counters.sent] | add')" = "$(show p notifications | jq '.messages | add')" ]
}

space a p c
cable a x p hosts
cable p core c core
guest a a tap:a0 sh "$guest_obey"
guest b c tap:b0 sh "$guest_obey"
bridge a fabric a0 x
configs
gateway p p
gateway c c
ready a 1
ready b 2
start dump a dumpcap -q -P -i x -f 'inbound and udp port 4791' -w "$tmp/sender.pcap"
dump=$pid
wait_for 30 dumpcap test -s "$tmp/sender.pcap" || die "no capture" "$tmp/dump.err"

# One that waits in vain: both ends of a pair have different numbers then.
guest_do b 30 sh -c 'ibv_rc_pingpong -d rxe0 -g 1 -p 18520 >/dev/null 2>&1 </dev/null &
	until rdma res show qp link rxe0/1 | grep -q rc_pingpong; do sleep 0.2; done'
run_perftest b
run_perftest a 10.0.2.2
wait_for 60 "queue pairs" connected || die "$((plain + by_cm)) queue pairs are not connected" "$tmp/a.truth"
mine=$(cat "$tmp/a.truth") theirs=$(truth b)
note "a says, local and remote: $mine"
check "b says the same of them, the other way round" [ "$(echo "$theirs" | jq -c 'map([.[1], .[0]]) | sort')" = "$mine" ]
check "the proxy learns all $((plain + by_cm)) pairs from live traffic" wait_for 30 pairs all_learned
wrong_pairs=$(($(wrong 10.0.1.2 10.0.2.2 "$mine") + $(wrong 10.0.2.2 10.0.1.2 "$theirs")))
check "wrong pairs: $wrong_pairs" [ "$wrong_pairs" = 0 ]
show p qpmap | jq -r '[.. | objects | select(.sender? == "10.0.1.2" and .state == "sure") | .how] | group_by(.) |
	map("\(length) by \(.[0])") | "learned: " + join(", ")' >"$tmp/how"
note "$(cat "$tmp/how")"
check "with CM and without" grep -q "$by_cm by cm, $plain by vote" "$tmp/how"
check "more than 20 notifications have become CNPs" wait_for 60 CNPs notified

for g in a b; do
	wait_for 120 "perftest of $g" ended $g || die "perftest of $g does not end" "$share/$g-plain.report"
	for kind in plain cm; do check "$g: perftest ($kind) ends well" fine $g $kind; done
	counters $g >"$tmp/$g.counters"
	note "$g, rxe: $(tr '\n' ' ' <"$tmp/$g.counters")"
	check "$g: rxe has counted no error" awk '/_err:|out_of_seq/ { bad = 1 } END { exit bad }' "$tmp/$g.counters"
done
note "the proxy's counts: $(show p notifications | jq -c '.messages | with_entries(select(.value > 0))')"
check "every message that the congested node sent came to the proxy" wait_for 10 messages accounted
cnps=$(show p notifications | jq .messages.cnp)
no_drops p
no_drops c
kill -INT "$dump"
wait "$dump"

# ---- In front of the sender ----------------------------------------------------------------------

"$causeway" decode -j "$tmp/sender.pcap" 2>/dev/null | jq -c 'select(any(.layers[]; .layer == "bth" and .opcode == 129))' >"$tmp/cnps"
tshark -r "$tmp/sender.pcap" -Y 'infiniband.bth.opcode == 129' -T fields -e ip.src -e ip.dst -e ip.dsfield.dscp \
	-e infiniband.bth.destqp 2>/dev/null | sort | uniq -c >"$tmp/cnps.tshark"
note "CNPs, by tshark: $(tr -s ' \t\n' '  ;' <"$tmp/cnps.tshark")"
check "causeway: every CNP has a right ICRC" jq -se 'length > 20 and all(.icrc.status == "ok")' "$tmp/cnps"
check "as many as the proxy counted: $cnps" [ "$(wc -l <"$tmp/cnps")" = "$cnps" ]
# Numbers of queue pairs are hexadecimal there.
ours=$(jq -r '.[][0]' "$tmp/a.truth" | while read -r n; do printf '0x%06x ' "$n"; done)
check "tshark: each is from the receiver to the sender, and for a queue pair of the sender's own" \
	awk -v ours=" $ours" '$2 != "10.0.2.2" || $3 != "10.0.1.2" || $4 != 48 || !index(ours, " " $5 " ") { bad = 1 }
		END { exit bad || NR == 0 }' "$tmp/cnps.tshark"
guest_leave a
guest_leave b
plan
