#!/bin/sh
# causeway cnp: makes what NICs and scapy make, and tells good from wrong.
. "$(dirname "$0")/lib.sh"
cd "$tmp" || exit 2

run 0 "a CNP is made" "$causeway" cnp --make c.pcap --src 10.0.17.1 --dst 10.0.18.1 --qp 0x118 --id 0x718c
# As captured from a ConnectX-4 Lx.
frames c.pcap | cut -c 29- >got
echo 45c2003c718c4000401191610a0011010a001201000012b7002800008100ffff40000118\
0000000000000000000000000000000000000000\
82fd002a >want
same "octet by octet that of a ConnectX-4 Lx" want got
run 0 "it is good" "$causeway" cnp c.pcap
out_has "and shown" '^1: cnp 10.0.17.1 > 10.0.18.1: qp 0x000118, P_Key 0xffff$'
out_has "and counted" '^1 notifications, 0 wrong$'
run 0 "over IPv6" "$causeway" cnp --make c6.pcap --src 2001:db8::2 --dst 2001:db8::1 --qp 0x118
run 0 "it is good" "$causeway" cnp -j c6.pcap
check "in JSON" jq -e '.kind == "cnp" and .ok and .src == "2001:db8::2"' out

# scapy computes the ICRC anew; of IPv6 it can't (the unit test has a calculated vector).
"$causeway" cnp --make c2.pcap --src 192.168.1.2 --dst 10.0.0.9 --qp 0xabcdef --pkey 0x8123 --dscp 26 --ecn 0 \
	--ttl 7 --sport 51234 --id 0xbeef
check "scapy agrees" "$python" - <<'PY'
import logging, sys
logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.all import rdpcap
from scapy.contrib.roce import BTH, CNPPadding
for name, qp in (("c.pcap", 0x118), ("c2.pcap", 0xabcdef)):
    p = rdpcap(name)[0]
    raw = bytes(p)
    bth = p[BTH]
    assert bth.opcode == 0x81 and bth.dqpn == qp and bth.becn == 1 and bth.psn == 0, p.show(dump=True)
    del bth.icrc
    assert bytes(p)[-4:] == raw[-4:], name
PY

for option in 1 2; do
	for packed in "" --packed; do
		run 0 "a message of option $option $packed" "$causeway" cnp --make m.pcap --option $option \
			--src 10.9.0.1 --dst 10.9.0.2 --flow-src 10.0.17.1 --flow-dst 10.0.18.1 --flow-sport 50000 \
			--qp 0x222 --nrp 0x777 --tc 0x6a $packed
		run 0 "it is good" "$causeway" cnp m.pcap
		out_has "and shown" "^1: option-$option 10.9.0.1 > 10.9.0.2: flow 10.0.17.1:50000 > 10.0.18.1:4791, TC 0x6a, "
		"$python" - >sum <<'PY'
from scapy.all import *
p = rdpcap("m.pcap")[0]
was = p[UDP].chksum
del p[UDP].chksum
print(Ether(bytes(p))[UDP].chksum == was and was != 0)
PY
		check "scapy computes the same checksum" grep -q True sum
	done
done
run 0 "a message over IPv6 about an IPv6 flow" "$causeway" cnp --make m.pcap --option 1 --src 2001:db8::1 \
	--dst 2001:db8::2 --flow-src 2001:db8::3 --flow-dst 2001:db8::4 --qp 5
run 0 "it is good" "$causeway" cnp -j m.pcap
check "in JSON" jq -e '.about == "flow 2001:db8::3:0 > 2001:db8::4:4791, TC 0x00, qp 0x5"' out

# Every wrong thing has its name.
wrong() { # SED WHAT
	"$causeway" decode -j c.pcap | sed "s/\"icrc\":{[^}]*}/\"icrc\":\"auto\"/; $1" |
		sed 's/,"icrc":"auto"//' | "$causeway" craft - w.pcap
	run 1 "$2" "$causeway" cnp w.pcap
	out_has "is named" "wrong: $3"
}
wrong 's/"becn":1/"becn":0/' "no BECN" 'BECN is not set'
wrong 's/"psn":0/"psn":7/' "a PSN" 'PSN, AckReq or PadCnt is not zero'
wrong 's/"reserved1":"0000/"reserved1":"0001/' "a body" 'the 16 octets behind the BTH are not zero'
"$causeway" decode -j c.pcap | sed 's/"status":"ok"/"status":"bad"/; s/"dqpn":"0x000118"/"dqpn":"0x000119"/' |
	"$causeway" craft - w.pcap
run 1 "another queue pair under the same ICRC" "$causeway" cnp w.pcap
out_has "is named" 'wrong: ICRC is wrong'

run 0 "a capture without notifications" "$causeway" cnp "$fixtures/rxe-rping.pcap"
out_is "is good" "0 notifications, 0 wrong"
run 2 "no file" "$causeway" cnp
err_is "is refused" "causeway cnp: no capture given"
run 2 "no source" "$causeway" cnp --make x.pcap --dst 10.0.0.1
err_is "is refused" "causeway cnp: --src is needed"
run 2 "no flow" "$causeway" cnp --make x.pcap --option 1 --src 10.0.0.2 --dst 10.0.0.1
err_is "is refused" "causeway cnp: --flow-src is needed"
run 2 "two IP versions" "$causeway" cnp --make x.pcap --src 10.0.0.2 --dst ::1
err_is "are refused" "causeway cnp: --src and --dst are of different IP versions"
run 2 "a queue pair of 25 bits" "$causeway" cnp --make x.pcap --src 10.0.0.2 --dst 10.0.0.1 --qp 0x1000000
err_is "is refused" "causeway cnp: --qp: 0x1000000 is not in 0 to 16777215"
run 2 "a DSCP of the whole octet" "$causeway" cnp --make x.pcap --src 10.0.0.2 --dst 10.0.0.1 --dscp 106
err_is "is refused, not taken for a DSCP (as in ucx issue 10325)" "causeway cnp: --dscp: 106 is not in 0 to 63"
run 2 "an address" "$causeway" cnp --make x.pcap --src 10.0.0.256 --dst 10.0.0.1
err_is "is refused" "causeway cnp: --src: '10.0.0.256' is no IP address"
run 2 "option 3" "$causeway" cnp --make x.pcap --option 3 --src 10.0.0.2 --dst 10.0.0.1
check "nothing was written" sh -c '! test -e x.pcap'
plan
