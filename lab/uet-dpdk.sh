#!/bin/sh
# uet-dpdk.sh - UET messages between ports of DPDK, and from a port of DPDK to a socket of the kernel,
# over a cable between two namespaces; both IP versions, with and without CRC. What arrives is
# the file, octet for octet.
# shellcheck disable=SC2154 # lib.sh sets $tmp, $pid and the like
. "$(dirname "$0")/lib.sh"
need ip ethtool jq
head -c 3000001 /dev/urandom >"$tmp/file"
space a b
cable a ea b eb
inside b sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.eb.disable_ipv6=0
ip -n "$(ns b)" addr add 10.93.0.2/24 dev eb
ip -n "$(ns b)" addr add fd93::2/64 dev eb nodad

ended() { # NAME PID - well? Else what it said.
	wait "$2" || { cat "$tmp/$1.err" && return 1; }
}

transfer() { # NAME FROM TO SEND-OPTION RECV-OPTION...
	run=$1 from=$2 to=$3 more=$4
	shift 4
	rm -f "$tmp/copy"
	start "$run-recv" b timeout 60 "$causeway" uet recv -j -o "$tmp/copy" --mtu 1400 "$@"
	recv=$pid
	# shellcheck disable=SC2086 # one option, or two words
	start "$run-send" a timeout 60 "$causeway" uet send -j --to "$to" --paths 4 --size 262144 --mtu 1400 \
		--dpdk net_af_packet0,iface=ea --address "$from" $more "$tmp/file"
	check "$run: the sender knows that all is there" ended "$run-send" "$pid"
	check "$run: the receiver got each message whole, once" ended "$run-recv" "$recv"
	check "$run: the same octets" cmp "$tmp/file" "$tmp/copy"
	check "$run: by four paths, nothing refused" jq -s -e '.[0] | (.paths | length == 4 and all(.sent > 0)) and
		([.counters | .conflict, .geometry, ."bad-ack", ."bad-context"] | add == 0)' "$tmp/$run-send.out"
}

# the receiver's kernel says where it is; --hop does where it is given
transfer to-socket-ipv4 10.93.0.1 10.93.0.2 ""
transfer to-socket-ipv6 fd93::1 fd93::2 "--hop $(mac b eb)"
transfer to-socket-crc 10.93.0.1 10.93.0.2 --crc --crc
# the kernel lets go of its addresses, or it would answer, too
ip -n "$(ns b)" addr flush dev eb
port="--dpdk net_af_packet0,iface=eb"
# shellcheck disable=SC2086
transfer dpdk-ipv4 10.93.0.1 10.93.0.2 "" $port --address 10.93.0.2
# shellcheck disable=SC2086
transfer dpdk-ipv6 fd93::1 fd93::2 "" $port --address fd93::2
# shellcheck disable=SC2086
transfer dpdk-ipv6-crc fd93::1 fd93::2 --crc $port --address fd93::2 --crc

# a station that is not there
silent() {
	inside a timeout 30 "$causeway" uet send --to 10.93.0.9 --dpdk net_af_packet0,iface=ea \
		--address 10.93.0.1 --mtu 1400 "$tmp/file" >"$tmp/silent.out" 2>&1
	[ $? = 2 ] && grep -q "10.93.0.9 does not answer ARP" "$tmp/silent.out"
}
check "a receiver that does not answer ARP is named" silent
plan
