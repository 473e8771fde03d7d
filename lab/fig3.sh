#!/bin/sh
# fig3.sh [PACKETS] - draft-li-uboe-00, figure 3: two UB domains, a gateway at each, an Ethernet/IP
# network with a router between them that marks CE and decrements TTL; both ways, IPv4 and IPv6.
#
#   a ub0 - ub0 g1 eth0 - bridge left - router - bridge right - eth0 g2 ub0 - ub0 b
#
# The partitions of the UB domains travel as VLANs 5 and 9; the router has a leg in each. Nothing
# may be lost, and every packet must come as the rules of the draft say: `causeway sink` checks.
. "$(dirname "$0")/lib.sh"
packets=${1:-100000} full_rate=${RATE:-25000}
vlans="5 9"
need ip tc bridge ethtool taskset clang jq tshark dumpcap
. "$(dirname "$0")/fig3-net.sh"
fig3_up
for ip in 4 6; do
	fig3_warm_up $ip
	fig3_measure $ip "$packets"
	for end in b a; do
		fig3_verdict "IPv$ip, towards $end" "$end$ip" "$packets"
	done
	leg_checks "$ip" "$tmp/leg$ip.pcapng" '[59]'
done
no_drops g1
adds_up g1
no_drops g2
adds_up g2
check "the gateways resolved their next hops by ARP and neighbour discovery" neighbours_resolved
plan
