# pnc-lib.sh - sourced by the labs of proxies and routing protocols: configurations of lab/pnc, ExaBGP, and
# a congestion point that uses what it has learnt.
: "${CW_SRC:=$(cd "$(dirname "$0")/.." && pwd)}"
. "$CW_SRC/lab/lib.sh"
chmod 755 "$tmp"

pnc=$CW_SRC/lab/pnc

# A file of lab/pnc as it stands in docs/routing.md, with what this lab adds to a gateway's: its socket,
# its buffers, MORE members of the top in front of `pnc`, and members of PNC that replace the file's.
gateway_config() { # NAME FILE [MORE [PNC]]
	jq --arg sock "$tmp/$1.sock" --argjson more "{ ${3-} }" --argjson pnc "{ ${4-} }" '."causeway:causeway" =
		{daemon: {"control-socket": $sock, buffers: 4096}} + $more + (."causeway:causeway" | .pnc *= $pnc)' \
		"$pnc/$2" >"$tmp/$1.json"
}

# The members of pnc in a FILE of lab/pnc about authentication; $tmp/key is the key file.
authentication() { # FILE
	jq -c '."causeway:causeway".pnc' "$pnc/$1" | sed "s/^{//; s/}\$//; s#/etc/causeway/pnc.key#$tmp/key#g"
}

# Replaces a prefix of the proxy, gateway p: 192.0.2.0/24 or 2001:db8:1::/48 stays.
exchange_prefix() { # PREFIX...
	jq '."causeway:causeway".pnc.prefix = $ARGS.positional' "$tmp/p.json" --args "$@" >"$tmp/p2.json"
	"$causeway" reload -s "$tmp/p.sock" "$tmp/p2.json" >/dev/null
}

# Kill, and wait until it is dead: its socket and its ports are then free.
slay() { # PID
	kill -9 "$1"
	wait "$1" 2>/dev/null
}

# ---- ExaBGP beside a gateway ----------------------------------------------------------------------

# lab/pnc/exabgp.conf with the addresses of this end, and the helper of gateway NAME.
exabgp_config() { # NAME LOCAL PEER
	sed "s#/usr/bin/causeway bgp-helper#$causeway bgp-helper -s $tmp/$1.sock#
		s/10\.11\.0\.1/@/g; s/10\.11\.0\.2/$3/g; s/@/$2/g" "$pnc/exabgp.conf" \
		>"$tmp/exa-$1.conf"
}

# Lines that are put at the end of FILE are commands of this ExaBGP.
exabgp_commands() { # NAME FILE
	: >"$2"
	sed -i 's/processes \[ causeway \]/processes [ causeway, commands ]/' "$tmp/exa-$1.conf"
	# It is told of updates as well, and ExaBGP waits for it to read them.
	printf '#!/bin/sh\ntail -n 0 -f --pid=$$ %s &\nexec cat >/dev/null\n' "$2" >"$2.run"
	chmod +x "$2.run"
	echo "process commands { run $2.run; encoder text; }" >>"$tmp/exa-$1.conf"
}

exabgp() { # NAME - $pid
	start "exa-$1" "$1" env exabgp.daemon.user=root exabgp.daemon.daemonize=false \
		exabgp.api.cli=false exabgp.log.destination="$tmp/exa-$1.log" exabgp "$tmp/exa-$1.conf"
}

# ---- A congestion point and its proxy --------------------------------------------------------------

# Both have a port `core` on interface CORE, with the addresses that the kernel has there, which is in the
# direction of the routers; and ports to namespace t. There 192.0.2.9 and 2001:db8:1::9 are the senders, at t2 behind
# the proxy, and 203.0.113.9 and fd88::9 the receivers, at t1. What they are to send comes by t0: only its way
# through the congestion point matters.
hosts() { # PROXY-SPACE CONGESTED-SPACE
	congested=$2
	space t
	cable t t0 "$2" h0
	cable t t1 "$2" h1
	cable t t2 "$1" h2
}

