# pnc-ospf3-net.sh - sourced by the OSPFv3 labs: FRR's ospf6d, BIRD.
. "$(dirname "$0")/pnc-lib.sh"
need ip jq vtysh bird birdc dumpcap /usr/lib/frr/ospf6d /usr/lib/frr/zebra

# Router iNUMBER with interfaces IF:AREA, each as that of lab/pnc/ospf6d.conf. With $password OSPFv3 is
# authenticated by HMAC with $hash.
ospf6d() { # NUMBER IF:AREA...
	n=$1
	shift
	{
		sed "/^interface/,\$d; s/10\.255\.0\.1/10.255.0.$n/" "$pnc/ospf6d.conf"
		for end; do
			sed -n "/^interface/,\$ { s/e0/${end%:*}/; s/0\.0\.0\.0/${end#*:}/; p }" "$pnc/ospf6d.conf"
			[ -z "${password:-}" ] || sed "s/e0/${end%:*}/; s/sha-256/$hash/; s/PASSWORD/$password/" \
				"$pnc/ospf6d-hmac.conf"
		done
	} >"$tmp/i$n/ospf6d.conf"
	frr "i$n" ospf6d
}
# The same with BIRD: an AREA has the interfaces that follow, each as those of lab/pnc/ospf3-bird.conf.
bird_router() { # NUMBER AREA:"IF", "IF"...
	n=$1 conf=$pnc/ospf3-bird.conf
	shift
	mkdir -p "$tmp/i$n"
	sed "s/PASSWORD/${password:-}/; s/sha256/$(echo "${hash:-}" | tr -d -)/" "$pnc/ospf3-bird-hmac.conf" \
		>"$tmp/i$n/hmac"
	for area; do
		sed -n '/^\tarea/,/^\t};/p' "$conf" | sed -e "s/0\.0\.0\.0/${area%%:*}/" \
			-e "s/\"e0\", \"e1\"/${area#*:}/" ${password:+-e "/retransmit/r $tmp/i$n/hmac"}
	done >"$tmp/i$n/areas"
	sed -e "s/10\.255\.0\.3/10.255.0.$n/" -e '/^\tarea/,/^\t};/d' -e "/import all/r $tmp/i$n/areas" "$conf" \
		>"$tmp/i$n/bird.conf"
	start "i$n-bird" "i$n" bird -f -c "$tmp/i$n/bird.conf" -s "$tmp/i$n/bird.ctl"
}
ospf6() { timeout 10 vtysh --vty_socket "$tmp/$1" -c "show ipv6 ospf6 $2"; } # ROUTER WHAT
birds() { # ROUTER TYPE ORIGINATOR
	timeout 10 birdc -s "$tmp/$1/bird.ctl" show ospf lsadb | grep -qi "$2.*$3"
}
routed() { ip -n "$(ns i4)" -6 route show fd99::1 | grep -q 'proto ospf'; }
# Five links in a row: p -- i1 -- i2 -- i3 -- i4 -- c.
row() {
	space p i1 i2 i3 i4 c
	wire p e0 i1 e0 10
	wire i1 e1 i2 e0 11
	wire i2 e1 i3 e0 12
	wire i3 e1 i4 e0 13
	wire i4 e1 c e0 14
	loopback p fd99::1/128
	hosts p c
	for i in 1 2 4; do zebra "i$i"; done
}
proxy_in_p() { # [PNC]
	gateway_config p ospf3-proxy.json \
		"$(proxy e0 10.14.0.2/32 fd14::2/128 10.10.0.1/24 fd10::1/64 fd99::1/128)" "${1-}"
}
congestion_point_in_c() { # [PNC]
	gateway_config c ospf3-learner.json \
		"$(congestion_point e0 10.14.0.2/24 10.14.0.1 fd14::2/64 fd14::1)" "${1-}"
}
