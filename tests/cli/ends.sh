# ends.sh - sourced by the tests of two ends: a network namespace of the test's own with a pair of
# interfaces, left and right. The ends' rendezvous is on loopback.
[ "${1:-}" = inside ] || {
	if [ "$(id -u)" != 0 ] || ! unshare -n true 2>/dev/null; then
		echo "1..0 # SKIP needs root: packet sockets, a network namespace"
		exit 0
	fi
	exec unshare -n "$0" inside
}
. "$(dirname "$0")/lib.sh"
command -v jq >/dev/null || {
	echo "1..0 # SKIP needs jq"
	exit 0
}
ip link set lo up
ip link add left mtu 9000 type veth peer name right mtu 9000
for end in left right; do
	echo 1 >/proc/sys/net/ipv6/conf/$end/disable_ipv6
	ip link set $end up
done

until_true() { # COMMAND... - within a minute or so
	i=0
	until "$@"; do
		i=$((i + 1))
		[ $i -lt 3000 ] || return 1
		sleep 0.02
	done
}

# The server waits at port 4791 of 127.0.0.1.
wait_listen() { until_true grep -q '0100007F:12B7 .* 0A ' /proc/net/tcp; }

that() { # TEXT FILTER - jq's FILTER holds of the client's JSON, $tmp/client
	if jq -e "$2" "$tmp/client" >/dev/null 2>&1; then
		ok "$1"
	else
		not_ok "$1" "$2: $(cat "$tmp/client")"
	fi
}