core_port() { # CORE ADDRESS/LEN...
	core=$1
	shift
	echo "\"forwarding\": { \"between-ethernet\": true }, \"port\": [
		{ \"name\": \"core\", \"kind\": \"ethernet\", \"device\": \"packet:$core\",
		  \"address\": [ $(printf '{ "address": "%s" } ' "$@" | sed 's/} {/}, {/g') ] },"
}

# Members of the top for gateway_config; messages leave towards ROUTER4 and ROUTER6.
congestion_point() { # CORE ADDRESS4/LEN ROUTER4 ADDRESS6/LEN ROUTER6
	core_port "$1" "$2" "$4"
	cat <<END
  { "name": "in", "kind": "ethernet", "device": "packet:h0",
    "address": [ { "address": "192.168.0.1/24" }, { "address": "fd77::1/64" } ] },
  { "name": "out", "kind": "ethernet", "device": "packet:h1",
    "address": [ { "address": "203.0.113.1/24" }, { "address": "fd88::1/64" } ],
    "role": "congestion-point",
    "congestion-point": { "rate": 4000, "buffer": 40000, "ecn": { "min": 4000, "max": 16000 },
      "detection": { "depth": 8000, "time": 1000 },
      "message": { "option": "option-1", "flow-interval": 5000 } } } ],
"neighbour": [
  { "port": "out", "ip": "203.0.113.9", "vid": 0, "mac": "$(mac t t1)" },
  { "port": "out", "ip": "fd88::9", "vid": 0, "mac": "$(mac t t1)" } ],
"route": [
  { "prefix": "203.0.113.0/24", "port": "out" },
  { "prefix": "fd88::/64", "port": "out" },
  { "prefix": "10.0.0.0/8", "port": "core", "next-hop": "$3" },
  { "prefix": "fd00::/8", "port": "core", "next-hop": "$5" } ]
END
}

# The same for the proxy, which hears messages from ALLOWED4 and ALLOWED6.
proxy() { # CORE ALLOWED4 ALLOWED6 ADDRESS/LEN...
	allowed4=$2 allowed6=$3
	at=$1
	shift 3
	core_port "$at" "$@"
	cat <<END
  { "name": "hosts", "kind": "ethernet", "device": "packet:h2",
    "address": [ { "address": "192.0.2.1/24" }, { "address": "2001:db8:1::1/64" } ] } ],
"neighbour": [
  { "port": "hosts", "ip": "192.0.2.9", "vid": 0, "mac": "$(mac t t2)" },
  { "port": "hosts", "ip": "2001:db8:1::9", "vid": 0, "mac": "$(mac t t2)" } ],
"route": [
  { "prefix": "192.0.2.0/24", "port": "hosts" }, { "prefix": "2001:db8:1::/64", "port": "hosts" } ],
"fast-cnp": {
  "proxy": { "enabled": true, "interface": [ "core" ], "allowed-source": [ "$allowed4", "$allowed6" ],
    "sender": [ { "prefix": "192.0.2.0/24", "kind": "cnp" },
      { "prefix": "2001:db8:1::/48", "kind": "cnp" } ] },
  "qpmap": { "static": [
    { "sender": "192.0.2.9", "receiver": "203.0.113.9", "destination-qp": 34, "source-qp": 17 },
    { "sender": "2001:db8:1::9", "receiver": "fd88::9", "destination-qp": 34, "source-qp": 17 } ] } }
END
}

# ok when congestion of a sender's packets makes the proxy, gateway p, send CNPs to that sender.
notifies() { # TEXT SENDER RECEIVER
	file=$tmp/cnp-$3.pcap
	inside t dumpcap -q -P -i t2 -f udp -w "$file" >"$tmp/dumpcap" 2>&1 &
	dumping=$!
	wait_for 30 dumpcap test -s "$file" || die "dumpcap does not start" "$tmp/dumpcap"
	attempts=8
	until notified "$2" "$3"; do
		attempts=$((attempts - 1))
		[ $attempts -gt 0 ] || break
	done
	end "$dumping"
	if [ $attempts -gt 0 ]; then
		ok "$1"
	else
		not_ok "$1" "$(show c congestion | jq -c .)" "$(show p notifications | jq -c .messages)" \
			"$(show c neighbours | jq -c .)" "$(show c drops | jq -c '[.drops[] | select(.packets > 0)]')"
	fi
}

notified() { # SENDER RECEIVER
	inside t timeout 30 /usr/bin/python3 "$CW_SRC/tests/system/cn.py" talk t0 "$(mac "$congested" h0)" \
		120 1000 "$1" "$2"
	/usr/bin/python3 "$CW_SRC/tests/system/cn.py" show "$file" |
		grep "^cnp $2 $1 dscp 48 qp 17 " >/dev/null
}
