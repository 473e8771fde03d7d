#!/bin/sh
# ubcopy.sh [MIB [SVG]] - a file of MIB (64) goes from a native UB end through two gateways and a router
# that marks CE to another native UB end, intact: figure 3 of draft-li-uboe-00 with real endpoints.
#
#   a ub0 - ub0 g1 eth0 - bridge left - router - bridge right - eth0 g2 ub0 - ub0 b
#
# Four channels with a source port each; the router marks those with an odd one.
# The ends agree over a cable of their own (a UB link carries no TCP of the kernel). At the end: the
# counters, and the rate over time on the terminal and in SVG.
. "$(dirname "$0")/lib.sh"
mib=${1:-64} svg=${2:-$tmp/rate.svg}
vlans="5 9"
need ip tc bridge ethtool clang jq python3 sha256sum
. "$(dirname "$0")/fig3-net.sh"
fig3_up
fig3_file "$mib"
for ip in 4 6; do
	fig3_warm_up $ip
	check "IPv$ip: a file of $mib MiB goes from UB end to UB end" fig3_copy $ip
	check "IPv$ip: it is intact" cmp "$tmp/file" "$tmp/in/ip$ip"
	check "IPv$ip: the router's marks arrived as FECN, and the sender heard of them" jq -e \
		'.remote.counters.ce > 0 and .local.counters["rx-cnp"] > 0 and .local.counters.cut > 0' \
		"$tmp/ip$ip.json"
	check "IPv$ip: every ICRC was right" jq -e \
		'.local.counters["bad-icrc"] == null and .remote.counters["bad-icrc"] == null' "$tmp/ip$ip.json"
	note "$(jq -r '"\(.seconds * 1000 | round) ms, \(.gbit_per_second * 1000 | round) Mbit/s; " +
		"sent again \(.local.counters.rtx // 0), marked \(.remote.counters.ce // 0), " +
		"CNP \(.local.counters["rx-cnp"] // 0), cuts \(.local.counters.cut // 0)"' "$tmp/ip$ip.json")"
done
no_drops g1
no_drops g2
check "the rate over time is drawn" python3 "$CW_SRC/lab/plot.py" "$svg" \
	"IPv4=$tmp/ip4.json" "IPv6=$tmp/ip6.json"
sed 's/^/# /' "$tmp/check"
plan
