#!/bin/sh
# pcapng.sh - captures of several interfaces, byte orders and resolutions are read as tshark reads them.
. "$(dirname "$0")/lib.sh"
make_ng=$CW_SRC/tests/tools/make_ng.py
"$causeway" gen --to ub -w "$tmp/ub.pcap" --count 8 --size 100 >/dev/null
"$python" "$make_ng" "$tmp/ub.pcap" "$tmp/ng.pcapng" || exit 2

"$causeway" decode -j "$tmp/ng.pcapng" >"$tmp/json"
check "two interfaces, two sections" [ "$(jq -s length "$tmp/json")" = 19 ]
tshark -r "$tmp/ng.pcapng" -Y 'frame.cap_len > 4' -T fields -e frame.time_epoch -e frame.len -e frame.cap_len \
	2>/dev/null | sed 's/^	/0.000000000	/' >"$tmp/want"
jq -r '[.time, .length, .captured // .length] | @tsv' "$tmp/json" >"$tmp/got"
same "times and lengths are tshark's" "$tmp/want" "$tmp/got"
jq -r '"\(.link) \(.icrc.status)"' "$tmp/json" | sort | uniq -c | sed 's/^ *//' >"$tmp/out"
out_is "each packet by its interface's link type" "11 ethernet ok
8 ub absent"
check "comments, without what a terminal would obey" \
	jq -se '.[0].comment == "résumé  [31m" and (.[1] | has("comment") | not)' "$tmp/json"
run 0 "the tree" "$causeway" decode --count 1 "$tmp/ng.pcapng"
jq -c 'del(.number)' "$tmp/json" >"$tmp/a"
run 0 "craft" "$causeway" craft "$tmp/a" "$tmp/again.pcapng"
"$causeway" decode -j "$tmp/again.pcapng" | jq -c 'del(.number)' >"$tmp/b"
same "writes the same, an interface for each link type" "$tmp/a" "$tmp/b"
run 1 "into pcap" "$causeway" craft "$tmp/a" "$tmp/again.pcap"
err_has "it can't" "line 2: link: ub: the file's packets begin with ethernet"

run 1 "convert" "$causeway" convert --to uboe -j --drops "$tmp/drops.pcapng" "$tmp/ng.pcapng" "$tmp/out.pcap"
check "takes both" jq -e '.in.packets == 19 and .out.packets == 11 and .drops."ip-length" == 8' "$tmp/out"
"$causeway" decode -j "$tmp/drops.pcapng" | jq -r '"\(.link) \(.comment)"' | sort | uniq -c | sed 's/^ *//' >"$tmp/out"
out_is "what it refused says why" "8 ub ip-length: IP length disagrees with the packet"
run 2 "the other way" "$causeway" convert --to ub "$tmp/ng.pcapng" "$tmp/out.pcap"
err_has "has no native UB" "its packets begin with ub; --to ub takes ethernet"
run 0 "nothing to refuse" "$causeway" convert --to uboe --drops "$tmp/none.pcapng" "$tmp/ub.pcap" "$tmp/out.pcap"
run 0 "makes a file without packets" "$causeway" decode --summary "$tmp/none.pcapng"

broken() { # FAULT TEXT
	"$python" "$make_ng" "$tmp/ub.pcap" "$tmp/bad.pcapng" "$1"
	run 1 "broken: $1" "$causeway" decode --summary "$tmp/bad.pcapng"
	err_has "where, and why" "bad.pcapng: record 20: $2"
	out_has "what was in front is shown" '^19 packets'
}
broken interface 'packet of interface 1; 1 are described'
broken length 'block of type 0x6 has a length of 30 octets'
broken behind 'block of type 0x6 has a length of 36 octets in front, 16 behind'
broken caplen 'packet of 5000 octets in a block of 24'
broken order 'a section has no byte order: 0x1a2b3c4e'
broken cut 'truncated dump file; tried to read 24 octets of a block, only got 21'
head -c 28 "$tmp/ng.pcapng" >"$tmp/none"
run 2 "no interface" "$causeway" decode "$tmp/none"
err_has "and why" 'not a readable capture file: it describes no interface'
gzip -c "$tmp/ng.pcapng" >"$tmp/ng.gz"
"$causeway" decode -j "$tmp/ng.gz" >"$tmp/b"
same "the same file compressed" "$tmp/json" "$tmp/b"
"$causeway" decode -j - <"$tmp/ng.pcapng" >"$tmp/b"
same "from the standard input" "$tmp/json" "$tmp/b"
plan
