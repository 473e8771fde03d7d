#!/bin/sh
# rxe.sh [MTU [SECONDS]] - two guests: first Linux's soft RoCE (rdma_rxe) with perftest, whose every
# frame and ICRC is read by causeway, then causeway perf over the same interfaces. What both reached
# is a comment; $JSON, if set, is a file for it.
#
#   a eth0 - a0 bridge b0 - eth0 b
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/guest.sh"
mtu=${1:-1024} seconds=${2:-1}
guest_need ip ethtool jq dumpcap rdma ib_write_bw
here=$(realpath "$CW_SRC")/lab/guest
tests="write_bw:4096 send_bw:65536 write_lat:64"
[ -z "${JSON:-}${CW_FULL:-}" ] || tests="$tests write_bw:65536 read_bw:65536"
guest_modules="virtio_net rdma_rxe ib_uverbs"
# Emulated, the carry-less product that CRC-32 is made of elsewhere is slower than a table.
guest_cpu=max,-pclmulqdq
vlans=''

both="sh $here/perftest.sh \"\$0\" $mtu $seconds $tests atomic_bw:8 &&
	touch /share/\$1.perftest &&
	sh $here/endpoint.sh $(realpath "$causeway") \"\$0\" $mtu $seconds $tests"
space net
guest a net tap:a0 sh -c "$both" - a
guest b net tap:b0 sh -c "$both" 10.66.0.1 b
bridge net fabric a0 b0
start dump net dumpcap -q -i fabric -c 20000 -f 'udp port 4791' -w "$tmp/rxe.pcapng"
dump=$pid
for g in a b; do
	guest_wait $g 300
	rc=$?
	if [ -e "$share/$g.perftest" ]; then
		ok "guest $g: perftest runs over rdma_rxe"
	else
		not_ok "guest $g: perftest runs over rdma_rxe" "$(cat "$share/$g.out" "$share/$g.err")"
	fi
	if [ $rc = 0 ]; then
		ok "guest $g: causeway perf runs"
	else
		not_ok "guest $g: causeway perf runs" "$(cat "$share/$g.out" "$share/$g.err" | tail -20)"
	fi
done
kill -INT "$dump" 2>/dev/null
wait "$dump"

# The reports, one line a test: who, test, Mbit/s or 0, messages/s or 0, us or 0.
awk '/^==/ { test = $2 }
	/^ [0-9]/ && test ~ /_bw/ { print "rxe", test, $4 * 1000, $5 * 1e6, 0 }
	/^ [0-9]/ && test ~ /_lat/ { print "rxe", test, 0, 0, $5 }
	/^{/ { print "causeway", test, $0 }' "$share/b.out" |
	while read -r who test rest; do
		case $rest in
		"{"*) rest=$(echo "$rest" | jq -r '.results[0] | "\(.gbit_per_second * 1e6 | round / 1000) " +
			"\(.messages_per_second | round) \(.latency_us.p50)"') ;;
		esac
		echo "$who $test $rest"
	done >"$tmp/reached"
awk '{ print "# " $1 " " $2 ": " ($2 ~ /_lat/ ? $5 " us" : $3 " Mbit/s, " $4 " messages/s") }' \
	"$tmp/reached"
[ -z "${JSON:-}" ] || jq -R -s 'split("\n") | map(select(. != "") | split(" ") | {who: .[0], test: .[1],
	mbit: (.[2] | tonumber), messages: (.[3] | tonumber), us: (.[4] | tonumber)})' \
	"$tmp/reached" >"$JSON"
"$causeway" decode -j --summary "$tmp/rxe.pcapng" >"$tmp/rxe.json" 2>"$tmp/rxe.err"
check "causeway reads every frame as RoCEv2, every ICRC is right" jq -e \
	'.packets > 1000 and .icrc.ok.packets == .packets' "$tmp/rxe.json"
plan
