#!/bin/sh
# pnc-bgp.sh - Fast CNP proxy 5.4 through other people's daemons: a proxy announces its senders, a
# congestion point four BGP speakers away learns them. All iBGP, route reflection.
#
#   p (ExaBGP, gateway) - r2 FRR - r3 BIRD - r4 GoBGP - c (ExaBGP, gateway)
. "$(dirname "$0")/lib.sh"
need ip jq exabgp gobgpd gobgp bird /usr/lib/frr/bgpd /usr/lib/frr/zebra
chmod 755 "$tmp"

# ---- Network -------------------------------------------------------------------------------------

space p r2 r3 r4 c
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
wire r2 e1 r3 e0 2
wire r3 e1 r4 e0 3
wire r4 e1 c e0 4

# ---- Routers -------------------------------------------------------------------------------------

zebra r2
cat >"$tmp/r2/bgpd.conf" <<EOF
router bgp 65001
 bgp router-id 10.1.0.2
 no bgp default ipv4-unicast
 neighbor 10.1.0.1 remote-as 65001
 neighbor 10.2.0.2 remote-as 65001
 neighbor 10.1.0.1 timers 3 9
 neighbor 10.1.0.1 timers connect 3
 neighbor 10.2.0.2 timers connect 3
 address-family ipv4 unicast
  neighbor 10.1.0.1 activate
  neighbor 10.2.0.2 activate
  neighbor 10.1.0.1 route-reflector-client
  neighbor 10.2.0.2 route-reflector-client
 exit-address-family
 address-family ipv6 unicast
  neighbor 10.1.0.1 activate
  neighbor 10.2.0.2 activate
  neighbor 10.1.0.1 route-reflector-client
  neighbor 10.2.0.2 route-reflector-client
 exit-address-family
EOF
frr r2 bgpd
bgpd=$pid

cat >"$tmp/bird.conf" <<EOF
router id 10.2.0.2;
protocol device {}
protocol direct { ipv4; ipv6; }
protocol static s4 { ipv4; route 10.1.0.0/24 via 10.2.0.1; }
protocol static s6 { ipv6; route fd01::/64 via fd02::1; }
protocol bgp pup {
	local 10.2.0.2 as 65001; neighbor 10.2.0.1 as 65001; rr client;
	connect delay time 1; connect retry time 3; error wait time 1, 4; graceful restart off;
	ipv4 { import all; export where source = RTS_BGP; gateway recursive; };
	ipv6 { import all; export where source = RTS_BGP; gateway recursive; next hop keep; };
}
protocol bgp pdn {
	local 10.3.0.1 as 65001; neighbor 10.3.0.2 as 65001; rr client;
	connect delay time 1; connect retry time 3; error wait time 1, 4; graceful restart off;
	ipv4 { import all; export where source = RTS_BGP; next hop keep; };
	ipv6 { import all; export where source = RTS_BGP; next hop keep; };
}
EOF
start bird r3 bird -f -c "$tmp/bird.conf" -s "$tmp/bird.ctl"

neighbour() { # ADDRESS
	cat <<EOF
[[neighbors]]
  [neighbors.config]
    neighbor-address = "$1"
    peer-as = 65001
  [neighbors.timers.config]
    connect-retry = 2
    idle-hold-time-after-reset = 2
  [neighbors.route-reflector.config]
    route-reflector-client = true
    route-reflector-cluster-id = "10.3.0.2"
  [[neighbors.afi-safis]]
    [neighbors.afi-safis.config]
      afi-safi-name = "ipv4-unicast"
  [[neighbors.afi-safis]]
    [neighbors.afi-safis.config]
      afi-safi-name = "ipv6-unicast"
EOF
}
{
	cat <<EOF
[global.config]
  as = 65001
  router-id = "10.3.0.2"
  local-address-list = ["10.3.0.2", "10.4.0.1"]
EOF
	neighbour 10.3.0.1
	neighbour 10.4.0.2
} >"$tmp/gobgp.toml"
start gobgpd r4 gobgpd -f "$tmp/gobgp.toml"

# ---- Both ends -----------------------------------------------------------------------------------

