# uet-paths-net.sh - sourced behind lib.sh: a sender and a receiver with several paths between them.
# shellcheck shell=sh
#
#              p0 (namespace, relay)
#   s  --------  ...  -------- r         s: 10.91.0.1, fd91::1   r: 10.91.0.2, fd91::2
#              p7
#
# The kernel here may have no netem, so a path is a namespace with a small relay of ours in it
# (tests/tools/relay.c) that delays, loses and limits what passes. UDP goes by path k when its source
# port there, destination port back, is $entropy + k; other protocols (TCP, and UDP from other ports)
# have an address pair of their own for each path: 10.92.K.1 and 10.92.K.2.
: "${entropy:=40000}"
relay=$CW_BUILD/tests/relay
npaths=0
relays= # process numbers, in order of the paths

rules() { # SPACE IF PATH IPPROTO-SELECTOR MAC ADDRESS4 ADDRESS6 OWN4 PEER4
	n=$(ns "$1") t=$((100 + $3)) port=$((entropy + $3))
	own4=10.91.0.$([ "$1" = s ] && echo 1 || echo 2)
	own6=fd91::${own4##*.}
	for v in 4 6; do
		ip -n "$n" -$v rule add "$4" $port ipproto udp lookup $t pref $t || die "no rules by port"
	done
	ip -n "$n" addr add "$8/32" dev "$2"
	ip -n "$n" route add "$6/32" dev "$2" src "$own4" table $t
	ip -n "$n" -6 route add "$7/128" dev "$2" src "$own6" table $t
	ip -n "$n" route add "$9/32" dev "$2" src "$8"
	for to in "$6" "$7" "$9"; do
		ip -n "$n" neigh add "$to" lladdr "$5" dev "$2" nud permanent || die "no neighbour $to"
	done
}

# The ends; paths come by path().
ends() {
	space s r
	for n in s r; do
		own=$([ $n = s ] && echo 1 || echo 2)
		inside $n sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.disable_ipv6=0 \
			net.ipv4.conf.all.rp_filter=0 net.core.rmem_max=33554432 2>"$tmp/sysctl" || :
		ip -n "$(ns $n)" addr add "10.91.0.$own/32" dev lo
		ip -n "$(ns $n)" addr add "fd91::$own/128" dev lo nodad
	done
}

path() { # DELAY_US LOSS_PERCENT MBIT [QUEUE [MARK]] - one more path; its relay is $pid
	k=$npaths
	space "p$k"
	cable s "e$k" "p$k" s
	cable r "e$k" "p$k" r
	rules s "e$k" "$k" sport "$(mac r "e$k")" 10.91.0.2 fd91::2 "10.92.$k.1" "10.92.$k.2"
	rules r "e$k" "$k" dport "$(mac s "e$k")" 10.91.0.1 fd91::1 "10.92.$k.2" "10.92.$k.1"
	# what has another port takes path 0
	if [ "$k" = 0 ]; then
		ip -n "$(ns s)" route add 10.91.0.2/32 dev e0 src 10.91.0.1
		ip -n "$(ns r)" route add 10.91.0.1/32 dev e0 src 10.91.0.2
		ip -n "$(ns s)" -6 route add fd91::2/128 dev e0 src fd91::1
		ip -n "$(ns r)" -6 route add fd91::1/128 dev e0 src fd91::2
	fi
	start "p$k" "p$k" "$relay" s r "$1" "$2" "$3" "${4:-256}" "${5:-0}" $((k + 1))
	relays="$relays $pid"
	wait_for 20 "relay $k" inside "p$k" sh -c '[ $(wc -l </proc/net/packet) -ge 3 ]' ||
		die "relay $k does not start" "$tmp/p$k.err"
	npaths=$((npaths + 1))
}

# The number of the process that relays path K.
relay_of() { # K
	# shellcheck disable=SC2086
	set -- "$1" $relays
	shift "$(($1 + 1))"
	echo "$1"
}

# Stop the relays: what each did is in $tmp/pK.out.
stop_relays() {
	# shellcheck disable=SC2086
	kill $relays
	for p in $relays; do wait "$p" 2>/dev/null; done
}
