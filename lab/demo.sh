#!/bin/sh
# demo.sh [MIB [SVG]] - Causeway in one minute: a file of MIB (1024) MiB from one UB domain to another
# across an ordinary IP network (figure 3 of draft-li-uboe-00); its rate over time goes to SVG.
. "$(dirname "$0")/lib.sh"
mib=${1:-1024} svg=${2:-demo.svg} begun=$(date +%s)
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
die() {
	printf '%sThe demo stopped: %s%s\n' "$red" "$1" "$plain"
	[ $# -lt 2 ] || sed 's/^/   /' "$2"
	exit 1
}

missing ip tc bridge ethtool clang jq python3 cmp >"$tmp/missing"
if [ -s "$tmp/missing" ]; then
	echo "The demo builds a small network on this machine. It can't, because this is missing:"
	sed 's/^/   - /' "$tmp/missing"
	exit 2
fi

# One line for each counter that is not zero at one of the ends.
ends_table() { # REPORT
	printf '   %-58s %12s %12s\n' "endpoint counter" "a, sender" "b, receiver"
	jq -r '.local.counters as $a | .remote.counters as $b |
		["tx-data", "packets of data, sent for the first time"],
		["rtx", "packets of data, sent again"],
		["rto", "timeouts"],
		["tx-ack", "TPACK sent"],
		["tx-sack", "TPSACK sent"],
		["taack", "TAACK sent"],
		["ce", "packets that came with a congestion mark"],
		["tx-cnp", "congestion notifications (CNP) sent"],
		["rx-cnp", "congestion notifications (CNP) received"],
		["cut", "times the sender slowed down"],
		["rx-dup", "packets that came twice"],
		["bad-icrc", "packets with a wrong ICRC"] |
		[.[1], ($a[.[0]] // 0), ($b[.[0]] // 0)] | @tsv' "$1" |
		while IFS="$(printf '\t')" read -r what a b; do
			printf '   %-58s %12s %12s\n' "$what" "$a" "$b"
		done
}

gateways_table() {
	printf '   %-8s %-6s %12s %12s %10s  %s\n' gateway port received sent dropped "events (counted, packet goes on)"
	for g in g1 g2; do
		show $g counters | jq -r --arg g $g '.ports[] | [$g, .port, .rx_packets, .tx_packets,
			(.dropped - (.drops["not-for-us"] // 0)),
			(.notes | to_entries | map("\(.key) \(.value)") | join(", "))] | @tsv' |
			while IFS="$(printf '\t')" read -r gw port rx tx dropped events; do
				printf '   %-8s %-6s %12s %12s %10s  %s\n' "$gw" "$port" "$rx" "$tx" "$dropped" "$events"
			done
	done
}

cat <<END
${bold}Causeway: UnifiedBus across Ethernet, draft-li-uboe-00 figure 3${plain}

   UB domain A          Ethernet/IP network           UB domain B
   +---+    +----+   +--------+ +--------+ +--------+   +----+    +---+
   | a |----| g1 |---| bridge |-| router |-| bridge |---| g2 |----| b |
   +---+    +----+   +--------+ +--------+ +--------+   +----+    +---+
         UB       UBoE in VLAN 5                     UBoE       UB

   a and b are software UB endpoints that speak native UB, g1 and g2 are Causeway gateways,
   bridges and router are this machine's Linux kernel. All of it lives in network namespaces.
END
step "1. Build the network, start both gateways, make a file of $mib MiB"
fig3_up
fig3_warm_up 4
fig3_file "$mib"
say "UB partition 5 becomes VLAN 5 (draft 5.3); the gateways find the router by ARP." \
	"The router is congested: it marks every packet of every second channel with CE."

step "2. Copy the file from a to b: causeway copy FILE b:"
say "Sends of 256 KiB over RTP: four channels, selective retransmission, DCQCN." \
	"CE reaches b as FECN (draft 5.2.1); b sends CNPs, and a slows these channels down."
fig3_copy 4 900 || die "the copy failed" "$tmp/in4.err"
ok "$(jq -r '"\(.octets) octets in \(.seconds * 10 | round / 10) s, " +
	"\(.gbit_per_second * 1000 | round) Mbit/s"' "$tmp/ip4.json")"
if cmp "$tmp/file" "$tmp/in/ip4"; then
	ok "intact: SHA-256 $(jq -r '.sha256[:32]' "$tmp/ip4.json")... at both ends"
else
	not_ok "the copy differs"
fi
check "the router's marks arrived, and the sender heard of them" jq -e \
	'.remote.counters.ce > 0 and .local.counters["rx-cnp"] > 0' "$tmp/ip4.json"

step "3. What was counted"
ends_table "$tmp/ip4.json"
echo
gateways_table
echo
for g in g1 g2; do
	no_drops $g
	adds_up $g
done

step "4. The rate over time"
python3 "$CW_SRC/lab/plot.py" --tall "$svg" "a to b=$tmp/ip4.json" | sed 's/^/   /'
say "" "as SVG: $svg"

echo
if [ "$failed" = 0 ]; then
	printf '%s%sIt works:%s %d MiB crossed two gateways and a router that marks congestion, intact (%d s).\n' \
		"$bold" "$green" "$plain" "$mib" $(($(date +%s) - begun))
	exit 0
fi
printf '%s%sIt does not work here:%s %d checks failed, see above.\n' "$bold" "$red" "$plain" "$failed"
exit 1
