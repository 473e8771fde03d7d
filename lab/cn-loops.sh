#!/bin/sh
# cn-loops.sh [OUT [SECONDS]] - the loops of draft-xiao-fann-fast-cnp-with-proxy-02, figures 1 to 4, over
# one bottleneck: how long from the queue's growing to a notification at the sender, how deep the queue
# gets, what the sender does. 10 Mbit/s, SECONDS (3) each; plots (SVG) go to OUT, or nowhere.
#
#   a eth0 - hosts p core - core c out - eth0 b      p, c: gateways; the queue is at c's out
#                                 \ side - eth0 d      a flow to d never meets it
#
# Figure 1: the receiver marks its acknowledgements (UB with LDCP). Figure 2: the receiver sends CNPs.
# Figure 3: the congested node, as its own proxy, sends them. Figure 4: it tells the proxy p, which
# sends them. In 3 and 4 nothing is marked, so that no other loop helps.
#
# UB senders are endpoints of this project and react for real. RoCEv2 senders are a model of DCQCN
# (tests/tools/roce_hosts.c), because Linux's rdma_rxe ignores CNPs.
# shellcheck disable=SC2154 # lib.sh sets $tmp, $pid and the like
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cn-net.sh"
out=${1:-} seconds=${2:-3}
rate=10 depth=60000 # Mbit/s; octets in the queue that are congestion
hosts=$CW_BUILD/tests/roce_hosts
need ip ethtool jq python3 dumpcap
[ -x "$hosts" ] || { echo "1..0 # SKIP needs $hosts: build it with make"; exit 0; }
space a p c b d
cable a eth0 p hosts
cable p core c core
cable c out b eth0
cable c side d eth0
ip -n "$(ns a)" addr add 10.0.1.2/24 dev eth0
ip -n "$(ns a)" addr add 10.0.1.3/24 dev eth0
ip -n "$(ns b)" addr add 10.0.2.2/24 dev eth0
ip -n "$(ns b)" addr add 10.0.2.3/24 dev eth0
ip -n "$(ns d)" addr add 10.0.4.2/24 dev eth0
ip -n "$(ns a)" route add default via 10.0.1.1
ip -n "$(ns b)" route add default via 10.0.2.1
ip -n "$(ns d)" route add default via 10.0.4.1

# ---- Gateways ------------------------------------------------------------------------------------

congested_config() { # MARK MESSAGE PROXY MORE
	cat >"$tmp/c.json" <<-JSON
		{"causeway:causeway": { $(common c),
		  "port": [
		    {"name": "core", "kind": "ethernet", "device": "packet:core", "address": [{"address": "10.0.3.2/24"}]},
		    {"name": "side", "kind": "ethernet", "device": "packet:side", "address": [{"address": "10.0.4.1/24"}]},
		    {"name": "out", "kind": "ethernet", "device": "packet:out", "address": [{"address": "10.0.2.1/24"}],
		     "role": "congestion-point",
		     "congestion-point": {"rate": ${rate}000, "overhead": 0, "buffer": 1000000,
		       "ecn": {"enabled": $1, "min": $depth, "max": $depth, "probability": 100},
		       "detection": {"depth": $depth}, "message": {"option": "$2", "flow-interval": 5000}}}],
		  "route": [{"prefix": "10.0.1.0/24", "port": "core", "next-hop": "10.0.3.1"},
		    {"prefix": "10.0.2.0/24", "port": "out"}, {"prefix": "10.0.3.0/24", "port": "core"},
		    {"prefix": "10.0.4.0/24", "port": "side"}],
		  "pnc": {"static": [{"prefix": "10.0.1.0/24", "proxy": "$3"}]} $4 }}
	JSON
}

gateways() { # classical | own | proxy
	case $1 in
	classical) congested_config true none 10.0.3.1 "" && proxy_config "" ;;
	own) congested_config false option-1 10.0.3.2 "$(proxy core 10.0.3.2 auto)" && proxy_config "" ;;
	proxy) congested_config false option-1 10.0.3.1 "" && proxy_config "$(proxy core 10.0.3.2 auto)" ;;
	esac
	for g in p c; do
		gateway $g $g
		eval "${g}_pid=$gwpid"
	done
}

