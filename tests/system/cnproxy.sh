#!/bin/sh
# cnproxy.sh - Fast CNP with a proxy: sender A, proxy, congested node, receiver B in a row.
#
#	A 10.0.1.2 - .1.1 proxy .3.1 - .3.2 congested node .2.1 - 10.0.2.2 B
. "$(dirname "$0")/lib.sh"
ns a && ns p && ns c && ns b
pair "$a" a0 "$p" e0
pair "$p" e1 "$c" e0
pair "$c" e1 "$b" b0
ip -n "$a" addr add 10.0.1.2/24 dev a0
ip -n "$b" addr add 10.0.2.2/24 dev b0
cn="/usr/bin/python3 $CW_SRC/tests/system/cn.py"
top=$tmp amac=$(mac_of "$a" a0) bmac=$(mac_of "$b" b0)
pmac=$(mac_of "$p" e0) p1mac=$(mac_of "$p" e1)

at() { # p | c - whose gateway the helpers talk to
	sock=$top/$1/gw.sock
}

start() { # p | c NAMESPACE <CONFIG
	mkdir -p "$top/$1"
	tmp=$top/$1
	gateway "$2"
	tmp=$top
	eval "$1_pid=$gwpid"
}

plain='"forwarding": {"between-ethernet": true}, "daemon": {"buffers": 4096}'
proxy_config() { # MORE - of the top, with a comma in front
	cat <<JSON
{"causeway:causeway": { $plain,
  "port": [
    {"name": "hosts", "kind": "ethernet", "device": "packet:e0", "address": [{"address": "10.0.1.1/24"}]},
    {"name": "core", "kind": "ethernet", "device": "packet:e1", "address": [{"address": "10.0.3.1/24"}]}],
  "neighbour": [{"port": "hosts", "ip": "10.0.1.2", "vid": 30, "mac": "$amac"}],
  "route": [{"prefix": "10.0.1.0/24", "port": "hosts"},
    {"prefix": "10.0.2.0/24", "port": "core", "next-hop": "10.0.3.2"},
    {"prefix": "10.0.3.0/24", "port": "core"}],
  "pnc": {"proxy-address": ["10.0.3.1"]} $1 }}
JSON
}
proxy='"proxy": {"enabled": true, "interface": ["core"], "allowed-source": ["10.0.3.2/32"],
  "sender": [{"prefix": "10.0.1.0/24", "kind": "cnp"}]}'

reload() { # NAME MORE - of the proxy's configuration
	proxy_config "$2" >"$tmp/new.json"
	check "$1" "$causeway" reload -s "$top/p/gw.sock" "$tmp/new.json"
}

start c "$c" <<JSON
{"causeway:causeway": { $plain,
  "port": [
    {"name": "core", "kind": "ethernet", "device": "packet:e0", "address": [{"address": "10.0.3.2/24"}]},
    {"name": "hosts", "kind": "ethernet", "device": "packet:e1", "address": [{"address": "10.0.2.1/24"}],
     "role": "congestion-point",
     "congestion-point": {"rate": 4000, "buffer": 40000, "ecn": {"min": 4000, "max": 16000},
       "detection": {"depth": 8000, "time": 1000}, "message": {"flow-interval": 5000}}}],
  "fast-cnp": {"message-option": "option-1"},
  "route": [{"prefix": "10.0.1.0/24", "port": "core", "next-hop": "10.0.3.1"},
    {"prefix": "10.0.2.0/24", "port": "hosts"}, {"prefix": "10.0.3.0/24", "port": "core"}],
  "pnc": {"static": [{"prefix": "10.0.1.0/24", "proxy": "10.0.3.1"}]}
}}
JSON
proxy_config "" >"$tmp/off.json"
start p "$p" <"$tmp/off.json"

# What arrives goes to files.
capture() { # FILE NAMESPACE IF
	in_ns "$2" dumpcap -q -P -i "$3" -f 'inbound and udp' -w "$tmp/$1" >"$tmp/dumpcap" 2>&1 &
	wait_for 30 test -s "$tmp/$1"
}
capture at-a "$a" a0
capture core "$p" e1
capture at-b "$b" b0
in_ns "$b" $cn answer b0 "$(mac_of "$c" e1)" >"$tmp/answer" 2>&1 &
listeners() { # NAMESPACE NUMBER
	[ "$(in_ns "$1" cat /proc/net/packet | wc -l)" -gt "$2" ]
}
wait_for 60 listeners "$b" 2

