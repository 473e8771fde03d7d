#!/bin/sh
# ipoib-hosts.sh - two gateways as IPoIB hosts of a link whose subnet administration is the real
# OpenSM, on ibsim: one asks it by ibsim's own protocol, the other by libibumad, as at a real adapter
# (below which umad2sim is ibsim). (A restart of OpenSM is in ipoib-opensm.sh: beside nodes that get reports, which
# look like standby subnet managers, a new one does not become master.)
. "$(dirname "$0")/lib.sh"
need ibsim opensm
. "$(dirname "$0")/opensm-lib.sh"

# Both hosts are in the simulator's namespace; they talk over a veth pair.
space ib
inside ib sysctl -qw net.ipv6.conf.default.disable_ipv6=0
ip -n "$(ns ib)" link add v0 mtu 4200 type veth peer name v1 mtu 4200
ip -n "$(ns ib)" link set v0 up
ip -n "$(ns ib)" link set v1 up
cd "$tmp" || exit 1

host() { # NAME IF GUID LID SA [COMMAND...]
	id=$1 if=$2 guid=$3 lid=$4 sa=$5
	shift 5
	cat >"$tmp/$id.json" <<JSON
{"causeway:causeway": {
  "daemon": {"buffers": 1024},
  "hca": [{"name": "hca0", "carrier": "ethernet:$if", "guid": "0x00000000001000$guid", "lid": $lid, "sm-lid": 1,
    "sa": $sa}],
  "port": [{"name": "$id", "kind": "ipoib", "device": "ib:hca0.8001", "ipoib": {"refresh-time": 2},
    "address": [{"address": "10.77.$lid.1/24"}]}]
}}
JSON
	start "$id" ib "$@" "$causewayd" -c "$tmp/$id.json" -s "$tmp/$id.sock"
}
asks() { # TEXT NAME TOPIC JQ
	text=$1 of=$2 topic=$3 want=$4
	if wait_for 40 "$text" sh -c "'$causeway' ipoib show '$topic' -j -s '$tmp/$of.sock' | jq -e '$want'"; then
		ok "$text"
	else
		not_ok "$text" "$("$causeway" ipoib show "$topic" -j -s "$tmp/$of.sock" 2>&1)" "$(tail -5 "$tmp/$of.err")"
	fi
}

start_ibsim ib
start_opensm ib
host iba v0 04 3 "\"ibsim\", \"sa-device\": \"$sim/Hca2\""
host ibb v1 07 4 '"umad", "sa-device": "ibsim0/1"' env SIM_HOST=Hca3 LD_PRELOAD="$so"
for h in iba ibb; do
	asks "$h: the link has the parameters of OpenSM's partition" $h links \
		'.links[0] | .state == "up" and .qkey == "0x80010b1b" and .mtu == 2044 and .mlid == "0xc001"'
	asks "$h: the kernel's groups are joined in OpenSM" $h groups \
		'[.groups[] | select(.ip == "224.0.0.1" and .state == "joined" and .member == "full")] | length == 1'
done
note "groups of iba: $("$causeway" ipoib show groups -j -s "$tmp/iba.sock" | jq -c '[.groups[] | {mgid, mlid, state}]')"
plan
