#!/bin/sh
# copy.sh - causeway copy over a pair of interfaces, in a network namespace of its own: a file arrives
# intact, goes on where it stopped, and a cable that damages packets costs only time.
. "$(dirname "$0")/ends.sh"
mkdir "$tmp/in"
head -c 3000001 /dev/urandom >"$tmp/file"
head -c 24 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$tmp/key"
chmod 600 "$tmp/key"

# copy NAME OPTION... - from left to right, native UB. The sender's JSON is $tmp/client.
copy() {
	timeout 60 "$causeway" copy -s 127.0.0.1 --native -i right -a 10.0.0.2 --into "$tmp/in" \
		--key "$tmp/key" 2>"$tmp/server.err" >/dev/null &
	pid=$!
	wait_listen || return 1
	into=$1
	shift
	timeout 60 "$causeway" copy -j --native -i left -a 10.0.0.1 --key "$tmp/key" "$@" \
		"$tmp/file" "127.0.0.1:$into" >"$tmp/client"
	rc=$?
	wait $pid && [ $rc = 0 ] || {
		cat "$tmp/server.err" >&2
		return 1
	}
}

check "a file is copied" copy plain
check "it is intact" cmp "$tmp/file" "$tmp/in/plain"
that "every ICRC was right" \
	'.octets == 3000001 and .local.counters["bad-icrc"] == null and .remote.counters["bad-icrc"] == null'
head -c 1048576 "$tmp/file" >"$tmp/in/rest.part"
check "a copy goes on where it stopped" copy rest --resume
that "behind what was there" '.resumed_at == 1048576'
check "it is intact" cmp "$tmp/file" "$tmp/in/rest"
check "settings of the transport are taken over" copy set --cc ldcp \
	-o rto-us=20000,ack-every=2,ldcp-start=8,fast=0,sack-after=2
check "it is intact" cmp "$tmp/file" "$tmp/in/set"

if command -v clang >/dev/null && command -v tc >/dev/null &&
	clang -O2 -target bpf "-I/usr/include/$(uname -m)-linux-gnu" -c "$CW_SRC/lab/bpf/corrupt.c" \
		-o "$tmp/corrupt.o" 2>"$tmp/err" && tc qdisc add dev left clsact 2>"$tmp/err" &&
	tc filter add dev left egress bpf da obj "$tmp/corrupt.o" sec tc/corrupt 2>"$tmp/err"; then
	check "a file crosses a cable that damages packets" copy bad
	check "it is intact" cmp "$tmp/file" "$tmp/in/bad"
	that "wrong ICRCs were dropped and counted, and those packets sent again" \
		'.remote.counters["bad-icrc"] > 0 and .local.counters.rtx >= .remote.counters["bad-icrc"]'
else
	skip "a cable that damages packets" "no clang or no tc-BPF: $(head -1 "$tmp/err")"
fi
plan
