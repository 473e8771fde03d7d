# fig3-net.sh - sourced by fig3.sh, ubcopy.sh and demo.sh: the network of figure 3 (see there).

gateway_config() { # NAME OWN-PREFIX OTHER-PREFIX OWN6 OTHER6 ADDRESS ROUTER ADDRESS6 ROUTER6
	cat >"$tmp/$1.json" <<EOF
{ "causeway:causeway": {
  "daemon": { "control-socket": "$tmp/$1.sock", "buffers": 16384 },
  "port": [
    { "name": "ub", "kind": "ub", "device": "packet:ub0", "mtu": 9216 },
    { "name": "eth", "kind": "ethernet", "device": "packet:eth0", "mtu": 9216,
      "address": [ { "address": "$6/24" }, { "address": "$8/64" } ] }
  ],
  "route": [
    { "prefix": "$2", "port": "ub" },
    { "prefix": "$4", "port": "ub" },
    { "prefix": "$3", "port": "eth", "next-hop": "$7" },
    { "prefix": "$5", "port": "eth", "next-hop": "$9" }
  ]
} }
EOF
}

# The router: a leg on either side in each VLAN, each VLAN with a routing table of its own.
router_up() {
	in=$(ns r)
	inside r sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 \
		net.ipv4.conf.default.rp_filter=0 net.ipv6.conf.all.disable_ipv6=0 \
		net.ipv6.conf.all.forwarding=1
	for v in $vlans; do
		for side in l r; do
			leg=$side$v
			inside r sysctl -qw "net.ipv6.conf.$leg.disable_ipv6=0" \
				"net.ipv6.conf.$leg.forwarding=1" "net.ipv4.conf.$leg.rp_filter=0"
			[ $side = l ] && net=10 || net=20
			ip -n "$in" addr add "10.$net.0.254/24" dev $leg
			ip -n "$in" -6 addr add "2001:db8:$net::fe/64" dev $leg nodad
			ip -n "$in" rule add iif $leg lookup "1$v" priority "1$v"
			ip -n "$in" -6 rule add iif $leg lookup "1$v" priority "1$v"
		done
		ip -n "$in" route add 10.1.0.0/16 via 10.10.0.1 dev "l$v" table "1$v"
		ip -n "$in" route add 10.2.0.0/16 via 10.20.0.1 dev "r$v" table "1$v"
		ip -n "$in" -6 route add 2001:db8:1::/48 via 2001:db8:10::1 dev "l$v" table "1$v"
		ip -n "$in" -6 route add 2001:db8:2::/48 via 2001:db8:20::1 dev "r$v" table "1$v"
		# A neighbour's answer is local traffic, whatever the rules for transit say.
		mark_ce r "l$v"
		mark_ce r "r$v"
	done
}

fig3_up() {
	space a g1 left r right g2 b
	cable a ub0 g1 ub0
	cable g1 eth0 left g1
	cable right g2 g2 eth0
	cable g2 ub0 b ub0
	legs_left='' legs_right=''
	for v in $vlans; do
		cable left "r$v" r "l$v"
		cable right "r$v" r "r$v"
		access_port left "r$v" "$v"
		access_port right "r$v" "$v"
		legs_left="$legs_left r$v" legs_right="$legs_right r$v"
	done
	bridge left br0 g1 $legs_left
	bridge right br0 g2 $legs_right
	router_up
	gateway_config g1 10.1.0.0/16 10.2.0.0/16 2001:db8:1::/48 2001:db8:2::/48 \
		10.10.0.1 10.10.0.254 2001:db8:10::1 2001:db8:10::fe
	gateway_config g2 10.2.0.0/16 10.1.0.0/16 2001:db8:2::/48 2001:db8:1::/48 \
		10.20.0.1 10.20.0.254 2001:db8:20::1 2001:db8:20::fe
	cpu=0 gateway g1 g1
	cpu=1 gateway g2 g2
	cpu=
}

