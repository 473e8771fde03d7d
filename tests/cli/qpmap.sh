#!/bin/sh
# causeway qpmap: pairs of real captures, options, errors.
. "$(dirname "$0")/lib.sh"
pairs=$fixtures/rxe-pairs.pcap

run 0 "qpmap reads a capture cut to 100 octets" "$causeway" qpmap -j "$pairs"
# In these captures both ends of a connection have the same number.
for qp in 17 20 21 22 23; do
	check "queue pair $qp is paired in both directions" sh -c '
		test "$(jq -s "map(select(.dqpn == $2 and .sqpn == $2 and .state == \"sure\")) | length" \
			"$1")" = 2' - "$tmp/out" "$qp"
done
check "no pair is wrong" jq -es 'all(.dqpn == .sqpn)' "$tmp/out"
check "ten are known, UC is not" jq -es 'length == 10' "$tmp/out"
check "Linux's ports are recognised" jq -es \
	'map(select(.port != null)) | length > 4 and all(.port == "both-qpns")' "$tmp/out"
run 0 "--all" "$causeway" qpmap --all -j "$pairs"
check "shows UC as undecided" jq -es \
	'map(select(.dqpn == 19)) | length == 2 and all(.state == "undecided" and .how == "none")' "$tmp/out"
run 0 "as text" "$causeway" qpmap "$pairs"
out_has "with a summary" '^10 of 12 flows have a sure source queue pair$'
run 0 "more votes than there are" "$causeway" qpmap --votes 9 "$pairs"
out_has "leave one pair" '^2 of 12 flows'

run 0 "a CM handshake and its end" "$causeway" qpmap -j --counters "$fixtures/rxe-rping.pcap"
check "is followed" jq -es \
	'.[:2] | all(.how == "cm" and .state == "closed" and .votes == 18 and .rivals == 0)' "$tmp/out"
check "with PSNs that fit" jq -es '.[2].counters | .stale == 0 and ."cm-messages" == 5' "$tmp/out"
check "untagged" jq -es '.[:2] | all(.vlan == 0)' "$tmp/out"
# Before its end: without the last two CM messages.
"$causeway" decode -j --filter 'not layer=cm_dreq and not layer=cm_drep' "$fixtures/rxe-rping.pcap" |
	"$causeway" craft - "$tmp/open.pcap"
run 0 "a connection that is open" "$causeway" qpmap -j "$tmp/open.pcap"
check "is sure" jq -es 'length == 2 and all(.how == "cm" and .state == "sure")' "$tmp/out"

run 0 "a capture without RoCEv2" "$causeway" qpmap "$fixtures/uboe.pcap"
err_is "says why there may be none" \
	"causeway qpmap: 0 RoCEv2 packets; offloaded RDMA traffic does not show in an ordinary capture"
head -c 1000 "$pairs" >"$tmp/cut.pcap"
run 1 "a broken capture" "$causeway" qpmap "$tmp/cut.pcap"
out_has "shows what it has" 'flows have a sure'
run 2 "no such file" "$causeway" qpmap "$tmp/none.pcap"
run 2 "no file" "$causeway" qpmap
err_is "is refused" "causeway qpmap: no capture given"
run 2 "two files" "$causeway" qpmap a b
run 2 "--votes 0" "$causeway" qpmap --votes 0 "$pairs"
err_is "is refused" "causeway qpmap: --votes: 0 is not in 1 to 64"
run 2 "--ratio" "$causeway" qpmap --ratio x "$pairs"
run 2 "--pairs" "$causeway" qpmap --pairs 0 "$pairs"
run 2 "--add wants four" "$causeway" qpmap --add 10.0.0.1 10.0.0.2 3
err_is "is said" "causeway qpmap: --add takes SENDER RECEIVER DEST-QP SOURCE-QP"
run 2 "--remove wants three" "$causeway" qpmap --remove 10.0.0.1 10.0.0.2 3 4
err_is "is said too" "causeway qpmap: --remove takes SENDER RECEIVER DEST-QP"
run 2 "not both" "$causeway" qpmap --add --remove 10.0.0.1 10.0.0.2 3 4
err_is "says so" "causeway qpmap: --add or --remove, not both"
run 2 "a queue pair has 24 bits" "$causeway" qpmap -s "$tmp/none.sock" --add 10.0.0.1 10.0.0.2 3 0x1000000
err_is "says where" "causeway qpmap: SOURCE-QP: 0x1000000 is not in 1 to 16777215"
run 2 "no gateway to tell" "$causeway" qpmap -s "$tmp/none.sock" --remove 10.0.0.1 10.0.0.2 3
err_is "says which" "causeway qpmap: $tmp/none.sock: no gateway is running on this socket"
run 2 "a full disk" sh -c '"$1" qpmap "$2" >/dev/full' - "$causeway" "$pairs"
plan
