#!/bin/sh
# ipoib-rxe.sh - IPoIB over RoCEv2 with Linux's soft RoCE (rdma_rxe) at one end: in a guest, a gateway
# has the carrier verbs, whose UD queue pair is rxe's; on the host, another has the carrier roce,
# which makes and reads every octet itself. Groups go to an IP group. The subnet administration is the
# host's, asked by libibumad.
# Then packets with a wrong ICRC, Q_Key or P_Key, which rxe must not take. With CW_FULL it goes over
# IPv4, too, and a second guest joins.
#
#   guest a: ib0 - verbs:rxe0 - eth0 - a0 - bridge fabric: ib0 - roce:
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/guest.sh"
guest_need ip jq dumpcap tshark rdma
tests=$(realpath "$CW_SRC")/tests/system
ldd "$causewayd" | grep -q libibverbs || { echo "1..0 # SKIP causewayd is built without libibverbs"; exit 0; }
guest_modules="virtio_net rdma_rxe ib_uverbs ib_umad tun"
guest_cpu=max,-pclmulqdq # as in rxe.sh
vlans=''

# ---- Gateways ------------------------------------------------------------------------------------

config() { # LID CARRIER SA
	cat <<-JSON
		{"causeway:causeway": {
		  "daemon": {"buffers": 1024},
		  "hca": [{"name": "hca0", "carrier": "$2", "guid": "0x000000000010000$1", "lid": $1, $3}],
		  "port": [{"name": "ib0", "kind": "ipoib", "device": "ib:hca0.ffff",
		    "ipoib": {"reachable-time": 600},
		    "address": [{"address": "10.77.0.$1/24"}, {"address": "fd00:77::$1/64"}]}]
		}}
	JSON
}
built_in() { # LID
	echo "\"sm-lid\": $1, \"sa\": \"built-in\", \"partition\": [{\"pkey\": \"0xffff\"}], \"node\": [$(
		for n in 1 3 4; do
			[ $n = "$1" ] || echo "{\"guid\": \"0x000000000010000$n\", \"lid\": $n}"
		done | paste -sd,)]"
}
boot() { # NAME LID
	guest "$1" net "tap:${1}0" sh "$guest_obey"
	ip -n "$(ns net)" link set "${1}0" master fabric
	guest_do "$1" 240 sh -ec "
		sysctl -qw net.ipv6.conf.eth0.accept_dad=0
		ip link set eth0 mtu 4300 up
		ip addr add 192.0.2.$2/24 dev eth0
		ip addr add 2001:db8::$2/64 dev eth0 nodad
		rdma link add rxe0 type rxe netdev eth0
		mkdir -p /dev/net; [ -e /dev/net/tun ] || mknod /dev/net/tun c 10 200" >"$tmp/boot" ||
		die "guest $1 has no rxe0" "$tmp/boot"
}
# In a guest: until the link is up.
serve() { # NAME LID SA ADDRESSES
	config "$2" "verbs:rxe0/1,$4" "$3" >"$share/$1.json"
	guest_do "$1" 120 sh -c "
		$(realpath "$causewayd") -c /share/$1.json -s /tmp/gw.sock </dev/null >/share/$1.gw 2>&1 &
		echo \$! >/tmp/pid
		until $(realpath "$causeway") ipoib show links -j -s /tmp/gw.sock | grep -q '\"up\"'; do
			kill -0 \$(cat /tmp/pid) || exit 1
			sleep 0.3
		done" >"$tmp/serve" 2>&1 || die "no link in guest $1" "$share/$1.gw"
}
retire() { # NAME
	guest_do "$1" 60 sh -c 'kill $(cat /tmp/pid); while kill -0 $(cat /tmp/pid); do sleep 0.1; done 2>/dev/null'
}
host() { # ADDRESSES
	config 1 "roce:$1" "$(built_in 1)" >"$tmp/gw.json"
	"$causeway" check "$tmp/gw.json" >"$tmp/gw.check" 2>&1 || die "configuration is refused" "$tmp/gw.check"
	start gw net "$causewayd" -c "$tmp/gw.json" -s "$tmp/gw.sock"
	gwpid=$pid
	wait_for 20 "link of the host" sh -c "'$causeway' ipoib show links -j -s '$tmp/gw.sock' | grep -q '\"up\"'" ||
		die "no link on the host" "$tmp/gw.err"
}
counter() { # NAME - of the gateway in guest a
	guest_do a 30 "$(realpath "$causeway")" ipoib show counters -j -s /tmp/gw.sock |
		jq --arg c "$1" '[.counters[] | select(.counter == $c)][0].value'
}
taken() { # how many packets rxe found good
	guest_do a 30 cat /sys/class/infiniband/rxe0/ports/1/hw_counters/rcvd_pkts
}

# ---- Traffic -------------------------------------------------------------------------------------

