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

# ---- Network -------------------------------------------------------------------------------------

space p i1 i2 i3 i4 c
wire p e0 i1 e0 10
wire i1 e1 i2 e0 11
wire i2 e1 i3 e0 12
wire i3 e1 i4 e0 13
wire i4 e1 c e0 14
loopback p 10.255.0.1/32 fd99::1/128
hosts p c

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
	auth=$(authentication isis-hmac.json)
fi
gateway_config p isis-proxy.json \
	"$(proxy e0 10.14.0.2/32 fd14::2/128 10.10.0.1/24 10.255.0.1/32 fd10::1/64 fd99::1/128)" "$auth"
gateway_config c isis-learner.json \
	"$(congestion_point e0 10.14.0.2/24 10.14.0.1 fd14::2/64 fd14::1)" "$auth"
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
	slay "$cgw"
	gateway c c
	refused() { show c isis | jq -e '.counters.bad_authentication > 2 and .adjacencies[0].state == "down"'; }
	eventually "another password: no adjacency, and counted" 60 refused
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
eventually "there are routes to the proxy" 60 routed
check "but no routes to the gateway for its senders" \
	sh -c "! ip -n '$(ns i1)' route show 192.0.2.0/24 | grep -q isis"
neighbour_up() { show p isis | jq -e '.adjacencies[0] | .state == "up" and .synchronised'; }
check "show isis: the adjacency is up" neighbour_up

notifies "congestion: a message reaches the learnt proxy, a CNP the sender" 192.0.2.9 203.0.113.9
notifies "the same over IPv6" 2001:db8:1::9 fd88::9

exchange_prefix 192.0.2.0/24 203.0.113.0/24 2001:db8:1::/48
changed() { known 5 && from_p 203.0.113.0/24 10.255.0.1; }
eventually "a reload exchanges a prefix" 60 changed

end "$pgw"
eventually "the proxy ends: it takes its LSP back" 60 known 0
check "its content is gone from the last router too" sh -c "! timeout 10 vtysh --vty_socket \
	'$tmp/i4' -c 'show isis database detail' | grep -q '192\.0\.2\.0/24'"
gateway p p
pgw=$gwpid
eventually "it starts again, above the number of its purge: all is back" 60 all
slay "$pgw"
eventually "kill -9 of the proxy: it can't be reached, so it is no proxy" 60 known 0
gateway p p
eventually "started again, above the number of its earlier life: all is back" 60 all
outdone() { show p isis | jq -e '.counters.outdone > 0'; }
check "that number it learnt from the network" outdone

slay "$cgw"
gateway c c
eventually "kill -9 of the congestion point: it reads the database anew" 60 all

slay "$isisd1"
eventually "kill -9 of the proxy's isisd: withdrawn" 60 known 0
router 1
eventually "isisd is back: all is back" 60 all
slay "$isisd4"
eventually "kill -9 of the congestion point's isisd: gone after the hold time" 60 known 0
router 4
eventually "isisd is back: all is back" 60 all

ip -n "$(ns i2)" link set e1 down
eventually "a cut link in the middle: withdrawn" 60 known 0
ip -n "$(ns i2)" link set e1 up
eventually "the link is back: all is back" 60 all
ip -n "$(ns p)" link set e0 down
eventually "the proxy's link is cut: withdrawn" 60 known 0
address p e0 10 1 2>/dev/null
ip -n "$(ns p)" link set e0 up
eventually "the link is back: all is back" 60 all
notifies "and congestion reaches the proxy again" 192.0.2.9 203.0.113.9
note "$(show p isis | jq -c .counters)"
plan
