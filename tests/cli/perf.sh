#!/bin/sh
# perf.sh - causeway perf over a pair of interfaces, in a network namespace of its own: every
# operation with its content checked, both directions, UTP, spraying, and a port of DPDK.
. "$(dirname "$0")/ends.sh"

# The hostile station's two sockets, which take everything (ETH_P_ALL, 3).
wait_hostile() { until_true sh -c '[ "$(grep -c " 0003 " /proc/net/packet)" -ge 2 ]'; }

# perf OPERATION OPTION... - client on left, server on right. $server and $client are their devices and
# addresses. The client's JSON is $tmp/client.
perf() {
	# shellcheck disable=SC2086 # several words
	timeout 60 "$causeway" perf -s 127.0.0.1 $server -j \
		>"$tmp/server" 2>"$tmp/server.err" &
	pid=$!
	wait_listen || return 1
	op=$1
	shift
	# shellcheck disable=SC2086
	timeout 60 "$causeway" perf "$op" -c 127.0.0.1 $client -j "$@" \
		>"$tmp/client" 2>"$tmp/client.err"
	rc=$?
	wait $pid
	[ $rc = 0 ] || cat "$tmp/client.err" "$tmp/server.err" >&2
	return $rc
}
# Native UB: no route is needed.
server="--native -a 10.0.0.2 -i right" client="--native -a 10.0.0.1 -i left"

for op in write write-imm write-notify read send send-imm; do
	perf $op -n 200 --size 1,100,4096,70000 --check 2>"$tmp/err"
	that "$op: four sizes, content right" \
		'[.results[] | select(.messages == 200 and .wrong == 0) | .octets] == [1,100,4096,70000]'
done
for kind in cas swap store load fetch-add fetch-sub fetch-and fetch-or fetch-xor; do
	perf atomic --atomic $kind -n 99 --size 1,2,4,8,16,32,64 2>"$tmp/err"
	that "atomic $kind: the cell has the value that 99 of them make" \
		'[.results[].messages] == [99,99,99,99,99,99,99]'
done
perf write -b -n 300 --check 2>"$tmp/err"
that "both directions: each has its messages" \
	'.results[0] | .messages == 600 and .messages_back == 300 and .wrong == 0'
perf read -b -n 100 --size 64,5000 --check --channels 4 --spray 4 --spray-by packet 2>"$tmp/err"
that "both directions, four channels, packets spread over ports" \
	'[.results[] | .messages == 200 and .wrong == 0] == [true, true] and (.local.channels | length) == 4'
perf write -n 100 --channels 3 --spread flow 2>"$tmp/err"
that "by flow, one channel of three takes the messages" \
	'[.local.channels[] | select(.srtt_ns > 0)] | length == 1'
perf send --utp -n 500 --size 1024 --depth 16 --check 2>"$tmp/err"
that "UTP: what arrived is counted, and right" \
	'.results[0] | .messages == 500 and .received > 0 and .received <= 500 and .wrong == 0'
perf prefetch -n 200 --size 64,100000 --depth 16 2>"$tmp/err"
that "prefetch: what the other end did is counted, and nothing was refused" \
	'[.results[] | .messages == 200 and .received > 0] == [true, true] and ([.results[].received] | add) == .remote.counters.prefetch
	and (.remote.counters | keys) == ["prefetch", "rx"]'
perf write --latency -n 100 --size 8 2>"$tmp/err"
that "latency: percentiles rise" \
	'.results[0].latency_us | .min <= .p50 and .p50 <= .p99 and .p99 <= .max and .min > 0'
that "CPU time is told, of both ends" '.local.cpu_seconds > 0 and .remote.cpu_seconds > 0'

