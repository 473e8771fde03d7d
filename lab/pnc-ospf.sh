#!/bin/sh
# pnc-ospf.sh - Fast CNP proxy 5.2 through FRR's ospfd: a proxy announces itself and its senders in
# Extended Prefix Opaque LSAs, a congestion point learns them four routers away, in another area.
#
#   p o1 -- o2 -- o3 -- o4 c      area 0 as far as o3, then area 1; o3 is the ABR
#
# p and c are gateways beside the ospfd of o1 and o4.
. "$(dirname "$0")/lib.sh"
need ip jq vtysh /usr/lib/frr/ospfd /usr/lib/frr/zebra
chmod 755 "$tmp"

# ---- Network -------------------------------------------------------------------------------------

space o1 o2 o3 o4
wire() { # SPACE IF SPACE IF NET
	cable "$1" "$2" "$3" "$4"
	ip -n "$(ns "$1")" link set "$2" mtu 1500
	ip -n "$(ns "$3")" link set "$4" mtu 1500
	ip -n "$(ns "$1")" addr add "10.$5.0.1/24" dev "$2"
	ip -n "$(ns "$3")" addr add "10.$5.0.2/24" dev "$4"
	inside "$1" sysctl -qw net.ipv4.ip_forward=1
	inside "$3" sysctl -qw net.ipv4.ip_forward=1
}
wire o1 e1 o2 e0 11
wire o2 e1 o3 e0 12
wire o3 e1 o4 e0 13
for i in 1 2 3 4; do ip -n "$(ns "o$i")" addr add "10.255.0.$i/32" dev lo; done

# ---- Routers -------------------------------------------------------------------------------------

area() { # ROUTER IF - as figure above
	case $1$2 in o3e1 | o4*) echo 1 ;; *) echo 0 ;; esac
}
interface() { # ROUTER IF
	cat <<EOF
interface $2
 ip ospf network point-to-point
 ip ospf hello-interval 1
 ip ospf dead-interval 4
 ip ospf area $(area "$1" "$2")
EOF
}
router() { # NUMBER IF...
	r=o$1
	zebra "$r"
	{
		for i in lo "$2" ${3:+"$3"}; do interface "$r" "$i"; done
		echo "router ospf"
		echo " ospf router-id 10.255.0.$1"
		echo " capability opaque"
	} | sed '/^interface lo/,/area/{/hello\|dead\|network/d}' >"$tmp/$r/ospfd.conf"
	frr "$r" ospfd -a
}
router 1 e1
ospfd1=$pid
router 2 e0 e1
router 3 e0 e1
router 4 e0

# ---- Both ends -----------------------------------------------------------------------------------

cat >"$tmp/p.json" <<EOF
{ "causeway:causeway": {
  "daemon": { "control-socket": "$tmp/p.sock", "buffers": 1024 },
  "pnc": {
    "proxy-address": [ "10.255.0.1" ],
    "prefix": [ "192.0.2.0/24", "198.51.100.7/32" ],
    "ospfv2": { "enabled": true } } } }
EOF
cat >"$tmp/c.json" <<EOF
{ "causeway:causeway": {
  "daemon": { "control-socket": "$tmp/c.sock", "buffers": 1024 },
  "pnc": { "hold-time": 2, "ospfv2": { "enabled": true } } } }
EOF
gateway p o1
pgw=$gwpid
gateway c o4
cgw=$gwpid

# ---- The story -----------------------------------------------------------------------------------

logs="$tmp/p.err $tmp/c.err"
from_p() { learnt ospfv2 "$1" 10.255.0.1 10.255.0.1; } # PREFIX
all() { known 3 && from_p 10.255.0.1/32 && from_p 192.0.2.0/24; }
eventually "the far end, in another area, learns proxy and senders" 40 all
check "FRR on the way shows both opaque LSAs" sh -c "vtysh --vty_socket '$tmp/o2' \
	-c 'show ip ospf database opaque-as' | grep -c 'Link State ID: 7\\.0\\.0\\.[12]' | grep -qx 2"
routed() { ip -n "$(ns o4)" route show 10.255.0.1 | grep -q 'proto ospf'; }
eventually "the congestion point has a route to the proxy" 20 routed

jq '."causeway:causeway".pnc.prefix = ["192.0.2.0/24", "203.0.113.0/24"]' "$tmp/p.json" \
	>"$tmp/p2.json"
"$causeway" reload -s "$tmp/p.sock" "$tmp/p2.json" >/dev/null
changed() { known 3 && from_p 203.0.113.0/24; }
eventually "a reload exchanges a prefix" 20 changed

kill "$pgw"
eventually "the proxy ends: ospfd flushes its LSAs" 20 known 0
gateway p o1
pgw=$gwpid
eventually "it starts again: all is back" 30 all
kill -9 "$pgw"
eventually "kill -9 of the proxy: flushed" 20 known 0
gateway p o1
eventually "started again: all is back" 30 all

kill -9 "$cgw"
gateway c o4
eventually "kill -9 of the congestion point: it reads the database anew" 20 all

kill -9 "$ospfd1"
sleep 5
frr o1 ospfd -a
again() { [ "$(grep -c 'ospfd: connected' "$tmp/p.err")" = 2 ] && all; }
eventually "kill -9 of the proxy's ospfd: the next one is told again" 60 again
note "$(show c proxies | jq -c '.sessions[] | select(.source == "ospfv2")')"
plan