stop_gateways() {
	for g in "$p_pid" "$c_pid"; do kill "$g" && wait "$g"; done
}

# ---- Traffic -------------------------------------------------------------------------------------

capture() { # NAME SPACE IF
	rm -f "$tmp/$1.pcap"
	start "cap-$1" "$2" dumpcap -q -P -s 128 -i "$3" -f 'inbound and udp' -w "$tmp/$1.pcap"
	captures="$captures $pid"
	wait_for 30 "capture $1" test -s "$tmp/$1.pcap" || die "no capture at $2" "$tmp/cap-$1.err"
}

captured() { # COMMAND... - while all is captured
	captures=''
	capture arrivals c core
	capture departures b eth0
	capture sender a eth0
	"$@"
	sleep 0.5 # what waits in the queue
	for c in $captures; do kill "$c" && wait "$c"; done
}

flows_b='10.0.1.2,10.0.2.2,17,34 10.0.1.2,10.0.2.2,18,35' flow_d=10.0.1.2,10.0.4.2,19,34
listens() { inside "$1" grep -q ':12B7 ' /proc/net/udp; } # the hosts hold UDP port 4791

roce() { # GAP_US - 0: the receiver sends no CNPs
	# shellcheck disable=SC2086
	start b b "$hosts" recv eth0 "$(mac c out)" "$1" $flows_b
	b_pid=$pid
	start d d "$hosts" recv eth0 "$(mac c side)" "$1" $flow_d
	d_pid=$pid
	for s in b d; do wait_for 20 "receiver $s" listens $s || die "receiver $s does not start" "$tmp/$s.err"; done
	# shellcheck disable=SC2086
	start a a "$hosts" send eth0 "$(mac p hosts)" "$seconds" $rate 1024 $flows_b $flow_d
	wait "$pid" || die "the sender fails" "$tmp/a.err"
	for s in "$b_pid" "$d_pid"; do kill "$s" && wait "$s"; done
}

serves() { inside b grep -qi "$(printf '%02X02000A:%04X .* 0A ' "$1" "$2")" /proc/net/tcp; }

ub() { # CONTROL
	for n in 2 3; do
		start b$n b timeout 120 "$causeway" perf -s 10.0.2.$n -p $((4800 + n)) -a 10.0.2.$n
		eval "b${n}_pid=$pid"
		wait_for 20 "server $n" serves $n $((4800 + n)) || die "server $n does not listen" "$tmp/b$n.err"
	done
	for n in 2 3; do
		start a$n a timeout 120 "$causeway" perf write -c 10.0.2.$n -p $((4800 + n)) -a 10.0.1.$n -i eth0 \
			--mtu 1024 --size 16384 --depth 64 --window 256 -D "$seconds" -j --cc "$1" --line-rate $rate \
			-o dcqcn-ai=1,dcqcn-hai=2,dcqcn-g=4,min-rate=1,dcqcn-timer-us=20000,dcqcn-alpha-us=22000,cnp-gap-us=20000
		eval "a${n}_pid=$pid"
	done
	for n in 2 3; do
		eval "wait \$a${n}_pid" || die "sender $n fails" "$tmp/a$n.err"
		eval "wait \$b${n}_pid"
	done
}

# ---- Measuring -----------------------------------------------------------------------------------

measure() { # FIGURE ub|roce [ARGUMENT]
	name=$1-$2 protocol=$2
	captured "$2" "$3"
	[ "$2" = ub ] || cp "$tmp/a.out" "$tmp/$1.sender"
	python3 "$CW_SRC/lab/cn_loops.py" "$protocol" $depth "$tmp/arrivals.pcap" "$tmp/departures.pcap" \
		"$tmp/sender.pcap" "$tmp/$name" >"$tmp/$name.json" 2>"$tmp/$name.err" || die "no result of $name" "$tmp/$name.err"
	note "$name: $(jq -r '"congested \(.crossings) times, notified after \(.first_ms * 10 | round / 10) ms, median " +
		"\(.median_ms * 10 | round / 10) ms; queue up to \(.peak) octets, mean \(.mean | round); notified: \(.told)"' \
		"$tmp/$name.json")"
}

