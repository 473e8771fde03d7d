#!/bin/sh
# fig2-ends.sh [MIB] - draft-li-uboe-00, figure 2, with real endpoints: a native UB end behind one gateway
# and a UBoE endpoint on Ethernet. Both directions, IPv4 and IPv6: a file of MIB (16) by causeway copy.
#
#   a ub0 - ub0 g1 eth0 - bridge - eth0 e      partition 5 is VLAN 5; e's port is an access port of it
#
# The ends agree over a cable of their own: a UB link carries no TCP of the kernel.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fig2-net.sh"
mib=${1:-16}
vlans=5
need ip tc bridge ethtool clang jq cmp
net
cable a mgmt e mgmt
access_port sw e 5
ip -n "$(ns a)" addr add 192.0.2.1/24 dev mgmt
ip -n "$(ns e)" addr add 192.0.2.2/24 dev mgmt
inside e sysctl -qw net.ipv6.conf.eth0.disable_ipv6=0
ip -n "$(ns e)" addr add 10.2.0.1/24 dev eth0
ip -n "$(ns e)" -6 addr add 2001:db8:2::1/64 dev eth0 nodad
# The gateway answers no ARP for UB's addresses: it is the next hop.
ip -n "$(ns e)" neigh add 10.2.0.254 lladdr "$(mac g1 eth0)" dev eth0
ip -n "$(ns e)" -6 neigh add 2001:db8:2::fe lladdr "$(mac g1 eth0)" dev eth0
ip -n "$(ns e)" route add 10.1.0.0/16 via 10.2.0.254
ip -n "$(ns e)" -6 route add 2001:db8:1::/48 via 2001:db8:2::fe
config
gateway g1 g1
head -c "${mib}M" /dev/urandom >"$tmp/file"
mkdir "$tmp/in"

options() { # END - of the native end, and of the one on Ethernet
	if [ "$1" = a ]; then echo "--native -i ub0 -a $ub --npi 5"; else echo "-i eth0 -a $uboe"; fi
}
# shellcheck disable=SC2046 # options are several words
copy() { # FROM TO HOST NAME
	start "in$4" "$2" "$causeway" copy -s --into "$tmp/in" $(options "$2")
	receiver=$pid
	wait_for 20 receiver inside "$2" grep -q ':12B7 .* 0A ' /proc/net/tcp6 ||
		die "the receiver does not listen" "$tmp/in$4.err"
	inside "$1" timeout 100 "$causeway" copy -j $(options "$1") "$tmp/file" "$3:$4" >"$tmp/$4.json" &&
		wait "$receiver"
}
for ip in 4 6; do
	[ $ip = 4 ] && ub=10.1.0.1 uboe=10.2.0.1 || ub=2001:db8:1::1 uboe=2001:db8:2::1
	check "IPv$ip: a file of $mib MiB goes from the UB end to the UBoE end" copy a e 192.0.2.2 "out$ip"
	check "IPv$ip: and one the other way" copy e a 192.0.2.1 "back$ip"
	for way in out back; do
		check "IPv$ip, $way: it is intact, and every ICRC was right" sh -c "
			cmp '$tmp/file' '$tmp/in/$way$ip' && jq -e '.local.counters[\"bad-icrc\"] == null and
			.remote.counters[\"bad-icrc\"] == null' '$tmp/$way$ip.json'"
		note "$(jq -r '"\(.gbit_per_second * 1000 | round) Mbit/s, \(.local.counters.rtx // 0) sent again"' \
			"$tmp/$way$ip.json")"
	done
done
no_drops g1
adds_up g1
plan