on() { # WHERE COMMAND...
	who=$1
	shift
	case $who in a | b) guest_do "$who" 60 "$@" ;; *) inside "$who" timeout 60 "$@" ;; esac
}
ping() { # FROM ADDRESS OCTETS
	on "$1" python3 "$tests/ping.py" "$2" 3 "$3" || on "$1" python3 "$tests/ping.py" "$2" 3 "$3"
}
pings() { # TEXT FROM ADDRESS OCTETS...
	text=$1 from=$2 to=$3
	shift 3
	for size; do check "$text: $from to $to, $size octets" ping "$from" "$to" "$size"; done
}
over() { # TEXT HOST GUEST GROUP SA
	host "$2,group=$4,3=$3,4=${3%3}4"
	serve a 3 "$5" "$3,group=$4,1=$2,4=${3%3}4"
	pings "$1" net 10.77.0.3 56 2016 20000
	pings "$1" a 10.77.0.1 56 2016
	check "$1: the host's gateway found no packet damaged, and heard no stranger" sh -c \
		"'$causeway' ipoib show counters -j -s '$tmp/gw.sock' | jq -e '[.counters[] | select(
			(.counter == \"rx_bad\" or .counter == \"rx_forbidden\") and .value > 0)] == []'"
	check "$1: both adapters have sent and received" sh -c \
		"'$causeway' show hcas -j -s '$tmp/gw.sock' | jq -e '.hcas[0] | .rx_packets > 20 and .tx_packets > 20' &&
		[ $(counter rx_packets) -gt 20 ] && [ $(counter tx_packets) -gt 20 ]"
}
end_both() {
	retire a
	kill "$gwpid"
	wait "$gwpid"
}

# ---- What rxe must not take ----------------------------------------------------------------------

# Ten copies of a packet that rxe took before, in which a jq program has changed something.
sends() { # JQ
	jq -c "$1 | range(10) as \$i | ." "$tmp/one" | "$causeway" craft - "$tmp/forged.pcap" 2>"$tmp/craft" &&
		inside net python3 "$tests/send.py" fabric "$tmp/forged.pcap"
}
grown() { [ "$(counter rx_packets)" = $((before + $1)) ]; } # NUMBER
# The good ones come last: when they are there, the others were seen, too.
refuses() { # TEXT JQ
	before=$(counter rx_packets) good=$(taken)
	check "$1: sent" sends "$2"
	sends .
	if wait_for 20 "$1" grown 10 && [ $(($(taken) - good)) = 10 ]; then
		ok "$1: rxe took none, and 10 of 10 good ones behind them"
	else
		not_ok "$1: rxe took none, and 10 of 10 good ones behind them" \
			"gateway: $before, $(counter rx_packets); rxe: $good, $(taken)"
	fi
}
layer() { echo "(.layers[] | select(.layer == \"$1\"))"; }
forgeries() { # the guest's gateway stays, the host's is gone
	kill "$gwpid" "$dump"
	wait "$gwpid" "$dump"
	qpn=$(guest_do a 30 "$(realpath "$causeway")" ipoib show links -j -s /tmp/gw.sock | jq '.links[0].qpn')
	"$causeway" decode -j "$tmp/rxe.pcapng" 2>/dev/null | jq -c --argjson q "$qpn" \
		"select([$(layer bth).dqpn] == [\$q])" | head -1 >"$tmp/one"
	[ -s "$tmp/one" ] || die "no packet to rxe's queue pair in the capture"
	refuses "wrong ICRC" '.icrc = "bad"'
	refuses "wrong Q_Key" "del(.icrc) | $(layer deth).qkey = \"0x80000b1c\""
	refuses "wrong P_Key" "del(.icrc) | $(layer bth).pkey = \"0x8001\""
	refuses "queue pair that is not there" "del(.icrc) | $(layer bth).dqpn = \"0x0fffff\""
}
# What went over the bridge, by other people's software and by ours.
wire() {
	"$causeway" decode -j --summary "$tmp/rxe.pcapng" >"$tmp/rxe.json" 2>"$tmp/rxe.err"
	check "causeway reads every frame, every ICRC is right" jq -e '.packets > 100 and
		.icrc.ok.packets == .packets' "$tmp/rxe.json"
	tshark -r "$tmp/rxe.pcapng" -Y infiniband -T fields -E occurrence=f -e ip.src -e ipv6.src \
		-e infiniband.bth.opcode 2>/dev/null | sort | uniq -c >"$tmp/senders"
	check "tshark sees UD SEND Only of both, and nothing else" awk '$NF != 100 { exit 1 }
		/2001:db8::1\t/ { host += $1 } /2001:db8::3\t/ { guest += $1 }
		END { exit !(host > 20 && guest > 20) }' "$tmp/senders"
	note "$(tr '\n' ';' <"$tmp/senders")"
}

space net
bridge net fabric
inside net sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.disable_ipv6=0 \
	net.ipv6.conf.fabric.disable_ipv6=0
ip -n "$(ns net)" link set fabric mtu 4300
ip -n "$(ns net)" addr add 192.0.2.1/24 dev fabric
ip -n "$(ns net)" addr add 2001:db8::1/64 dev fabric nodad
boot a 3
start dump net dumpcap -q -i fabric -f 'udp port 4791' -w "$tmp/rxe.pcapng"
dump=$pid
# Linux gives no program an answer over RoCEv2 with IPv4: it compares its GID with octets of the IPv4
# header. So with IPv4 each gateway is a subnet administration of its own, that knows the other.
[ -z "${CW_FULL:-}" ] || {
	over IPv4 192.0.2.1 192.0.2.3 239.77.0.1 "$(built_in 3)"
	end_both
}
umad='"sm-lid": 1, "sa": "umad", "sa-device": "rxe0/1"'
over IPv6 2001:db8::1 2001:db8::3 ff0e::77:1 "$umad"
pings IPv6 net fd00:77::3 56 1996
pings IPv6 a fd00:77::1 3000
[ -z "${CW_FULL:-}" ] || {
	boot b 4
	serve b 4 "$umad" 2001:db8::4,group=ff0e::77:1,1=2001:db8::1,3=2001:db8::3
	pings "rxe to rxe" b 10.77.0.3 56 2016 20000
	pings "rxe to rxe" b fd00:77::3 56 3000
	retire b
	guest_leave b
}
forgeries
wire
guest_leave a
plan
