#!/bin/sh
# decode.sh - causeway decode: text, JSON, summary, filters, broken files.
. "$(dirname "$0")/lib.sh"
mixed=$fixtures/mixed-ip.pcap

run 1 "wrong packets give exit code 1" "$causeway" decode "$mixed"
out_has "a packet has a head line" '^packet 1, 2023-11-14 22:13:20.123456789, ethernet, 50 octets, ip$'
out_has "a layer has a title" '^  IPv4, 20 octets at 14 \[ipv4\]$'
out_has "a field has the name of its value" '^    ecn              2 (ECT(0))$'
out_has "an error says where" '^  ERROR at 34: IP fragment$'
check "no escape sequences in a file" sh -c '! grep -q "$(printf "\033")" "$1"' - "$tmp/out"
run 0 "good packets give exit code 0" "$causeway" decode --count 3 "$mixed"
run 0 "a micro-second file" "$causeway" decode "$fixtures/mixed-micro.pcap"
out_has "its time" '22:13:20.123456000'
run 0 "a pcapng file" "$causeway" decode "$fixtures/mixed.pcapng"

"$causeway" decode -j "$mixed" >"$tmp/json"
check "-j is one JSON object a line" jq -e . "$tmp/json"
check "every packet has what the issue asks for" jq -es \
	'all(has("number") and has("time") and has("layers") and has("payload_length")
	 and (.icrc | has("status")) and has("verdict"))' "$tmp/json"
check "numbers count" jq -es 'map(.number) == [range(1; 28)]' "$tmp/json"
check "layers are in order" jq -es \
	'.[3].layers | map(.layer) == ["eth", "vlan", "vlan", "ipv6", "udp"]' "$tmp/json"
check "verdicts" jq -es '[.[] | select(.verdict == "fragment") | .number] == [14, 15, 16]' "$tmp/json"
check "octets of layers, payload, pad, ICRC and trailer add up to the packet" jq -es \
	'all(.verdict != "ok" or (.payload_length * 2 == (.payload // "" | length)))' "$tmp/json"
run 1 "hex dump" "$causeway" decode -x "$mixed"
out_has "it shows octets and characters" \
	'^  000020  05 06 04 d2 16 2e 00 10 .. .. 61 62 63 64 65 66  .*abcdef$'

# An independent decoder agrees on every well-formed packet.
tshark -r "$mixed" -Y 'udp and not ip.flags.mf==1 and not _ws.malformed' -T fields -E separator=, \
	-e frame.number -e udp.srcport -e udp.length -e udp.checksum 2>/dev/null |
	awk -F, '$1 <= 12' >"$tmp/tshark"
jq -r 'select(.number <= 12) | .number as $n | .layers[] | select(.layer == "udp")
	| "\($n),\(.sport),\(.length),\(.checksum)"' "$tmp/json" >"$tmp/ours"
same "tshark reads the same UDP fields" "$tmp/tshark" "$tmp/ours"

run 1 "summary" "$causeway" decode --summary "$mixed"
out_has "it counts packets" '^27 packets, 1421 octets$'
out_has "by family" '^  ip  *22  *1258$'
out_has "by verdict" '^  fragment  *3  *165$'
out_has "by ICRC state" '^  absent  *27  *1421$'
run 1 "summary as JSON" "$causeway" decode --summary -j "$mixed"
check "it has the same counts" jq -e '.packets == 27 and .family.ip.packets == 22 and .family.icmp.packets == 1
	and .verdict.fragment.octets == 165 and .icrc.absent.packets == 27
	and .first == "1700000000.123456789"' "$tmp/out"

