#!/bin/sh
# uet-paths.sh [quick] - one sender to one receiver over 1, 2, 4 and 8 paths: UET, as many UDP streams of
# iperf3, MPTCP with as many subflows where the kernel has it; then how long messages take when one of
# eight paths is slow, sprayed and flow-hashed. JSON lines. The paths are lab/uet-paths-net.sh's.
# shellcheck disable=SC2154,SC2034 # lib.sh sets $tmp, $pid and the like, and reads others
. "$(dirname "$0")/../lab/lib.sh"
. "$CW_SRC/lab/uet-paths-net.sh"
need ip ethtool jq python3 iperf3 >&2
[ -x "$relay" ] || exit 0
seconds=${1:+2}
seconds=${seconds:-4}
mbit=50   # of a path
size=4096 # octets in a packet

listening() { # UDP-PORT-IN-HEX - is somebody, at the receiver?
	inside r sh -c "cat /proc/net/udp /proc/net/udp6 | grep -q ':$1 '"
}

uet() { # NAME OPTION... - the sender's report in $tmp/NAME.json
	report=$1
	shift
	start recv r timeout 100 "$causeway" uet recv -j --port 4792
	recv=$pid
	wait_for 20 recv listening 12B8 || die "recv does not listen" "$tmp/recv.err"
	inside s timeout 90 "$causeway" uet perf -j --to 10.91.0.2 --source-port "$entropy" --mtu $size "$@" \
		>"$tmp/$report.json" 2>"$tmp/uet.err" || die "uet $*" "$tmp/uet.err"
	wait "$recv" || die "uet recv" "$tmp/recv.err"
}

throughput_uet() { # PATHS
	uet t --paths "$1" --size 262144 --count $((seconds * $1 * mbit * 125000 / 262144))
	jq -c --argjson n "$1" '{bench: "uet", what: "paths", how: "uet", paths: $n,
		mbit_s: (.octets * 8 / .seconds / 1e6)}' "$tmp/t.json"
}

# A server and a client a stream, each by a path of its own, as fast as the path is.
throughput_udp() { # PATHS
	k=0 clients=
	while [ $k -lt "$1" ]; do
		start "i$k" r timeout 100 iperf3 -s -1 -J -p $((5201 + k)) -B "10.92.$k.2"
		servers="${servers:-} $pid"
		wait_for 20 iperf3 inside r sh -c "grep -qi ':$(printf %04X $((5201 + k))) ' /proc/net/tcp" || die "no iperf3"
		k=$((k + 1))
	done
	k=0
	while [ $k -lt "$1" ]; do
		start "c$k" s timeout 60 iperf3 -u -J -c "10.92.$k.2" -B "10.92.$k.1" -p $((5201 + k)) -b ${mbit}M -l $size -t "$seconds"
		clients="$clients $pid"
		k=$((k + 1))
	done
	for p in $clients; do wait "$p" || die "iperf3" "$tmp/c0.out"; done
	k=0 files=
	while [ $k -lt "$1" ]; do files="$files $tmp/c$k.out" k=$((k + 1)); done
	# what the receivers say
	# shellcheck disable=SC2086
	jq -s -c --argjson n "$1" '{bench: "uet", what: "paths", how: "iperf3 UDP", paths: $n,
		mbit_s: (map(.end.sum | .bits_per_second * (1 - .lost_percent / 100)) | add / 1e6)}' $files
}

# One connection; the server announces an address a path, and the kernel opens a subflow to each.
throughput_mptcp() { # PATHS
	inside r sh -c 'ip mptcp endpoint flush; ip mptcp limits set subflow 8 add_addr_accepted 8'
	inside s ip mptcp limits set subflow 8 add_addr_accepted 8
	k=1
	while [ $k -lt "$1" ]; do
		inside r ip mptcp endpoint add "10.92.$k.2" dev "e$k" signal
		k=$((k + 1))
	done
	start mserver r timeout 60 /usr/bin/python3 "$CW_SRC/bench/mptcp.py" serve 0.0.0.0 7000
	server=$pid
	wait_for 20 mptcp inside r sh -c "grep -qi ':1B58 ' /proc/net/tcp" || die "no MPTCP server" "$tmp/mserver.err"
	inside s timeout 60 /usr/bin/python3 "$CW_SRC/bench/mptcp.py" send 10.92.0.2 7000 "$seconds" 2>"$tmp/m.err" ||
		die "MPTCP" "$tmp/m.err"
	wait "$server"
	jq -c --argjson n "$1" '{bench: "uet", what: "paths", how: "MPTCP", paths: $n, mbit_s: (.octets * 8 / .seconds / 1e6)}' \
		"$tmp/mserver.out"
}

tail_times() { # HOW
	uet tail --paths 8 --spray "$1" --size 262144 --ahead 4 --count $((seconds * 50))
	jq -c --arg how "$1" '{bench: "uet", what: "tail", how: $how, completion_us, mbit_s: (.octets * 8 / .seconds / 1e6)}' \
		"$tmp/tail.json"
}

ends
for many in 1 2 4 8; do
	while [ "$npaths" -lt $many ]; do path 1000 0 $mbit 256 64; done
	throughput_uet $many
	throughput_udp $many
	if [ "$(sysctl -n net.mptcp.enabled 2>/dev/null)" = 1 ]; then throughput_mptcp $many; fi
done
# the last path becomes slow: a tenth of the rate, twenty times the delay
kill "$(relay_of 7)"
wait "$(relay_of 7)" 2>/dev/null
start p7slow p7 "$relay" s r 20000 0 $((mbit / 10)) 256 64
for how in weighted round-robin hash; do tail_times $how; done
