#!/bin/sh
# pnc-ospf3.sh [PASSWORD [HASH]] - Fast CNP proxy 5.3 through FRR's ospf6d and BIRD: a proxy announces
# itself and its IPv6 senders from an OSPFv3 leaf, a congestion point learns them four routers away.
#
#   p -- i1 -- i2 -- i3 -- i4 -- c      area 0; i3 is BIRD, the others are FRR
#
# p and c are gateways in spaces of their own, each a leaf on a link to its router. With a password
# there is one router, and all of it is authenticated by HMAC-SHA-256 or HASH (RFC 7166).
password=${1:-} hash=${2:-hmac-sha-256}
. "$(dirname "$0")/pnc-ospf3-net.sh"

senders='"proxy-address": [ "fd99::1" ], "prefix": [ "2001:db8:1::/48", "2001:db8:2::7/128" ],'
# shellcheck disable=SC2034 # eventually shows them
logs="$tmp/p.err $tmp/c.err"
from_p() { learnt ospfv3 "$1" fd99::1 '10.0.0.1 area 0.0.0.0'; } # PREFIX
all() { known 3 && from_p fd99::1/128 && from_p 2001:db8:1::/48; }

# ---- Authenticated, a hop away -------------------------------------------------------------------

if [ -n "$password" ]; then
	space p i1 c
	wire p e0 i1 e0 10
	wire i1 e1 c e0 11
	zebra i1
	protocol=1
	[ "$(printf '\1\0' | od -An -tu2 | tr -d ' ')" = 1 ] && protocol=256
	ospf6d 1 e0:0.0.0.0 e1:0.0.0.0
	echo "$password" >"$tmp/key"
	# ospf6d 8.4 has the protocol ID of RFC 7166 4.5 in this machine's byte order.
	auth='"authentication": { "protocol-id": '$protocol', "key-file": "'$tmp'/key", "algorithm": "'${hash#hmac-}'", "sa-id": 7 },'
	leaf p 10.0.0.1 "$auth" "$senders"
	leaf c 10.0.0.2 "$auth" '"hold-time": 2,'
	gateway p p
	gateway c c
	cgw=$gwpid
	eventually "with one password, through ospf6d: learnt" 60 all
	trailers() { ospf6 i1 "interface e0" | grep -i 'authentication trailer is enabled'; }
	check "ospf6d: authentication is on" trailers
	kill -9 "$cgw"
	echo wrong >"$tmp/key"
	gateway c c
	refused() { show c ospf3 | jq -e '.counters.bad_authentication > 2 and
		.adjacencies[0].state == "down"'; }
	eventually "another password: no adjacency, and counted" 20 refused
	check "nothing learnt" known 0
	plan
fi

# ---- Network -------------------------------------------------------------------------------------

space p i1 i2 i3 i4 c
wire p e0 i1 e0 10
wire i1 e1 i2 e0 11
wire i2 e1 i3 e0 12
wire i3 e1 i4 e0 13
wire i4 e1 c e0 14
loopback p fd99::1/128
ip -n "$(ns p)" -6 route add default via fd10::2
ip -n "$(ns c)" -6 route add fd99::/16 via fd14::1

router() { ospf6d "$1" e0:0.0.0.0 e1:0.0.0.0; } # NUMBER
for i in 1 2 4; do
	zebra "i$i"
	router "$i"
	eval "ospf6d$i=$pid"
done
bird_router 3 '0.0.0.0:"e0", "e1"'
leaf p 10.0.0.1 "" "$senders"
leaf c 10.0.0.2 "" '"hold-time": 2,'
gateway p p
pgw=$gwpid
gateway c c
cgw=$gwpid

# ---- The story -----------------------------------------------------------------------------------

eventually "the far end learns proxy and senders" 60 all
seen() { ospf6 "$1" "database detail" | grep -A3 -i 'a029' | grep -q '10\.0\.0\.1'; }
check "the first router shows the E-LSAs, of a type unknown to it" seen i1
check "the last router shows them too" seen i4
birds() { timeout 10 birdc -s "$tmp/i3/bird.ctl" show ospf lsadb | grep -qi 'a029.*10\.0\.0\.1'; }
check "BIRD has them" birds
full() { ospf6 i1 neighbor | grep -q '10\.0\.0\.1 .*Full/PointToPoint'; }
check "ospf6d: the gateway is a full neighbour" full
neighbour_up() { show p ospf3 | jq -e '.adjacencies[0] | .state == "full" and .missing_lsas == 0'; }
check "show ospf3: the adjacency is full" neighbour_up
routed() { ip -n "$(ns i4)" -6 route show fd99::1 | grep -q 'proto ospf'; }
eventually "there is a route to the proxy" 20 routed
reached() { # refused by the proxy's own kernel: the way there and back exists
	inside c timeout 5 bash -c 'exec 3<>/dev/tcp/fd99::1/9' 2>&1 | grep -q refused
}
eventually "the congestion point reaches the proxy" 20 reached
check "but no routes to the gateway for its senders" \
	sh -c "! ip -n '$(ns i1)' -6 route show 2001:db8:1::/48 | grep -q ospf"

jq '."causeway:causeway".pnc.prefix = ["2001:db8:1::/48", "2001:db8:3::/48"]' \
	"$tmp/p.json" >"$tmp/p2.json"
"$causeway" reload -s "$tmp/p.sock" "$tmp/p2.json" >/dev/null
changed() { known 3 && from_p 2001:db8:3::/48; }
eventually "a reload exchanges a prefix" 20 changed

end "$pgw"
eventually "the proxy ends: it flushes its LSAs" 20 known 0
# ospf6d keeps flushed LSAs for most of a minute: the new ones have higher numbers.
gateway p p
pgw=$gwpid
eventually "it starts again at once: all is back" 30 all
kill -9 "$pgw"
eventually "kill -9 of the proxy: it can't be reached, so it is no proxy" 20 known 0
gateway p p
eventually "started again, above the numbers of its earlier life: all is back" 30 all
outdone() { show p ospf3 | jq -e '.counters.outdone > 0'; }
check "those numbers it learnt from the network" outdone

kill -9 "$cgw"
gateway c c
eventually "kill -9 of the congestion point: it reads the database anew" 20 all

kill -9 "$ospf6d1"
eventually "kill -9 of the proxy's ospf6d: withdrawn" 20 known 0
router 1
eventually "ospf6d is back: all is back" 60 all
kill -9 "$ospf6d4"
eventually "kill -9 of the congestion point's ospf6d: gone after the hold time" 20 known 0
router 4
eventually "ospf6d is back: all is back" 60 all

ip -n "$(ns i2)" link set e1 down
eventually "a cut link in the middle: withdrawn" 20 known 0
ip -n "$(ns i2)" link set e1 up
address i2 e1 12 1 2>/dev/null
eventually "the link is back: all is back" 60 all
note "$(show p ospf3 | jq -c .counters)"
plan