filter() { # EXPR NUMBER...
	expr=$1
	shift
	got=$("$causeway" decode -j --filter "$expr" "$mixed" | jq -r .number | tr '\n' ' ')
	if [ "$got" = "$*${1:+ }" ]; then ok "filter $expr"; else not_ok "filter $expr" "got $got"; fi
}
filter 'family=eth' $(seq 1 27)
filter 'layer=vlan' 3 4 27
filter 'vlan=7' 3 4
filter 'vlan!=7 and layer=vlan' 27
filter 'src=10.1.2.3 and port=1' 12 18 19
filter 'addr=2001:db8::/32 and verdict=ok' 2 4 6
filter 'dst=10.4.5.0/24 and verdict != ok' 14 15 17 18 19 20
filter 'dst=10.4.6.0/23 and verdict=ok'
filter 'dst=10.4.4.0/23 and verdict=ok and layer=vlan' 3
filter 'dst=10.4.4.0/24 and verdict=ok'
filter 'dst=0.0.0.0/0 and verdict=ok and layer=vlan' 3
filter 'src=02:00:00:00:00:03/40 and verdict=ok and layer=vlan' 3 4
filter 'src=02:00:00:00:00:01 and family!=ip' 9 13 27
filter 'verdict=short or verdict=depth' 24 25 26 27
filter 'not (verdict=ok or verdict=short) and not layer=ipv4' 16 21 22 23 27
filter 'ipv4.ttl=64 and udp.length>=19' 12 19
filter 'ipv4.dscp=10' 1
filter 'udp.checksum=0xbeef' 18
filter 'ipv4.proto=TCP' 7
filter 'dport<3' 12 18 19
filter 'icrc=ok'
filter 'vlan==7 && !ipv6.hop_limit=64 || verdict==depth' 3 27

refuses() { # EXPR MESSAGE
	run 2 "filter '$1' is refused" "$causeway" decode --filter "$1" "$mixed"
	err_is "and why" "causeway decode: --filter: $2"
}
refuses 'colour=red' "unknown key 'colour'; keys are family, layer, addr, src, dst, port, sport, dport, npi, vlan, verdict, icrc and LAYER.FIELD"
refuses 'port=70000' "port: '70000': value does not fit the field; it takes a port number, 0 to 65535"
refuses 'addr=10.0.0' "addr: '10.0.0': cannot be read as a value of this kind; it takes an IP or MAC address, or a prefix"
refuses 'addr=10.0.0.0/33' "addr: '10.0.0.0/33': value does not fit the field; it takes an IP or MAC address, or a prefix"
refuses 'family=xyz' "family: 'xyz': no such name; it takes the name of a packet family"
refuses 'family>ip' "'family' takes = and != only"
refuses 'port=1 port=2' "'port' where 'and', 'or' or the end is expected"
refuses 'port' "'port' needs =, != or a comparison behind it"
refuses 'port=' "the expression ends where a value is expected"
refuses '(port=1' "')' is missing"
refuses 'port=1 and' "the expression ends where a key is expected"
refuses 'udp.colour=1' "header 'udp' has no field 'colour'"
refuses 'xyz.port=1' "there is no header 'xyz'"
refuses '' "the expression ends where a key is expected"

# UB and UBoE, whose ICRCs zlib made.
run 1 "UBoE with one bad ICRC" "$causeway" decode --summary -j "$fixtures/uboe.pcap"
check "the others are good" jq -e '.icrc == {"ok": {"packets": 19, "octets": 9958},
	"bad": {"packets": 1, "octets": 94}} and .verdict.icrc.packets == 1' "$tmp/out"
run 1 "the other order of the ICRC" "$causeway" decode --summary -j --icrc-order be "$fixtures/uboe.pcap"
check "makes all of them bad" jq -e '.icrc.bad.packets == 20' "$tmp/out"
run 0 "another port is not UB" "$causeway" decode --summary -j --ub-port 4793 "$fixtures/uboe.pcap"
check "so there is no ICRC" jq -e '.icrc.absent.packets == 20' "$tmp/out"
run 1 "native UB" "$causeway" decode --summary -j "$fixtures/ub.pcap"
check "one bad ICRC, one plain IP" jq -e '.icrc.ok.packets == 24 and .icrc.bad.packets == 1
	and .icrc.absent.packets == 1' "$tmp/out"
