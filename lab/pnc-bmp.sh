#!/bin/sh
# pnc-bmp.sh - Fast CNP proxy 5.4 by BMP: a congestion point learns proxies from what two routers
# tell about their peers. It speaks no BGP.
#
#   p (ExaBGP, gateway) --- r2 FRR --- r4 GoBGP      one AS, both are route reflectors
#                             \          /
#                              c (gateway)
. "$(dirname "$0")/lib.sh"
need ip jq exabgp gobgpd gobgp vtysh /usr/lib/frr/bgpd /usr/lib/frr/zebra
[ -e "/usr/lib/$(uname -m)-linux-gnu/frr/modules/bgpd_bmp.so" ] || {
	echo "1..0 # SKIP needs FRR's BMP module"
	exit 0
}
chmod 755 "$tmp"

# ---- Network -------------------------------------------------------------------------------------

space p r2 r4 c
wire() { # SPACE IF SPACE IF NET
	cable "$1" "$2" "$3" "$4"
	inside "$1" sysctl -qw "net.ipv6.conf.$2.disable_ipv6=0"
	inside "$3" sysctl -qw "net.ipv6.conf.$4.disable_ipv6=0"
	ip -n "$(ns "$1")" addr add "10.$5.0.1/24" dev "$2"
	ip -n "$(ns "$3")" addr add "10.$5.0.2/24" dev "$4"
	ip -n "$(ns "$1")" addr add "fd0$5::1/64" dev "$2" nodad
	ip -n "$(ns "$3")" addr add "fd0$5::2/64" dev "$4" nodad
}
wire p e0 r2 e0 1
wire r2 e1 r4 e0 2
wire r2 e2 c e0 5
wire r4 e1 c e1 6

# ---- Routers -------------------------------------------------------------------------------------

# Pre-policy, for which FRR needs soft-reconfiguration: post-policy it told the IPv6 route as withdrawn
# here, and never corrected that.
zebra r2
cat >"$tmp/r2/bgpd.conf" <<END
router bgp 65001
 bgp router-id 10.1.0.2
 no bgp default ipv4-unicast
 bmp targets congestion-points
  bmp connect 10.5.0.2 port 11019 min-retry 500 max-retry 1000
  bmp monitor ipv4 unicast pre-policy
  bmp monitor ipv6 unicast pre-policy
  bmp stats interval 1000
 exit
 neighbor 10.1.0.1 remote-as 65001
 neighbor 10.2.0.2 remote-as 65001
 neighbor 10.1.0.1 timers 3 9
 neighbor 10.1.0.1 timers connect 3
 neighbor 10.2.0.2 timers connect 3
 address-family ipv4 unicast
  neighbor 10.1.0.1 activate
  neighbor 10.2.0.2 activate
  neighbor 10.1.0.1 route-reflector-client
  neighbor 10.1.0.1 soft-reconfiguration inbound
  neighbor 10.2.0.2 route-reflector-client
 exit-address-family
 address-family ipv6 unicast
  neighbor 10.1.0.1 activate
  neighbor 10.2.0.2 activate
  neighbor 10.1.0.1 route-reflector-client
  neighbor 10.1.0.1 soft-reconfiguration inbound
  neighbor 10.2.0.2 route-reflector-client
 exit-address-family
END
frr r2 bgpd -M bmp
bgpd=$pid

cat >"$tmp/gobgp.toml" <<END
[global.config]
  as = 65001
  router-id = "10.2.0.2"
  local-address-list = ["10.2.0.2"]
[[neighbors]]
  [neighbors.config]
    neighbor-address = "10.2.0.1"
    peer-as = 65001
  [neighbors.timers.config]
    connect-retry = 2
    idle-hold-time-after-reset = 2
  [[neighbors.afi-safis]]
    [neighbors.afi-safis.config]
      afi-safi-name = "ipv4-unicast"
  [[neighbors.afi-safis]]
    [neighbors.afi-safis.config]
      afi-safi-name = "ipv6-unicast"
[[bmp-servers]]
  [bmp-servers.config]
    address = "10.6.0.2"
    port = 11019
    route-monitoring-policy = "pre-policy"
    statistics-timeout = 15
END
start gobgpd r4 gobgpd -f "$tmp/gobgp.toml"
gobgpd=$pid

# ---- Both ends -----------------------------------------------------------------------------------

