# pnc-ospf-net.sh - sourced by the OSPFv2 labs: four routers, FRR's ospfd with its API.
. "$(dirname "$0")/pnc-lib.sh"
need ip jq vtysh dumpcap /usr/lib/frr/ospfd /usr/lib/frr/zebra

# Router oNUMBER with interfaces IF:AREA, each as lo or e1 of lab/pnc/ospfd.conf; $module is one for
# ospfd to load.
ospfd() { # NUMBER IF:AREA...
	n=$1
	shift
	{
		sed "/^interface/,\$d; s/10\.255\.0\.1/10.255.0.$n/" "$pnc/ospfd.conf"
		for end; do
			case $end in
			lo:*) sed -n '/^interface lo/,/area/p' "$pnc/ospfd.conf" ;;
			*) sed -n '/^interface e1/,$p' "$pnc/ospfd.conf" ;;
			esac | sed "s/e1/${end%:*}/; s/area 0/area ${end#*:}/"
		done
	} >"$tmp/o$n/ospfd.conf"
	frr "o$n" ospfd -a ${module:+-M "$module"}
}
# Four routers in a row, oN with 10.255.0.N. The proxy is in o1, the congestion point in o4.
row() {
	space o1 o2 o3 o4
	wire o1 e1 o2 e0 11
	wire o2 e1 o3 e0 12
	wire o3 e1 o4 e0 13
	hosts o1 o4
	for i in 1 2 3 4; do
		ip -n "$(ns "o$i")" addr add "10.255.0.$i/32" dev lo
		zebra "o$i"
	done
}
proxy_in_o1() { # [PNC]
	gateway_config p ospf-proxy.json \
		"$(proxy e1 10.13.0.2/32 fd13::2/128 10.11.0.1/24 10.255.0.1/32 fd11::1/64)" "${1-}"
}
congestion_point_in_o4() { # [PNC]
	gateway_config c ospf-learner.json \
		"$(congestion_point e0 10.13.0.2/24 10.13.0.1 fd13::2/64 fd13::1)" "${1-}"
}
ospf() { timeout 10 vtysh --vty_socket "$tmp/$1" -c "show ip ospf $2"; } # ROUTER WHAT
routed() { ip -n "$(ns o4)" route show 10.255.0.1 | grep -q 'proto ospf'; }
