# pnc-isis-net.sh - sourced by the IS-IS labs: links with IPv4 and IPv6, FRR's isisd, gateways.
. "$(dirname "$0")/lib.sh"
need ip jq vtysh /usr/lib/frr/isisd /usr/lib/frr/zebra
chmod 755 "$tmp"

# With $password all PDUs are authenticated.
interface() { # IF LEVEL
	cat <<END
interface $1
 ip router isis 1
 ipv6 router isis 1
 isis circuit-type $2
 isis network point-to-point
 isis hello-interval 1
 isis hello-multiplier 3
END
	[ -z "${password:-}" ] || echo " isis password md5 $password"
}
# Router iNUMBER with interfaces IF:LEVEL. isisd makes its first LSP when it reads the net, and the
# next one after what lsp-gen-interval was then.
isisd() { # NUMBER AREA LEVEL IF:LEVEL...
	r=i$1
	{
		echo "hostname $r"
		echo "router isis 1"
		echo " is-type $3"
		echo " lsp-gen-interval 1"
		echo " metric-style wide"
		echo " net $2.0000.0000.010$1.00"
		[ -z "${password:-}" ] || echo " domain-password md5 $password authenticate snp validate"
		shift 3
		for end; do interface "${end%:*}" "${end#*:}"; done
	} >"$tmp/$r/isisd.conf"
	frr "$r" isisd
}
isis() { # ROUTER COMMAND
	timeout 10 vtysh --vty_socket "$tmp/$1" -c "show isis $2"
}

leaf() { # GATEWAY SYSTEM AREA MORE-OF-ISIS MORE-OF-PNC
	cat >"$tmp/$1.json" <<END
{ "causeway:causeway": {
  "daemon": { "control-socket": "$tmp/$1.sock", "buffers": 1024 },
  "pnc": { $5
    "isis": { "enabled": true, "interface": "e0", "system-id": "$2", "area": "$3", $4
      "hostname": "gw-$1", "hello-interval": 1 } } } }
END
}
