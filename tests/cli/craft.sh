#!/bin/sh
# craft.sh - causeway craft: the inverse of decode -j, what is computed, exact errors.
. "$(dirname "$0")/lib.sh"

# A pcap file from its first record on: the header's snap length is not part of the packets.
records() { tail -c +25 "$1"; }

round_trip() { # FILE [OPTION...]
	file=$1
	shift
	"$causeway" decode -j "$@" "$file" 2>/dev/null >"$tmp/rt.jsonl"
	"$causeway" craft "$tmp/rt.jsonl" "$tmp/rt.pcap" 2>"$tmp/rt.err" ||
		{ not_ok "round trip of ${file##*/}" "$(cat "$tmp/rt.err")"; return; }
	records "$file" >"$tmp/rt.a"
	records "$tmp/rt.pcap" >"$tmp/rt.b"
	same "round trip of ${file##*/} $*" "$tmp/rt.a" "$tmp/rt.b"
}
for f in mixed-ip uboe ub ub-eth; do
	round_trip "$fixtures/$f.pcap"
done

# Captured by other people's programs: times are micro-seconds there, so compare packets only.
for f in mixed-micro rxe-rping; do
	"$causeway" decode -j "$fixtures/$f.pcap" | "$causeway" craft - "$tmp/rt.pcap"
	frames "$fixtures/$f.pcap" >"$tmp/rt.a"
	frames "$tmp/rt.pcap" >"$tmp/rt.b"
	same "round trip of $f" "$tmp/rt.a" "$tmp/rt.b"
done

# The same for packets that nobody made with care: changed octets, cut ends, and random ones.
"$python" "$CW_SRC/tests/tools/mangle.py" "$fixtures/mixed-ip.pcap" "$tmp/mangled.pcap" 3000
round_trip "$tmp/mangled.pcap"
"$python" "$CW_SRC/tests/tools/mangle.py" "$fixtures/ub-eth.pcap" "$tmp/mangled.pcap" 1500
round_trip "$tmp/mangled.pcap"
"$python" "$CW_SRC/tests/tools/mangle.py" "$fixtures/ub.pcap" "$tmp/mangled.pcap" 1500 2
round_trip "$tmp/mangled.pcap"
"$python" "$CW_SRC/tests/tools/mangle.py" "$fixtures/uboe.pcap" "$tmp/mangled.pcap" 1500 3
round_trip "$tmp/mangled.pcap"
round_trip "$tmp/mangled.pcap" --ub-port 4793

# Other formats and streams.
"$causeway" decode -j "$fixtures/mixed-ip.pcap" >"$tmp/mixed.jsonl"
run 0 "pcapng by suffix" "$causeway" craft "$tmp/mixed.jsonl" "$tmp/mixed.pcapng"
"$causeway" decode -j "$tmp/mixed.pcapng" >"$tmp/again.jsonl"
same "it holds the same packets and times" "$tmp/mixed.jsonl" "$tmp/again.jsonl"
capinfos -Tm "$tmp/mixed.pcapng" 2>/dev/null >"$tmp/out"
check "capinfos reads it" grep -q 'pcapng' "$tmp/out"
"$causeway" craft - - <"$tmp/mixed.jsonl" >"$tmp/a.pcap"
run 0 "files" "$causeway" craft "$tmp/mixed.jsonl" "$tmp/b.pcap"
same "- is standard input and output" "$tmp/a.pcap" "$tmp/b.pcap"

# What is left out is computed: tshark checks the checksums, and nothing differs from scapy's.
"$causeway" decode -j --filter 'verdict=ok and layer=udp and udp.checksum!=0' "$fixtures/mixed-ip.pcap" |
	jq -c 'del(.layers[].checksum, .layers[].length, .layers[].ihl, .layers[].type,
		.layers[].proto, .layers[].next_header, .payload_length, .icrc)' >"$tmp/lean.jsonl"
run 0 "lengths, types and checksums left out" "$causeway" craft "$tmp/lean.jsonl" "$tmp/lean.pcap"
tshark -r "$tmp/lean.pcap" -o ip.check_checksum:TRUE -o udp.check_checksum:TRUE -T fields \
	-e frame.number -e ip.checksum.status -e udp.checksum.status 2>/dev/null >"$tmp/out"
check "tshark finds the checksums right" awk '$NF != 1 || (NF == 3 && $2 != 1) { exit 1 }
	END { exit NR < 6 }' "$tmp/out"
keep='verdict=ok and layer=udp and not layer=ipv6_ext'
"$causeway" decode -j --filter "$keep" "$tmp/lean.pcap" | jq -c .layers >"$tmp/got"
"$causeway" decode -j --filter "$keep and udp.checksum!=0" "$fixtures/mixed-ip.pcap" |
	jq -c .layers >"$tmp/want"
same "and every field is as scapy made it" "$tmp/want" "$tmp/got"

