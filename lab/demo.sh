#!/bin/sh
# demo.sh - Causeway in one minute: two UB domains talk across an ordinary IP network.
. "$(dirname "$0")/lib.sh"
packets=${1:-20000} full_rate=${RATE:-20000}
vlans="5 9"
. "$(dirname "$0")/fig3-net.sh"

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
	bold=$(printf '\033[1m') green=$(printf '\033[32m') red=$(printf '\033[31m') plain=$(printf '\033[0m')
else
	bold='' green='' red='' plain=''
fi
step() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
say() { printf '   %s\n' "$@"; }

# A demo speaks to people: what tests print as TAP is told in words here.
ok() { printf '   %sok%s      %s\n' "$green" "$plain" "$1"; }
not_ok() {
	failed=$((failed + 1))
	printf '   %sFAILED%s  %s\n' "$red" "$plain" "$1"
	shift
	for why; do printf '%s\n' "$why" | sed 's/^/           /'; done
}
note() { printf '           %s\n' "$*"; }
die() {
	printf '%sThe demo stopped: %s%s\n' "$red" "$1" "$plain"
	[ $# -lt 2 ] || sed 's/^/   /' "$2"
	exit 1
}

missing ip tc bridge ethtool taskset clang jq tshark dumpcap >"$tmp/missing"
if [ -s "$tmp/missing" ]; then
	echo "The demo builds a small network on this machine. It can't, because this is missing:"
	sed 's/^/   - /' "$tmp/missing"
	exit 2
fi

cat <<EOF
${bold}Causeway: UnifiedBus across Ethernet, draft-li-uboe-00 figure 3${plain}

   UB domain A          Ethernet/IP network           UB domain B
   +---+    +----+   +--------+ +--------+ +--------+   +----+    +---+
   | a |----| g1 |---| bridge |-| router |-| bridge |---| g2 |----| b |
   +---+    +----+   +--------+ +--------+ +--------+   +----+    +---+
         UB       UBoE in VLANs 5 and 9              UBoE       UB

   a and b send and check packets, g1 and g2 are Causeway gateways (causewayd), bridges and
   router are this machine's Linux kernel. All of it lives in network namespaces.
EOF
step "1. Build the network and start both gateways"
fig3_up
say "Partition 5 becomes VLAN 5, partition 0x7009 VLAN 9 (the low 12 bits, draft 5.3)." \
	"The gateways find the router by ARP and neighbour discovery, in each VLAN." \
	"The router is congested: it marks every ECN-capable packet of every second flow."
for ip in 4 6; do
	[ $ip = 4 ] && number=2 || number=3
	step "$number. IPv$ip: $packets packets each way, 64 octets to 8 KB of payload"
	fig3_warm_up $ip
	fig3_measure $ip "$packets"
	for end in b a; do
		fig3_verdict "towards $end" "$end$ip" "$packets"
	done
	leg_checks $ip "$tmp/leg$ip.pcapng" '[59]'
done
echo
say "FECN is UB's congestion mark: 10 can be marked, 01 light, 11 severe, 00 can't be marked." \
	"It crosses as ECN (draft 5.2.1): the router's CE mark arrives as FECN 11." \
	"One packet in the middle, as the Ethernet sees it:"
"$causeway" decode --count 1 --filter 'family=uboe' "$tmp/leg6.pcapng" 2>/dev/null |
	grep -E '^  [A-Z]' | sed 's/^/        /'

step "4. What the gateways counted"
printf '   %-8s %-6s %12s %12s %10s  %s\n' gateway port received sent dropped "events (counted, packet goes on)"
for g in g1 g2; do
	show $g counters | jq -r --arg g $g '.ports[] | [$g, .port, .rx_packets, .tx_packets,
		(.dropped - (.drops["not-for-us"] // 0)),
		(.notes | to_entries | map("\(.key) \(.value)") | join(", "))] | @tsv' |
		while IFS="$(printf '\t')" read -r gw port rx tx dropped events; do
			printf '   %-8s %-6s %12s %12s %10s  %s\n' "$gw" "$port" "$rx" "$tx" "$dropped" "$events"
		done
done
no_drops g1
adds_up g1
no_drops g2
adds_up g2

echo
if [ "$failed" = 0 ]; then
	total=$((4 * packets))
	printf '%s%sIt works:%s %d packets crossed two gateways and a router; none was lost, every ICRC held,\n' \
		"$bold" "$green" "$plain" "$total"
	printf 'and nothing changed but what the draft says.\n'
	exit 0
fi
printf '%s%sIt does not work here:%s %d checks failed, see above.\n' "$bold" "$red" "$plain" "$failed"
exit 1