# A signal in the middle of a measurement.
received() { awk '$1 == "right:" { print $3 }' /proc/net/dev; }
right_has() { [ "$(received)" -gt "$1" ]; }
before=$(received)
# shellcheck disable=SC2086
timeout 60 "$causeway" perf -s 127.0.0.1 $server >"$tmp/server" 2>&1 &
pid=$!
wait_listen
# shellcheck disable=SC2086
"$causeway" perf write -c 127.0.0.1 $client -j -n 100000000 >"$tmp/client" 2>"$tmp/err" &
measuring=$!
until_true right_has $((before + 1000))
kill -INT $measuring
check "a signal ends a measurement" wait $measuring
that "what was measured by then counts" '.results[0] | .messages > 0 and .messages < 100000000'
check "the server knows" wait $pid
run 2 "a server that was told to stop" timeout --preserve-status -s INT 1 "$causeway" perf -s 127.0.0.1
err_is "says that nobody came" "causeway perf: interrupted, and no client came"
run 0 "one that keeps serving has done its work" \
	timeout --preserve-status -s INT 1 "$causeway" perf -s 127.0.0.1 --keep
err_is "and is silent" ""

# A hostile station on the link: packets of both ends again, damaged, with right ICRCs. It may change memory
# (1) and break a channel (2), for nothing in UB tells it from the peer; then both ends say so, and soon.
survives() { # OPERATION
	"$CW_SRC/tests/tools/harass.py" left right "$(printf '%s' "$1" | wc -c)" >"$tmp/harass" 2>"$tmp/harass.err" &
	hostile=$!
	wait_hostile || return 1
	timeout 50 "$causeway" perf -s 127.0.0.1 --native -a 10.0.0.2 -i right -j >"$tmp/server" 2>"$tmp/server.err" &
	pid=$!
	wait_listen || { kill $hostile && return 1; }
	timeout 50 "$causeway" perf "$1" -c 127.0.0.1 --native -a 10.0.0.1 -i left -j -D 1 -o answer-ms=2000,retries=4 \
		>"$tmp/client" 2>"$tmp/client.err"
	rc=$?
	wait $pid
	rc="$rc $?"
	kill $hostile
	wait $hostile
	cat "$tmp/harass.err" "$tmp/client.err" "$tmp/server.err"
	[ "$(cat "$tmp/harass")" -gt 0 ] || return 1
	case $rc in [012]" "[012]) ;; *) echo "exit codes $rc" && return 1 ;; esac
}
if [ -x /usr/bin/python3 ]; then
	for op in write read send atomic; do
		check "a hostile station breaks neither end of '$op'" survives $op
	done
	perf write -n 200 --check 2>"$tmp/err"
	that "and afterwards all is well" '.results[0] | .messages == 200 and .wrong == 0'
fi

client="--native -a 10.0.0.1 --dpdk net_af_packet0,iface=left"
perf send -n 200 --size 64,3000 --check 2>"$tmp/err"
that "a port of DPDK, against packet sockets" '[.results[] | .messages == 200 and .wrong == 0] == [true, true]'
server="--native -a 10.0.0.2 --dpdk net_af_packet0,iface=right"
perf write -n 200 --check 2>"$tmp/err"
that "ports of DPDK at both ends" '.results[0] | .messages == 200 and .wrong == 0'

# UBoE: the kernel of the client asks for the link address of a server that has no kernel.
ip addr add 10.0.0.1/24 dev left
echo 0 >/proc/sys/net/ipv6/conf/left/disable_ipv6
ip addr add fd00::1/64 dev left nodad
for ends in 10.0.0.1,10.0.0.2 fd00::1,fd00::2; do
	server="-a ${ends#*,} --dpdk net_af_packet0,iface=right" client="-a ${ends%,*} -i left"
	perf write -n 200 --check 2>"$tmp/err"
	that "DPDK answers ARP or ND for ${ends#*,}" '.results[0] | .messages == 200 and .wrong == 0'
done
server="-a 10.0.0.2 --dpdk net_af_packet0,iface=right"
client="-a 10.0.0.3 --dpdk net_af_packet0,iface=left"
perf send -n 200 --check 2>"$tmp/err"
that "two ports of DPDK find each other by ARP" \
	'.results[0] | .messages == 200 and .wrong == 0'
plan