# UB and UBoE too: lengths, padding and ICRC as zlib and struct made them.
for f in uboe ub; do
	"$causeway" decode -j --filter 'verdict=ok and not ipv4.proto=TCP' "$fixtures/$f.pcap" >"$tmp/full.jsonl"
	jq -c 'del(.layers[].checksum, .layers[].ihl, .layers[].type, .layers[].proto, .layers[].dport,
		.layers[].next_header, .layers[].plen_blocks, .layers[].plen_flits, .layers[].plen_tail,
		.layers[].cfg, .layers[].padding, .layers[].nlp, .pad, .icrc, .payload_length)
		| .layers |= map(if .layer == "maetah" then . else del(.length) end)' \
		"$tmp/full.jsonl" >"$tmp/lean.jsonl"
	check "$f has packets" [ "$(wc -l <"$tmp/lean.jsonl")" -gt 15 ]
	check "nothing computed is left in $f" sh -c '! grep -q "icrc\|checksum\|plen_\|cfg" "$1"' - \
		"$tmp/lean.jsonl"
	"$causeway" craft "$tmp/full.jsonl" "$tmp/full.pcap"
	run 0 "craft $f without what can be computed" "$causeway" craft "$tmp/lean.jsonl" "$tmp/lean.pcap"
	same "gives the same octets" "$tmp/full.pcap" "$tmp/lean.pcap"
done
"$causeway" decode -j "$fixtures/uboe.pcap" | jq -c '.icrc = "bad"' | "$causeway" craft - "$tmp/bad.pcap"
run 1 "an ICRC that must be wrong" "$causeway" decode --summary -j "$tmp/bad.pcap"
check "is" jq -e '.icrc.bad.packets == 20' "$tmp/out"
"$causeway" decode -j "$fixtures/uboe.pcap" | jq -c 'del(.icrc)' |
	"$causeway" craft --icrc-order be - "$tmp/be.pcap"
run 0 "the other order of the ICRC" "$causeway" decode --icrc-order be "$tmp/be.pcap"
"$causeway" decode -j "$fixtures/uboe.pcap" | jq -c '.icrc = "0x01020304"' | "$causeway" craft - "$tmp/own.pcap"
"$causeway" decode -j "$tmp/own.pcap" >"$tmp/out"
check "an ICRC of one's own" jq -es 'all(.icrc.wire == "0x01020304")' "$tmp/out"

craft_one() { # JSON - makes $tmp/one.pcap and $tmp/one.json
	printf '%s\n' "$1" >"$tmp/one.jsonl"
	"$causeway" craft "$tmp/one.jsonl" "$tmp/one.pcap" 2>"$tmp/err" &&
		"$causeway" decode -j "$tmp/one.pcap" >"$tmp/out" 2>>"$tmp/err"
}
base='{"layer":"eth"},{"layer":"ipv4","src":"10.0.0.1","dst":"10.0.0.2"},{"layer":"udp","dport":9}'
craft_one "{\"layers\":[$base],\"payload\":{\"text\":\"hello\"}}"
check "a small packet by hand" jq -e '.payload == "68656c6c6f" and .layers[1].length == 33
	and .layers[0].type == "0x0800" and .layers[2].length == 13 and .verdict == "ok"' "$tmp/out"
craft_one "{\"layers\":[$base],\"payload\":{\"repeat\":\"0102\",\"length\":9}}"
check "a repeated pattern" jq -e '.payload == "010201020102010201"' "$tmp/out"
craft_one "{\"layers\":[$base],\"time\":1.5,\"length\":900,\"trailer\":\"aabb\"}"
check "time, length and trailer" jq -e '.time == "1.500000000" and .length == 900
	and .captured == 44 and .trailer == "aabb"' "$tmp/out"
craft_one '{"layers":[{"layer":"eth"},{"layer":"ipv4","proto":"TCP","ecn":"CE","df":false,"ttl":"0x11"}]}'
check "names, truth values and hex" jq -e '.layers[1] | .proto == 6 and .ecn == 3 and .df == 0
	and .ttl == 17' "$tmp/out"
craft_one '{"layers":[{"layer":"eth"},{"layer":"ipv4","length":9,"checksum":"0xdead"}]}'
check "wrong values are kept" jq -e '.layers[0].type == "0x0800" and .verdict == "length"' "$tmp/out"
printf '# comment\n\n%s\n%s\n' "{\"layers\":[$base]}" "{\"layers\":[$base]}" >"$tmp/two.jsonl"
run 0 "comments and empty lines" "$causeway" craft "$tmp/two.jsonl" "$tmp/two.pcap"
"$causeway" decode -j "$tmp/two.pcap" >"$tmp/out"
check "are skipped, and times go on" jq -es 'map(.time) == ["0.000000000", "0.000001000"]' "$tmp/out"
printf '%s\n' "{\"layers\":[$base],\"comment\":\"made by hand\"}" >"$tmp/one.jsonl"
"$causeway" craft "$tmp/one.jsonl" "$tmp/one.pcapng"
tshark -r "$tmp/one.pcapng" -T fields -e frame.comment 2>/dev/null >"$tmp/out"
out_is "a comment in pcapng" "made by hand"

