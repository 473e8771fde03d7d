#!/bin/sh
# pnc-isis.sh - Fast CNP proxy 5.1 through FRR's isisd: a proxy announces itself and its senders from
# an IS-IS leaf, a congestion point learns them four routers away.
#
#   p -- i1 -- i2 -- i3 -- i4 -- c      all level 2; IPv4 and IPv6
#
# p and c are gateways in spaces of their own, each a leaf on a link to its router.
. "$(dirname "$0")/lib.sh"
need ip jq vtysh tshark /usr/lib/frr/isisd /usr/lib/frr/zebra
chmod 755 "$tmp"

# ---- Network -------------------------------------------------------------------------------------

space p i1 i2 i3 i4 c
address() { # SPACE IF NET HOST
	in=$(ns "$1")
	ip -n "$in" link set "$2" mtu 1500
	inside "$1" sysctl -qw "net.ipv6.conf.$2.disable_ipv6=0" net.ipv4.ip_forward=1 \
		net.ipv6.conf.all.forwarding=1
	ip -n "$in" addr add "10.$3.0.$4/24" dev "$2"
	ip -n "$in" addr add "fd$3::$4/64" dev "$2" nodad
}
wire() { # SPACE IF SPACE IF NET
	cable "$1" "$2" "$3" "$4"
	address "$1" "$2" "$5" 1
	address "$3" "$4" "$5" 2
}
wire p e0 i1 e0 10
wire i1 e1 i2 e0 11
wire i2 e1 i3 e0 12
wire i3 e1 i4 e0 13
wire i4 e1 c e0 14
inside p sysctl -qw net.ipv6.conf.lo.disable_ipv6=0
ip -n "$(ns p)" addr add 10.255.0.1/32 dev lo
ip -n "$(ns p)" addr add fd99::1/128 dev lo

# ---- Routers -------------------------------------------------------------------------------------

key() { # LINE - only with authentication
	[ -z "${password:-}" ] || echo " $*"
}
interface() { # IF
	cat <<END
interface $1
 ip router isis 1
 ipv6 router isis 1
 isis network point-to-point
 isis hello-interval 1
 isis hello-multiplier 3
END
	key "isis password md5 ${password:-}"
}
isisd() { # NUMBER [LINE...] - the configuration and the daemon of router iNUMBER
	r=i$1
	{
		echo "hostname $r"
		interface e0
		interface e1
		echo "router isis 1"
		echo " net 49.0001.0000.0000.010$1.00"
		echo " is-type level-2-only"
		echo " metric-style wide"
		echo " lsp-gen-interval 1"
		key "domain-password md5 ${password:-} authenticate snp validate"
	} >"$tmp/$r/isisd.conf"
	frr "$r" isisd
}
for i in 1 2 3 4; do
	zebra "i$i"
	isisd "$i"
	eval "isisd$i=$pid"
done
isis() { # ROUTER COMMAND
	timeout 10 vtysh --vty_socket "$tmp/$1" -c "show isis $2"
}

# ---- Both ends -----------------------------------------------------------------------------------

config() { # NAME SYSTEM MORE
	cat >"$tmp/$1.json" <<END
{ "causeway:causeway": {
  "daemon": { "control-socket": "$tmp/$1.sock", "buffers": 1024 },
  "pnc": { $3
    "isis": { "enabled": true, "interface": "e0", "system-id": "$2", "area": "49.0001",
      "hostname": "gw-$1", "hello-interval": 1 } } } }
END
}
config p 0000.0000.0001 '"proxy-address": [ "10.255.0.1", "fd99::1" ],
    "prefix": [ "192.0.2.0/24", "198.51.100.7/32", "2001:db8:1::/48" ],'
config c 0000.0000.0002 '"hold-time": 2,'
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

seen() { isis "$1" "database detail" | grep -A20 'gw-p.00-00' | grep -q 192.0.2.0/24; }
check "the first router shows the LSP" seen i1
check "the last router shows it too" seen i4
overloaded() { isis i4 database | grep 'gw-p.00-00' | grep -q '/1 *$'; }
check "with the overload bit" overloaded
routed() {
	ip -n "$(ns i4)" route show 10.255.0.1 | grep -q 'proto isis' &&
		ip -n "$(ns i4)" -6 route show fd99::1 | grep -q 'proto isis'
}
eventually "there are routes to the proxy" 20 routed
check "but none to the gateway for its senders" \
	sh -c "! ip -n '$(ns i1)' route show 192.0.2.0/24 | grep -q isis"
neighbour_up() { show p isis | jq -e '.adjacencies[0] | .state == "up" and .synchronised'; }
check "show isis: the adjacency is up" neighbour_up
plan