# Traffic of every size, mark, priority, routing type, and of both VLANs (28681 is 0x7009: VLAN 9).
fig3_gen() { # NAME FROM IP PACKETS
	case $2$3 in
	a4) ends="--src 10.1.0.1+16 --dst 10.2.0.1+16" ;;
	b4) ends="--src 10.2.0.1+16 --dst 10.1.0.1+16" ;;
	a6) ends="--src 2001:db8:1::1+16 --dst 2001:db8:2::1+16" ;;
	b6) ends="--src 2001:db8:2::1+16 --dst 2001:db8:1::1+16" ;;
	esac
	[ "$2" = a ] && cpu=0 || cpu=1
	start "$1" "$2" "$causeway" gen -j --to ub "-$3" -i ub0 --count "$4" --rate "$rate" \
		--flows 64 --sport 49152+64 $ends --size 64:8,512:4,1400:2,4096:1,8192:1 \
		--fecn 10:70,00:5,01:10,01L:5,11:5,11L:5 --npi 5:6,5/low:2,28681:2 --dscp 0,10,26,46 \
		--rt 0,1,2,3 --transport rtp:9,utp:1 --op send,send-imm,write,write-notify,read-response
	echo "$pid" >"$tmp/$1.pid"
	cpu=
}

# A first trickle each way, so that the router and both gateways know their neighbours in each VLAN:
# a Linux router holds few packets for a neighbour that it is still asking for.
fig3_warm_up() { # IP
	for end in a b; do sink "warm$end$1" $end -i ub0 --gateways 2 --hops any --idle 2 --allow-reorder \
		--marked maybe; done
	rate=200
	fig3_gen "warmab$1" a "$1" 100
	fig3_gen "warmba$1" b "$1" 100
	rate=${full_rate:-}
	for end in a b; do wait "$(cat "$tmp/warm$end$1.sinkpid")"; done
}

# Both ways at once. Flows with odd source ports are marked by the router, if they can be. A sample of
# the Ethernet leg is captured.
fig3_measure() { # IP PACKETS
	rate=$full_rate
	for try in 1 2 3 4; do
		before=$(overruns g1 g2)
		for end in b a; do
			sink "$end$1" $end -i ub0 --gateways 2 --hops 3 --marked sport:1/1 --expect-npi low12
		done
		start "cap$1" left dumpcap -q -i g1 -c 4000 -w "$tmp/leg$1.pcapng"
		wait_for 10 dumpcap test -s "$tmp/leg$1.pcapng" ||
			die "dumpcap does not start" "$tmp/cap$1.err"
		fig3_gen "ab$1" a "$1" "$2"
		fig3_gen "ba$1" b "$1" "$2"
		for way in ab ba; do
			wait "$(cat "$tmp/$way$1.pid")" || die "gen $way fails" "$tmp/$way$1.err"
		done
		for end in b a; do wait "$(cat "$tmp/$end$1.sinkpid")"; done
		busy "$try" "$before" g1 g2 -- "$tmp/a$1.out" "$tmp/b$1.out" || return 0
	done
}

fig3_verdict() { # WHAT NAME PACKETS
	verdict "$@"
	# Markable packets of odd ports came as severe congestion, those of even ports did not.
	check "$1: the router's marks arrived, and only they" jq -e \
		'[.runs[0].cc[] | select(.sent == "10") | .received] | sort == ["10", "11"]' "$tmp/$2.out"
}

neighbours_resolved() {
	for g in g1 g2; do
		show $g neighbours | jq -e '[.. | objects | select(.mac? != null)] | length >= 4' || return 1
	done
}

# ---- A file from a to b --------------------------------------------------------------------------

# The ends agree over a cable of their own: a UB link carries no TCP of the kernel.
fig3_file() { # MIB
	cable a mgmt b mgmt
	ip -n "$(ns a)" addr add 192.0.2.1/24 dev mgmt
	ip -n "$(ns b)" addr add 192.0.2.2/24 dev mgmt
	mkdir "$tmp/in"
	head -c "${1}M" /dev/urandom >"$tmp/file" || die "no room for a file of $1 MiB in $tmp"
}

# Four channels with a source port each; the router marks those with an odd one. The report is
# $tmp/ipIP.json; what the sender says goes to standard error.
fig3_copy() { # IP [SECONDS]
	[ "$1" = 4 ] && from=10.1.0.1 to=10.2.0.1 || from=2001:db8:1::1 to=2001:db8:2::1
	start "in$1" b "$causeway" copy -s --into "$tmp/in" --native -i ub0 -a "$to" --npi 5
	receiver=$pid
	wait_for 10 receiver inside b grep -q ':12B7 .* 0A ' /proc/net/tcp6 ||
		die "the receiver does not listen" "$tmp/in$1.err"
	inside a timeout "${2:-200}" "$causeway" copy -j --native -i ub0 -a "$from" --npi 5 --cc dcqcn \
		--line-rate 500 --channels 4 --window 128 "$tmp/file" "192.0.2.2:ip$1" >"$tmp/ip$1.json" &&
		wait "$receiver"
}
