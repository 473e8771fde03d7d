#!/bin/sh
# pnc.sh - causeway pnc: every kind of block, what is malformed, usage; tshark as an oracle.
. "$(dirname "$0")/lib.sh"

run 0 "the value of attribute 39" "$causeway" pnc decode 000101040a010001fffe00040a010001
out_is "names the proxy" "type bgp-nhc
octets 16
nhc ok
proxy 10.1.0.1"
run 1 "a value that ends too early" "$causeway" pnc -j decode 000101040a010001fffe00040a0100
check "is malformed" jq -e '.nhc == "malformed" and .error.reason == "characteristic exceeds the attribute"' "$tmp/out"
run 0 "TLVs of an LSP" "$causeway" pnc -j decode '870d 0000000a 60 0aff0063 03 040121'
check "prefix, flags" jq -e '.prefixes == [{"prefix": "10.255.0.99/32", "pnc": true, "node": true,
	"kind": 135, "flags": "0x21000000", "metric": 10}]' "$tmp/out"
run 0 "a body of OSPFv2" "$causeway" pnc -j -t ospfv2-body decode 00010010012000400aff0001000b000420000000
check "P flag" jq -e '.prefixes[0].pnc' "$tmp/out"
run 1 "a body with a fault" "$causeway" pnc -j -t ospfv2-body decode 0001001401200040
check "its place and reason" jq -e '.error.offset == 0 and .error.reason == "TLV exceeds LSA"' "$tmp/out"
run 0 "an OSPFv3 LSA" "$causeway" pnc -j decode "0001a029 00000001 00000063 80000001 1234 0044
	00002001 00000000 00000063 00060020 0000000a 80220000 fd990000000000000000000000000001 00250004 20000000"
check "IPv6 host prefix" jq -e '.prefixes[0] | .prefix == "fd99::1/128" and .pnc and .node' "$tmp/out"
update="ffffffffffffffffffffffffffffffff 003e 02 0000 0023 40010100 400200 4003040a010001
	c02710 000101040a010001fffe00040a0a0b0c 18c00002"
# the lengths: 19 + 4 + attributes + 4
run 1 "a BGP message with a wrong length" "$causeway" pnc decode "$update"
attrs=$(printf '%s' '40010100 400200 4003040a010001 c02710 000101040a010001fffe00040a0a0b0c' | tr -d ' ')
body=$(printf '0000%04x%s18c00002' $((${#attrs} / 2)) "$attrs")
run 0 "an UPDATE" "$causeway" pnc -j -t bgp-update decode "$body"
check "its proxy" jq -e '.announced == [{"prefixes": ["192.0.2.0/24"], "next_hop": "10.1.0.1",
	"nhc": "ok", "proxy": "10.10.11.12"}]' "$tmp/out"
echo "0x$body" >"$tmp/hex"
run 0 "from a file" "$causeway" pnc -j -t bgp-update decode "$tmp/hex"
"$python" -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(sys.argv[1]))' "$body" >"$tmp/raw"
run 0 "of octets too" "$causeway" pnc -j -t bgp-update decode "$tmp/raw"
run 2 "no such file" "$causeway" pnc decode "$tmp/none"
run 2 "a directory" "$causeway" pnc -t bgp-update decode "$tmp"
err_is "cannot be read" "causeway pnc: $tmp: Is a directory"
run 2 "octets of no kind" "$causeway" pnc decode 0102030405
err_has "ask for the type" "can't tell what these 5 octets are"
run 2 "no such type" "$causeway" pnc -t isis decode 00
run 2 "nothing to decode" "$causeway" pnc

# tshark reads the same flags out of a whole LSP.
lsp="83 1b 01 00 12 01 00 00 0028 04b0 000000000099 00 00 00000001 0000 01 870d 0000000a 60 0aff0063 03 040121"
run 0 "an LSP" "$causeway" pnc -j decode "$lsp"
check "P and N" jq -e '.prefixes[0] | .pnc and .node and .flags == "0x21000000"' "$tmp/out"
if command -v tshark >/dev/null; then
	"$python" - "$lsp" "$tmp/lsp.pcap" <<'EOF'
import struct, sys
pdu = bytes.fromhex(sys.argv[1].replace(" ", ""))
pdu = pdu[:8] + struct.pack(">H", len(pdu)) + pdu[10:]
frame = bytes.fromhex("09002b000005 020000000001") + struct.pack(">H", len(pdu) + 3) + b"\xfe\xfe\x03" + pdu
with open(sys.argv[2], "wb") as f:
    f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    f.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)
EOF
	tshark -r "$tmp/lsp.pcap" -V >"$tmp/tshark" 2>/dev/null
	check "tshark sees the prefix" grep -q '10.255.0.99/32' "$tmp/tshark"
	check "and sub-TLV 4 with N" grep -q 'Prefix Attribute Flags (c=4, l=1): Flags:--N' "$tmp/tshark"
else
	skip "tshark sees the same" "tshark is not installed"
fi
plan
