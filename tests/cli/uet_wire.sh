#!/bin/sh
# uet_wire.sh - decode and craft of both UET families, against packets made by other code.
. "$(dirname "$0")/lib.sh"

"$python" "$CW_SRC/tests/tools/uet_oracle.py" "$tmp/uet.pcap" >"$tmp/want" || exit 2
run 0 "all packets of the oracle are right, CRC-32C included" "$causeway" decode -j "$tmp/uet.pcap"
cp "$tmp/out" "$tmp/json"
n=0
while read -r name fields; do
	n=$((n + 1))
	for f in $fields; do
		layer=${f%%.*} field=${f#*.} value=${f#*=}
		field=${field%%=*}
		got=$(sed -n "${n}p" "$tmp/json" | jq -r --arg l "$layer" --arg f "$field" \
			'.layers[] | select(.layer == $l) | .[$f] | tostring')
		if [ "$got" = "$value" ]; then ok "$name: $f"; else not_ok "$name: $f" "got $got"; fi
	done
done <"$tmp/want"
check "UE 1.0 has a right CRC" sh -c 'jq -es "[.[].icrc.status] == [\"ok\", \"ok\", \"ok\", \"absent\", \"absent\"]" "$1"' - "$tmp/json"
check "families" sh -c 'jq -es "[.[].family] == [\"uec\", \"uec\", \"uec\", \"uetx\", \"uetx\"]" "$1"' - "$tmp/json"

frames "$tmp/uet.pcap" >"$tmp/before"
run 0 "craft takes the JSON back" "$causeway" craft "$tmp/json" "$tmp/again.pcap"
frames "$tmp/again.pcap" >"$tmp/after"
same "and gives the same octets" "$tmp/before" "$tmp/after"

run 1 "the literal reading of 20-octet packets breaks their length" \
	"$causeway" decode -j --uet-literal --filter 'layer=udp and port=4792' "$tmp/uet.pcap"
check "and says so" sh -c 'head -1 "$1" | jq -e ".verdict == \"length\" and (.layers | any(.layer == \"uetx_literal\"))"' - "$tmp/out"
run 0 "pinned to UET they are right" \
	"$causeway" decode -j --uet --filter 'layer=udp and port=4792' "$tmp/uet.pcap"
run 1 "pinned to the literal reading by prefix they are wrong" "$causeway" decode -j --pin 0.0.0.0/0=uet-literal \
	--pin ::/0=uet-literal --filter 'layer=udp and port=4792' "$tmp/uet.pcap"
run 0 "a longer prefix beats a shorter one" "$causeway" decode -j --pin 0.0.0.0/0=uet-literal --pin ::/0=uet-literal \
	--pin 0.0.0.0/1=uet --pin 128.0.0.0/1=content --pin ::/1=uet --pin 8000::/1=content \
	--filter 'layer=udp and port=4792' "$tmp/uet.pcap"
for wrong in 10.0.0.0/8 10.0.0.0/33=ub 10.0.0.0/8=roce 10.0.0.1/8=ub; do
	run 2 "--pin $wrong" "$causeway" decode --pin $wrong "$tmp/uet.pcap"
done
err_is "it says why" "causeway decode: --pin: '10.0.0.1/8' is no prefix"
plan
