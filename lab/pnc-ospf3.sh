#!/bin/sh
# pnc-ospf3.sh [PASSWORD] - Fast CNP proxy 5.3 through FRR's ospf6d and BIRD: a proxy announces itself
# and its IPv6 senders from an OSPFv3 leaf, a congestion point learns them four routers away.
#
#   p -- i1 -- i2 -- i3 -- i4 -- c      area 0; i3 is BIRD, the others are FRR
#
# p and c are gateways in spaces of their own, each a leaf on a link to its router. With a password
# there is one router, FRR and BIRD in turn, and all of it is authenticated by HMAC (RFC 7166).
password=${1:-}
. "$(dirname "$0")/pnc-ospf3-net.sh"

# shellcheck disable=SC2034 # eventually shows them
logs="$tmp/p.err $tmp/c.err"
from_p() { learnt ospfv3 "$1" fd99::1 '10.0.0.1 area 0.0.0.0'; } # PREFIX
all() { known 3 && from_p fd99::1/128 && from_p 2001:db8:1::/48; }

# ---- Authenticated, a hop away -------------------------------------------------------------------

# ospf6d 8.4 has the protocol ID of RFC 7166 4.5 in its machine's byte order.
protocol_id() { # ROUTER
	if [ "$1" = ospf6d ] && [ "$(printf '\1\0' | od -An -tu2 | tr -d ' ')" = 1 ]; then
		echo 256
	else
		echo 1
	fi
}
# Without OpenSSL, as Debian builds it, ospf6d has SHA-256 only.
has_hash() { # HASH
	sed "s/sha-256/$1/" "$pnc/ospf6d-hmac.conf" >"$tmp/hash.conf"
	/usr/lib/frr/ospf6d -C -f "$tmp/hash.conf" >"$tmp/hash" 2>&1
	! grep -q 'Hash algorithm not supported' "$tmp/hash"
}
one_router() { # ROUTER
	case $1 in
	ospf6d) ospf6d 1 e0:0.0.0.0 e1:0.0.0.0 ;;
	bird) bird_router 1 '0.0.0.0:"e0", "e1"' ;;
	esac
	router=$pid
}
refused() {
	show c ospf3 | jq -e '.counters.bad_authentication > 2 and .adjacencies[0].state == "down"'
}
ends() { # ROUTER - the configurations of both gateways, with $hash
	auth=$(authentication ospf3-hmac.json |
		sed "s/sha-256/$hash/; s/\(\"protocol-id\":\)256/\1$(protocol_id "$1")/")
	gateway_config p ospf3-proxy.json '' "$auth"
	gateway_config c ospf3-learner.json '' "$auth"
}
authenticated() { # ROUTER HASH
	hash=$2
	one_router "$1"
	ends "$1"
	echo "$password" >"$tmp/key"
	gateway p p
	pgw=$gwpid
	gateway c c
	eventually "$hash, with one password, through $1: learnt" 60 all
	slay "$gwpid"
	echo wrong >"$tmp/key"
	gateway c c
	eventually "$hash, another password: no adjacency with $1, and counted" 60 refused
	check "nothing learnt" known 0
	end "$pgw" "$gwpid" "$router"
}

not_authenticated() { # HASH - that ospf6d has not
	hash=$1
	one_router ospf6d
	ends ospf6d
	echo "$password" >"$tmp/key"
	gateway c c
	eventually "ospf6d without $hash speaks without authentication: no adjacency, and counted" 60 refused
	end "$gwpid" "$router"
}

if [ -n "$password" ]; then
	space p i1 c
	wire p e0 i1 e0 10
	wire i1 e1 c e0 11
	zebra i1
	authenticated ospf6d sha-256
	lacking=
	for other in sha-1 sha-384 sha-512; do
		if has_hash $other; then authenticated ospf6d $other; else lacking=$other; fi
	done
	[ -z "$lacking" ] || not_authenticated $lacking
	for other in sha-1 sha-256 sha-384 sha-512; do authenticated bird $other; done
	plan
fi

# ---- Network -------------------------------------------------------------------------------------

row
router() { ospf6d "$1" e0:0.0.0.0 e1:0.0.0.0; } # NUMBER
for i in 1 2 4; do
	router "$i"
	eval "ospf6d$i=$pid"
done
bird_router 3 '0.0.0.0:"e0", "e1"'
proxy_in_p
congestion_point_in_c
gateway p p
pgw=$gwpid
gateway c c
cgw=$gwpid

# ---- The story -----------------------------------------------------------------------------------

eventually "the far end learns proxy and senders" 60 all
seen() { ospf6 "$1" "database detail" | grep -A3 -i 'a029' | grep -q '10\.0\.0\.1'; }
check "the first router shows the E-LSAs, of a type unknown to it" seen i1
check "the last router shows them too" seen i4
check "BIRD has them" birds i3 a029 '10\.0\.0\.1'
full() { ospf6 i1 neighbor | grep -q '10\.0\.0\.1 .*Full/PointToPoint'; }
check "ospf6d: the gateway is a full neighbour" full
neighbour_up() { show p ospf3 | jq -e '.adjacencies[0] | .state == "full" and .missing_lsas == 0'; }
check "show ospf3: the adjacency is full" neighbour_up
eventually "there is a route to the proxy" 60 routed
notifies "congestion: a message reaches the learnt proxy, a CNP the sender" 2001:db8:1::9 fd88::9
check "but no routes to the gateway for its senders" \
	sh -c "! ip -n '$(ns i1)' -6 route show 2001:db8:1::/48 | grep -q ospf"

exchange_prefix 2001:db8:1::/48 2001:db8:3::/48
changed() { known 3 && from_p 2001:db8:3::/48; }
eventually "a reload exchanges a prefix" 60 changed

end "$pgw"
eventually "the proxy ends: it flushes its LSAs" 60 known 0
# ospf6d keeps flushed LSAs for most of a minute: the new ones have higher numbers.
gateway p p
pgw=$gwpid
eventually "it starts again at once: all is back" 60 all
slay "$pgw"
eventually "kill -9 of the proxy: it can't be reached, so it is no proxy" 60 known 0
gateway p p
eventually "started again, above the numbers of its earlier life: all is back" 60 all
outdone() { show p ospf3 | jq -e '.counters.outdone > 0'; }
check "those numbers it learnt from the network" outdone

slay "$cgw"
gateway c c
eventually "kill -9 of the congestion point: it reads the database anew" 60 all

slay "$ospf6d1"
eventually "kill -9 of the proxy's ospf6d: withdrawn" 60 known 0
router 1
eventually "ospf6d is back: all is back" 60 all
slay "$ospf6d4"
eventually "kill -9 of the congestion point's ospf6d: gone after the hold time" 60 known 0
router 4
eventually "ospf6d is back: all is back" 60 all

ip -n "$(ns i2)" link set e1 down
eventually "a cut link in the middle: withdrawn" 60 known 0
ip -n "$(ns i2)" link set e1 up
address i2 e1 12 1 2>/dev/null
eventually "the link is back: all is back" 60 all
notifies "and congestion reaches the proxy again" 2001:db8:1::9 fd88::9
note "$(show p ospf3 | jq -c .counters)"
plan
