#!/bin/sh
# uetbts.sh - the proxy's BTS reaches `causeway uet send`: what a congested node says of one path makes
# that path's share smaller while it says so, and the share comes back. All profiles of BTS; the sender has
# sockets, for one profile a port of DPDK with an address of its own, 10.0.1.3.
#
#	A 10.0.1.2 - .1.1 proxy .2.1 - link of 40 Mbit/s and 5 ms - 10.0.2.2 B
#
# B is also the congested node, 10.0.2.3.
. "$(dirname "$0")/lib.sh"
relay=$CW_BUILD/tests/relay
[ -x "$relay" ] && command -v ethtool >/dev/null || { echo "1..0 # SKIP needs ethtool and $relay"; exit 0; }
ns a && ns p && ns d && ns b
pair "$a" a0 "$p" e0
pair "$p" e1 "$d" d0
pair "$d" d1 "$b" b0
ip netns exec "$d" "$relay" d0 d1 5000 0 40 256 64 1 >"$tmp/relay" 2>&1 &
wait_for 30 sh -c "[ \$(ip netns exec $d cat /proc/net/packet | wc -l) -ge 3 ]"
ip -n "$a" addr add 10.0.1.2/24 dev a0
ip -n "$b" addr add 10.0.2.2/24 dev b0
ip -n "$b" addr add 10.0.2.3/32 dev b0
ip -n "$a" route add default via 10.0.1.1
ip -n "$b" route add default via 10.0.2.1
# The gateway is no network card: it gets no sums left to compute.
in_ns "$a" ethtool -K a0 tx off >/dev/null 2>&1
in_ns "$b" ethtool -K b0 tx off >/dev/null 2>&1

config() { # KIND
	cat <<JSON
{"causeway:causeway": {
  "forwarding": {"between-ethernet": true}, "daemon": {"buffers": 8192},
  "port": [
    {"name": "hosts", "kind": "ethernet", "device": "packet:e0", "address": [{"address": "10.0.1.1/24"}]},
    {"name": "core", "kind": "ethernet", "device": "packet:e1", "address": [{"address": "10.0.2.1/24"}]}],
  "route": [{"prefix": "10.0.1.0/24", "port": "hosts"}, {"prefix": "10.0.2.0/24", "port": "core"}],
  "ub2e": {"udp": {"pin": [{"prefix": "10.0.2.0/24", "family": "uet"}]}},
  "pnc": {"proxy-address": ["10.0.2.1"]},
  "fast-cnp": {"proxy": {"enabled": true, "interface": ["core"], "allowed-source": ["10.0.2.3/32"],
    "sender": [{"prefix": "10.0.1.0/24", "kind": "$1"}]}}
}}
JSON
}
config bts-uetx >"$tmp/first.json"
gateway "$p" <"$tmp/first.json"

# What a congested node sends about path 0 (source port 40000), until it is stopped.
cat >"$tmp/tell.py" <<'END'
import socket, struct, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("10.0.2.3", 0))
flow = socket.inet_aton(sys.argv[2]) + socket.inet_aton("10.0.2.2") + bytes([17, 0, 0, 0])
flow += struct.pack(">HHI", 40000, int(sys.argv[1]), 0)
for _ in range(60000):
    s.sendto(flow, ("10.0.2.1", 49791))
    time.sleep(0.002)
END

head -c "${UET_BTS_OCTETS:-20000000}" /dev/urandom >"$tmp/file"
size=$(wc -c <"$tmp/file")
there() { # PARTS-OF-8 - is that much of the file at the receiver?
	[ "$(du -k "$tmp/copy" 2>/dev/null | cut -f1)" -ge $((size / 1024 * $1 / 8)) ]
}
listens() { # PORT
	in_ns "$b" grep -q ":$(printf %04X "$1") " /proc/net/udp6
}
transfer() { # KIND PORT FROM SEND-OPTION... - with BTS from a quarter of it to a half
	kind=$1 to=$2 from=$3 of=$1${4:+-dpdk}
	shift 3
	config "$kind" >"$tmp/new.json"
	check "$of: the proxy's profile" "$causeway" reload -s "$sock" "$tmp/new.json"
	rm -f "$tmp/copy"
	in_ns "$b" timeout 100 "$causeway" uet recv -j --port "$to" -o "$tmp/copy" >"$tmp/recv" 2>"$tmp/recv.err" &
	recv=$!
	wait_for 30 listens "$to"
	in_ns "$a" timeout 90 "$causeway" uet send -j --to 10.0.2.2 --port "$to" --paths 2 --source-port 40000 \
		--size 65536 "$@" "$tmp/file" >"$tmp/$of.json" 2>"$tmp/send.err" &
	send=$!
	wait_for 60 there 2
	ip netns exec "$b" timeout 90 /usr/bin/python3 "$tmp/tell.py" "$to" "$from" &
	tell=$!
	wait_for 60 there 4
	kill $tell
	wait $tell 2>/dev/null
	check "$of: all was sent" wait $send || cat "$tmp/send.err"
	check "$of: and received" wait $recv || cat "$tmp/recv.err"
	same "$of: the same octets" "$tmp/file" "$tmp/copy"
	check "$of: the sender got what the proxy sent" jq -e '.counters.bts > 20 and .strangers == 0' "$tmp/$of.json"
	echo "# $of: the proxy: $(show notifications | jq -c '.messages | with_entries(select(.value > 0))')"
	# Path 0's share of what was sent, by tenths of the transfer's packets.
	jq -c '[.samples[] | select(.sent | add > 0)] as $s | ($s[-1].sent | add) as $all
		| [range(1; 11) as $k | $s | map(select((.sent | add) * 10 >= $all * $k))[0].sent]
		| [[0, 0]] + . | [range(1; 11) as $k | (.[$k][0] - .[$k - 1][0]) as $x
		| ($x + .[$k][1] - .[$k - 1][1]) as $n | if $n > 0 then 100 * $x / $n | round else 50 end]' \
		"$tmp/$of.json" >"$tmp/shares" 2>/dev/null
	echo "# $of: $(jq .counters.bts "$tmp/$of.json") BTS; path 0's share of each tenth, %: $(cat "$tmp/shares")"
	check "$of: path 0 got less meanwhile" jq -e '.[2:6] | min < 25' "$tmp/shares"
	check "$of: and its share came back" jq -e '.[6:10] | max > 35' "$tmp/shares"
}
transfer bts-uetx 4792 10.0.1.2
for kind in bts-addr bts-reflect; do transfer $kind 4793 10.0.1.2; done
transfer bts-nack 4793 10.0.1.3 --dpdk net_af_packet0,iface=a0 --address 10.0.1.3 --mtu 1400 --hop "$(mac_of "$p" e0)"
stop_gateway "the proxy ends well"
plan
