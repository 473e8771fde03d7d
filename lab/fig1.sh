#!/bin/sh
# fig1.sh [MIB] - draft-li-uboe-00, figure 1: two UBoE endpoints across a bridge and a router, IPv4 and
# IPv6. Every transaction of `causeway perf`, and a file of MIB (64) by `causeway copy`.
#
#   a eth0 - bridge - router - eth0 b
#
# Then the same with damaged packets: a wrong ICRC is counted and dropped, the file is still intact.
. "$(dirname "$0")/lib.sh"
mib=${1:-64}
need ip tc clang jq sha256sum
space a l r b
cable a eth0 l pa
cable l pr r left
cable r right b eth0
vlans='' bridge l br0 pa pr
inside r sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.disable_ipv6=0 \
	net.ipv6.conf.all.forwarding=1
leg a eth0 1 1
leg r left 1 254
leg r right 2 254
leg b eth0 2 1
ip -n "$(ns a)" route add default via 10.1.0.254
ip -n "$(ns b)" route add default via 10.2.0.254
ip -n "$(ns a)" -6 route add default via 2001:db8:1::254
ip -n "$(ns b)" -6 route add default via 2001:db8:2::254

listening() { # SPACE
	inside "$1" grep -q ':12B7 .* 0A ' /proc/net/tcp6
}
server() { # NAME SPACE COMMAND...
	id=$1 at=$2
	shift 2
	start "$id" "$at" "$causeway" "$@"
	wait_for 10 "$id" listening "$at" || die "$id does not listen" "$tmp/$id.err"
}
of() { [ "$1" = 4 ] && echo 10.2.0.1 || echo 2001:db8:2::1; }

server perf b perf -s --keep -j
perf=$pid
for ip in 4 6; do
	for op in write read send atomic; do
		check "IPv$ip: 2000 transactions '$op' end well, none twice" sh -c \
			"ip netns exec '$(ns a)' timeout 60 '$causeway' perf $op -j -c $(of $ip) -n 2000 \
			>'$tmp/$op$ip.json'"
		check "IPv$ip: every ICRC of '$op' is right at both ends" jq -e \
			'.local.counters["bad-icrc"] == null and .remote.counters["bad-icrc"] == null and
			.results[0].messages == 2000' "$tmp/$op$ip.json"
		note "$(jq -r '.results[0] | "\(.octets) octets: \(.gbit_per_second * 1000 | round) Mbit/s, " +
			"\(.messages_per_second | round) messages/s, p50 \(.latency_us.p50 | round) us, " +
			"p99 \(.latency_us.p99 | round) us"' "$tmp/$op$ip.json")"
	done
done
kill "$perf"
wait "$perf" 2>/dev/null

head -c "${mib}M" /dev/urandom >"$tmp/file"
mkdir "$tmp/in"
head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$tmp/key"
chmod 600 "$tmp/key"
server copy b copy -s --keep --into "$tmp/in" --key "$tmp/key"
intact() { # NAME
	[ "$(sha256sum <"$tmp/file")" = "$(sha256sum <"$tmp/in/$1")" ]
}
copy() { # NAME OPTION...
	name=$1
	shift
	inside a timeout 120 "$causeway" copy -j --key "$tmp/key" "$@" >"$tmp/$name.json"
}
for ip in 4 6; do
	check "IPv$ip: a file of $mib MiB is copied" copy "plain$ip" "$tmp/file" "[$(of $ip)]:plain$ip"
	check "IPv$ip: it is intact" intact "plain$ip"
	note "$(jq -r '"\(.octets) octets, \(.gbit_per_second * 1000 | round) Mbit/s"' "$tmp/plain$ip.json")"
done
check "another key is refused" sh -c "! ip netns exec '$(ns a)' '$causeway' copy '$tmp/file' 10.2.0.1:no"
damage r right
head -c 16M "$tmp/file" >"$tmp/small"
mv "$tmp/small" "$tmp/file"
check "a file crosses although one packet of 128 is damaged" copy bad "$tmp/file" 10.2.0.1:bad
check "it is intact" intact bad
check "wrong ICRCs were counted, and the packets sent again" jq -e \
	'.remote.counters["bad-icrc"] > 5 and .local.counters.rtx >= .remote.counters["bad-icrc"]' \
	"$tmp/bad.json"
note "$(jq -c '{bad_icrc: .remote.counters["bad-icrc"], rtx: .local.counters.rtx}' "$tmp/bad.json")"
plan
