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

row
space b d
wire i2 e2 b e0 15
wire i2 e3 b e1 16
wire i3 e2 d e0 17
wire i3 e3 d e1 18

ospf6d 1 e0:$one e1:$one
i2() { ospf6d 2 e0:$one e1:$backbone e2:$one e3:$backbone; }
i2
ospf6d2=$pid
bird_router 3 "$backbone:\"e0\", \"e2\"" "$two:\"e1\", \"e3\""
ospf6d 4 e0:$two e1:$two
proxy_in_p '"ospf3": { "area": "'$one'" }'
gateway_config b ospf3-border.json
gateway_config d ospf3-border.json '' '"ospf3": { "router-id": "10.0.0.3", "area": "'$backbone'",
	"border": { "area": "'$two'" } }'
congestion_point_in_c '"ospf3": { "router-id": "10.0.0.4", "area": "'$two'" }'
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
check "BIRD, a border router, has those of the backbone" birds i3 a023 '10\.0\.0\.2'
check "nothing comes back to area 1" sh -c "! timeout 10 vtysh --vty_socket '$tmp/i1' \
	-c 'show ipv6 ospf6 database detail' | grep -qi a023"
eventually "there is a route to the proxy" 60 routed
notifies "congestion: a message reaches the learnt proxy, a CNP the sender" 2001:db8:1::9 fd88::9

exchange_prefix 2001:db8:1::/48 2001:db8:3::/48
changed() { known 3 && from_p 2001:db8:3::/48; }
eventually "a reload exchanges a prefix" 60 changed
end "$pgw"
eventually "the proxy ends: withdrawn, area by area" 60 known 0
gateway p p
eventually "it starts again: all is back" 60 all
slay "$bgw"
eventually "kill -9 of the border's leaf: withdrawn" 60 known 0
gateway b b
eventually "it starts again: all is back" 60 all
slay "$ospf6d2"
eventually "kill -9 of the border router's ospf6d: withdrawn" 60 known 0
i2
eventually "ospf6d is back: all is back" 60 all
ip -n "$(ns i1)" link set e1 down
eventually "a cut link in area 1: withdrawn" 60 known 0
ip -n "$(ns i1)" link set e1 up
address i1 e1 11 1 2>/dev/null
eventually "the link is back: all is back" 60 all
note "$(show b ospf3 | jq -c .adjacencies)"
plan
