# lib.sh - sourced by the system tests: network namespaces, gateways, and what they count.
#
#	. "$(dirname "$0")/lib.sh"
#	ns gw                          # namespace $gw, loopback up, no IPv6 chatter
#	pair "$gw" u0 "$src" u1        # veth pair, room for an IP packet of 9216 behind LPH
#	gateway "$gw" <<'JSON' ...     # starts causewayd, waits until it forwards; $gwpid, $sock
#
# Skips the whole test where namespaces can't be made.
. "$(dirname "$0")/../cli/lib.sh"
. "$CW_SRC/lab/end.sh"
causewayd=$CW_BUILD/causewayd
guard "$tmp"
trap 'end_all $$ "$tmp"' EXIT

if ! ip netns add "cwt-probe-$$" 2>/dev/null; then
	echo "1..0 # SKIP network namespaces can't be made here"
	exit 0
fi
ip netns del "cwt-probe-$$"

ns() { # VARIABLE - a new namespace, its name in the variable
	name=cwt-$1-$$
	ip netns add "$name" || exit 2
	eval "$1=$name"
	ip netns exec "$name" sysctl -qw net.ipv6.conf.default.disable_ipv6=1
	ip -n "$name" link set lo up
}

in_ns() { # NAMESPACE COMMAND...
	ip netns exec "$@"
}

pair() { # NAMESPACE IF NAMESPACE IF
	ip -n "$1" link add "$2" mtu 9232 type veth peer name "$4" mtu 9232 netns "$3" || exit 2
	ip -n "$1" link set "$2" up
	ip -n "$3" link set "$4" up
	# Until the kernel has seen the carrier it drops what is sent, and says nothing.
	wait_for 10 is_up "$1" "$2" && wait_for 10 is_up "$3" "$4"
}

is_up() { # NAMESPACE IF
	[ "$(ip netns exec "$1" cat "/sys/class/net/$2/operstate")" = up ]
}

mac_of() { # NAMESPACE IF
	ip netns exec "$1" cat "/sys/class/net/$2/address"
}

wait_for() { # SECONDS COMMAND... - until it succeeds
	tries=$(($1 * 10))
	shift
	while [ $tries -gt 0 ]; do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.1
		tries=$((tries - 1))
	done
	return 1
}

gateway() { # NAMESPACE [OPTION...] <CONFIG - leaves $gwpid, $sock, its log in $tmp/gw.log
	gwns=$1
	shift
	sock=$tmp/gw.sock
	cat >"$tmp/gw.json"
	ip netns exec "$gwns" "$causewayd" -c "$tmp/gw.json" -s "$sock" "$@" 2>"$tmp/gw.log" &
	gwpid=$!
	if wait_for 30 grep -q 'is forwarding' "$tmp/gw.log"; then
		ok "gateway starts"
	else
		not_ok "gateway starts" "$(cat "$tmp/gw.log")"
		plan
	fi
}

stop_gateway() { # NAME - SIGTERM, and its exit code must be 0
	kill -TERM "$gwpid"
	wait "$gwpid"
	rc=$?
	if [ $rc = 0 ]; then ok "$1"; else not_ok "$1" "exit code $rc" "$(cat "$tmp/gw.log")"; fi
}

show() { # WHAT [OPTION...] - as JSON
	"$causeway" show -s "$sock" -j "$@"
}

shows() { # NAME "WHAT [OPTION...]" JQ
	# shellcheck disable=SC2086 # options are words of their own
	show $2 >"$tmp/show"
	if jq -e "$3" "$tmp/show" >/dev/null; then
		ok "$1"
	else
		not_ok "$1" "$2: $3" "$(jq -c . "$tmp/show")"
	fi
}

balanced() {
	show counters >"$tmp/balance" && jq -ef "$CW_SRC/lab/balance.jq" "$tmp/balance"
}

adds_up() { # [NAME]
	if wait_for 5 balanced; then
		ok "${1:-the counters add up}"
	else
		not_ok "${1:-the counters add up}" "$(jq -c . "$tmp/balance")"
	fi
}

listening() { # NAMESPACE - wait until somebody receives there by a packet socket
	wait_for 10 sh -c "[ \$(ip netns exec $1 cat /proc/net/packet | wc -l) -gt 1 ]"
	sleep 0.3
}

# Traffic from one side, checked at the other: NAME SOURCE-NS IF SINK-NS IF GEN-OPTIONS -- SINK-OPTIONS
traffic() {
	t_name=$1 t_src=$2 t_sif=$3 t_dst=$4 t_dif=$5
	shift 5
	t_gen=''
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		t_gen="$t_gen $1"
		shift
	done
	[ $# -gt 0 ] && shift
	ip netns exec "$t_dst" "$causeway" sink -i "$t_dif" --timeout 30 --idle 3 "$@" \
		>"$tmp/sink" 2>&1 &
	t_pid=$!
	listening "$t_dst"
	# shellcheck disable=SC2086
	ip netns exec "$t_src" "$causeway" gen -i "$t_sif" $t_gen >"$tmp/gen" 2>&1
	if wait "$t_pid"; then
		ok "$t_name"
	else
		not_ok "$t_name" "$(tail -15 "$tmp/sink")" "$(cat "$tmp/gen")" \
			"$(show counters 2>&1 | jq -c . 2>&1)"
	fi
}