refuses() { # NAME LINE MESSAGE
	printf '{"layers":[%s]}\n%s\n' "$base" "$2" >"$tmp/bad.jsonl"
	rm -f "$tmp/bad.pcap"
	run 1 "$1 is refused" "$causeway" craft "$tmp/bad.jsonl" "$tmp/bad.pcap"
	err_is "and why" "causeway craft: $tmp/bad.jsonl: line 2: $3"
	check "and nothing is left behind" [ ! -e "$tmp/bad.pcap" ]
}
refuses "a value too large" '{"layers":[{"layer":"eth"},{"layer":"vlan"},{"layer":"ipv4","ttl":300}]}' \
	"layers[2].ttl: 300: value does not fit the field"
refuses "a negative value" '{"layers":[{"layer":"ipv4","ttl":-1}]}' \
	"layers[0].ttl: -1: cannot be read as a value of this kind"
refuses "a bad address" '{"layers":[{"layer":"ipv4","src":"10.0.0"}]}' \
	"layers[0].src: 10.0.0: cannot be read as a value of this kind"
refuses "an unknown field" '{"layers":[{"layer":"ipv4","colour":1}]}' \
	"layers[0].colour: header 'ipv4' has no such field"
refuses "an unknown header" '{"layers":[{"layer":"ipv5"}]}' "layers[0].layer: ipv5: no such header"
refuses "an unknown member" '{"layers":[],"colour":1}' "colour: no such member of a packet"
refuses "a layer without a name" '{"layers":[{"ttl":1}]}' \
	'layers[0]: not an object with the name of a header as "layer"'
refuses "a fraction" '{"layers":[{"layer":"ipv4","ttl":1.5}]}' \
	"layers[0].ttl: not a whole number or a string"
refuses "odd hex" "{\"layers\":[$base],\"payload\":\"abc\"}" "payload: abc: not hex octets, two digits each"
refuses "odd tail" '{"layers":[{"layer":"ipv4","tail":"xy"}]}' \
	"layers[0].tail: xy: not hex octets, two digits each"
refuses "a wrong payload_length" "{\"layers\":[$base],\"payload\":\"ab\",\"payload_length\":2}" \
	"payload_length: 2: the payload has 1 octets"
refuses "a strange payload" "{\"layers\":[$base],\"payload\":{\"repeat\":\"ab\"}}" \
	'payload: not hex, {"text": ...} or {"repeat": HEX, "length": N}'
refuses "an ICRC state" "{\"layers\":[$base],\"icrc\":{\"status\":\"fine\"}}" \
	"icrc.status: fine: not ok, bad, absent or unchecked"
refuses "an ICRC value" "{\"layers\":[$base],\"icrc\":{\"wire\":\"0x123456789\"}}" \
	"icrc.wire: 0x123456789: not 0x and up to 8 hex digits"
refuses "a time" "{\"layers\":[$base],\"time\":\"noon\"}" \
	"time: noon: not seconds since 1970, as 1700000000.123456789"
refuses "another link type" "{\"layers\":[$base],\"link\":\"ub\"}" \
	"link: ub: the file's packets begin with ethernet"
refuses "a double member" '{"layers":[],"layers":[]}' 'column 21: duplicate object key near '"'\"layers\"'"
refuses "no object" '[1]' "packet: not a JSON object"
refuses "a packet too large" "{\"layers\":[$base],\"payload\":{\"repeat\":\"ab\",\"length\":262144}}" \
	"payload: 262144 octets: the packet is larger than 262144"
printf '{"layers":[%s' "$base" >"$tmp/cut.jsonl"
run 1 "a line that ends early" "$causeway" craft "$tmp/cut.jsonl" "$tmp/cut.pcap"
err_has "and where" "line 1: column 103: .* near end of file"

run 2 "no such input" "$causeway" craft "$tmp/none" "$tmp/x.pcap"
err_is "and why" "causeway craft: $tmp/none: No such file or directory"
run 2 "no such output directory" "$causeway" craft "$tmp/two.jsonl" "$tmp/none/x.pcap"
err_is "and why" "causeway craft: $tmp/none/x.pcap: No such file or directory"
run 2 "a full disk" "$causeway" craft "$tmp/two.jsonl" /dev/full
err_is "and why" "causeway craft: /dev/full: No space left on device"
check "which is still there" [ -c /dev/full ]
run 2 "output over the input" "$causeway" craft "$tmp/two.jsonl" "$tmp/two.jsonl"
run 2 "one file name" "$causeway" craft "$tmp/two.jsonl"
: >"$tmp/empty.jsonl"
run 2 "an empty input has no link type" "$causeway" craft "$tmp/empty.jsonl" "$tmp/x.pcap"
run 0 "but --link gives it one" "$causeway" craft --link ub "$tmp/empty.jsonl" "$tmp/x.pcap"
capinfos -TmE "$tmp/x.pcap" 2>/dev/null >"$tmp/out"
out_has "USER0" 'user0\|User 0\|USER 0'
plan