tell() { # KEY=VALUE... [-- KEY=VALUE...] - messages to the proxy, from the core
	in_ns "$c" $cn message e0 "$p1mac" "$@"
}
within() { # COMMAND... - tries a slow one a dozen times
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
		"$@" && return
		sleep 1
	done
	return 1
}
count_is() { # FILE PATTERN NUMBER
	$cn show "$tmp/$1" >"$tmp/shown" 2>/dev/null
	[ "$(grep -c "$2" "$tmp/shown")" = "$3" ]
}
caught() { # FILE PATTERN NUMBER - waits until there are so many
	within count_is "$@" || ! sort "$tmp/shown" | uniq -c
}
after() { # WHAT JQ - waits until it is so, then is a check of that name
	wait_for 20 sh -c "$causeway show -s $sock -j $1 | jq -e '$2'"
	shows "${3:-$1 $2}" "$1" "$2"
}

# ---- Off by default
at p
run 1 "the proxy is off by default" "$causeway" show -s "$sock" qpmap
err_is "and says so" "causeway show: the proxy is not enabled"
tell dqpn=98
after counters '.ports[1].drops["cn-border"] == 1' "a message to a gateway without a proxy is dropped"
check "and nothing comes of it" caught at-a . 0

# ---- Learning, without congestion
reload "the proxy is turned on" ", \"fast-cnp\": { $proxy }"
asked=0
sure() { # the answers of a busy machine may come too late to be votes
	in_ns "$a" $cn talk a0 "$pmac" 12 64 10.0.1.2 10.0.2.2 $asked
	asked=$((asked + 12))
	sleep 1
	show qpmap | jq -e 'any(.qpmap[]; .sender == "10.0.1.2" and .state == "sure")' >/dev/null
}
within sure
after qpmap '[.qpmap[] | select(.sender == "10.0.1.2") | [.receiver, .destination_qp, .source_qp, .how, .state]]
	== [["10.0.2.2", 34, 17, "vote", "sure"]]' "the pair is learned from votes"
run 0 "show qpmap prints it" "$causeway" show -s "$sock" qpmap
out_has "as a table" '10.0.1.2 .*10.0.2.2'
check "nothing was sent yet" caught at-a . 0
at c
shows "and nothing detected" congestion '.congestion[0].counters | .packets >= 12 and .congested == 0 and .marked == 0'

# ---- Congestion
in_ns "$a" $cn talk a0 "$pmac" 400 1000
after congestion ".congestion[0].counters | .packets >= $((400 + asked)) and .sent > 0" "the congested node sends messages"
shows "fewer than packets: a limit a flow" congestion '.congestion[0].counters | .sent < .congested and ."flow-limit" > 0'
n=$(show congestion | jq '.congestion[0].counters.sent')
marked=$(show congestion | jq '.congestion[0].counters.marked')
over=$(show congestion | jq '.congestion[0].counters.overflow')
check "as many are on the wire, as the draft's figure 5 has them" caught core \
	'^message 10.0.3.2 10.0.3.1 port 49791 0a0001020a00020211000000c12312b702000022$' "$n"
check "one CNP for each, as scapy would have made it" caught at-a \
	'^cnp 10.0.2.2 10.0.1.2 dscp 48 qp 17 vlan 0 as-scapy$' "$n"
at p
shows "the proxy counts them" notifications ".messages.cnp == $n and .copies_lost == 0"

# ---- Forwarding
packets_at_b() { # DISPLAY-FILTER - tshark looks
	tshark -r "$tmp/at-b" -Y "udp.dstport == 4791 && ip.src == 10.0.1.2 && ip.len > 1000 && $1" \
		2>/dev/null | wc -l
}
arrived() {
	[ "$(packets_at_b 'ip')" = $((400 - over)) ]
}
check "every packet that found room arrived" within arrived
untouched() {
	[ "$("$causeway" decode -j --filter 'port=4791 and icrc=ok' "$tmp/at-b" 2>/dev/null |
		jq -s 'map(select(.length > 1000)) | length')" = $((400 - over)) ]
}
check "no octet that their ICRC covers was touched" within untouched
check "only the packets to be marked are marked" test "$(packets_at_b 'ip.dsfield.ecn == 3')" = "$marked"
check "all have one hop less for each gateway" test "$(packets_at_b 'ip.ttl == 62')" = $((400 - over))

# ---- What gives nothing
sent=$n
tell dqpn=99 -- from=10.0.3.7 -- chksum=4660 -- extra=1 -- src=224.0.0.1 -- src=10.9.9.9 -- to=10.0.1.1
for result in unknown-flow not-allowed udp-checksum form address no-sender not-ours; do
	after notifications ".messages[\"$result\"] == 1" "counted: $result"