run 1 "the same behind Ethernet" "$causeway" decode --summary -j "$fixtures/ub-eth.pcap"
check "counts the same" jq -e '.icrc.ok.packets == 24' "$tmp/out"
mixed=$fixtures/ub.pcap
filter 'npi=0' 8 20
filter 'npi=1 and npi.permission=0'
filter 'npi=1' 2 3 4 5 6 7 14 15 16 17 18 19
filter 'icrc=bad' 25
filter 'layer=rtph and rtph.psn=0x0a0b0c and npi=7 and src=10.1.0.0/16' 1 9 10 12 25
mixed=$fixtures/mixed-ip.pcap

# Broken files.
run 2 "no such file" "$causeway" decode "$tmp/none"
err_is "and why" "causeway decode: $tmp/none: No such file or directory"
run 2 "a directory" "$causeway" decode "$tmp"
: >"$tmp/empty"
run 2 "an empty file" "$causeway" decode "$tmp/empty"
err_has "and why" 'empty: not a readable capture file: truncated dump file'
head -c 20 "$mixed" >"$tmp/short"
run 2 "a truncated file header" "$causeway" decode "$tmp/short"
echo "this is no capture, just text" >"$tmp/text"
run 2 "not a capture" "$causeway" decode "$tmp/text"
err_has "and why" 'text: not a readable capture file: unknown file format'
head -c 100 "$mixed" >"$tmp/tail"
run 1 "a truncated record" "$causeway" decode -j "$tmp/tail"
err_has "and which" 'tail: record 2: truncated dump file'
check "packets in front of it are shown" jq -e '.number == 1' "$tmp/out"
{ head -c 32 "$mixed"; printf '\377\377\377\177\377\377\377\177'; tail -c +41 "$mixed"; } >"$tmp/absurd"
run 1 "an absurd record length" "$causeway" decode "$tmp/absurd"
err_has "and which" 'absurd: record 1: .*2147483647'

# A snap length: the frame is longer than what was kept.
"$python" - "$tmp/snap.pcap" <<'PY'
import struct, sys
eth = bytes.fromhex("020000000002020000000001" "0800")
ip = bytes.fromhex("45000064000040004011" "0000" "0a0102030a040506")
s = sum(struct.unpack("!10H", ip)); s = (s & 0xffff) + (s >> 16)
frame = eth + ip[:10] + struct.pack("!H", ~s & 0xffff) + ip[12:] + bytes(80)
open(sys.argv[1], "wb").write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 60, 1)
    + struct.pack("<IIII", 1, 2, 60, len(frame)) + frame[:60])
PY
run 1 "a packet that was not captured whole" "$causeway" decode -j "$tmp/snap.pcap"
check "both lengths are told" jq -e '.length == 114 and .captured == 60 and .verdict == "length"' "$tmp/out"
run 1 "the same for people" "$causeway" decode "$tmp/snap.pcap"
out_has "says so" '114 octets, ip, only 60 captured$'

# Options and streams.
"$causeway" decode - <"$mixed" >"$tmp/out" 2>"$tmp/err"
"$causeway" decode "$mixed" >"$tmp/out2" 2>/dev/null
same "- reads the standard input" "$tmp/out" "$tmp/out2"
run 0 "--count" "$causeway" decode -j --count 2 "$mixed"
check "counts" jq -es 'length == 2' "$tmp/out"
run 2 "--count 0" "$causeway" decode --count 0 "$mixed"
err_is "is refused" "causeway decode: --count: 0 is too little; at least 1"
run 2 "--link nonsense" "$causeway" decode --link nonsense "$mixed"
err_is "is refused" "causeway decode: --link: no link type 'nonsense'"
run 2 "a link type that nothing decodes" "$causeway" decode --link 113 "$mixed"
err_has "is refused" 'link type 113 (LINUX_SLL) is not decoded'
run 2 "--icrc-order" "$causeway" decode --icrc-order middle "$mixed"
err_is "takes le or be" "causeway decode: --icrc-order: 'middle' is not le or be"
run 2 "an unknown option" "$causeway" decode --frobnicate "$mixed"
err_is "is refused" "causeway decode: unknown option '--frobnicate'"
run 2 "an option without its value" "$causeway" decode --count
err_is "is refused" "causeway decode: option '--count' needs a value"
run 2 "no file" "$causeway" decode
run 2 "two files" "$causeway" decode "$mixed" "$mixed"
run 0 "--help" "$causeway" decode --help
out_has "has examples" '^examples:'

