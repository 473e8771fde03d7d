#!/bin/sh
# icmp.sh - ICMP errors of the gateway: what Linux's own IP makes of them (traceroute, path MTU), and what
# a station behind a UB link gets; what there is no error about; the rate limit; off.
. "$(dirname "$0")/lib.sh"
ns gw && ns ub && ns eth
pair "$gw" u0 "$ub" u1
pair "$gw" e0 "$eth" e1
in_ns "$eth" sysctl -qw net.ipv6.conf.e1.disable_ipv6=0 net.ipv6.conf.e1.accept_dad=0
ip -n "$eth" addr add 10.1.0.2/24 dev e1
ip -n "$eth" addr add 2001:db8:1::2/64 dev e1 nodad
ip -n "$eth" route add default via 10.1.0.1
ip -n "$eth" -6 route add default via 2001:db8:1::1
gmac=$(mac_of "$gw" e0)

config() { # ICMP [PLAIN-IP]
	cat <<JSON
{"causeway:causeway": {
  "daemon": {"drop-capture": "$tmp/drops.pcapng"},
  "port": [
    {"name": "ub0", "kind": "ub", "device": "packet:u0", "mtu": 1400},
    {"name": "eth0", "kind": "ethernet", "device": "packet:e0", "mtu": 1300, "address": [
      {"address": "10.1.0.1/24"}, {"address": "2001:db8:1::1/64"}]}
  ],
  "route": [
    {"prefix": "10.2.0.0/16", "port": "ub0"},
    {"prefix": "2001:db8:2::/48", "port": "ub0"},
    {"prefix": "10.3.0.0/16", "port": "eth0", "mac": "02:00:00:00:00:03"},
    {"prefix": "2001:db8:3::/48", "port": "eth0", "mac": "02:00:00:00:00:03"},
    {"prefix": "10.1.0.0/24", "port": "eth0"},
    {"prefix": "2001:db8:1::/64", "port": "eth0"}
  ],
  "icmp": {$1},
  "ub2e": {"ip": {"plain-ip": ${2:-true}}}
}}
JSON
}
reload() { # ICMP [PLAIN-IP]
	config "$@" >"$tmp/gw.json"
	"$causeway" reload -s "$sock" "$tmp/gw.json" >/dev/null || not_ok "reload"
}
config "" >"$tmp/first.json"
gateway "$gw" <"$tmp/first.json"

# ---- What Linux gets -------------------------------------------------------------------------------

probe() { # WANTED ADDRESS [OCTETS [TTL]]
	want=$1
	shift
	got=$(in_ns "$eth" "$python" "$CW_SRC/tests/system/icmp.py" "$@" 2>&1)
	if [ "$got" = "$want" ]; then ok "$what"; else not_ok "$what" "wanted $want" "got $got"; fi
}
what="traceroute shows the gateway, IPv4" && probe "11 0 10.1.0.1 0" 10.2.0.9 64 1
what="traceroute shows the gateway, IPv6" && probe "3 0 2001:db8:1::1 0" 2001:db8:2::9 64 1
what="fragmentation needed, with the MTU behind the gateway" && probe "3 4 10.1.0.1 1400" 10.2.0.9 2000
what="packet too big, with the MTU behind the gateway" && probe "2 0 2001:db8:1::1 1400" 2001:db8:2::9 2000
what="no route, IPv4" && probe "3 0 10.1.0.1 0" 10.99.0.1
what="no route, IPv6" && probe "1 0 2001:db8:1::1 0" 2001:db8:99::1
check "Linux has learnt the path MTU, IPv4" sh -c "ip -n $eth route get 10.2.0.9 | grep -q 'mtu 1400'"
check "Linux has learnt the path MTU, IPv6" sh -c "ip -n $eth route get 2001:db8:2::9 | grep -q 'mtu 1400'"
shows "every error is counted at the port, as the gateway's own packet" counters \
	'.ports[1] | .icmp_errors == 6 and .originated >= 6 and .drops.ttl == 2 and .drops.mtu == 2 and .drops["no-route"] == 2'
shows "and by kind" summary '.icmp == {time_exceeded: 2, too_big: 2, unreachable: 2, forbidden: 0, no_source: 0}'

for a in 10.2.0.9 2001:db8:2::9; do in_ns "$eth" "$python" "$CW_SRC/tests/system/icmp.py" --error $a; done
check "no error about an error" wait_for 5 sh -c \
	"'$causeway' show -s '$sock' -j summary | jq -e '.icmp.forbidden == 2 and .icmp.time_exceeded == 2'"

