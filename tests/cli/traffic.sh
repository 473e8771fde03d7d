#!/bin/sh
# traffic.sh - causeway gen and sink on files: what is sent is what is found, and faults are noticed.
. "$(dirname "$0")/lib.sh"
gen() { "$causeway" gen "$@" >/dev/null || exit 1; }

for side in ub uboe; do
	for ip in 4 6; do
		gen --to $side -$ip -w "$tmp/a.pcap" --count 3000 --size 64:7,512:4,1400,56-75,8192 \
			--op send,send-imm,write,write-imm,write-notify,writeback,read-response \
			--transport rtp:3,utp --dscp 0,26,46
		run 0 "$side, IPv$ip: all there" "$causeway" sink -r "$tmp/a.pcap"
		out_has "and said so" '3000 of 3000 packets, 0 lost, 0 duplicated, 0 reordered, 0 wrong: ok$'
		run 0 "the decoder finds nothing wrong" "$causeway" decode --summary "$tmp/a.pcap"
	done
done
gen --to ub -w "$tmp/a.pcap" --count 500
gen --to ub -w "$tmp/b.pcap" --count 500
check "another file name is another run" sh -c '! cmp -s "$1" "$2"' - "$tmp/a.pcap" "$tmp/b.pcap"
cp "$tmp/a.pcap" "$tmp/b.pcap"
gen --to ub -w "$tmp/a.pcap" --count 500
same "the same command line is the same file" "$tmp/a.pcap" "$tmp/b.pcap"
gen --to ub -w "$tmp/u.pcap" --bare --count 500 --npi 5,9/low --cci fecn,caqm,fecn-rtt,7 --fecn 01L,11,10
run 0 "UB without Ethernet header" "$causeway" sink -r "$tmp/u.pcap"

# An independent program reads the same addresses, lengths and checksums.
gen --to uboe -w "$tmp/e.pcap" --count 200 --udp-checksum --vlan 5,untagged --size 56-1400
tshark -r "$tmp/e.pcap" -o ip.check_checksum:TRUE -o udp.check_checksum:TRUE -T fields \
	-e ip.checksum.status -e udp.checksum.status 2>/dev/null | sort | uniq -c | tr -s ' \t' ' ' >"$tmp/sum"
echo " 200 1 1" >"$tmp/want"
same "tshark finds every checksum good" "$tmp/want" "$tmp/sum"

# Damage to a file, by another program: each kind is noticed and counted exactly.
damage() { # CODE -> $tmp/bad.pcap
	$python - "$tmp/a.pcap" "$tmp/bad.pcap" "$1" <<'EOF'
import sys
from scapy.utils import RawPcapReader, RawPcapWriter
frames = [bytes(f) for f, _ in RawPcapReader(sys.argv[1])]
exec(sys.argv[3])
w = RawPcapWriter(sys.argv[2], linktype=1)
for f in frames:
    w.write(f)
EOF
}
sees() { # NAME CODE JQ - damage, and what the report must say
	damage "$2"
	run 1 "$1: noticed" "$causeway" sink -j -r "$tmp/bad.pcap"
	check "$1: counted" jq -e "$3" "$tmp/out"
}
sees "lost" 'del frames[100:107]; del frames[-1]' '.runs[0].lost == 8 and .runs[0].wrong == 0'
sees "duplicated" 'frames.insert(50, frames[49]); frames.append(frames[0])' \
	'.runs[0].duplicates == 2 and .runs[0].lost == 0'
sees "reordered" 'frames.insert(200, frames.pop(100))' '.runs[0].reordered == 1 and .runs[0].lost == 0'
sees "payload" 'f = bytearray(frames[7]); f[200] ^= 1; frames[7] = bytes(f)' \
	'.runs[0].checks.payload == 1 and .runs[0].checks.icrc == 1 and .runs[0].wrong == 1'
sees "ICRC" 'f = bytearray(frames[7]); f[-1] ^= 1; frames[7] = bytes(f)' \
	'.runs[0].checks == {"icrc": 1}'
