# pnc-isis-net.sh - sourced by the IS-IS labs: FRR's isisd.
. "$(dirname "$0")/pnc-lib.sh"
need ip jq vtysh dumpcap /usr/lib/frr/isisd /usr/lib/frr/zebra

# Router iNUMBER with interfaces IF:LEVEL, each as that of lab/pnc/isisd.conf. With $password all PDUs
# are authenticated.
isisd() { # NUMBER AREA LEVEL IF:LEVEL...
	r=i$1
	{
		sed "/^interface/,\$d; s/i1/$r/; s/level-2-only/$3/; s/net .*/net $2.0000.0000.010$1.00/" \
			"$pnc/isisd.conf"
		shift 3
		for end; do
			sed -n "/^interface/,\$ { s/e0/${end%:*}/; s/level-2-only/${end#*:}/; p }" "$pnc/isisd.conf"
			[ -z "${password:-}" ] ||
				sed "s/e0/${end%:*}/; s/PASSWORD/$password/" "$pnc/isisd-hmac.conf"
		done
	} >"$tmp/$r/isisd.conf"
	frr "$r" isisd
}
isis() { # ROUTER COMMAND
	timeout 10 vtysh --vty_socket "$tmp/$1" -c "show isis $2"
}
