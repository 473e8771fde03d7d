#!/bin/sh
# perftest.sh SERVER|- MTU SECONDS TEST:SIZE... - perftest over rdma_rxe on eth0, in a guest. Without
# a server (-) this is the server. A test is write_bw, send_lat ...; its report goes to standard
# output under a line "== TEST:SIZE".
server=$1 mtu=$2 seconds=$3
shift 3
if [ "$server" = - ]; then server='' me=10.66.0.1; else me=10.66.0.2; fi
ip link set dev eth0 mtu $((mtu + 200)) && ip link set dev eth0 up &&
	ip addr add $me/24 dev eth0 && rdma link add rxe0 type rxe netdev eth0 || exit 1
for test; do
	case $test in *_bw:*) bound="-D $seconds" ;; *) bound="-n 200" ;; esac
	tries=40
	echo "== $test"
	# GID 1 is the IPv4 address. The client comes too early as long as the server starts.
	# shellcheck disable=SC2086 # bound is two words, server may be none
	until "ib_${test%:*}" -d rxe0 -x 1 -F -m "$mtu" -s "${test#*:}" $bound --report_gbits $server \
		>/tmp/report 2>&1; do
		tries=$((tries - 1))
		[ -n "$server" ] && [ $tries -gt 0 ] || { cat /tmp/report; exit 1; }
		sleep 0.3
	done
	cat /tmp/report
done