# Do most notifications come sooner in one run than in the other?
sooner() { # ONE OTHER
	jq -en --slurpfile a "$tmp/$1.json" --slurpfile b "$tmp/$2.json" '$a[0].median_ms < $b[0].median_ms'
}

# On a machine that is too busy the gateways wait for a processor longer than packets for the queue:
# then once more, up to four times.
faster() { # FIGURE ub|roce ARGUMENT
	for try in 1 2 3 4; do
		measure "$@"
		sooner "$1-$2" "fig2-$2" >"$tmp/try" && return
		note "try $try: other work delays the gateways"
	done
}

counts() { # FIGURE PROXY - what the congested node told, and what the proxy made of it
	show c congestion >"$tmp/$1.told"
	show "$2" notifications >"$tmp/$1.proxy"
}
accounted() { # FIGURE
	jq -en --slurpfile c "$tmp/$1.told" --slurpfile p "$tmp/$1.proxy" \
		'($c[0].congestion | map(.counters.sent) | add) == ($p[0].messages | add)'
}

gateways classical
measure fig1 ub ldcp
measure fig2 ub dcqcn
measure fig2 roce 5000
stop_gateways
gateways own
faster fig3 ub dcqcn
faster fig3 roce 0
counts fig3 c
stop_gateways
gateways proxy
faster fig4 ub dcqcn
faster fig4 roce 0
counts fig4 p
stop_gateways

for s in roce ub; do
	check "$s: the congested node itself notifies sooner than the receiver" sooner fig3-$s fig2-$s
	check "$s: with proxy the notification comes sooner than from the receiver" sooner fig4-$s fig2-$s
done
for f in fig2 fig3 fig4; do
	check "$f: both flows of the queue were notified" jq -e '.told | has("17") and has("18")' "$tmp/$f-roce.json"
	check "$f: and no other" jq -e '.told | keys - ["17", "18"] == []' "$tmp/$f-roce.json"
	check "$f: they slowed down" jq -e '[.flows[] | select(.sqpn != 19).cuts] | all(. > 0)' "$tmp/$f.sender"
	check "$f: the flow that meets no queue was never notified" jq -e \
		'.strays == 0 and (.flows[] | select(.sqpn == 19) | .cnps == 0 and .acks > 0)' "$tmp/$f.sender"
	check "$f: UB: both endpoints were notified, and none that sends nothing" jq -e '.strangers == 0 and (.told | length == 2)' "$tmp/$f-ub.json"
done
check "fig1: marked acknowledgements came to both endpoints" jq -e '.told | length == 2' "$tmp/fig1-ub.json"
for f in fig3 fig4; do
	check "$f: the proxy sent CNPs and UB CNPs" jq -e '.messages | .cnp > 0 and ."ub-cnp" > 0' "$tmp/$f.proxy"
	note "$f: the proxy's counts: $(jq -c '.messages | with_entries(select(.value > 0))' "$tmp/$f.proxy")"
	check "$f: every message that the congested node sent came to the proxy" accounted $f
	check "$f: for every message" jq -e '.messages | del(.cnp, ."ub-cnp") | add == 0' "$tmp/$f.proxy"
done

# One drawing a quantity and transport, a line a figure.
plot() { # QUANTITY TRANSPORT AXES FIGURE...
	quantity=$1 transport=$2 axes=$3
	shift 3
	for f; do
		set -- "$@" "$f=$tmp/$f-$transport.$quantity"
		shift
	done
	python3 "$CW_SRC/lab/plot.py" --series "$out/cn-$quantity-$transport.svg" "$axes" "$@"
}
plots() {
	mkdir -p "$out"
	for s in "roce fig2 fig3 fig4" "ub fig1 fig2 fig3 fig4"; do
		# shellcheck disable=SC2086
		plot queue ${s%% *} "seconds; KiB in the queue" ${s#* } &&
			plot rate ${s%% *} "seconds; Mbit/s of both senders" ${s#* } || return 1
	done
}
[ -z "$out" ] || check "the loops are drawn" plots
plan
