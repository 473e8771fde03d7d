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

# ---- CRC-32C behind article packets, computed by other code -----------------------------------------
layers() { # IP SRC DST
	printf '"layers":[{"layer":"eth"},{"layer":"%s","src":"%s","dst":"%s"},{"layer":"udp","sport":50000,"dport":4792},{"layer":"uetx","dcid":1,"scid":2,"f":1,"l":1}],"payload":"0102030405"' "$@"
}
for crc in '"ok"' '"bad"' '"0x01020304"'; do
	echo "{$(layers ipv4 10.0.0.1 10.0.0.2),\"icrc\":$crc}"
	echo "{$(layers ipv6 fd00::1 fd00::2),\"icrc\":$crc}"
done >"$tmp/crc.jsonl"
run 0 "craft with a CRC" "$causeway" craft "$tmp/crc.jsonl" "$tmp/crc.pcap"
run 1 "decode checks it" "$causeway" decode --uet-crc -j "$tmp/crc.pcap"
cp "$tmp/out" "$tmp/crc.json"
check "computed, made wrong, kept" jq -es '[.[].icrc.status] == ["ok", "ok", "bad", "bad", "bad", "bad"]
	and all(.[4:][]; .icrc.wire == "0x01020304") and all(.layers[2].checksum == "0x0000" and .layers[3].length == 5)' "$tmp/crc.json"
check "the value is that of bitwise CRC-32C from the source address on" /usr/bin/python3 - "$tmp/crc.pcap" "$tmp/crc.json" <<'END'
import json, sys
from scapy.all import rdpcap
for p, d in zip(rdpcap(sys.argv[1]), map(json.loads, open(sys.argv[2]))):
    crc, ip = 0xffffffff, bytes(p)[14:]
    for b in ip[12 if ip[0] >> 4 == 4 else 8:-4]:
        crc ^= b
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    assert int(d["icrc"]["computed"], 16) == crc ^ 0xffffffff, d["icrc"]
END
run 0 "the JSON makes the same packets" "$causeway" craft "$tmp/crc.json" "$tmp/again.pcap"
same "the same octets" "$tmp/crc.pcap" "$tmp/again.pcap"
jq -c 'del(.icrc)' "$tmp/crc.jsonl" | "$causeway" craft --uet-crc - "$tmp/crc2.pcap"
run 0 "for all packets by an option" "$causeway" decode --uet-crc "$tmp/crc2.pcap"
jq -c 'del(.icrc)' "$tmp/crc.jsonl" | "$causeway" craft - "$tmp/crc3.pcap"
run 0 "none without" "$causeway" decode -j "$tmp/crc3.pcap"
check "but a UDP checksum" jq -es 'all(.icrc.status == "absent" and .layers[2].checksum != "0x0000")' "$tmp/out"
plan