done
check "none of them gave a notification" caught at-a '^cnp' "$sent"
in_ns "$a" $cn message a0 "$pmac" from=10.0.3.2 to=10.0.3.1
after counters '.ports[0].drops["cn-border"] == 1' "a message by another interface is dropped"
tell from=10.0.3.1
after counters '.ports[1].drops["cn-border"] == 2' "one that says that it comes from the proxy itself, too"

# ---- Static pairs, by the control socket
run 0 "a pair is added" "$causeway" qpmap -s "$sock" --add 10.0.1.2 10.0.2.2 99 0x777
shows "and shown" qpmap '[.qpmap[] | select(.destination_qp == 99) | [.source_qp, .how, .state]] == [[1911, "static", "sure"]]'
tell dqpn=99
check "and used" caught at-a 'qp 1911 vlan 0 as-scapy' 1
run 0 "a filter shows it alone" "$causeway" show -s "$sock" -j qpmap --how static --qp 0x777 --receiver 10.0.2.0/24
check "and no other" jq -e '[.qpmap[].destination_qp] == [99]' "$tmp/out"
run 0 "none is closed" "$causeway" show -s "$sock" -j qpmap --state closed
check "is shown" jq -e '.qpmap == [] and .pairs >= 3' "$tmp/out"
run 1 "a filter that is no prefix" "$causeway" show -s "$sock" qpmap --sender 10.0.1.2/8
err_is "is refused" 'causeway show: sender: "10.0.1.2/8": not an address or a prefix'
run 2 "other lists have no filters" "$causeway" show -s "$sock" ports --how cm
run 0 "pages of one pair have all pairs" $cn pages "$sock" 1
check "once" jq -e '(.pages > .pairs or .pages == .pairs) and .pairs >= 3 and .shown == .pairs' "$tmp/out"
run 0 "it is removed" "$causeway" qpmap -s "$sock" --remove 10.0.1.2 10.0.2.2 99
run 1 "once" "$causeway" qpmap -s "$sock" --remove 10.0.1.2 10.0.2.2 99
err_is "is said" "causeway qpmap: there is no such pair"
run 1 "families may not differ" "$causeway" qpmap -s "$sock" --add 10.0.1.2 2001:db8::1 99 7
err_is "is said too" "causeway qpmap: receiver: is not of the sender's address family"

# ---- Border, VPNs; what was learned stays
reload "border, VPN and a static pair are configured" ", \"fast-cnp\": { $proxy, \"border\": [\"hosts\"],
  \"nrp\": [{\"selector\": 77, \"source-qp\": 51, \"vpn\": 5}, {\"selector\": 78, \"source-qp\": 52}],
  \"vpn\": [{\"id\": 5, \"port\": \"hosts\", \"vid\": 30, \"source\": \"10.0.7.7\"}],
  \"qpmap\": {\"static\": [{\"sender\": \"10.0.1.2\", \"receiver\": \"10.0.2.2\", \"destination-qp\": 5, \"source-qp\": 6}]} }"
shows "what was learned is still known" qpmap '[.qpmap[] | select(.sender == "10.0.1.2") | .source_qp] | sort == [6, 17]'
tell to=10.0.1.2
after counters '.ports[1].drops["cn-border"] == 3' "a message that would leave the domain is dropped"
in_ns "$a" $cn message a0 "$pmac" from=10.0.1.2 to=10.0.3.2
after counters '.ports[0].drops["cn-border"] == 2' "one from outside of it too"
in_ns "$a" $cn message a0 "$pmac" from=10.0.1.2 to=10.0.3.2 frag=1
after counters '.ports[0].drops["cn-border"] == 3' "and the first fragment of one"
tell option=2 nrp=77
check "an NRP selector gives queue pair, VLAN and source" caught at-a \
	'^cnp 10.0.7.7 10.0.1.2 dscp 48 qp 51 vlan 30 as-scapy$' 1
tell option=2 nrp=78 -- option=2 nrp=79
after notifications '.messages["nrp-vpn"] == 2' "one without a VPN, or unknown, gives nothing"

# ---- The end
adds_up "the proxy's counters add up"
at c
adds_up "the congested node's counters add up"
tmp=$top/p gwpid=$p_pid
stop_gateway "SIGTERM ends the proxy with exit code 0"
tmp=$top/c gwpid=$c_pid
stop_gateway "SIGTERM ends the congested node with exit code 0"
tmp=$top
plan
