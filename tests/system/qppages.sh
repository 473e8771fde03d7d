#!/bin/sh
# qppages.sh - a map of 100,000 pairs by the control socket: entered, shown in pages, each pair once, in memory
# that does not grow with the map.
. "$(dirname "$0")/lib.sh"
ns gw && ns x
pair "$x" x0 "$gw" e0
cn="/usr/bin/python3 $CW_SRC/tests/system/cn.py"
pairs=100000
gateway "$gw" <<JSON
{"causeway:causeway": {
  "daemon": {"buffers": 4096},
  "port": [{"name": "core", "kind": "ethernet", "device": "packet:e0", "address": [{"address": "10.0.3.1/24"}]}],
  "pnc": {"proxy-address": ["10.0.3.1"]},
  "fast-cnp": {"qpmap": {"pairs": 200000},
    "proxy": {"enabled": true, "interface": ["core"], "allowed-source": ["10.0.3.2/32"],
      "sender": [{"prefix": "10.0.1.0/24", "kind": "cnp"}]}}}}
JSON
rss() { # KiB
	awk '/^VmRSS/ { print $2 }' "/proc/$gwpid/status"
}
walk() { # LIMIT PAGES
	run 0 "pages of $1" $cn pages "$sock" "$1"
	check "are $2 or one more, and have each pair once" jq -e --argjson n $pairs --argjson p "$2" \
		'.pairs == $n and .shown == $n and (.pages == $p or .pages == $p + 1)' "$tmp/out"
}
run 0 "static pairs are entered" $cn fill "$sock" $pairs
check "all of them" test "$(cat "$tmp/out")" = $pairs
before=$(rss)
walk 1000 100
small=$(($(rss) - before))
walk 65536 2
large=$(($(rss) - before))
echo "# KiB more: $small after pages of 1,000, $large after pages of 65,536"
check "small pages need little memory" test $small -lt 8192
check "and the largest ones what they have" test $large -lt 262144
run 0 "one sender's pairs" "$causeway" show -s "$sock" -j qpmap --sender 10.0.1.7
check "are found" test "$(jq '.qpmap | length == 1000 and all(.[]; .sender == "10.0.1.7" and .how == "static")' "$tmp/out")" = true
stop_gateway "SIGTERM ends it with exit code 0"
plan
