#!/bin/sh
# pnc-ospf3-areas.sh - Fast CNP proxy 5.3 between OSPFv3 areas: a leaf beside each area border router
# announces in each area the flagged prefixes of the other one, flag preserved (neither ospf6d nor
# BIRD does, for they do not know E-LSAs).
#
#   p -- i1 -- i2 -- i3 -- i4 -- c      area 1 as far as i2, area 0 as far as i3, then area 2
#              ||    ||
#              b     d                  leaves with a link in each of their router's areas
#
# i3 is BIRD, the other routers are FRR.
. "$(dirname "$0")/pnc-ospf3-net.sh"
one=0.0.0.1 two=0.0.0.2 backbone=0.0.0.0

space p i1 i2 i3 i4 b d c
wire p e0 i1 e0 10
wire i1 e1 i2 e0 11
wire i2 e1 i3 e0 12
wire i3 e1 i4 e0 13
wire i4 e1 c e0 14
wire i2 e2 b e0 15
wire i2 e3 b e1 16
wire i3 e2 d e0 17
wire i3 e3 d e1 18
loopback p fd99::1/128
ip -n "$(ns p)" -6 route add default via fd10::2
ip -n "$(ns c)" -6 route add fd99::/16 via fd14::1

for i in 1 2 4; do zebra "i$i"; done
ospf6d 1 e0:$one e1:$one
i2() { ospf6d 2 e0:$one e1:$backbone e2:$one e3:$backbone; }
i2
ospf6d2=$pid
bird_router 3 "$backbone:\"e0\", \"e2\"" "$two:\"e1\", \"e3\""
ospf6d 4 e0:$two e1:$two
leaf p 10.0.0.1 '"area": "'$one'",' '"proxy-address": [ "fd99::1" ],
    "prefix": [ "2001:db8:1::/48", "2001:db8:2::7/128" ],'
leaf b 10.0.0.2 '"area": "'$one'", "border": { "interface": "e1", "area": "'$backbone'" },' ''
leaf d 10.0.0.3 '"border": { "interface": "e1", "area": "'$two'" },' ''
leaf c 10.0.0.4 '"area": "'$two'",' '"hold-time": 2,'
gateway p p
pgw=$gwpid
gateway b b
bgw=$gwpid
gateway d d
gateway c c

# shellcheck disable=SC2034 # eventually shows them
logs="$tmp/p.err $tmp/b.err $tmp/d.err $tmp/c.err"
from_p() { learnt ospfv3 "$1" fd99::1 "10.0.0.3 area $two"; } # PREFIX
all() { known 3 && from_p fd99::1/128 && from_p 2001:db8:1::/48 && from_p 2001:db8:2::7/128; }
eventually "two areas further: learnt from the border's leaf, for the proxy of area 1" 60 all
seen() { ospf6 "$1" "database detail" | grep -A3 -i "$2" | grep -q "$3"; } # ROUTER TYPE ORIGINATOR
check "area 1 has E-Intra-Area-Prefix-LSAs of the proxy" seen i1 a029 '10\.0\.0\.1'
check "area 2 has E-Inter-Area-Prefix-LSAs of its border's leaf" seen i4 a023 '10\.0\.0\.3'
check "and none of the proxy's own" sh -c "! timeout 10 vtysh --vty_socket '$tmp/i4' \
	-c 'show ipv6 ospf6 database detail' | grep -A3 -i a029 | grep -q '10\.0\.0\.1'"
birds() { timeout 10 birdc -s "$tmp/i3/bird.ctl" show ospf lsadb | grep -qi "$1.*$2"; }
check "BIRD, a border router, has those of the backbone" birds a023 '10\.0\.0\.2'
check "nothing comes back to area 1" sh -c "! timeout 10 vtysh --vty_socket '$tmp/i1' \
	-c 'show ipv6 ospf6 database detail' | grep -qi a023"
routed() { ip -n "$(ns i4)" -6 route show fd99::1 | grep -q 'proto ospf'; }
eventually "there is a route to the proxy" 20 routed
reached() { # refused by the proxy's own kernel: the way there and back exists
	inside c timeout 5 bash -c 'exec 3<>/dev/tcp/fd99::1/9' 2>&1 | grep -q refused
}
eventually "the congestion point reaches the proxy" 20 reached

jq '."causeway:causeway".pnc.prefix = ["2001:db8:1::/48", "2001:db8:3::/48"]' \
	"$tmp/p.json" >"$tmp/p2.json"
"$causeway" reload -s "$tmp/p.sock" "$tmp/p2.json" >/dev/null
changed() { known 3 && from_p 2001:db8:3::/48; }
eventually "a reload exchanges a prefix" 20 changed
end "$pgw"
eventually "the proxy ends: withdrawn, area by area" 20 known 0
gateway p p
eventually "it starts again: all is back" 30 all
kill -9 "$bgw"
eventually "kill -9 of the border's leaf: withdrawn" 20 known 0
gateway b b
eventually "it starts again: all is back" 30 all
kill -9 "$ospf6d2"
eventually "kill -9 of the border router's ospf6d: withdrawn" 20 known 0
i2
eventually "ospf6d is back: all is back" 60 all
ip -n "$(ns i1)" link set e1 down
eventually "a cut link in area 1: withdrawn" 20 known 0
ip -n "$(ns i1)" link set e1 up
address i1 e1 11 1 2>/dev/null
eventually "the link is back: all is back" 60 all
note "$(show b ospf3 | jq -c .adjacencies)"
plan
