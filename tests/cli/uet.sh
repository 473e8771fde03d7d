#!/bin/sh
# uet.sh - causeway uet: transfers over loopback, both IP versions; all-reduce; wrong usage.
. "$(dirname "$0")/lib.sh"
port=$((20000 + $$ % 20000))
recv= # process to end when the test ends
trap '[ -z "$recv" ] || kill "$recv" 2>/dev/null; rm -rf "$tmp"' EXIT

transfer() { # NAME ADDRESS [OPTION...]
	name=$1 to=$2
	shift 2
	port=$((port + 1))
	rm -f "$tmp/copy"
	case " $* " in *" --crc "*) crc=--crc ;; *) crc= ;; esac
	"$causeway" uet recv -j $crc --port $port -o "$tmp/copy" >"$tmp/recv" 2>"$tmp/recv.err" &
	recv=$!
	run 0 "$name: sent" "$causeway" uet send -j --to "$to" --port $port "$@" "$tmp/file"
	check "$name: received" wait_for $recv
	recv=
	same "$name: the same octets" "$tmp/file" "$tmp/copy"
}
wait_for() { wait "$1"; }

head -c 3000001 /dev/urandom >"$tmp/file"
transfer "IPv6, 8 paths" ::1 --paths 8
check "all paths carried something" sh -c 'jq -e ".paths | length == 8 and all(.sent > 0)" "$1"' - "$tmp/out"
check "packets: all of the messages, and what was sent again" sh -c \
	'jq -e ".counters | .\"tx-data\" - .retransmits == 736" "$1"' - "$tmp/out"
check "nothing was refused" sh -c 'jq -e "[.counters | .conflict, .geometry, .\"bad-ack\", .\"bad-context\"] | add == 0" "$1"' - "$tmp/recv"
transfer "IPv4, one path" 127.0.0.1 --paths 1
transfer "small packets, hash" ::1 --mtu 1000 --size 100000 --spray hash
transfer "round robin" 127.0.0.1 --spray round-robin
: >"$tmp/file"
transfer "an empty file" ::1

port=$((port + 1))
"$causeway" uet recv --port $port >"$tmp/recv" 2>&1 &
recv=$!
run 0 "perf" "$causeway" uet perf --to ::1 --port $port --count 20 --size 262144 --mtu 4092
out_has "it says how much" '^sent 5242880 octets in 20 messages'
check "and recv checked it" wait_for $recv
recv=
check "recv says how much" grep -q '^received 5242880 octets in 20 messages' "$tmp/recv"

# ---- Write and Read of what the receiver exposes --------------------------------------------------

receiver() { # OPTION... - in the background
	port=$((port + 1))
	"$causeway" uet recv --port $port "$@" >"$tmp/recv" 2>"$tmp/recv.err" &
	recv=$!
}

head -c 3000001 /dev/urandom >"$tmp/file"
for to in ::1 127.0.0.1; do
	receiver -j --expose 4000000 -o "$tmp/copy"
	run 0 "write to $to" "$causeway" uet write -j --to $to --port $port --paths 8 "$tmp/file"
	check "and recv checked it" wait_for $recv
	recv=
	same "the memory is the file" "$tmp/file" "$tmp/copy"
	receiver -j --expose 3000001 "$tmp/file"
	run 0 "read from $to" "$causeway" uet read -j --to $to --port $port --offset 1001 --length 2000003 \
		--size 300000 -o "$tmp/copy"
	check "and recv checked it" wait_for $recv
	recv=
	tail -c +1002 "$tmp/file" | head -c 2000003 >"$tmp/part"
	same "what was read is the part of the file" "$tmp/part" "$tmp/copy"
done
check "the receiver's report counts the Reads" jq -e '.messages == 7 and .octets >= 2000003' "$tmp/recv"
for op in write read; do
	receiver --expose 262144
	run 0 "perf --op $op" "$causeway" uet perf --op $op --to ::1 --port $port --count 40 --size 262144
	check "and recv checked it" wait_for $recv
	recv=
done
receiver --expose 1000
run 1 "a Read beyond the memory" "$causeway" uet read --to ::1 --port $port --offset 999 --length 2
err_is "it says so" "causeway uet: the receiver says: access (recv --expose, and how much?)"
kill $recv && wait $recv 2>/dev/null
receiver
run 1 "a Write where nothing is exposed" "$causeway" uet write --to ::1 --port $port "$tmp/file"
kill $recv && wait $recv 2>/dev/null
recv=
port=$((port + 1))
check "source ports are what they are told to be" sh -c '
	"$0" uet recv --port $1 >/dev/null 2>&1 & r=$!
	"$0" uet perf -j --to ::1 --port $1 --paths 3 --source-port $2 --count 3 |
		jq -e --argjson p $2 "[.paths[].port] == [\$p, \$p + 1, \$p + 2]" && wait $r' \
	"$causeway" $port $((port + 20000))

# ---- CRC ------------------------------------------------------------------------------------------

transfer "with CRC, IPv6" ::1 --crc --paths 4
check "none is wrong" jq -e '.bad_crc == 0 and .strangers == 0' "$tmp/recv"
transfer "with CRC, IPv4" 127.0.0.1 --crc --mtu 999
check "none is wrong" jq -e '.bad_crc == 0 and .strangers == 0' "$tmp/recv"
port=$((port + 1))
"$causeway" uet recv -j --crc --port $port >"$tmp/recv" 2>"$tmp/recv.err" &
recv=$!
run 2 "a sender without it is not heard" "$causeway" uet send --to 127.0.0.1 --port $port --timeout 500 "$tmp/part"
run 0 "and one with it is" "$causeway" uet send --crc --to 127.0.0.1 --port $port "$tmp/part"
check "recv ends well" wait_for $recv
recv=
check "and counted the others" jq -e '.bad_crc > 0' "$tmp/recv"