reload '"source-address": ["192.0.2.1", "2001:db8:ffff::1"]'
what="from the configured address, IPv4" && probe "11 0 192.0.2.1 0" 10.2.0.9 64 1
what="from the configured address, IPv6" && probe "3 0 2001:db8:ffff::1 0" 2001:db8:2::9 64 1
reload "" false
what="plain IP turned off: prohibited, IPv4" && probe "3 13 10.1.0.1 0" 10.2.0.9
what="plain IP turned off: prohibited, IPv6" && probe "1 1 2001:db8:1::1 0" 2001:db8:2::9

# ---- What a UB station gets ------------------------------------------------------------------------

reload ""
gets() { # NAME WANTED GEN-OPTION...
	name=$1 want=$2
	shift 2
	ip netns exec "$ub" "$python" "$CW_SRC/tests/system/icmp.py" --ub u1 "$tmp/ub.pcap" >"$tmp/got" 2>&1 &
	waiting=$!
	listening "$ub"
	in_ns "$ub" "$causeway" gen --to ub -i u1 --npi 7 --count 1 "$@" >"$tmp/gen"
	wait $waiting
	if [ "$(cat "$tmp/got")" = "$want" ]; then ok "$name"; else not_ok "$name" "$(cat "$tmp/got")"; fi
	check "$name: decode finds nothing wrong" "$causeway" decode "$tmp/ub.pcap"
}
v4="--src 10.2.0.1" v6="-6 --src 2001:db8:2::1"
# shellcheck disable=SC2086
{
gets "UB, time exceeded, IPv4" "7 11 0 10.1.0.1 0" $v4 --dst 10.1.0.2 --ttl 1
gets "UB, time exceeded, IPv6" "7 3 0 2001:db8:1::1 0" $v6 --dst 2001:db8:1::2 --ttl 1
gets "UB, fragmentation needed" "7 3 4 10.1.0.1 1300" $v4 --dst 10.3.0.2 --size 2000
gets "UB, packet too big" "7 2 0 2001:db8:1::1 1300" $v6 --dst 2001:db8:3::2 --size 2000
gets "UB, no route" "7 3 0 10.1.0.1 0" $v4 --dst 10.99.0.1
gets "UB, next hop does not answer, IPv4" "7 3 1 10.1.0.1 0" $v4 --dst 10.1.0.77
gets "UB, next hop does not answer, IPv6" "7 1 3 2001:db8:1::1 0" $v6 --dst 2001:db8:1::77
}

# ---- Rate, and off ---------------------------------------------------------------------------------

reload '"rate": 1, "burst": 5'
before=$(show counters)
in_ns "$ub" "$causeway" gen --to ub -i u1 --count 300 --rate 3000 --ttl 1 $v4 --dst 10.1.0.2 >"$tmp/gen"
grown() { # FIELD
	show counters | jq --argjson old "$before" ".ports[0].$1 - \$old.ports[0].$1"
}
told() { [ $(($(grown icmp_errors) + $(grown icmp_limited))) = 300 ]; }
check "a storm: every packet is told about or counted as too many" wait_for 10 told
n=$(grown icmp_errors)
check "a burst of five, then one a second ($n errors)" [ "$n" -ge 5 -a "$n" -le 8 ]
reload '"to-ub": false, "to-ethernet": false'
before=$(show counters)
in_ns "$ub" "$causeway" gen --to ub -i u1 --count 10 --ttl 1 $v4 --dst 10.1.0.2 >"$tmp/gen"
in_ns "$eth" "$python" "$CW_SRC/tests/system/icmp.py" 10.2.0.9 64 1 >"$tmp/none" 2>&1
check "turned off: dropped in silence" sh -c "grep -q 'no ICMP error' '$tmp/none' && [ $(grown icmp_errors) = 0 ] &&
	[ $(grown icmp_limited) = 0 ] && [ $(grown dropped) = 10 ]"
check "the capture has every dropped packet too" sh -c \
	"[ \$('$causeway' decode -j '$tmp/drops.pcapng' | wc -l) = $(show summary | jq .dropped) ]"
shows "no buffer is left behind" memory '.in_use < 400'
adds_up
stop_gateway "SIGTERM ends it with exit code 0"
plan
