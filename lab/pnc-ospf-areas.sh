#!/bin/sh
# pnc-ospf-areas.sh - Fast CNP proxy 5.2 between OSPFv2 areas: the proxy's LSAs have area scope, and
# gateways beside the area border routers announce its flagged prefixes in the other areas.
#
#   p o1 -- o2 b -- o3 d -- o4 c      area 1, o2 the border, area 0, o3 the border, area 2
#
# ospfd 8.4 keeps opaque type 7 of area scope to itself: lab/frr/ospfd_area.c, a module, frees it.
. "$(dirname "$0")/pnc-ospf-net.sh"
need cc

module=$tmp/ospfd_area.so
cc -shared -fPIC -o "$module" "$CW_SRC/lab/frr/ospfd_area.c" 2>"$tmp/cc" ||
	die "the module does not compile" "$tmp/cc"
row
o2() { ospfd 2 lo:0 e0:1 e1:0; }
ospfd 1 lo:1 e1:1
o2
ospfd2=$pid
ospfd 3 lo:0 e0:0 e1:2
ospfd 4 lo:2 e0:2
proxy_in_o1 '"ospfv2": { "scope": "area", "area": "0.0.0.1" }'
gateway_config b ospf-border.json '' '"ospfv2": { "scope": "area" }'
gateway_config d ospf-border.json '' '"ospfv2": { "scope": "area" }'
congestion_point_in_o4 '"ospfv2": { "scope": "area", "area": "0.0.0.2" }'
gateway p o1
pgw=$gwpid
gateway b o2
bgw=$gwpid
gateway d o3
dgw=$gwpid
gateway c o4

# shellcheck disable=SC2034 # eventually shows them
logs="$tmp/p.err $tmp/b.err $tmp/d.err $tmp/c.err"
border=10.255.0.3
from_p() { learnt ospfv2 "$1" 10.255.0.1 "$border"; } # PREFIX
all() { known 3 && from_p 10.255.0.1/32 && from_p 192.0.2.0/24 && from_p 198.51.100.7/32; }
eventually "two areas further: learnt from the border router, for the proxy of area 1" 60 all
seen() { ospf "$1" "database opaque-area" | grep -A2 'Link State ID: 7\.' | grep -q "Router: $2$"; }
check "area 1 has the proxy's LSAs" seen o1 10.255.0.1
check "area 2 has its border router's" seen o4 10.255.0.3
not_seen() { ! seen "$@"; }
check "and none of the proxy's own" not_seen o4 10.255.0.1
check "nothing comes back to area 1" not_seen o1 10.255.0.2
eventually "the congestion point has a route to the proxy" 60 routed
notifies "congestion: a message reaches the learnt proxy, a CNP the sender" 192.0.2.9 203.0.113.9

end "$pgw"
eventually "the proxy ends: withdrawn, area by area" 60 known 0
gateway p o1
eventually "it starts again: all is back" 60 all
slay "$bgw"
eventually "kill -9 of a border gateway: withdrawn" 60 known 0
gateway b o2
bgw=$gwpid
eventually "it starts again: all is back" 60 all
slay "$ospfd2"
eventually "kill -9 of a border router's ospfd: withdrawn" 60 known 0
o2
eventually "ospfd is back: all is back" 60 all

# The first border gateway with AS scope: no module is needed where it is, and no second border gateway.
end "$bgw" "$dgw"
eventually "no border gateway: nothing" 60 known 0
gateway_config b ospf-border.json
gateway b o2
border=10.255.0.2
eventually "one with AS scope: learnt everywhere" 60 all
ip -n "$(ns o1)" link set e1 down
eventually "a cut link in area 1: withdrawn" 60 known 0
ip -n "$(ns o1)" link set e1 up
eventually "the link is back: all is back" 60 all
note "$(show c proxies | jq -c '.sessions[] | select(.source == "ospfv2")')"
plan
