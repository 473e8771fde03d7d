#!/bin/sh
# pnc-bgp.sh - Fast CNP proxy 5.4 through other people's daemons: a proxy announces its senders, a
# congestion point four BGP speakers away learns them, and tells it of congestion. All iBGP, route reflection.
#
#   p (ExaBGP, gateway) - r2 FRR - r3 BIRD - r4 GoBGP - c (ExaBGP, gateway)
#
# With CW_FULL the routers between are killed, too.
# The files of lab/pnc are the configurations, and those of docs/routing.md.
. "$(dirname "$0")/pnc-lib.sh"
need ip jq exabgp gobgpd gobgp bird birdc vtysh dumpcap /usr/lib/frr/bgpd /usr/lib/frr/zebra

# ---- Network -------------------------------------------------------------------------------------

space p r2 r3 r4 c
wire p e0 r2 e0 11
wire r2 e1 r3 e0 12
wire r3 e1 r4 e0 13
wire r4 e1 c e0 14
hosts p c
# Messages to the proxy go this way; its answers would go back.
for r in r3:12.0.1:12::1 r4:13.0.1:13::1; do
	v4=${r#*:} v4=${v4%%:*} v6=${r#*:*:}
	ip -n "$(ns "${r%%:*}")" route add 10.11.0.0/24 via "10.$v4"
	ip -n "$(ns "${r%%:*}")" -6 route add fd11::/64 via "fd$v6"
done
for r in r2:12.0.2:12::2 r3:13.0.2:13::2; do
	v4=${r#*:} v4=${v4%%:*} v6=${r#*:*:}
	ip -n "$(ns "${r%%:*}")" route add 10.14.0.0/24 via "10.$v4"
	ip -n "$(ns "${r%%:*}")" -6 route add fd14::/64 via "fd$v6"
done

# ---- Routers -------------------------------------------------------------------------------------

zebra r2
cp "$pnc/bgp-frr.conf" "$tmp/r2/bgpd.conf"
frr r2 bgpd
bgpd=$pid
start bird r3 bird -f -c "$pnc/bgp-bird.conf" -s "$tmp/bird.ctl"
bird=$pid
start gobgpd r4 gobgpd -f "$pnc/bgp-gobgp.toml"
gobgpd=$pid

# ---- Both ends -----------------------------------------------------------------------------------

gateway_config p bgp-proxy.json "$(proxy e0 10.14.0.2/32 fd14::2/128 10.11.0.1/24 fd11::1/64)"
gateway_config c bgp-learner.json "$(congestion_point e0 10.14.0.2/24 10.14.0.1 fd14::2/64 fd14::1)"
gateway p p
pgw=$gwpid
gateway c c
cgw=$gwpid
exabgp_config c 10.14.0.2 10.14.0.1
exabgp_config p 10.11.0.1 10.11.0.2
exabgp_commands p "$tmp/commands"
exabgp c
cexa=$pid
exabgp p
pexa=$pid

# ---- Learnt, and used ----------------------------------------------------------------------------

# shellcheck disable=SC2034 # eventually shows them
logs="$tmp/p.err $tmp/c.err $tmp/exa-p.err $tmp/exa-c.err"
all() {
	known 3 && learnt bgp 192.0.2.0/24 10.11.0.1 && learnt bgp 2001:db8:1::/48 fd11::1
}
vty() { timeout 10 vtysh --vty_socket "$tmp/r2" -c "$*"; }
eventually "the far end learns IPv4 and IPv6 over FRR, BIRD and GoBGP" 60 all
check "FRR shows the routes; what it does not know of them, it does not show" sh -c "
	timeout 10 vtysh --vty_socket '$tmp/r2' -c 'show bgp ipv4 unicast 192.0.2.0/24 json' |
		jq -e '.paths[0].nexthops[0].ip == \"10.11.0.1\"' &&
	timeout 10 vtysh --vty_socket '$tmp/r2' -c 'show bgp ipv6 unicast 2001:db8:1::/48 json' |
		jq -e '.paths[0].valid'"
check "BIRD shows attribute 39 of IPv4" sh -c "birdc -s '$tmp/bird.ctl' show route 192.0.2.0/24 all |
	grep -qi 'BGP.27.*00 01 01 04 0a 0b 00 01 ff fe 00 04 0a 0b 00 01'"
check "and of IPv6" sh -c "birdc -s '$tmp/bird.ctl' show route 2001:db8:1::/48 all |
	grep -qi 'BGP.27.*00 02 01 10 fd 11 .*ff fe 00 10 fd 11 '"
for family in ipv4 ipv6; do
	inside r4 gobgp global rib -a $family -j >"$tmp/rib.json" 2>&1
	check "GoBGP shows attribute 39 of $family, optional, transitive, partial" \
		jq -e '[.. | objects | select(.type? == 39 and .flags == 224)] | length > 0' "$tmp/rib.json"
done
notifies "congestion: a message reaches the learnt proxy, a CNP the sender" 192.0.2.9 203.0.113.9
notifies "the same over IPv6" 2001:db8:1::9 fd88::9

# ---- What is wrong with it -----------------------------------------------------------------------

# Each route comes alone, so the counter that grows is its.
session() { # MEMBER - of the session of the congestion point
	show c proxies | jq -e ".sessions[] | select(.source == \"bgp\") | .$1"
}
counted() { [ "$(session "$1")" -gt "$2" ]; } # COUNTER BEFORE
wrong() { # TEXT COUNTER VALUE [NEXT-HOP]
	before=$(session "$2")
	echo "announce route 198.18.0.1/32 next-hop ${4:-10.11.0.1} attribute [ 0x27 0xc0 0x$3 ]" \
		>>"$tmp/commands"
	eventually "$1: $2" 60 counted "$2" "$before"
	before=$(session updates)
	echo "withdraw route 198.18.0.1/32 next-hop ${4:-10.11.0.1}" >>"$tmp/commands"
	wait_for 20 withdrawn counted updates "$before"
	all >/dev/null || not_ok "$1: the table is as it was" "$(show c proxies | jq -c .proxies)"
}
hop=000101040a0b0001
wrong "it ends inside its head" malformed 000101
wrong "a next hop of 5 octets" malformed 000101050a0b000100
wrong "a next hop beyond its end" malformed 000101100a0b0001
wrong "a characteristic beyond its end" malformed ${hop}fffe00080a0b0001
wrong "half a characteristic's head" malformed ${hop}fffe00
wrong "a PNC characteristic of 3 octets" malformed ${hop}fffe00030a0b00
wrong "another next hop than the route's" next_hop_mismatch 000101040a0b0009fffe00040a0b0001
wrong "a next hop of the other family" next_hop_mismatch 00020110fd110000000000000000000000000001fffe00040a0b0001
wrong "characteristics, but no PNC" no_pnc ${hop}0003000401020304
wrong "a proxy that is no unicast address" unusable ${hop}fffe0004e0000001
known4=fffe00040a0b0001
echo "announce route 198.18.0.1/32 next-hop 10.11.0.1 attribute" \
	"[ 0x27 0xc0 0x${hop}000100000003000401020304${known4}ffff0003010203 ]" >>"$tmp/commands"
learnt_too() { learnt bgp 198.18.0.1/32 10.11.0.1; }
eventually "unknown characteristics before and behind PNC: learnt" 60 learnt_too
echo "announce route 198.18.0.1/32 next-hop 10.11.0.1" >>"$tmp/commands"
eventually "the same route again, without the attribute: no longer" 60 all
echo "withdraw route 198.18.0.1/32 next-hop 10.11.0.1" >>"$tmp/commands"
unharmed() { [ "$(session state)" = '"up"' ] && ! grep -q 'session .* is lost' "$tmp/c.err"; }
check "no session was lost by all that" unharmed

# ---- Withdrawn and recovered ---------------------------------------------------------------------

exchange_prefix 192.0.2.0/24 203.0.113.0/24 2001:db8:1::/48
changed() { known 3 && learnt bgp 203.0.113.0/24 10.11.0.1; }
eventually "a reload withdraws one prefix and announces another" 60 changed

kill "$pgw"
eventually "the proxy ends: its prefixes are withdrawn everywhere" 60 known 0
gateway p p
pgw=$gwpid
eventually "it starts again: all is back" 60 all
slay "$pgw"
eventually "kill -9 of the proxy: withdrawn" 60 known 0
gateway p p
eventually "started again: all is back" 60 all

# The congestion point dies and comes back: it asks for all routes anew.
slay "$cgw"
gateway c c
eventually "kill -9 of the congestion point: it relearns all" 60 all

slay "$cexa"
eventually "kill -9 of its ExaBGP: the table empties after the hold time" 60 known 0
exabgp c
cexa=$pid
eventually "ExaBGP is back: all is back" 60 all
slay "$pexa"
eventually "kill -9 of the proxy's ExaBGP: withdrawn" 60 known 0
exabgp p
pexa=$pid
eventually "ExaBGP is back: all is back" 60 all

if [ -n "${CW_FULL:-}" ]; then # each takes a hold time and a reconnection
	slay "$bgpd"
	eventually "kill -9 of FRR's bgpd: withdrawn" 60 known 0
	frr r2 bgpd
	eventually "bgpd is back: all is back" 90 all
	slay "$bird"
	eventually "kill -9 of BIRD: withdrawn" 60 known 0
	start bird r3 bird -f -c "$pnc/bgp-bird.conf" -s "$tmp/bird.ctl"
	eventually "BIRD is back: all is back" 90 all
	slay "$gobgpd"
	eventually "kill -9 of GoBGP: withdrawn" 60 known 0
	start gobgpd r4 gobgpd -f "$pnc/bgp-gobgp.toml"
	eventually "GoBGP is back: all is back" 90 all
fi

ip -n "$(ns r2)" link set e0 down
eventually "a cut link: withdrawn" 60 known 0
ip -n "$(ns r2)" link set e0 up
ip -n "$(ns r2)" addr add fd11::2/64 dev e0 nodad 2>/dev/null
eventually "the link is back: all is back" 90 all
notifies "and congestion reaches the proxy again" 192.0.2.9 203.0.113.9
note "$(show c proxies | jq -c '.sessions[] | select(.source == "bgp")')"
kill "$pexa" "$cexa"
plan
