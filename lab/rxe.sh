#!/bin/sh
# rxe.sh - two guests with Linux's soft RoCE (rdma_rxe) and perftest. What the kernel sends is read by
# causeway, and every ICRC is right.
#
#   a eth0 - a0 bridge b0 - eth0 b
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/guest.sh"
guest_need ip ethtool jq dumpcap rdma ib_write_bw
script=$(realpath "$CW_SRC")/lab/guest/perftest.sh
tests="write_bw:4096 read_bw:4096 send_bw:4096 atomic_bw:8 write_lat:64"
guest_modules="virtio_net rdma_rxe ib_uverbs"
vlans=''

space net
# shellcheck disable=SC2086 # a word a test
{
	guest a net tap:a0 sh "$script" - 1024 1 $tests
	guest b net tap:b0 sh "$script" 10.66.0.1 1024 1 $tests
}
bridge net fabric a0 b0
start dump net dumpcap -q -i fabric -c 20000 -f 'udp port 4791' -w "$tmp/rxe.pcapng"
dump=$pid
for g in a b; do
	if guest_wait $g 180; then
		ok "guest $g: perftest runs over rdma_rxe"
	else
		not_ok "guest $g: perftest runs over rdma_rxe" "$(cat "$share/$g.out" "$share/$g.err")"
	fi
done
kill -INT "$dump" 2>/dev/null
wait "$dump"
awk '/^==/ { test = $2 }
	/^ [0-9]/ && test ~ /_bw/ { print "# " test ": " $4 * 1000 " Mbit/s, " $5 * 1e6 " messages/s" }
	/^ [0-9]/ && test ~ /_lat/ { print "# " test ": " $5 " us typical, " $8 " us 99 %" }' "$share/b.out"
"$causeway" decode -j --summary "$tmp/rxe.pcapng" >"$tmp/rxe.json" 2>"$tmp/rxe.err"
check "causeway reads every frame as RoCEv2, every ICRC is right" jq -e \
	'.packets > 1000 and .icrc.ok.packets == .packets' "$tmp/rxe.json"
plan
