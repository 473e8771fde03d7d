#!/bin/sh
# fig2.sh [PACKETS] - draft-li-uboe-00, figure 2: a UB domain behind one gateway, and a UBoE endpoint
# on the same VLAN-tagged Ethernet; both ways, IPv4 and IPv6, then once more with other rules.
#
#   a ub0 - ub0 g1 eth0 - bridge - eth0 e
#
# The endpoint speaks UBoE itself: `causeway gen --to uboe` and a `causeway sink` that expects it.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fig2-net.sh"
packets=${1:-100000} full_rate=${RATE:-25000}
vlans="5 9 11 100 101"
need ip tc bridge ethtool taskset jq tshark dumpcap
gwmac=$(mac g1 eth0)


common="--flows 64 --sport 49152+64 --size 64:8,512:4,1400:2,4096:1,8192:1 --dscp 0,10,26,46
	--transport rtp:9,utp:1 --op send,send-imm,write,write-notify,read-response"

to_endpoint() { # NAME IP PACKETS OPTION...
	name=$1 version=$2 n=$3
	shift 3
	[ "$version" = 4 ] && ends="--src 10.1.0.1+16 --dst 10.2.0.1+16" ||
		ends="--src 2001:db8:1::1+16 --dst 2001:db8:2::1+16"
	cpu=0
	start "$name" a "$causeway" gen -j --to ub "-$version" -i ub0 --count "$n" --rate "$rate" \
		$ends $common --rt 0,1,2,3 "$@"
	echo "$pid" >"$tmp/$name.pid"
	cpu=
}

to_domain() { # NAME IP PACKETS OPTION...
	name=$1 version=$2 n=$3
	shift 3
	[ "$version" = 4 ] && ends="--src 10.2.0.1+16 --dst 10.1.0.1+16" ||
		ends="--src 2001:db8:2::1+16 --dst 2001:db8:1::1+16"
	cpu=1
	start "$name" e "$causeway" gen -j --to uboe "-$version" -i eth0 --dmac "$gwmac" --count "$n" \
		--rate "$rate" $ends $common "$@"
	echo "$pid" >"$tmp/$name.pid"
	cpu=
}

# Both ways at once. The options of gen and of sink for either way are in out_gen, out_sink, in_gen,
# in_sink.
both_ways() { # IP PACKETS
	rate=$full_rate
	for try in 1 2 3 4; do
		before=$(overruns g1)
		sink "e$1" e -i eth0 --hops 1 $out_sink
		sink "a$1" a -i ub0 --hops 1 $in_sink
		start "cap$1" sw dumpcap -q -i g1 -c 2000 -w "$tmp/leg$1.pcapng"
		wait_for 10 dumpcap test -s "$tmp/leg$1.pcapng" ||
			die "dumpcap does not start" "$tmp/cap$1.err"
		to_endpoint "out$1" "$1" "$2" $out_gen
		to_domain "in$1" "$1" "$2" $in_gen
		for way in out in; do
			wait "$(cat "$tmp/$way$1.pid")" || die "gen $way fails" "$tmp/$way$1.err"
		done
		for end in e a; do wait "$(cat "$tmp/$end$1.sinkpid")"; done
		busy "$try" "$before" g1 -- "$tmp/e$1.out" "$tmp/a$1.out" || return 0
	done
}

verdicts() { # WHAT IP PACKETS
	verdict "$1, IPv$2, UB to UBoE" "e$2" "$3"
	verdict "$1, IPv$2, UBoE to UB" "a$2" "$3"
}

net
config
cpu=0 gateway g1 g1
cpu=

# The draft's defaults. 28681 is 0x7009, VLAN 9; untagged frames take partition 1.
out_gen="--fecn 10:70,00:5,01:10,01L:5,11:5,11L:5 --npi 5:6,5/low:2,28681:2"
in_gen="--ecn 00,01,10,11 --vlan 5:6,9:2,untagged:2"
out_sink="" in_sink=""
for ip in 4 6; do
	both_ways $ip "$packets"
	verdicts "defaults" $ip "$packets"
	leg_checks $ip "$tmp/leg$ip.pcapng" '(5|9|)'
done

# The strict one-to-one mode (5.2.1), a table (5.3), remapped DSCP, another RT (5.1), lanes by DSCP;
# taken over by a reload.
config '"ecn": { "strict": true },
    "npi": { "map": [ { "id": 70000, "vid": 11 } ], "untagged": 70000 },
    "ip": { "dscp-to-ethernet": [ { "from": 10, "to": 12 } ], "dscp-to-ub": [ { "from": 26, "to": 28 } ] },
    "rt": { "to-ub": "per-packet-all-paths" }'
check "reload: strict ECN, partition table, DSCP tables, RT" "$causeway" reload -s "$tmp/g1.sock" "$tmp/g1.json"
out_gen="--fecn 00,01,10,11,11L --npi 5,70000"
in_gen="--ecn 00,01,10,11 --vlan 5,11,untagged"
out_sink="--expect-cc strict --expect-npi 70000=11 --expect-dscp 10=12"
in_sink="--expect-cc strict --expect-npi 11=70000 --untagged-npi 70000 --expect-dscp 26=28 --expect-rt 1"
both_ways 6 20000
verdicts "strict" 6 20000

# Two VLANs a partition, so that Permission survives (5.3, enhanced); light congestion as ECT(1), CE as
# light (5.2.1).
config '"ecn": { "light": "ecn-capable", "markable": "ect1", "ce": "light" },
    "npi": { "mode": "enhanced", "map": [ { "id": 5, "vid": 100, "vid-low": 101 } ] }'
check "reload: enhanced partitions, other ECN mapping" "$causeway" reload -s "$tmp/g1.sock" "$tmp/g1.json"
out_gen="--fecn 00,01,10,11 --npi 5,5/low"
in_gen="--ecn 00,01,10,11 --vlan 100,101"
out_sink="--expect-cc light=ect,ect=1,ce=light --expect-npi 5=100,5/low=101"
in_sink="--expect-cc light=ect,ect=1,ce=light --expect-npi 100=5,101=5/low"
both_ways 4 20000
verdicts "enhanced" 4 20000
no_drops g1
adds_up g1
plan
