#!/bin/sh
# workers.sh - two workers share packet sockets by flow: IPv4 and IPv6, both ways, resolved next hops, and
# reloads meanwhile; none lost, none out of order within its flow.
. "$(dirname "$0")/lib.sh"
ns gw && ns ub && ns eth
pair "$gw" u0 "$ub" u1
pair "$gw" e0 "$eth" e1
emac=$(mac_of "$eth" e1) gmac=$(mac_of "$gw" e0)
config() { # MORE-ROUTES
	cat <<JSON
{"causeway:causeway": {
  "daemon": {"workers": 2},
  "port": [
    {"name": "ub0", "kind": "ub", "device": "packet:u0"},
    {"name": "eth0", "kind": "ethernet", "device": "packet:e0"}
  ],
  "route": [
    {"prefix": "10.1.0.0/16", "port": "eth0", "next-hop": "10.1.0.2"},
    {"prefix": "10.2.0.0/16", "port": "ub0"},
    {"prefix": "2001:db8:1::/48", "port": "eth0", "mac": "$emac"},
    {"prefix": "2001:db8:2::/48", "port": "ub0"} $1
  ],
  "neighbour": [{"port": "eth0", "ip": "10.1.0.2", "vid": 7, "mac": "$emac"}]
}}
JSON
}
config "" >"$tmp/a.json"
config ', {"prefix": "10.9.0.0/16", "port": "ub0"}' >"$tmp/b.json"
gateway "$gw" <"$tmp/a.json"

n=20000 reloads=0
common="--count $n --rate 4000 --flows 32 --size 64:4,1400:1"
outof() { # NAME OPTION...
	name=$1
	shift
	# shellcheck disable=SC2086
	in_ns "$ub" "$causeway" gen --to ub -i u1 --npi 7 $common "$@" >"$tmp/$name.gen" 2>&1 &
	gens="$gens $!"
}
into() { # NAME OPTION...
	name=$1
	shift
	# shellcheck disable=SC2086
	in_ns "$eth" "$causeway" gen --to uboe -i e1 --dmac "$gmac" --vlan 7 $common "$@" >"$tmp/$name.gen" 2>&1 &
	gens="$gens $!"
}
sink() { # NAME NAMESPACE IF
	ip netns exec "$2" "$causeway" sink -j -i "$3" --timeout 60 --idle 4 --hops 1 --buffer 128 >"$tmp/$1" 2>&1 &
	eval "$1=$!"
	listening "$2"
}
gens=''
sink s_eth "$eth" e1
sink s_ub "$ub" u1
outof out4 --src 10.2.0.1+8 --dst 10.1.0.1+8
outof out6 -6 --src 2001:db8:2::1+8 --dst 2001:db8:1::1+8
into in4 --src 10.1.0.1+8 --dst 10.2.0.1+8
into in6 -6 --src 2001:db8:1::1+8 --dst 2001:db8:2::1+8
while [ $reloads -lt 10 ]; do
	for f in b a; do
		"$causeway" reload -s "$sock" "$tmp/$f.json" >/dev/null || not_ok "reload $reloads"
		reloads=$((reloads + 1))
	done
	sleep 0.2
done
busy=0
for g in $gens; do kill -0 "$g" 2>/dev/null && busy=$((busy + 1)); done
check "all four senders were busy during $reloads reloads" [ $busy = 4 ]
for g in $gens; do wait "$g"; done
# shellcheck disable=SC2154
wait "$s_eth"
# shellcheck disable=SC2154
wait "$s_ub"
for s in s_eth s_ub; do
	check "$s: IPv4 and IPv6, none lost, none out of order" jq -e --argjson n $n '.ok and (.runs | length == 2)
		and all(.runs[]; .received == $n and .lost == 0 and .reordered == 0 and .duplicates == 0)' "$tmp/$s"
done
shows "both workers had work" workers '[.workers[].busy_walks] | length == 2 and all(. > 1000)'
shows "nothing was dropped" counters '[.ports[].dropped] | add == 0'
adds_up
stop_gateway "SIGTERM ends it with exit code 0"
plan
