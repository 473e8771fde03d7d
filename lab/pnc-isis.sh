#!/bin/sh
# pnc-isis.sh [PASSWORD] - Fast CNP proxy 5.1 through FRR's isisd: a proxy announces itself and its
# senders from an IS-IS leaf, a congestion point learns them four routers away.
#
#   p -- i1 -- i2 -- i3 -- i4 -- c      all level 2; IPv4 and IPv6
#
# p and c are gateways in spaces of their own, each a leaf on a link to its router. With a password
# all of it is authenticated by HMAC-MD5 (RFC 5304), and the story is a shorter one.
password=${1:-}
. "$(dirname "$0")/pnc-isis-net.sh"
need bash

# ---- Network -------------------------------------------------------------------------------------

space p i1 i2 i3 i4 c
wire p e0 i1 e0 10
wire i1 e1 i2 e0 11
wire i2 e1 i3 e0 12
wire i3 e1 i4 e0 13
wire i4 e1 c e0 14
loopback p 10.255.0.1/32 fd99::1/128
ip -n "$(ns p)" route add default via 10.10.0.2
ip -n "$(ns c)" route add 10.255.0.0/16 via 10.14.0.1

router() { # NUMBER
	isisd "$1" 49.0001 level-2-only e0:level-2-only e1:level-2-only
}
for i in 1 2 3 4; do
	zebra "i$i"
	router "$i"
	eval "isisd$i=$pid"
done
auth=
if [ -n "$password" ]; then
	echo "$password" >"$tmp/key"
	auth='"hello-authentication": { "key-file": "'$tmp'/key" },
      "level-2-authentication": { "key-file": "'$tmp'/key" },'
fi
leaf p 0000.0000.0001 49.0001 "$auth" '"proxy-address": [ "10.255.0.1", "fd99::1" ],
    "prefix": [ "192.0.2.0/24", "198.51.100.7/32", "2001:db8:1::/48" ],'
leaf c 0000.0000.0002 49.0001 "$auth" '"hold-time": 2,'
gateway p p
pgw=$gwpid
gateway c c
cgw=$gwpid

# ---- The story -----------------------------------------------------------------------------------

# shellcheck disable=SC2034 # eventually shows them
logs="$tmp/p.err $tmp/c.err"
from_p() { learnt isis "$1" "$2" '0000.0000.0001 level 2'; } # PREFIX PROXY
all() {
	known 5 && from_p 10.255.0.1/32 10.255.0.1 && from_p 192.0.2.0/24 10.255.0.1 &&
		from_p fd99::1/128 fd99::1 && from_p 2001:db8:1::/48 fd99::1
}
eventually "the far end learns proxy and senders, IPv4 and IPv6" 60 all

if [ -n "$password" ]; then
	echo wrong >"$tmp/key"
	kill -9 "$cgw"
	gateway c c
	refused() { show c isis | jq -e '.counters.bad_authentication > 2 and .adjacencies[0].state == "down"'; }
	eventually "another password: no adjacency, and counted" 20 refused
	check "nothing learnt" known 0
	plan
fi

seen() { isis "$1" "database detail gw-p" | grep -q '192\.0\.2\.0/24'; }
check "the first router shows the LSP" seen i1
check "the last router shows it too" seen i4
overloaded() { isis i4 database | grep 'gw-p.00-00' | grep -q '/1 *$'; }
check "with the overload bit" overloaded
routed() {
	ip -n "$(ns i4)" route show 10.255.0.1 | grep -q 'proto isis' &&
		ip -n "$(ns i4)" -6 route show fd99::1 | grep -q 'proto isis'
}
eventually "there are routes to the proxy" 20 routed
reached() { # refused by the proxy's own kernel: the way there and back exists
	inside c timeout 5 bash -c 'exec 3<>/dev/tcp/10.255.0.1/9' 2>&1 | grep -q refused
}
eventually "the congestion point reaches the proxy" 20 reached
check "but no routes to the gateway for its senders" \
	sh -c "! ip -n '$(ns i1)' route show 192.0.2.0/24 | grep -q isis"
neighbour_up() { show p isis | jq -e '.adjacencies[0] | .state == "up" and .synchronised'; }
check "show isis: the adjacency is up" neighbour_up

jq '."causeway:causeway".pnc.prefix = ["192.0.2.0/24", "203.0.113.0/24", "2001:db8:1::/48"]' \
	"$tmp/p.json" >"$tmp/p2.json"
"$causeway" reload -s "$tmp/p.sock" "$tmp/p2.json" >/dev/null
changed() { known 5 && from_p 203.0.113.0/24 10.255.0.1; }
eventually "a reload exchanges a prefix" 20 changed

end "$pgw"
eventually "the proxy ends: it takes its LSP back" 20 known 0
check "its content is gone from the last router too" sh -c "! timeout 10 vtysh --vty_socket \
	'$tmp/i4' -c 'show isis database detail' | grep -q '192\.0\.2\.0/24'"
gateway p p
pgw=$gwpid
eventually "it starts again, above the number of its purge: all is back" 30 all
kill -9 "$pgw"
eventually "kill -9 of the proxy: it can't be reached, so it is no proxy" 20 known 0
gateway p p
eventually "started again, above the number of its earlier life: all is back" 30 all
outdone() { show p isis | jq -e '.counters.outdone > 0'; }
check "that number it learnt from the network" outdone

kill -9 "$cgw"
gateway c c
eventually "kill -9 of the congestion point: it reads the database anew" 20 all

kill -9 "$isisd1"
eventually "kill -9 of the proxy's isisd: withdrawn" 20 known 0
router 1
eventually "isisd is back: all is back" 60 all
kill -9 "$isisd4"
eventually "kill -9 of the congestion point's isisd: gone after the hold time" 20 known 0
router 4
eventually "isisd is back: all is back" 60 all

ip -n "$(ns i2)" link set e1 down
eventually "a cut link in the middle: withdrawn" 20 known 0
ip -n "$(ns i2)" link set e1 up
eventually "the link is back: all is back" 60 all
ip -n "$(ns p)" link set e0 down
eventually "the proxy's link is cut: withdrawn" 20 known 0
address p e0 10 1 2>/dev/null
ip -n "$(ns p)" link set e0 up
eventually "the link is back: all is back" 60 all
note "$(show p isis | jq -c .counters)"
plan
