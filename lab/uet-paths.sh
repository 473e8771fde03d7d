#!/bin/sh
# uet-paths.sh [OUT] - UET messages over eight paths of different delay and loss; one of them is cut in
# the middle of the transfer, silently, and mended again. IPv6, then IPv4. Nothing may be corrupted, no
# message delivered twice or early; the cut path is left, and used again. Plots (SVG) go to OUT, or
# nowhere: path shares, retransmissions, degree of reordering.
# shellcheck disable=SC2154 # lib.sh sets $tmp, $pid and the like
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/uet-paths-net.sh"
out=${1:-}
need ip ethtool jq python3
[ -x "$relay" ] || { echo "1..0 # SKIP needs $relay: build it with make"; exit 0; }

size=${UET_LAB_OCTETS:-60000000}
head -c "$size" /dev/urandom >"$tmp/file"
ends
#    us    %    Mbit/s, queue, mark
path 200   0    60 200 60
path 500   0    60 200 60
path 1000  0.1  60 200 60
path 2000  0.1  60 200 60
path 3000  0.5  60 200 60
path 5000  0    60 200 60
path 10000 1    60 200 60
path 20000 2    60 200 60
victim=1
entropy_opts="--paths 8 --source-port $entropy"

sample() { # FILE - is the file at least half there? The receiver writes messages to their places.
	[ "$(du -k "$1" 2>/dev/null | cut -f1)" -ge "$(($2 / 1024))" ]
}

ended() { # NAME PID - well? Else what it said.
	wait "$2" || { cat "$tmp/$1.err" && return 1; }
}

transfer() { # NAME ADDRESS CUT
	rm -f "$tmp/copy" "$tmp/r.out"
	start "$1-recv" r timeout 120 "$causeway" uet recv -j -o "$tmp/copy"
	recv=$pid
	wait_for 20 recv inside r sh -c 'grep -q ":12B8 " /proc/net/udp6' || die "recv does not listen" "$tmp/$1-recv.err"
	# shellcheck disable=SC2086
	start "$1-send" s timeout 120 "$causeway" uet send -j --to "$2" --size 262144 $entropy_opts "$tmp/file"
	send=$pid
	if [ "$3" = cut ]; then
		wait_for 60 "a fifth" sample "$tmp/copy" $((size / 5)) || die "nothing moves" "$tmp/$1-send.err"
		kill -USR1 "$(relay_of $victim)"
		wait_for 60 "half" sample "$tmp/copy" $((size / 2)) || die "nothing moves without path $victim" "$tmp/$1-send.err"
		kill -USR2 "$(relay_of $victim)"
	else
		wait_for 60 "a fifth" sample "$tmp/copy" $((size / 5)) || die "nothing moves" "$tmp/$1-send.err"
		send_back 30
	fi
	check "$1: the sender knows that all is there" ended "$1-send" "$send"
	check "$1: the receiver got each message whole, once" ended "$1-recv" "$recv"
	check "$1: the same octets" cmp "$tmp/file" "$tmp/copy"
}

# What a switch or a proxy would send back about packets of path 2: BTS of UE 1.0, profile addr, from the
# receiver's address and the path's source port to the receiver's port on the sender.
send_back() { # TIMES
	inside r /usr/bin/python3 - "$1" $((entropy + 2)) <<-'END'
		import socket, sys
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		s.bind(("10.91.0.2", int(sys.argv[2])))
		for _ in range(int(sys.argv[1])):
		    s.sendto(bytes([0x50, 0x28, 0x01]) + bytes(17), ("10.91.0.1", 4792))
	END
}

verdicts() { # NAME
	s=$tmp/$1-send.out r=$tmp/$1-recv.out
	check "$1: all eight paths carried data" jq -s -e '.[0] | .paths | length == 8 and all(.sent > 0)' "$s"
	check "$1: packets came out of order, and none with other bytes" jq -s -e \
		'.[0] | .counters["rx-ooo"] > 100 and .counters.conflict == 0 and .counters.geometry == 0' "$r"
	check "$1: reordering is not loss: no more was sent again than paths and timeouts lost" jq -s -e \
		'.[0] | .counters.retransmits <= 2 * (.counters.lost + .counters.timeouts) and .counters.spurious <= .counters["tx-data"] / 50' "$s"
	note "$1: $(jq -r '"\(.octets * 8 / .seconds / 1e6 | floor) Mbit/s, \(.counters.retransmits) of \(.counters["tx-data"]) packets sent again, \(.counters["path-down"]) path(s) left, \(.counters["path-up"]) taken back"' "$s")"
	note "$1: shares of the paths, %: $(jq -r '([.paths[].sent] | add) as $n | [.paths[].sent * 1000 / $n | round / 10 | tostring] | join(" ")' "$s")"
	note "$1: out of order $(jq -r '"\(.counters["rx-ooo"] * 100 / .counters["rx-data"] | round) %, behind the furthest: \(.late | tojson)"' "$r")"
	[ -z "$out" ] || { mkdir -p "$out" && /usr/bin/python3 "$CW_SRC/lab/plot_uet.py" "$out/uet-paths-$1.svg" "$s" "$r"; }
}

transfer ipv6 fd91::2 cut
verdicts ipv6
check "ipv6: the cut path was left" jq -s -e '.[0] | .counters["path-down"] >= 1' "$tmp/ipv6-send.out"
check "ipv6: and taken back, and used" jq -s -e --argjson k $victim '.[0] | .counters["path-up"] >= 1 and (.paths[$k].down | not)
	and ([.samples[].sent[$k]] | (max - .[length * 3 / 4 | floor])) > 0' "$tmp/ipv6-send.out"
transfer ipv4 10.91.0.2 whole
verdicts ipv4
check "ipv4: what the network sent back about a path made its window smaller" jq -s -e \
	'.[0] | .counters.bts == 30 and .paths[2].marked >= 30' "$tmp/ipv4-send.out"
stop_relays
note "relays: $(jq -s -c '{forwarded: map(.forwarded) | add, lost: map(.lost) | add, cut: map(.cut) | add, overflowed: map(.overflowed) | add, marked: map(.marked) | add}' "$tmp"/p[0-7].out)"
check "the relays did lose packets, and cut the path" sh -c 'cat "$@" | jq -s -e "(map(.lost) | add) > 0 and (map(.cut) | add) > 0"' - "$tmp"/p0.out "$tmp"/p1.out "$tmp"/p2.out "$tmp"/p3.out "$tmp"/p4.out "$tmp"/p5.out "$tmp"/p6.out "$tmp"/p7.out
plan
