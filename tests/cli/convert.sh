#!/bin/sh
# convert.sh - causeway convert: both directions against an oracle, counters, drops, configuration.
. "$(dirname "$0")/lib.sh"
oracle=$CW_SRC/tests/tools/ub2e_oracle.py

# Towards Ethernet, by the draft's defaults.
run 1 "UB to UBoE; two packets have no partition" "$causeway" convert --to uboe -j \
	--drops "$tmp/drops.pcapng" "$fixtures/ub.pcap" "$tmp/uboe.pcap"
check "counters" jq -e '.in == {"packets": 26, "octets": 10604} and .out.packets == 24
	and .dropped == 2 and .drops == {"npi-zero": 2} and .notes == {"cci-not-ect": 4,
	"light-to-ce": 2, "loc-lost": 2, "permission-lost": 12}' "$tmp/out"
frames "$tmp/uboe.pcap" >"$tmp/got"
"$python" "$oracle" uboe "$fixtures/ub.pcap" >"$tmp/want"
same "every packet is as the oracle makes it" "$tmp/want" "$tmp/got"
run 1 "from the emulated link" "$causeway" convert --to uboe "$fixtures/ub-eth.pcap" "$tmp/uboe2.pcap"
same "the same packets come out" "$tmp/uboe.pcap" "$tmp/uboe2.pcap"
tshark -r "$tmp/uboe.pcap" -o ip.check_checksum:TRUE -o udp.check_checksum:TRUE -T fields -E separator=, \
	-e vlan.id -e ip.version -e ipv6.version -e ip.checksum.status -e ip.ttl -e ipv6.hlim \
	-e udp.dstport -e udp.checksum 2>/dev/null | sort | uniq -c | sed 's/^ *//' >"$tmp/out"
out_is "tshark reads VLAN, IP, checksum, hop count and UDP" "6 1,4,,1,63,,4792,0x0000
6 1,6,6,,,63,4792,0x0000
1 7,4,,1,63,,,
6 7,4,,1,63,,4792,0x0000
5 7,6,6,,,63,4792,0x0000"
tshark -r "$tmp/drops.pcapng" -T fields -e frame.interface_name -e frame.comment -e frame.time_epoch \
	2>/dev/null >"$tmp/out"
out_is "dropped packets, with interface, reason and time" \
	"ub	npi-zero: partition ID 0 is invalid	1700000007.123456796
ub	npi-zero: partition ID 0 is invalid	1700000019.123456808"
"$causeway" decode -j "$tmp/drops.pcapng" >"$tmp/out"
check "are there as they came" jq -es 'length == 2 and all(.layers[2].id == 0 and .verdict == "ok")' \
	"$tmp/out"
"$causeway" decode --summary -j "$tmp/uboe.pcap" >"$tmp/out"
check "no ICRC was repaired or broken" jq -e '.icrc.ok.packets == 22 and .icrc.bad.packets == 1
	and .icrc.absent.packets == 1' "$tmp/out"

# Towards UB.
run 0 "UBoE to UB" "$causeway" convert --to ub -j "$fixtures/uboe.pcap" "$tmp/ub.pcap"
check "counters" jq -e '.in.packets == 20 and .out.packets == 20 and .dropped == 0
	and .notes == {"untagged": 11}' "$tmp/out"
frames "$tmp/ub.pcap" >"$tmp/got"
"$python" "$oracle" ub "$fixtures/uboe.pcap" >"$tmp/want"
same "every packet is as the oracle makes it" "$tmp/want" "$tmp/got"
capinfos -TmE "$tmp/ub.pcap" 2>/dev/null >"$tmp/out"
out_has "link type USER0" 'user0'
run 0 "for the emulated link" "$causeway" convert --to ub --link ethernet "$fixtures/uboe.pcap" "$tmp/ube.pcap"
frames "$tmp/ube.pcap" | sed 's/^02000000000202000000000188b6//' >"$tmp/got"
same "the same behind an Ethernet header" "$tmp/want" "$tmp/got"
run 0 "addresses of the frames" "$causeway" convert --to ub --link ethernet --src-mac 02:00:00:00:00:aa \
	--dst-mac 02:00:00:00:00:bb "$fixtures/uboe.pcap" "$tmp/ube.pcap"
