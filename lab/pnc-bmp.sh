#!/bin/sh
# pnc-bmp.sh - Fast CNP proxy 5.4 by BMP: a congestion point learns proxies from what two routers
# tell about their peers. It speaks no BGP.
#
#   p (ExaBGP, gateway) --- r2 FRR --- r4 GoBGP      one AS, both are route reflectors
#                             \          /
#                              c (gateway)
. "$(dirname "$0")/pnc-lib.sh"
need ip jq exabgp gobgpd gobgp vtysh dumpcap /usr/lib/frr/bgpd /usr/lib/frr/zebra
[ -e "/usr/lib/$(uname -m)-linux-gnu/frr/modules/bgpd_bmp.so" ] || {
	echo "1..0 # SKIP needs FRR's BMP module"
	exit 0
}

# ---- Network -------------------------------------------------------------------------------------

space p r2 r4 c
wire p e0 r2 e0 11
wire r2 e1 r4 e0 12
wire r2 e2 c e0 15
wire r4 e1 c e1 16

# ---- Routers -------------------------------------------------------------------------------------

# Pre-policy, for which FRR needs soft-reconfiguration: post-policy it told the IPv6 route as withdrawn
# here, and never corrected that.
zebra r2
cp "$pnc/bmp-frr.conf" "$tmp/r2/bgpd.conf"
frr r2 bgpd -M bmp
bgpd=$pid
start gobgpd r4 gobgpd -f "$pnc/bmp-gobgp.toml"
gobgpd=$pid

# ---- Both ends -----------------------------------------------------------------------------------

gateway_config p bgp-proxy.json
gateway_config c bmp-learner.json
gateway p p
pgw=$gwpid
gateway c c
cgw=$gwpid
exabgp_config p 10.11.0.1 10.11.0.2
# attribute 39 about another next hop, and one whose characteristic exceeds it
sed -i '/api {/i\
	static {\
		route 203.0.113.128/25 next-hop 10.11.0.1 attribute [ 0x27 0xc0 0x000101040a0b0009fffe00040a0b0001 ];\
		route 203.0.113.64/26 next-hop 10.11.0.1 attribute [ 0x27 0xc0 0x000101040a0b0001fffe00080a0b0001 ];\
	}' "$tmp/exa-p.conf"
exabgp p
exa=$pid

# ---- The story -----------------------------------------------------------------------------------

# shellcheck disable=SC2034 # eventually shows them
logs="$tmp/p.err $tmp/c.err $tmp/exa-p.err"
by_frr=10.15.0.1/10.11.0.1 by_gobgp=10.16.0.1/10.12.0.1
from() { # SESSION
	for e in 192.0.2.0/24=10.11.0.1 198.51.100.7/32=10.11.0.1 2001:db8:1::/48=fd11::1; do
		show c proxies | jq -e --arg p "${e%=*}" --arg q "${e#*=}" --arg f "$1" '.proxies[] |
			select(.source == "bmp" and .prefix == $p and .proxy == $q and .from == $f
				and (.stale | not))' >/dev/null || return 1
	done
}
none_from() {
	show c proxies | jq -e --arg f "$1" '[.proxies[] | select(.from == $f)] == []'
}
both() { from "$by_frr" && from "$by_gobgp"; }
eventually "FRR tells of its peer: IPv4 and IPv6" 60 from "$by_frr"
eventually "GoBGP tells of its peer" 60 from "$by_gobgp"
met() {
	show c bmp | jq -e '.listener.listening and (.routers | length == 2)
		and ([.routers[] | select(.name != "" and .initiation == 1 and .peers > 0)] | length == 2)
		and ([.routers[] | .malformed + .no_peer] | add == 0)'
}
eventually "show bmp: both routers, nothing malformed" 10 met
judged() {
	show c proxies | jq -e --arg f "$by_frr" '([.sessions[] | select(.peer == $f)][0]
		| .state == "up" and .next_hop_mismatch > 0 and .malformed > 0)
		and ([.proxies[] | select(.prefix | startswith("203.0.113."))] == [])'
}
eventually "an attribute about another next hop, and a malformed one, harm nothing" 60 judged
counted() { show c bmp | jq -e '.routers[] | select(.router == "10.15.0.1") | .statistics > 0'; }
eventually "and FRR's statistics arrive" 60 counted

exchange_prefix 192.0.2.0/24 203.0.113.0/24 2001:db8:1::/48
changed() { learnt bmp 203.0.113.0/24 10.11.0.1 && ! learnt bmp 198.51.100.7/32 10.11.0.1; }
eventually "a reload withdraws one prefix and announces another" 60 changed
"$causeway" reload -s "$tmp/p.sock" "$tmp/p.json" >/dev/null
eventually "and back" 60 both

slay "$pgw"
eventually "kill -9 of the proxy: withdrawn" 60 known 0
gateway p p
eventually "started again: all is back" 60 both

slay "$cgw"
gateway c c
eventually "kill -9 of the congestion point: the routers tell all anew" 60 both

ip -n "$(ns p)" link set e0 down
eventually "the proxy's link is cut: peers are down, entries go" 60 known 0
ip -n "$(ns p)" link set e0 up
ip -n "$(ns p)" addr add fd11::1/64 dev e0 nodad 2>/dev/null
eventually "the link is back: all is back" 90 both

slay "$gobgpd"
eventually "kill -9 of GoBGP: its entries go after the hold time" 60 none_from "$by_gobgp"
check "those of FRR stay" from "$by_frr"
start gobgpd r4 gobgpd -f "$pnc/bmp-gobgp.toml"
eventually "GoBGP is back" 60 from "$by_gobgp"
slay "$bgpd"
eventually "kill -9 of FRR's bgpd: all go" 60 known 0
frr r2 bgpd -M bmp
eventually "bgpd is back: all is back" 90 both
note "$(show c bmp | jq -c .routers)"
kill "$exa"
plan
