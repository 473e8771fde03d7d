# pnc-ospf-net.sh - sourced by the OSPFv2 labs: links with IPv4, FRR's ospfd with its API.
. "$(dirname "$0")/lib.sh"
need ip jq vtysh /usr/lib/frr/ospfd /usr/lib/frr/zebra
need bash
chmod 755 "$tmp"

interface() { # IF AREA
	echo "interface $1"
	[ "$1" = lo ] || echo " ip ospf network point-to-point"
	[ "$1" = lo ] || echo " ip ospf hello-interval 1"
	[ "$1" = lo ] || echo " ip ospf dead-interval 4"
	echo " ip ospf area $2"
}
# Router oNUMBER with interfaces IF:AREA; $module is one for ospfd to load.
ospfd() { # NUMBER IF:AREA...
	n=$1
	shift
	{
		for end; do interface "${end%:*}" "${end#*:}"; done
		echo "router ospf"
		echo " ospf router-id 10.255.0.$n"
		echo " capability opaque"
		echo " timers throttle spf 50 100 500"
	} >"$tmp/o$n/ospfd.conf"
	frr "o$n" ospfd -a ${module:+-M "$module"}
}
gateway_of() { # GATEWAY MORE-OF-OSPFV2 MORE-OF-PNC
	cat >"$tmp/$1.json" <<END
{ "causeway:causeway": {
  "daemon": { "control-socket": "$tmp/$1.sock", "buffers": 1024 },
  "pnc": { $3 "ospfv2": { "enabled": true $2 } } } }
END
}
# Four routers in a row, oN with 10.255.0.N.
row() {
	space o1 o2 o3 o4
	wire o1 e1 o2 e0 11
	wire o2 e1 o3 e0 12
	wire o3 e1 o4 e0 13
	for i in 1 2 3 4; do
		ip -n "$(ns "o$i")" addr add "10.255.0.$i/32" dev lo
		zebra "o$i"
	done
}
ospf() { timeout 10 vtysh --vty_socket "$tmp/$1" -c "show ip ospf $2"; } # ROUTER WHAT
routed() { ip -n "$(ns o4)" route show 10.255.0.1 | grep -q 'proto ospf'; }
reached() { # refused by the proxy's own kernel: the way there and back exists
	inside o4 timeout 5 bash -c 'exec 3<>/dev/tcp/10.255.0.1/9' 2>&1 | grep -q refused
}