frames "$tmp/ube.pcap" | cut -c1-24 | sort -u >"$tmp/out"
out_is "are as wanted" 0200000000bb0200000000aa

# There and back: all but TTL, ECN and checksum of the IP header, and the UB prefix, is as it was.
"$causeway" convert --to ub "$tmp/uboe.pcap" "$tmp/back.pcap" >/dev/null
behind_ip() { "$causeway" decode -j "$1" | jq -c '[.layers[] | select(.layer | IN("lph", "cci", "cci_fecn",
	"npi", "ipv4", "ipv6") or startswith("cci") | not)], .payload, .pad, .icrc.wire'; }
behind_ip "$tmp/back.pcap" >"$tmp/got"
"$causeway" decode -j --filter 'npi!=0' "$fixtures/ub.pcap" | "$causeway" craft - "$tmp/sent.pcap"
behind_ip "$tmp/sent.pcap" >"$tmp/want"
same "everything behind the IP header comes back" "$tmp/want" "$tmp/got"
run 0 "streams" sh -c '"$1" convert --to ub "$2" - | { "$1" decode --count 1 - && cat >/dev/null; }' - "$causeway" "$fixtures/uboe.pcap"
out_has "flow" 'ub, [0-9]* octets, ub$'
err_has "and the counters go to the error output" '^in  *20  packets'

# Refused kinds.
run 1 "IP that is not UB, and broken packets" "$causeway" convert --to ub --drops "$tmp/d2.pcapng" -j \
	"$fixtures/mixed-ip.pcap" "$tmp/x.pcap"
check "in = out + dropped = sum of the reasons" jq -e '.in.packets == 27
	and .out.packets + .dropped == 27 and (.drops | add) == .dropped
	and (.drops | keys | contains(["ethertype", "ip-fragment", "ip-checksum", "ip-ihl", "short"]))' \
	"$tmp/out"
dropped=$(jq .dropped "$tmp/out")
check "all of them are in the file" [ "$("$causeway" decode -j "$tmp/d2.pcapng" | wc -l)" = "$dropped" ]
"$python" "$CW_SRC/tests/tools/mangle.py" "$fixtures/ub.pcap" "$tmp/mangled.pcap" 2000 7
run 1 "damaged UB" "$causeway" convert --to uboe -j "$tmp/mangled.pcap" "$tmp/x.pcap"
check "is counted" jq -e '.in.packets == 2000 and .out.packets + .dropped == 2000
	and (.drops | add) == .dropped and (.drops | length) > 10' "$tmp/out"

# With a configuration.
config=$CW_SRC/tests/cli/convert.json
run 1 "rules, routes and filters" "$causeway" convert --to uboe -c "$config" "$fixtures/ub.pcap" "$tmp/c.pcap"
out_has "ICRC checked" '^  icrc  *1  ICRC is wrong$'
out_has "MTU of the egress port" '^  mtu  *2  '
tshark -r "$tmp/c.pcap" -T fields -e eth.dst -e vlan.id 2>/dev/null | sort -u >"$tmp/out"
out_is "next hops and VLAN map" "02:00:00:00:00:55	1
02:00:00:00:00:55	70
02:00:00:00:00:66	1
02:00:00:00:00:66	70"
jq '."causeway:causeway".neighbour += [{port: "eth0", ip: "10.9.9.9", vid: 70, mac: "02:00:00:00:00:77"}]' \
	"$config" >"$tmp/vid.json"