# One line a packet.
run 1 "--lines" "$causeway" decode --lines "$fixtures/ub.pcap"
check "each is one" sh -c '[ "$(wc -l <"$1")" = "$("$2" decode -j "$3" | wc -l)" ]' - "$tmp/out" "$causeway" "$fixtures/ub.pcap"
out_has "with number, time, ends, family, length and contents" \
	'^     1     0.000000  10.1.2.3 > 10.4.5.6  ub 90  cci_fecn markable, npi 7, RTP psn 658188, Write tassn 1, maetah, payload 8, ICRC ok$'
out_has "a CNP" '^    10     9.000000  .*  ub 74  .*, CNP psn 658188, cetph_cnp severe, payload 0, ICRC ok$'
out_has "a wrong ICRC" ', ICRC bad$'
run 1 "lines of InfiniBand and RoCE" sh -c 'for f in "$2"/ipoib-*.pcap "$2"/rxe-rping.pcap; do "$1" decode -l "$f"; done; exit 1' - \
	"$causeway" "$fixtures"
out_has "LIDs where there is no IP" '  0x0003 > 0x0001  mad 290  UD_SEND_ONLY dqpn 0x000001 psn 4, mad SubnAdm MCMemberRecord, '
out_has "ARP of IPoIB" '  10.77.0.1 > 10.77.0.2  ipoib 100  ipoib, ipoib_arp request, payload 0$'
out_has "options once" ', dhcp reply, dhcp_opt, payload '
out_has "transport of RoCE" '  roce 62  RC_ACKNOWLEDGE dqpn 0x0000[0-9a-f]* psn [0-9]*, ACK msn [0-9]*, payload 0, ICRC ok$'
out_has "what is not taken apart" '  ip 74  TCP, payload 40$'
check "no word is empty" sh -c '! grep -q ", ,\|  ,\|, *$" "$1"' - "$tmp/out"
run 2 "--lines and --json" "$causeway" decode -lj "$mixed"
err_is "exclude each other" "causeway decode: --lines goes with neither --json, --hex nor --summary"

# Packed by gzip: a file, a stream, two members, cut, broken.
gzip -c "$mixed" >"$tmp/mixed.gz"
run 1 "a gzip file" "$causeway" decode "$tmp/mixed.gz"
same "is its content" "$tmp/out" "$tmp/out2"
"$causeway" decode - <"$tmp/mixed.gz" >"$tmp/out" 2>"$tmp/err"
same "from the standard input" "$tmp/out" "$tmp/out2"
head -c 300 "$mixed" | gzip >"$tmp/members.gz"
tail -c +301 "$mixed" | gzip >>"$tmp/members.gz"
run 1 "a gzip file of two members" "$causeway" decode "$tmp/members.gz"
same "is the content of both" "$tmp/out" "$tmp/out2"
head -c -20 "$tmp/mixed.gz" >"$tmp/cut.gz"
run 1 "a gzip file that breaks off" "$causeway" decode --summary "$tmp/cut.gz"
err_has "is said to be wrong" "causeway decode: $tmp/cut.gz: record [0-9]*: "
{ head -c 200 "$tmp/mixed.gz"; echo rubbish; tail -c +209 "$tmp/mixed.gz"; } >"$tmp/wrong.gz"
run 2 "a gzip file with wrong octets" "$causeway" decode --summary "$tmp/wrong.gz"
err_has "is said to be wrong" "wrong.gz: not a readable capture file: "
printf '\375%s' '7zXZ file' >"$tmp/mixed.xz"
run 2 "a file packed otherwise" "$causeway" decode "$tmp/mixed.xz"
err_is "what to do is said" "causeway decode: $tmp/mixed.xz: not a readable capture file: unknown file format: packed by xz? Try 'xz -dc FILE |' and -"

