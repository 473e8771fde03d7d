#!/bin/sh
# forward.sh - one gateway: UB <-> Ethernet, IPv4 and IPv6, tags, jumbo packets, both ways.
. "$(dirname "$0")/lib.sh"
ns gw && ns ub && ns eth
pair "$gw" u0 "$ub" u1
pair "$gw" e0 "$eth" e1
ip netns exec "$eth" ethtool -K e1 gso off tso off gro off >/dev/null 2>&1
dmac=$(mac_of "$gw" e0)

start() { # MORE-OF-ETH0
	gateway "$gw" <<EOF
{"causeway:causeway": {
  "port": [
    {"name": "ub0", "kind": "ub", "device": "packet:u0", "mtu": 9216},
    {"name": "eth0", "kind": "ethernet", "device": "packet:e0", "mtu": 9216 $1}
  ],
  "route": [
    {"prefix": "10.1.0.0/16", "port": "eth0", "mac": "$(mac_of "$eth" e1)"},
    {"prefix": "10.2.0.0/16", "port": "ub0"},
    {"prefix": "2001:db8:1::/48", "port": "eth0", "mac": "$(mac_of "$eth" e1)"},
    {"prefix": "2001:db8:2::/48", "port": "ub0"}
  ]
}}
EOF
}
start ""

a4="--src 10.2.0.1+4 --dst 10.1.0.1+4" b4="--src 10.1.0.1+4 --dst 10.2.0.1+4"
a6="-6 --src 2001:db8:2::1+4 --dst 2001:db8:1::1+4" b6="-6 --src 2001:db8:1::1+4 --dst 2001:db8:2::1+4"
common="--count 3000 --rate 15000 --size 56:5,256:5,1400:5,4096:2,8192:1"
# shellcheck disable=SC2086
{
traffic "UB to Ethernet, IPv4" "$ub" u1 "$eth" e1 --to ub $common $a4 --npi 1,7 --fecn 10,11,01,00 -- --hops 1
traffic "UB to Ethernet, IPv6" "$ub" u1 "$eth" e1 --to ub $common $a6 --npi 1,7 --fecn 10,11,01,00 -- --hops 1
traffic "Ethernet to UB, IPv4" "$eth" e1 "$ub" u1 --to uboe $common $b4 --dmac "$dmac" --vlan 7,9 --ecn 10,11,00 -- --hops 1
traffic "Ethernet to UB, IPv6" "$eth" e1 "$ub" u1 --to uboe $common $b6 --dmac "$dmac" --vlan 7,9 --ecn 10,11,00 -- --hops 1
shows "nothing was dropped" counters '[.ports[].dropped] | add == 0'
shows "every packet that came in went out" counters \
	'.ports | (map(.rx_packets) | add) == (map(.tx_packets) | add) and (map(.rx_packets) | add) >= 12000'

traffic "9216-octet IP packets to Ethernet" "$ub" u1 "$eth" e1 --to ub --count 300 --rate 3000 $a4 \
	--transport utp --op send --size 9156 -- --hops 1
traffic "9216-octet IP packets to UB" "$eth" e1 "$ub" u1 --to uboe --count 300 --rate 3000 $b4 \
	--transport utp --op send --size 9156 --dmac "$dmac" --vlan 7 -- --hops 1

# The device may take tags out of a frame or leave them in; the sender may hand them over apart.
tags() { # NAME GEN-OPTIONS
	name=$1
	shift
	for rx in on off; do
		for tx in on off; do
			ip netns exec "$gw" ethtool -K e0 rxvlan $rx >/dev/null
			ip netns exec "$eth" ethtool -K e1 txvlan $tx >/dev/null
			traffic "$name, rxvlan $rx, txvlan $tx" "$eth" e1 "$ub" u1 --to uboe --count 300 \
				--rate 10000 $b4 --dmac "$dmac" --vlan 7,4094 "$@" -- --hops 1
		done
	done
}
tags "one tag"
shows "every drop counter is still 0" drops '[.drops[].packets] | add == 0'
adds_up
stop_gateway "SIGTERM ends it with exit code 0"
start ', "outer-vid": 100'
tags "two tags" --outer-vlan 100
traffic "two tags to Ethernet" "$ub" u1 "$eth" e1 --to ub --count 300 --rate 10000 $a4 --npi 7 -- --hops 1
}
shows "every drop counter is still 0" drops '[.drops[].packets] | add == 0'
adds_up
stop_gateway "SIGTERM ends it with exit code 0"
plan
