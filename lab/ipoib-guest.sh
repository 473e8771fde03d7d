#!/bin/sh
# ipoib-guest.sh - Linux's own ib_ipoib in a guest, over the adapter lab/guest/cw_hca, on a link with a
# gateway that is its subnet administration too.
#
#   guest a: ib0 - cw_hca - eth0 - a0: gateway in host mode: ib0
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/guest.sh"
guest_need ip jq python3
tests=$(realpath "$CW_SRC")/tests/system
guest_modules="virtio_net ib_ipoib"
guest_module "$CW_SRC/lab/guest/cw_hca"

space net
inside net sysctl -qw net.ipv6.conf.default.disable_ipv6=0

# The adapter of a guest and its interface ib0, which has P_Key 0x8001.
boot() { # NAME GUID LID QPN
	guest "$1" net "tap:${1}0" sh "$guest_obey"
	guest_do "$1" 120 sh -ec "
		sysctl -qw net.ipv6.conf.eth0.disable_ipv6=1
		ip link set eth0 up
		insmod /share/cw_hca.ko guid=0x1000$2 lid=$3 qpn=$4 pkeys=0x8001,0x8002,0xffff
		ip link set ib0 up
		ip addr add 10.77.1.$3/24 dev ib0
		ip addr add fd00:77:1::$3/64 dev ib0 nodad" >"$tmp/boot" ||
		die "guest $1 has no ib0" "$tmp/boot"
}
inside net ip tuntap add a0 mode tap
inside net sysctl -qw net.ipv6.conf.a0.disable_ipv6=1
inside net ip link set a0 mtu 9600 up
boot a 04 3 0x48
cat >"$tmp/gw.json" <<'JSON'
{"causeway:causeway": {
  "daemon": {"buffers": 1024},
  "hca": [{"name": "hca0", "carrier": "ethernet:a0", "guid": "0x0000000000100001", "lid": 1, "sm-lid": 1,
    "sa": "built-in", "partition": [{"pkey": "0x8001"}, {"pkey": "0x8002", "qkey": "0x80020b1b"}]}],
  "port": [{"name": "ib0", "kind": "ipoib", "device": "ib:hca0.8001",
    "address": [{"address": "10.77.1.1/24"}, {"address": "fd00:77:1::1/64"}]}]
}}
JSON
start gw net "$causewayd" -c "$tmp/gw.json" -s "$tmp/gw.sock"
ask() { # TOPIC JQ
	"$causeway" ipoib show "$1" -j -s "$tmp/gw.sock" >"$tmp/ask" && jq -e "$2" "$tmp/ask" >/dev/null
}
asks() { # TEXT TOPIC JQ
	text=$1
	shift
	if wait_for 60 "$text" ask "$@"; then ok "$text"; else not_ok "$text" "$*" "$(cat "$tmp/ask")" "$(tail -5 "$tmp/gw.err")"; fi
}
asks "the gateway's link is up" links '.links[0].state == "up"'
check "ib0 of Linux has joined the broadcast group" guest_do a 60 sh -c \
	'until [ "$(cat /sys/class/net/ib0/carrier)" = 1 ]; do sleep 0.2; done'
for size in 56 2000 2016 3000 20000; do
	check "guest to gateway, $size octets" guest_do a 30 python3 "$tests/ping.py" 10.77.1.1 3 $size
	check "gateway to guest, $size octets" timeout 30 ip netns exec "$(ns net)" python3 "$tests/ping.py" 10.77.1.3 3 $size
	check "guest to gateway, IPv6, $size octets" guest_do a 30 python3 "$tests/ping.py" fd00:77:1::1 3 $size
	check "gateway to guest, IPv6, $size octets" timeout 30 ip netns exec "$(ns net)" python3 "$tests/ping.py" fd00:77:1::3 3 $size
done
plan
