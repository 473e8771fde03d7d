#!/bin/sh
# ipoib-guest-opensm.sh - a link whose subnet administration is the real OpenSM, in band: Linux's own ib_ipoib in
# a guest and a gateway in host mode both ask it over queue pair 1. OpenSM runs on ibsim; tests/ipoib_bridge
# carries MADs between the link and the simulator's nodes of the same LIDs and GUIDs.
#
#   guest a: ib0 - cw_hca - eth0 - a0 \
#                                      bridge fabric: gateway ib0 | s0 - s1 ipoib_bridge - ibsim - OpenSM
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/guest.sh"
guest_need ip jq python3 ibsim opensm dumpcap tshark
. "$(dirname "$0")/opensm-lib.sh"
guest_modules="virtio_net ib_ipoib"
guest_module "$CW_SRC/lab/guest/cw_hca"
. "$(dirname "$0")/ipoib-guest-lib.sh"

space net
bridge net fabric
inside net sysctl -qw net.ipv6.conf.default.disable_ipv6=0
cd "$tmp" || exit 1
start_ibsim net
start_opensm net
# On an interface of its own: packet sockets of one interface don't hear each other.
ip -n "$(ns net)" link add s0 mtu 9600 type veth peer name s1 mtu 9600
ip -n "$(ns net)" link set s0 master fabric up
ip -n "$(ns net)" link set s1 up
start bridge net "$CW_BUILD/tests/ipoib_bridge" s1 "$sim" 3=Hca2 4=Hca3
bridge=$pid
wait_for 20 bridge grep -q bridging "$tmp/bridge.out" || die "the bridge does not start" "$tmp/bridge.err"
start dump net dumpcap -q -i fabric -f 'ether proto 0x88b5' -P -w "$tmp/ib.pcap"
dump=$pid

cat >"$tmp/gw.json" <<'JSON'
{"causeway:causeway": {
  "daemon": {"buffers": 1024},
  "hca": [{"name": "hca0", "carrier": "ethernet:fabric", "guid": "0x0000000000100007", "lid": 4, "sm-lid": 1,
    "sa": "in-band"}],
  "port": [{"name": "ib0", "kind": "ipoib", "device": "ib:hca0.8001", "ipoib": {"refresh-time": 2},
    "address": [{"address": "10.77.1.4/24"}, {"address": "fd00:77:1::4/64"}]}]
}}
JSON
serve
asks "the gateway's parameters are those of OpenSM's partition" links \
	'.links[0] | .qkey == "0x80010b1b" and .mtu == 2044 and .mlid == "0xc001" and .controlled'
boot a 04 3 0x48 0x8001,0xffff
joined a ib0
pings a 10.77.1.4 56 2016 3000
pings net 10.77.1.3 56 2016 3000
pings a fd00:77:1::4 56
pings net fd00:77:1::3 3000
asks "the path to the guest is OpenSM's" paths '.paths[] | select(.dlid == 3) | .state == "valid"'
check "TCP, 2 MB from the guest" bulk net 10.77.1.4 a 2
check "multicast 239.1.2.3 to the guest" mcast a ib0 239.1.2.3 net ib0
check "multicast 239.9.9.9 from the guest" mcast net ib0 239.9.9.9 a ib0
check "multicast ff05::77 to the guest" mcast a ib0 ff05::77 net ib0
asks "traps come in band" counters '[.counters[] | select(.of == "ib0" and .counter == "reports")][0].value > 0'
asks "the gateway's own group is in OpenSM" groups '[.groups[] | select(.ip == "224.0.0.1" and .member == "full")] | length == 1'
kill -INT "$dump"
wait "$dump"
check "every field of the link's packets is as tshark reads it" /usr/bin/python3 \
	"$CW_SRC/tests/tools/ipoib_oracle.py" "$causeway" compare "$tmp/ib.pcap" "$tmp"
leave a
# Asked first: without the simulator neither ends soon.
end "$bridge"
end "$opensm"
plan