# ---- Strangers ------------------------------------------------------------------------------------

# A whole message 7 of nobody: only message 0 opens a transfer. Once more when recv did not listen yet.
port=$((port + 1))
"$causeway" uet recv -j --port $port -o "$tmp/copy" >"$tmp/recv" 2>"$tmp/recv.err" &
recv=$!
run 0 "a packet from the middle of nothing" timeout 60 /usr/bin/python3 -c '
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(("127.0.0.1", int(sys.argv[1])))
good = 0
while good < 2:
    try:
        s.send(bytes.fromhex("1053 010203 010203 00000007 00000000 0004 0000 61626364"))
        good += 1
    except ConnectionRefusedError:
        good = 0
    time.sleep(0.1)' $port
run 0 "a transfer after it" "$causeway" uet send --to 127.0.0.1 --port $port "$tmp/part"
check "recv ends well" wait_for $recv
recv=
same "with the octets of the file" "$tmp/part" "$tmp/copy"
check "and the packet was a stranger's" jq -e '.strangers > 0' "$tmp/recv"

# ---- Several transfers ----------------------------------------------------------------------------

port=$((port + 1))
mkdir "$tmp/inbox"
"$causeway" uet recv -j --port $port --count 5 -o "$tmp/inbox" >"$tmp/recv" 2>"$tmp/recv.err" &
recv=$!
senders=
for k in 1 2 3 4 5; do head -c $((400000 + k)) /dev/urandom >"$tmp/file$k"; done
for k in 1 2 3; do # at once
	"$causeway" uet send --to 127.0.0.1 --port $port --size 65536 "$tmp/file$k" >/dev/null 2>"$tmp/send$k" &
	senders="$senders $!"
done
for s in $senders; do check "a sender of three" wait_for "$s"; done
for k in 4 5; do run 0 "one after the other" "$causeway" uet send --to ::1 --port $port "$tmp/file$k"; done
check "recv took them all" wait_for $recv
recv=
check "into files of their own" sh -c '
	for k in 1 2 3 4 5; do sha256sum <"$1/file$k"; done | sort >"$1/sums"
	for f in "$1"/inbox/*; do sha256sum <"$f"; done | sort | cmp - "$1/sums"' - "$tmp"
check "a line for each, then all of it" jq -es 'map(.what) == ["transfer", "transfer", "transfer", "transfer", "transfer", "received"]
	and (.[-1].octets == 2000015) and ([.[:5][].octets] | add == 2000015) and (.[:5] | all(.from == "127.0.0.1" or .from == "::1"))' "$tmp/recv"

port=$((port + 1))
"$causeway" uet recv --port $port --forever -o - >"$tmp/stream" 2>"$tmp/recv.err" &
recv=$!
for k in 1 2; do run 0 "to a receiver that stays" "$causeway" uet send --to 127.0.0.1 --port $port "$tmp/file$k"; done
cat "$tmp/file1" "$tmp/file2" >"$tmp/both"
n=0
while [ $n -lt 300 ] && [ "$(wc -c <"$tmp/stream")" -lt 800003 ]; do sleep 0.1 && n=$((n + 1)); done
kill -INT $recv
check "an interrupt is its ordinary end" wait_for $recv
recv=
same "whole transfers on the standard output, one after the other" "$tmp/both" "$tmp/stream"
run 2 "several, and no directory" "$causeway" uet recv --count 2 -o "$tmp/file"
err_is "it says so" "causeway uet: recv: -o: several transfers need a directory, or -"
run 2 "data and JSON" "$causeway" uet recv -j -o -
err_is "it says so" "causeway uet: recv: -o - and -j both want the standard output"

run 2 "nobody there" "$causeway" uet perf --to ::1 --port 9 --count 1 --timeout 300
err_is "it says so" "causeway uet: no answer from the receiver"
run 1 "recv without sender" "$causeway" uet recv --port $port --timeout 300
err_is "it says so" "causeway uet: the sender went silent"

run 0 "all-reduce" "$causeway" uet allreduce -n 7 --elements 20011 -j
check "exact" sh -c 'jq -e ".wrong == 0 and .elements == 20011 and .lost == 0 and .retransmits == 0 and .out_of_order > 0" "$1"' - "$tmp/out"
run 0 "all-reduce with losses" "$causeway" uet allreduce -n 4 --elements 200000 --loss 5 -j
check "exact too" sh -c 'jq -e ".wrong == 0 and .lost > 0 and .retransmits > 0" "$1"' - "$tmp/out"
run 0 "fewer elements than ranks" "$causeway" uet allreduce -n 16 --elements 3

run 2 "no subcommand" "$causeway" uet
run 2 "unknown subcommand" "$causeway" uet fly
err_is "it says so" "causeway uet: no subcommand 'fly'"
run 2 "a file without memory" "$causeway" uet recv "$tmp/file"
err_is "it says so" "causeway uet: recv: a file is for --expose"
run 2 "a file too many" "$causeway" uet perf --to ::1 "$tmp/file"
run 2 "wrong operation" "$causeway" uet perf --to ::1 --op jump
run 2 "send without address" "$causeway" uet send "$tmp/file"
err_is "it says so" "causeway uet: send: --to is missing"
run 2 "wrong spraying" "$causeway" uet perf --to ::1 --spray rain
run 2 "wrong loss" "$causeway" uet allreduce --loss 51
run 2 "no file" "$causeway" uet send --to ::1 "$tmp/none"
err_has "it says so" 'none: No such file'
run 2 "too many paths" "$causeway" uet perf --to ::1 --paths 65
run 2 "unknown address" "$causeway" uet perf --to no.such.host.invalid
plan
