#!/bin/sh
# ecn.sh [SECONDS [SVG]] - two flows into one ECN-marking bottleneck, with and without congestion control:
# who gets what (Jain's index), how deep the queue is, how busy the line. 100 Mbit/s, for SECONDS (4).
#
#   a1 eth0 - left1 r right - eth0 b      r: tbf, and lab/bpf/vqueue.c marks CE by queue depth
#   a2 eth0 - left2 /
#
# The queue over time goes to SVG. Kernels with RED or CoDel would not need the BPF program.
. "$(dirname "$0")/lib.sh"
seconds=${1:-4} svg=${2:-$tmp/queue.svg}
rate=100 limit=1000000 # Mbit/s, octets
need ip tc clang jq python3
space a1 a2 r b
cable a1 eth0 r left1
cable a2 eth0 r left2
cable r right b eth0
inside r sysctl -qw net.ipv4.ip_forward=1
for n in 1 2; do
	ip -n "$(ns a$n)" addr add 10.$n.0.1/24 dev eth0
	ip -n "$(ns a$n)" route add default via 10.$n.0.254
	ip -n "$(ns r)" addr add 10.$n.0.254/24 dev left$n
	ip -n "$(ns b)" addr add 10.3.0.$n/24 dev eth0
done
ip -n "$(ns r)" addr add 10.3.0.254/24 dev right
ip -n "$(ns b)" route add default via 10.3.0.254

# The bottleneck of a run starts empty.
bottleneck() {
	tc -n "$(ns r)" qdisc del dev right clsact 2>/dev/null
	tc -n "$(ns r)" qdisc del dev right root 2>/dev/null
	bpf vqueue "$tmp/vqueue.o" -g "-DRATE=$((rate * 125000))" -DKMIN=20000 -DKMAX=200000
	{
		tc -n "$(ns r)" qdisc add dev right root tbf rate ${rate}mbit burst 20000 limit $limit &&
			tc -n "$(ns r)" qdisc add dev right clsact &&
			tc -n "$(ns r)" filter add dev right egress bpf da obj "$tmp/vqueue.o" sec tc/vqueue
	} 2>"$tmp/tc" || die "no bottleneck" "$tmp/tc"
}

# Time, queue, octets sent, drops of the bottleneck, once in a while until the file $tmp/stop is there.
watch_queue() { # NAME
	while [ ! -e "$tmp/stop" ]; do
		tc -n "$(ns r)" -s -j qdisc show dev right | jq -r --arg t "$(date +%s.%N)" \
			'.[] | select(.kind == "tbf") | "\($t) \(.backlog) \(.bytes) \(.drops)"'
		sleep 0.03
	done >"$tmp/$1.queue"
}

listening() { inside b grep -qi "$(printf '%02X00030A:%04X .* 0A ' "$1" "$2")" /proc/net/tcp; }

flows() { # CONTROL
	rm -f "$tmp/stop"
	bottleneck
	for n in 1 2; do
		start "b$n" b timeout 120 "$causeway" perf -s 10.3.0.$n -p $((4790 + n)) -a 10.3.0.$n
		echo "$pid" >"$tmp/b$n.pid"
		wait_for 20 "server $n" listening $n $((4790 + n)) || die "server $n does not listen" "$tmp/b$n.err"
	done
	watch_queue "$1" &
	watcher=$!
	for n in 1 2; do
		start "$1$n" a$n timeout 120 "$causeway" perf write -c 10.3.0.$n -p $((4790 + n)) --mtu 1024 \
			--size 16384 --depth 64 --window 256 -D "$seconds" -j --cc "$1" --line-rate $rate --spin 1000 \
			-o dcqcn-ai=5,dcqcn-hai=10,min-rate=1,dcqcn-timer-us=1000,dcqcn-alpha-us=1100,cnp-gap-us=1000
		echo "$pid" >"$tmp/$1$n.pid"
	done
	for n in 1 2; do
		wait "$(cat "$tmp/$1$n.pid")" || die "flow $n of $1 fails" "$tmp/$1$n.err"
	done
	touch "$tmp/stop"
	wait "$watcher"
	for n in 1 2; do wait "$(cat "$tmp/b$n.pid")"; done
}

# One object of JSON: Jain's index; mean queue and utilisation while there was traffic; drops, marks.
measures() { # CONTROL
	jq -n --slurpfile one "$tmp/${1}1.out" --slurpfile two "$tmp/${1}2.out" \
		--rawfile queue "$tmp/$1.queue" --arg cc "$1" --argjson rate $rate '
		($one[0].results[0].gbit_per_second * 1000) as $a |
		($two[0].results[0].gbit_per_second * 1000) as $b |
		[$queue | split("\n")[] | select(. != "") | split(" ") | map(tonumber)] as $q |
		[$q[] | select(.[2] > $q[0][2] and .[2] < $q[-1][2])] as $m |
		{$cc, flows: [$a, $b], jain: (($a + $b) * ($a + $b) / (2 * ($a * $a + $b * $b))),
		 queue: (($m | map(.[1]) | add) / ($m | length)),
		 use: (($m[-1][2] - $m[0][2]) * 8 / ($m[-1][0] - $m[0][0]) / 1e6 / $rate),
		 drops: $q[-1][3],
		 ce: ([$one[0], $two[0]] | map(.remote.counters.ce // 0) | add),
		 data: ([$one[0], $two[0]] | map(.local.counters["tx-data"] // 0) | add),
		 again: ([$one[0], $two[0]] | map(.local.counters.rtx // 0) | add)}' >"$tmp/$1.json"
}

is() { jq -e "$2" "$tmp/$1.json" >/dev/null; }
shorter() { # CONTROL - its mean queue is less than half of that without control
	jq -en --slurpfile a "$tmp/none.json" --slurpfile b "$tmp/$1.json" '$b[0].queue < $a[0].queue / 2' >/dev/null
}
sound() { is "$1" '.use > 0.5 and .jain > 0.85' && { [ "$1" = none ] || shorter "$1"; }; }

# A machine that is too busy lets the senders sleep and not the line: then once more, up to four times.
for cc in none dcqcn ldcp; do
	for try in 1 2 3 4; do
		flows $cc
		measures $cc
		sound $cc && break
		note "try $try: $(jq -r '"line used \(.use * 100 | round) %, Jain \(.jain), queue \(.queue | round)"' "$tmp/$cc.json")"
	done
	note "$cc: $(jq -r '"\(.flows | map(round | tostring) | join(" and ")) Mbit/s, Jain \(.jain * 1000 | round / 1000), " +
		"line used \(.use * 100 | round) %, queue \(.queue | round) octets, \(.drops) dropped, " +
		"\(.ce) of \(.data) marked, \(.again) sent again"' "$tmp/$cc.json")"
done
check "the line is busy without control" is none '.use > 0.7'
for cc in dcqcn ldcp; do
	check "$cc: the line is busy" is $cc '.use > 0.5'
	check "$cc: the flows share it" is $cc '.jain > 0.8'
	check "$cc: the queue is shorter than without" shorter $cc
	check "$cc: nothing is dropped" is $cc '.drops == 0'
done
for cc in none dcqcn ldcp; do
	awk 'NR == 1 { t = $1 } { print $1 - t, $2 / 1024 }' "$tmp/$cc.queue" >"$tmp/$cc.series"
done
check "the queues are drawn" python3 "$CW_SRC/lab/plot.py" --series "$svg" "seconds; KiB in the queue" \
	"none=$tmp/none.series" "dcqcn=$tmp/dcqcn.series" "ldcp=$tmp/ldcp.series"
plan
