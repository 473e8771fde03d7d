# pnc-ospf3-net.sh - sourced by the OSPFv3 labs: FRR's ospf6d, BIRD, gateways.
. "$(dirname "$0")/lib.sh"
need ip jq vtysh bird /usr/lib/frr/ospf6d /usr/lib/frr/zebra
need bash
chmod 755 "$tmp"

leaf() { # GATEWAY ROUTER-ID MORE-OF-OSPF3 MORE-OF-PNC
	cat >"$tmp/$1.json" <<END
{ "causeway:causeway": {
  "daemon": { "control-socket": "$tmp/$1.sock", "buffers": 1024 },
  "pnc": { $4
    "ospf3": { "enabled": true, "interface": "e0", "router-id": "$2", $3
      "hello-interval": 1, "dead-interval": 4, "retransmit-interval": 1 } } } }
END
}

# With $password OSPFv3 is authenticated by $hash.
interface() { # IF AREA
	cat <<END
interface $1
 ipv6 ospf6 area $2
 ipv6 ospf6 network point-to-point
 ipv6 ospf6 hello-interval 1
 ipv6 ospf6 dead-interval 4
 ipv6 ospf6 retransmit-interval 1
END
	[ -z "${password:-}" ] ||
		echo " ipv6 ospf6 authentication key-id 7 hash-algo $hash key $password"
}
# Router iNUMBER with interfaces IF:AREA.
ospf6d() { # NUMBER IF:AREA...
	n=$1
	shift
	{
		for end; do interface "${end%:*}" "${end#*:}"; done
		echo "router ospf6"
		echo " ospf6 router-id 10.255.0.$n"
		echo " timers throttle spf 50 100 500"
	} >"$tmp/i$n/ospf6d.conf"
	frr "i$n" ospf6d
}
bird_router() { # NUMBER AREA:"IF", "IF"...
	n=$1
	shift
	mkdir -p "$tmp/i$n"
	{
		echo "router id 10.255.0.$n;"
		echo "protocol device { }"
		echo "protocol kernel { ipv6 { export all; }; }"
		echo "protocol ospf v3 { ipv6 { import all; };"
		for area; do
			echo "  area ${area%%:*} { interface ${area#*:} {"
			echo "    type ptp; hello 1; dead 4; retransmit 2; }; };"
		done
		echo "}"
	} >"$tmp/i$n/bird.conf"
	start "i$n-bird" "i$n" bird -f -c "$tmp/i$n/bird.conf" -s "$tmp/i$n/bird.ctl"
}
ospf6() { timeout 10 vtysh --vty_socket "$tmp/$1" -c "show ipv6 ospf6 $2"; } # ROUTER WHAT
