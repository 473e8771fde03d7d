#!/bin/sh
# pnc-ospf.sh - Fast CNP proxy 5.2 through FRR's ospfd: a proxy announces itself and its senders in
# Extended Prefix Opaque LSAs, a congestion point learns them four routers away, in another area.
#
#   p o1 -- o2 -- o3 -- o4 c      area 0 as far as o3, then area 1; o3 is the ABR
#
# p and c are gateways beside the ospfd of o1 and o4. AS scope: the LSAs cross areas by themselves.
. "$(dirname "$0")/pnc-ospf-net.sh"

row
o1() { ospfd 1 lo:0 e1:0; }
o4() { ospfd 4 lo:1 e0:1; }
o1
ospfd1=$pid
ospfd 2 lo:0 e0:0 e1:0
ospfd 3 lo:0 e0:0 e1:1
o4
ospfd4=$pid
proxy_in_o1
congestion_point_in_o4
gateway p o1
pgw=$gwpid
gateway c o4
cgw=$gwpid

# ---- The story -----------------------------------------------------------------------------------

# shellcheck disable=SC2034 # eventually shows them
logs="$tmp/p.err $tmp/c.err"
from_p() { learnt ospfv2 "$1" 10.255.0.1 10.255.0.1; } # PREFIX
all() { known 3 && from_p 10.255.0.1/32 && from_p 192.0.2.0/24; }
eventually "the far end, in another area, learns proxy and senders" 60 all
check "FRR on the way shows both opaque LSAs" sh -c "vtysh --vty_socket '$tmp/o2' \
	-c 'show ip ospf database opaque-as' | grep -c 'Link State ID: 7\\.0\\.0\\.[12]' | grep -qx 2"
eventually "the congestion point has a route to the proxy" 60 routed
notifies "congestion: a message reaches the learnt proxy, a CNP the sender" 192.0.2.9 203.0.113.9

exchange_prefix 192.0.2.0/24 203.0.113.0/24
changed() { known 3 && from_p 203.0.113.0/24; }
eventually "a reload exchanges a prefix" 60 changed

end "$pgw"
eventually "the proxy ends: ospfd flushes its LSAs" 60 known 0
down() { show c proxies | jq -e '[.sessions[] | select(.source == "ospfv2") | .state] == ["down"]'; }
check "and its session is not up" down
gateway p o1
pgw=$gwpid
eventually "it starts again: all is back" 60 all
slay "$pgw"
eventually "kill -9 of the proxy: flushed" 60 known 0
gateway p o1
eventually "started again: all is back" 60 all

slay "$cgw"
gateway c o4
eventually "kill -9 of the congestion point: it reads the database anew" 60 all

slay "$ospfd1"
eventually "kill -9 of the proxy's ospfd: it can't be reached, so it is no proxy" 60 known 0
o1
again() { [ "$(grep -c 'ospfd: connected' "$tmp/p.err")" = 2 ] && all; }
eventually "ospfd is back and told again: all is back" 60 again
slay "$ospfd4"
eventually "kill -9 of the congestion point's ospfd: gone after the hold time" 60 known 0
o4
eventually "ospfd is back: all is back" 60 all

ip -n "$(ns o2)" link set e1 down
eventually "a cut link in the middle: withdrawn" 60 known 0
ip -n "$(ns o2)" link set e1 up
eventually "the link is back: all is back" 60 all
notifies "and congestion reaches the proxy again" 192.0.2.9 203.0.113.9

nssa() { # of both its routers
	for r in o3 o4; do
		timeout 10 vtysh --vty_socket "$tmp/$r" -c 'configure terminal' -c 'router ospf' -c 'area 1 nssa'
	done
}
check "area 1 becomes an NSSA" nssa
says_why() { grep -q 'area 0.0.0.1 is a stub area or NSSA' "$tmp/c.err" && ! grep -q 'is a stub area' "$tmp/p.err"; }
eventually "the gateway there says that LSAs of AS scope don't come in" 60 says_why
note "$(show c proxies | jq -c '.sessions[] | select(.source == "ospfv2")')"
plan
