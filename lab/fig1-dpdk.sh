#!/bin/sh
# fig1-dpdk.sh - draft-li-uboe-00, figure 1 with ends on ports of DPDK, IPv4 and IPv6: two processes over
# memif, vhost-user and virtio-user, a TAP device, and AF_PACKET across a Linux router. The ends find each
# other, and the router, by ARP and neighbour discovery, for there is no kernel below them that would.
#
#   a eth0 - left r right - eth0 b      addresses .1 are the kernels', .7 the ends' on DPDK
. "$(dirname "$0")/lib.sh"
need ip jq
space a r b
cable a eth0 r left
cable r right b eth0
inside r sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.disable_ipv6=0 \
	net.ipv6.conf.all.forwarding=1
leg a eth0 1 1
leg r left 1 254
leg r right 2 254
leg b eth0 2 1
for end in 'a 1' 'b 2'; do
	ip -n "$(ns "${end% *}")" route add default via "10.${end#* }.0.254"
	ip -n "$(ns "${end% *}")" -6 route add default via "2001:db8:${end#* }::254"
done

# perf NAME CLIENT-SPACE SERVER-SPACE HOST OPTION... - $client and $server are the ends' devices and
# addresses, HOST is where the server is called. The client's JSON is $tmp/NAME.out.
perf() {
	run=$1 from=$2 at=$3 host=$4
	shift 4
	rm -f "$tmp/$run.out"
	# shellcheck disable=SC2086 # several words
	start "$run-server" "$at" timeout 60 "$causeway" perf -s "$host" $server
	serverpid=$pid
	wait_for 20 "$run" inside "$at" grep -q ':12B7 .* 0A ' /proc/net/tcp /proc/net/tcp6 || return 1
	# shellcheck disable=SC2086
	inside "$from" timeout 60 "$causeway" perf write -c "$host" $client -j -n 1000 --check "$@" \
		>"$tmp/$run.out" 2>"$tmp/$run.err"
	rc=$?
	wait "$serverpid"
	[ $rc = 0 ] || cat "$tmp/$run.err" "$tmp/$run-server.err"
	return $rc
}
right() { # NAME TEXT
	check "$2: content and every ICRC right" jq -e '(.results[0] | .messages == 1000 and .wrong == 0) and
		.local.counters["bad-icrc"] == null and .remote.counters["bad-icrc"] == null' "$tmp/$1.out"
}
both() { # NAME TEXT - two ends in one namespace, of IPv4 and of IPv6
	for net in 10.9.0. 2001:db8:9::; do
		server="-a ${net}2 --dpdk $serverdev" client="-a ${net}1 --dpdk $clientdev"
		rm -f "$tmp/vhost.sock" # of a run that failed
		check "$2, ${net}1 and ${net}2 find each other" perf "$1" a a 127.0.0.1
		right "$1" "$2, ${net}1"
	done
}
# An end that finds nobody says so, and for how long it asks.
fails() { # NAME CLIENT-SPACE SERVER-SPACE HOST WHAT
	begun=$(date +%s)
	! perf "$1" "$2" "$3" "$4" && grep -q "$5 does not answer" "$tmp/$1.err" &&
		[ $(($(date +%s) - begun)) -lt 30 ]
}

memif=socket=$tmp/memif.sock,socket-abstract=no,bsize=8192
serverdev=net_memif0,role=server,$memif clientdev=net_memif0,role=client,$memif
both memif "two processes over memif"
serverdev=net_vhost0,iface=$tmp/vhost.sock,client=1
clientdev=net_virtio_user0,path=$tmp/vhost.sock,server=1,mac=02:00:00:00:00:01
both vhost "vhost-user and virtio-user"

if [ -c /dev/net/tun ]; then
	ip -n "$(ns a)" tuntap add tap0 mode tap multi_queue
	ip -n "$(ns a)" link set tap0 mtu 9000
	leg a tap0 3 1
	for ends in 10.3.0.1,10.3.0.2 2001:db8:3::1,2001:db8:3::2; do
		# the device takes it down when it is closed, and IPv6 addresses go then
		ip -n "$(ns a)" link set tap0 up
		ip -n "$(ns a)" -6 addr replace 2001:db8:3::1/64 dev tap0 nodad
		server="-a ${ends%,*} -i tap0" client="-a ${ends#*,} --dpdk net_tap0,iface=tap0"
		check "a TAP device and its kernel, ${ends%,*}" perf tap a a 127.0.0.1
		right tap "a TAP device and its kernel, ${ends%,*}"
	done
fi

for ip in 4 6; do
	if [ $ip = 4 ]; then net=10.1.0. peer=10.2.0.1; else net=2001:db8:1:: peer=2001:db8:2::1; fi
	server="-a $peer -i eth0" client="-a ${net}7 --dpdk net_af_packet0,iface=eth0 --mtu 1024"
	client="$client --hop ${net}254"
	check "IPv$ip: the router is found by its address" perf router$ip a b $peer
	right router$ip "IPv$ip, across the router"
	client="-a ${net}7 --dpdk net_af_packet0,iface=eth0 --mtu 1024 --hop ${net}99"
	check "IPv$ip: a router that is not there is an error, within seconds" fails silent$ip a b $peer ${net}99
done
plan