run 1 "a neighbour of one VLAN" "$causeway" convert --to uboe -c "$tmp/vid.json" "$fixtures/ub.pcap" "$tmp/vid.pcap"
tshark -r "$tmp/vid.pcap" -Y ip -T fields -e eth.dst -e vlan.id 2>/dev/null | sort -u >"$tmp/out"
out_is "goes before that of every VLAN" "02:00:00:00:00:55	1
02:00:00:00:00:77	70"
run 1 "no route back to UB" "$causeway" convert --to ub -c "$config" -j "$tmp/c.pcap" "$tmp/x.pcap"
check "each reason" jq -e '.out.packets == 0 and .drops == {"same-domain": 21}' "$tmp/out"
jq '."causeway:causeway".port[0]."npi-filter" = [7] | del(."causeway:causeway".route[0])' "$config" >"$tmp/c2.json"
run 1 "other filters" "$causeway" convert --to uboe -c "$tmp/c2.json" -j "$fixtures/ub.pcap" "$tmp/x.pcap"
check "partition and route" jq -e '.drops."npi-filter" == 12 and .drops."no-route" == 6' "$tmp/out"
jq '."causeway:causeway".ub2e.udp.pin = [{prefix: "0.0.0.0/0", family: "uet"}, {prefix: "::/0", family: "ub"}]' "$config" >"$tmp/pin.json"
run 1 "a prefix pinned to UET" "$causeway" convert --to ub -c "$tmp/pin.json" -j "$fixtures/uboe.pcap" "$tmp/x.pcap"
check "its packets are no UB, though they look so" jq -e '.drops.uetx > 0' "$tmp/out"
run 2 "a port that is not there" "$causeway" convert --to uboe -c "$config" --in-port ub9 "$fixtures/ub.pcap" "$tmp/x"
err_is "and why" "causeway convert: --in-port: $config has no UB port 'ub9'"
run 1 "the port by name" "$causeway" convert --to uboe -c "$config" --in-port ub0 "$fixtures/ub.pcap" "$tmp/x.pcap"
echo '{"causeway:causeway":{"ub2e":{"npi":{"untagged":"many"}}}}' >"$tmp/bad.json"
run 2 "a wrong configuration" "$causeway" convert --to uboe -c "$tmp/bad.json" "$fixtures/ub.pcap" "$tmp/x.pcap"
err_has "says path and value" 'bad.json: /causeway:causeway/ub2e/npi/untagged: "many"'

# Usage and I/O.
run 2 "no direction" "$causeway" convert "$fixtures/ub.pcap" "$tmp/x.pcap"
err_is "and why" "causeway convert: --to uboe or --to ub is needed"
run 2 "a strange direction" "$causeway" convert --to mars "$fixtures/ub.pcap" "$tmp/x.pcap"
err_is "and why" "causeway convert: --to: 'mars' is not uboe or ub"
run 2 "native UB is not UBoE" "$causeway" convert --to ub "$fixtures/ub.pcap" "$tmp/x.pcap"
err_is "and why" \
	"causeway convert: $fixtures/ub.pcap: its packets begin with ub; --to ub takes ethernet"
cp "$fixtures/ub.pcap" "$tmp/same.pcap"
run 2 "output over the input" "$causeway" convert --to uboe "$tmp/same.pcap" "$tmp/same.pcap"
same "which is not touched" "$fixtures/ub.pcap" "$tmp/same.pcap"
run 2 "a bad address" "$causeway" convert --to ub --src-mac 02:00 "$fixtures/uboe.pcap" "$tmp/x.pcap"
err_is "and why" "causeway convert: --src-mac: '02:00' is not a MAC address"
head -c 200 "$fixtures/ub.pcap" >"$tmp/tail.pcap"
run 1 "a broken file" "$causeway" convert --to uboe -j "$tmp/tail.pcap" "$tmp/x.pcap"
err_has "says where" 'tail.pcap: record 2: truncated dump file'
check "and what was in front of it is converted" jq -e '.out.packets == 1' "$tmp/out"
run 2 "a full disk" "$causeway" convert --to uboe "$fixtures/ub.pcap" /dev/full
err_is "and why" "causeway convert: /dev/full: No space left on device"
plan