# Comments of pcapng, as captures of dropped packets have them.
cat >"$tmp/notes.jsonl" <<'END'
{"comment":"ttl: ran out","layers":[{"layer":"eth"},{"layer":"ipv4"}],"payload":{"repeat":"ab","length":61}}
{"layers":[{"layer":"eth"},{"layer":"ipv4"}],"payload":"01"}
{"comment":"a\u001b[31mb é","layers":[{"layer":"eth"},{"layer":"ipv4"}]}
END
run 0 "packets with comments" "$causeway" craft "$tmp/notes.jsonl" "$tmp/notes.pcapng"
run 0 "as JSON" "$causeway" decode -j "$tmp/notes.pcapng"
check "each packet has its own" jq -es 'map(.comment) == ["ttl: ran out", null, "a [31mb é"]' "$tmp/out"
cp "$tmp/out" "$tmp/notes.json"
run 0 "from a pipe" sh -c 'cat "$2" | "$1" decode -j -' - "$causeway" "$tmp/notes.pcapng"
same "they are the same" "$tmp/notes.json" "$tmp/out"
run 0 "from a gzip file" sh -c 'gzip -c "$2" >"$2.gz" && "$1" decode -j "$2.gz"' - "$causeway" "$tmp/notes.pcapng"
same "they are, too" "$tmp/notes.json" "$tmp/out"
"$python" - "$tmp/big.pcapng" <<'END'
import struct, sys
def block(kind, body):
    n = 12 + len(body)
    return struct.pack(">II", kind, n) + body + struct.pack(">I", n)
frame = bytes.fromhex("020000000002020000000001" "88b7") + bytes(2)
packet = struct.pack(">IIIII", 0, 0, 0, len(frame), len(frame)) + frame
options = struct.pack(">HH4sHH3sxHH", 2, 4, bytes(4), 1, 3, b"big", 0, 0)
open(sys.argv[1], "wb").write(block(0x0a0d0d0a, struct.pack(">IHHq", 0x1a2b3c4d, 1, 0, -1))
    + block(1, struct.pack(">HHI", 1, 0, 0)) + block(6, packet + options) + block(5, bytes(12)) + block(6, packet))
END
run 0 "in the other order of octets" "$causeway" decode -j "$tmp/big.pcapng"
check "too" jq -es 'map(.comment) == ["big", null]' "$tmp/out"
run 0 "for people" "$causeway" decode "$tmp/notes.pcapng"
out_has "below the head line" '^  # ttl: ran out$'
run 0 "in lines" "$causeway" decode -l "$tmp/notes.pcapng"
out_has "at their ends" ', payload 61  # ttl: ran out$'
"$causeway" decode -j "$tmp/notes.pcapng" | "$causeway" craft - "$tmp/again.pcapng"
run 0 "back" "$causeway" decode -j "$tmp/again.pcapng"
same "craft keeps them" "$tmp/notes.json" "$tmp/out"
size=$(wc -c <"$tmp/notes.pcapng")
while [ "$size" -gt 0 ]; do
	size=$((size - 7))
	head -c "$size" "$tmp/notes.pcapng" >"$tmp/short.pcapng" 2>"$tmp/err"
	"$causeway" decode -j "$tmp/short.pcapng" >"$tmp/out" 2>"$tmp/err"
	[ $? -le 2 ] || not_ok "a file cut at $size"
done
ok "cut anywhere, nothing breaks"

# An interface.
run 2 "an interface and a file" "$causeway" decode -i lo "$mixed"
err_is "exclude each other" "causeway decode: either a file or --interface"
run 2 "--promiscuous without an interface" "$causeway" decode -p "$mixed"
if [ "$(id -u)" = 0 ] && unshare -n true 2>"$tmp/unshare"; then
	run 2 "an interface that is not there" unshare -n "$causeway" decode -i nosuch0
	err_is "is said" "causeway decode: nosuch0: no such interface"
	# $1 the command, $2 the output, $3 how it ends: by itself after two packets, or by a signal.
	cat >"$tmp/live.sh" <<'END'