cat >"$tmp/p.json" <<END
{ "causeway:causeway": {
  "daemon": { "control-socket": "$tmp/p.sock", "buffers": 1024 },
  "pnc": {
    "proxy-address": [ "10.1.0.1", "fd01::1" ],
    "prefix": [ "192.0.2.0/24", "198.51.100.7/32", "2001:db8:1::/48" ],
    "bgp": { "enabled": true } } } }
END
cat >"$tmp/c.json" <<END
{ "causeway:causeway": {
  "daemon": { "control-socket": "$tmp/c.sock", "buffers": 1024 },
  "pnc": { "hold-time": 2, "bmp": { "enabled": true, "router": [ "10.5.0.1/32", "10.6.0.1/32" ] } } } }
END
cat >"$tmp/exa.conf" <<END
process causeway { run $causeway bgp-helper -s $tmp/p.sock; encoder json; }
neighbor 10.1.0.2 {
	router-id 10.1.0.1; local-address 10.1.0.1; local-as 65001; peer-as 65001; hold-time 9;
	capability { route-refresh; }
	family { ipv4 unicast; ipv6 unicast; }
	static {
		# attribute 39 about another next hop, and one whose characteristic exceeds it
		route 203.0.113.128/25 next-hop 10.1.0.1 attribute [ 0x27 0xc0 0x000101040a010009fffe00040a010001 ];
		route 203.0.113.64/26 next-hop 10.1.0.1 attribute [ 0x27 0xc0 0x000101040a010001fffe00080a010001 ];
	}
	api { processes [ causeway ]; neighbor-changes; receive { packets; update; } }
}
END
gateway p p
pgw=$gwpid
gateway c c
cgw=$gwpid
start exa p env exabgp.daemon.user=root exabgp.daemon.daemonize=false exabgp.api.cli=false \
	exabgp.log.destination="$tmp/exa.log" exabgp "$tmp/exa.conf"
exa=$pid

# ---- The story -----------------------------------------------------------------------------------

# shellcheck disable=SC2034 # eventually shows them
logs="$tmp/p.err $tmp/c.err $tmp/exa.err"
by_frr=10.5.0.1/10.1.0.1 by_gobgp=10.6.0.1/10.2.0.1
from() { # SESSION
	for e in 192.0.2.0/24=10.1.0.1 198.51.100.7/32=10.1.0.1 2001:db8:1::/48=fd01::1; do
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
eventually "an attribute about another next hop, and a malformed one, harm nothing" 20 judged
counted() { show c bmp | jq -e '.routers[] | select(.router == "10.5.0.1") | .statistics > 0'; }
eventually "and FRR's statistics arrive" 20 counted

jq '."causeway:causeway".pnc.prefix = ["192.0.2.0/24", "203.0.113.0/24", "2001:db8:1::/48"]' \
	"$tmp/p.json" >"$tmp/p2.json"
"$causeway" reload -s "$tmp/p.sock" "$tmp/p2.json" >/dev/null
changed() { learnt bmp 203.0.113.0/24 10.1.0.1 && ! learnt bmp 198.51.100.7/32 10.1.0.1; }
eventually "a reload withdraws one prefix and announces another" 20 changed
"$causeway" reload -s "$tmp/p.sock" "$tmp/p.json" >/dev/null
eventually "and back" 20 both

kill -9 "$pgw"
eventually "kill -9 of the proxy: withdrawn" 20 known 0
gateway p p
eventually "started again: all is back" 20 both

kill -9 "$cgw"
gateway c c
eventually "kill -9 of the congestion point: the routers tell all anew" 60 both

ip -n "$(ns p)" link set e0 down
eventually "the proxy's link is cut: peers are down, entries go" 60 known 0
ip -n "$(ns p)" link set e0 up
ip -n "$(ns p)" addr add fd01::1/64 dev e0 nodad 2>/dev/null
eventually "the link is back: all is back" 90 both

kill -9 "$gobgpd"
eventually "kill -9 of GoBGP: its entries go after the hold time" 20 none_from "$by_gobgp"
check "those of FRR stay" from "$by_frr"
start gobgpd r4 gobgpd -f "$tmp/gobgp.toml"
eventually "GoBGP is back" 60 from "$by_gobgp"
kill -9 "$bgpd"
eventually "kill -9 of FRR's bgpd: all go" 60 known 0
frr r2 bgpd -M bmp
eventually "bgpd is back: all is back" 90 both
note "$(show c bmp | jq -c .routers)"
kill "$exa"
plan