cat >"$tmp/p.json" <<EOF
{ "causeway:causeway": {
  "daemon": { "control-socket": "$tmp/p.sock", "buffers": 1024 },
  "pnc": {
    "proxy-address": [ "10.1.0.1", "fd01::1" ],
    "prefix": [ "192.0.2.0/24", "198.51.100.7/32", "2001:db8:1::/48" ],
    "bgp": { "enabled": true } } } }
EOF
cat >"$tmp/c.json" <<EOF
{ "causeway:causeway": {
  "daemon": { "control-socket": "$tmp/c.sock", "buffers": 1024 },
  "pnc": { "hold-time": 2, "bgp": { "enabled": true, "helper-timeout": 3 } } } }
EOF
gateway p p
pgw=$gwpid
gateway c c
cgw=$gwpid

exa() { # NAME LOCAL PEER
	cat >"$tmp/exa-$1.conf" <<EOF
process causeway { run $causeway bgp-helper -s $tmp/$1.sock; encoder json; }
neighbor $3 {
	router-id $2; local-address $2; local-as 65001; peer-as 65001; hold-time 9;
	capability { route-refresh; }
	family { ipv4 unicast; ipv6 unicast; }
	api { processes [ causeway ]; neighbor-changes; receive { packets; update; } }
}
EOF
	start "exa-$1" "$1" env exabgp.daemon.user=root exabgp.daemon.daemonize=false \
		exabgp.api.cli=false exabgp.log.destination="$tmp/exa-$1.log" exabgp "$tmp/exa-$1.conf"
}
exa c 10.4.0.2 10.4.0.1
cexa=$pid
exa p 10.1.0.1 10.1.0.2
pexa=$pid

# ---- The story -----------------------------------------------------------------------------------

logs="$tmp/p.err $tmp/c.err $tmp/exa-p.err $tmp/exa-c.err"
all() {
	known 3 && learnt bgp 192.0.2.0/24 10.1.0.1 && learnt bgp 2001:db8:1::/48 fd01::1
}
eventually "the far end learns IPv4 and IPv6 over FRR, BIRD and GoBGP" 60 all
check "BIRD shows attribute 39" sh -c "birdc -s '$tmp/bird.ctl' show route 192.0.2.0/24 all |
	grep -qi 'BGP.27.*ff fe 00 04 0a 01 00 01'"
inside r4 gobgp global rib -j >"$tmp/rib.json" 2>&1
check "GoBGP shows attribute 39" \
	jq -e '[.. | objects | select(.type? == 39)] | length > 0' "$tmp/rib.json"

jq '."causeway:causeway".pnc.prefix = ["192.0.2.0/24", "203.0.113.0/24", "2001:db8:1::/48"]' \
	"$tmp/p.json" >"$tmp/p2.json"
"$causeway" reload -s "$tmp/p.sock" "$tmp/p2.json" >/dev/null
gone() { known 3 && learnt bgp 203.0.113.0/24 10.1.0.1; }
eventually "a reload withdraws one prefix and announces another" 15 gone

kill "$pgw"
eventually "the proxy ends: its prefixes are withdrawn everywhere" 15 known 0
gateway p p
pgw=$gwpid
eventually "it starts again: all is back" 15 all
kill -9 "$pgw"
eventually "kill -9 of the proxy: withdrawn" 15 known 0
gateway p p
eventually "started again: all is back" 15 all

# The congestion point dies and comes back: it asks for all routes anew.
kill -9 "$cgw"
sleep 1
gateway c c
eventually "kill -9 of the congestion point: it relearns all" 20 all

kill -9 "$cexa"
eventually "kill -9 of ExaBGP: the table empties after the hold time" 20 known 0
exa c 10.4.0.2 10.4.0.1
cexa=$pid
eventually "ExaBGP is back: all is back" 60 all

kill -9 "$bgpd"
eventually "kill -9 of FRR's bgpd: withdrawn" 60 known 0
frr r2 bgpd
eventually "bgpd is back: all is back" 90 all

ip -n "$(ns r2)" link set e0 down
eventually "a cut link: withdrawn" 60 known 0
ip -n "$(ns r2)" link set e0 up
ip -n "$(ns r2)" addr add fd01::2/64 dev e0 nodad 2>/dev/null
eventually "the link is back: all is back" 90 all
note "$(show c proxies | jq -c '.sessions[] | select(.source == "bgp")')"
kill "$pexa" "$cexa"
plan