ip link set lo up
if [ "$3" = count ]; then "$1" decode -l -i lo -c 2 >"$2" & else "$1" decode -j -i lo >"$2" & fi
pid=$!
for _ in $(seq 300); do
	[ ! -s "$2" ] || break
	bash -c 'echo x1 >/dev/udp/127.0.0.1/4000'
	sleep 0.05
done
[ "$3" = count ] || kill -INT "$pid"
bash -c 'echo x2 >/dev/udp/127.0.0.1/4000'
wait "$pid"
END
	run 1 "packets of an interface" unshare -n bash "$tmp/live.sh" "$causeway" "$tmp/live" count
	mv "$tmp/live" "$tmp/out"
	out_has "appear as they come" '^     1     0.000000  127.0.0.1 > 127.0.0.1  ip 45  udp sport [0-9]* dport 4000, payload 3 '
	check "as many as wanted" sh -c '[ "$(wc -l <"$1")" = 2 ]' - "$tmp/out"
	run 1 "until SIGINT" unshare -n bash "$tmp/live.sh" "$causeway" "$tmp/live" signal
	check "as JSON" jq -es 'length > 0 and any(.[]; .layers[2].dport == 4000)' "$tmp/live"
else
	skip "packets of an interface" "needs root and a network namespace"
fi

# A snap length cuts packets: what is there is shown, and nothing is called wrong for it.
for f in ub ub-eth uboe mixed-ip rxe-rping ipoib-247 ipoib-rocev1-ud; do
	"$python" "$CW_SRC/tests/cli/cut.py" make "$fixtures/$f.pcap" "$tmp/cut.pcap"
	"$causeway" decode -j "$fixtures/$f.pcap" >"$tmp/whole.jsonl"
	"$causeway" decode -j "$tmp/cut.pcap" >"$tmp/cut.jsonl"
	check "$f cut at every octet" "$python" "$CW_SRC/tests/cli/cut.py" check "$tmp/whole.jsonl" "$tmp/cut.jsonl"
	"$causeway" craft "$tmp/cut.jsonl" "$tmp/again.pcap" >/dev/null
	"$causeway" decode -j "$tmp/again.pcap" >"$tmp/again.jsonl"
	same "$f: craft makes the same of them" "$tmp/cut.jsonl" "$tmp/again.jsonl"
done
head -c 110 "$fixtures/uboe.pcap" >"$tmp/head" # of the first record, 70 octets
"$python" - "$tmp/head" "$tmp/cut70.pcap" <<'PY'
import sys
d = bytearray(open(sys.argv[1], "rb").read())
d[32:36] = (70).to_bytes(4, "little")
open(sys.argv[2], "wb").write(d)
PY
run 0 "a cut packet is no error" "$causeway" decode --lines "$tmp/cut70.pcap"
out_has "and is shown as far as it goes" 'uboe 94  RTP psn 658188, Write tassn 1, payload [0-9]*, cut$'

run 2 "a full disk" sh -c '"$1" decode "$2" >/dev/full' - "$causeway" "$mixed"
err_is "is reported" "causeway decode: writing the output: No space left on device"
i=0
while [ $i -lt 200 ]; do cat "$mixed" | tail -c +25; i=$((i + 1)); done >"$tmp/body"
{ head -c 24 "$mixed"; cat "$tmp/body"; } >"$tmp/long.pcap"
"$python" - "$causeway" "$tmp/long.pcap" >"$tmp/out" <<'PY'
import signal, subprocess, sys
# A reader that goes away, with and without SIGPIPE ignored.
for quiet in (True, False):
    p = subprocess.Popen([sys.argv[1], "decode", sys.argv[2]], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, restore_signals=not quiet)
    p.stdout.read(10)
    p.stdout.close()
    err = p.stderr.read()
    print(p.wait() in (0, 1, -signal.SIGPIPE) and err == b"")
PY
out_is "a reader that goes away is no error" "True
True"
plan