sees "description" 'f = bytearray(frames[7]); f[90] ^= 1; frames[7] = bytes(f)' \
	'.damaged == 1 and .runs[0].lost == 1'
sees "truncated" 'frames[7] = frames[7][:100]' '.damaged == 1 and .runs[0].lost == 1'
sees "RT" 'f = bytearray(frames[7]); f[16] ^= 0x40; frames[7] = bytes(f)' '.runs[0].checks == {"lph": 1}'
sees "FECN" 'f = bytearray(frames[7]); f[19] ^= 1; frames[7] = bytes(f)' '.runs[0].checks == {"cc": 1}'
sees "NPI" 'f = bytearray(frames[7]); f[23] ^= 2; frames[7] = bytes(f)' '.runs[0].checks == {"partition": 1}'
run 1 "TTL: noticed" "$causeway" sink -j --hops 1 -r "$tmp/a.pcap"
check "TTL: counted" jq -e '.runs[0].checks == {"ttl": 500}' "$tmp/out"
run 1 "fewer than announced by --count" "$causeway" sink --runs 2 -r "$tmp/a.pcap"
out_has "two runs awaited" '^2 runs awaited, packets of 1 came$'

# Faults are exact shares, apart from the good packets.
run 0 "faults" "$causeway" gen -j --to ub -w "$tmp/f.pcap" --count 1000 \
	--faults icrc:1.5,bitflip:1,truncate:0.3,ttl:250,no-route=192.0.2.1:1,random:1
check "the manifest is exact" jq -e '.good == 1000 and .faulty == 15 + 10 + 3 + 2500 + 10 + 10
	and .drops == {"icrc": 25, "ip-length": 3, "ttl": 2500, "no-route": 10}
	and .drops_unnamed == 10' "$tmp/out"
run 1 "faulty packets are noticed" "$causeway" sink -j -r "$tmp/f.pcap"
check "and counted by kind, beside complete good ones" jq -e '.runs[0].lost == 0 and
	.runs[0].wrong == 0 and .runs[0].faults.icrc == 15 and .runs[0].faults.ttl == 2500' "$tmp/out"
run 0 "they can be allowed" "$causeway" sink --allow-faults all --allow-damaged -r "$tmp/f.pcap"
run 0 "the list of kinds" "$causeway" gen --list-faults
out_has "it names counters" '^udp-checksum '

# A disk that is full leaves no half-written file; a signal ends a wait for a pipe's first octet.
run 2 "a full disk" sh -c 'trap "" XFSZ; ulimit -f 8; exec "$1" gen --to ub -w "$2" --count 1000' - "$causeway" "$tmp/half.pcap"
err_has "is told of" '^causeway gen: .*half.pcap: File too large$'
check "and leaves nothing behind" [ ! -e "$tmp/half.pcap" ]
mkfifo "$tmp/fifo"
sleep 60 >"$tmp/fifo" &
holder=$!
run 2 "a signal while nothing comes" timeout --preserve-status -s INT 2 "$causeway" sink -r "$tmp/fifo"
err_has "says so" '^causeway sink: .*fifo: Interrupted system call$'
kill $holder

run 2 "no side" "$causeway" gen -w "$tmp/x.pcap" --count 1
err_has "what is missing" '^causeway gen: --to ub or --to uboe is missing$'
run 2 "no such fault" "$causeway" gen --to ub -w "$tmp/x.pcap" --count 1 --faults nix:1
run 2 "a fault of the other side" "$causeway" gen --to ub -w "$tmp/x.pcap" --count 1 --faults vlan-depth:1
err_has "why" 'vlan-depth: there is no such packet on this side'
run 2 "size below the description's" "$causeway" gen --to ub -w "$tmp/x.pcap" --count 1 --size 10
run 2 "no such interface" "$causeway" gen --to ub -i nix0 --count 1
run 2 "no such file" "$causeway" sink -r "$tmp/nix.pcap"
run 2 "no such rule" "$causeway" sink -r "$tmp/a.pcap" --expect-cc loose
plan
