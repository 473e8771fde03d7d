#!/bin/sh
# reload.sh - 50 reloads under traffic in both directions lose nothing; a refused one changes nothing.
. "$(dirname "$0")/lib.sh"
ns gw && ns ub && ns eth
pair "$gw" u0 "$ub" u1
pair "$gw" e0 "$eth" e1
pair "$gw" x0 "$eth" x1

config() { # ROUTES-MORE PORTS-MORE
	cat <<EOF
{"causeway:causeway": {
  "port": [
    {"name": "ub0", "kind": "ub", "device": "packet:u0"},
    {"name": "eth0", "kind": "ethernet", "device": "packet:e0"} $2
  ],
  "route": [
    {"prefix": "10.1.0.0/16", "port": "eth0", "mac": "$(mac_of "$eth" e1)"},
    {"prefix": "10.2.0.0/16", "port": "ub0"} $1
  ]
}}
EOF
}
config "" "" >"$tmp/a.json"
config ', {"prefix": "10.3.0.0/16", "port": "x"}' \
	', {"name": "x", "kind": "ethernet", "device": "packet:x0"}' >"$tmp/b.json"
config ', {"prefix": "2001:db8::/32", "port": "ub0"}' "" >"$tmp/c.json"
config "" ', {"name": "x", "kind": "ethernet", "device": "packet:none"}' >"$tmp/bad.json"
gateway "$gw" <"$tmp/a.json"

reload() { # FILE
	"$causeway" reload -s "$sock" "$1"
}

n=160000
sinks() { # UB-or-ETH IF OUT
	ip netns exec "$1" "$causeway" sink -i "$2" --timeout 60 --idle 5 --hops 1 --buffer 128 >"$3" 2>&1
}
sinks "$eth" e1 "$tmp/s1" &
s1=$!
sinks "$ub" u1 "$tmp/s2" &
s2=$!
listening "$eth" && listening "$ub"
ip netns exec "$ub" "$causeway" gen --to ub -i u1 --count $n --rate 8000 --src 10.2.0.1+4 --dst 10.1.0.1+4 >/dev/null &
g1=$!
ip netns exec "$eth" "$causeway" gen --to uboe -i e1 --count $n --rate 8000 --src 10.1.0.1+4 \
	--dst 10.2.0.1+4 --dmac "$(mac_of "$gw" e0)" --vlan 7 >/dev/null &
g2=$!
good=0 failures=0 refused=0
while [ $good -lt 50 ]; do
	for f in b c a bad; do
		if reload "$tmp/$f.json" >"$tmp/reload" 2>&1; then
			good=$((good + 1))
			[ $f = bad ] && failures=$((failures + 1))
		elif [ $f = bad ]; then
			refused=$((refused + 1))
		else
			failures=$((failures + 1))
			cat "$tmp/reload" >>"$tmp/failed"
		fi
	done
done
busy=0
kill -0 $g1 2>/dev/null && kill -0 $g2 2>/dev/null && busy=1
check "traffic ran during all of them" [ $busy = 1 ]
wait $g1 $g2
if wait $s1; then ok "UB to Ethernet: none lost"; else not_ok "UB to Ethernet: none lost" "$(cat "$tmp/s1")"; fi
if wait $s2; then ok "Ethernet to UB: none lost"; else not_ok "Ethernet to UB: none lost" "$(cat "$tmp/s2")"; fi
if [ $failures = 0 ]; then ok "$good good reloads"; else not_ok "good reloads" "$failures failed" "$(cat "$tmp/failed")"; fi
check "$refused bad ones refused" [ $refused -ge 12 ]
run 1 "a refused one" reload "$tmp/bad.json"
err_has "says path, value and reason" "port\[name='x'\]/device.*packet:none.*no interface none"
shows "and has changed nothing" summary ".generation == $((good + 1)) and .ports == 2"
shows "nothing was dropped" counters '[.ports[].dropped] | add == 0'
shows "nor lost in a device" ports \
	'[.ports[] | .rx_missed + .rx_truncated + .rx_no_buffer + .tx_errors] | add == 0'
shows "all came and all went" counters \
	"([.ports[].rx_packets] | add) == $((2 * n)) and ([.ports[].tx_packets] | add) == $((2 * n))"

adds_up
# A drop capture that can't be opened: the whole configuration is refused.
sed 's|"port": \[|"daemon": {"drop-capture": "/nonexistent/drops.pcapng", "log-level": "error"}, &|' \
	"$tmp/b.json" >"$tmp/nocap.json"
run 1 "a drop capture that can't be opened" reload "$tmp/nocap.json"
err_has "is refused by path and reason" "daemon/drop-capture.*/nonexistent/drops.pcapng.*No such file"
shows "and nothing of that configuration is in use" summary \
	".generation == $((good + 1)) and .ports == 2 and .log_level == \"info\""
echo keep >"$tmp/old.pcapng"
sed "s|\"port\": \[|\"daemon\": {\"drop-capture\": \"$tmp/old.pcapng\"}, &|" "$tmp/bad.json" >"$tmp/badcap.json"
run 1 "a good drop capture in a bad configuration" reload "$tmp/badcap.json"
check "leaves the file as it was" [ "$(cat "$tmp/old.pcapng")" = keep ]
sed "s|old.pcapng|new.pcapng|" "$tmp/badcap.json" >"$tmp/badcap2.json"
run 1 "the same with a new file" reload "$tmp/badcap2.json"
check "leaves none behind" [ ! -e "$tmp/new.pcapng" ]

cp "$tmp/b.json" "$tmp/gw.json"
kill -HUP "$gwpid"
check "SIGHUP reads the file again" wait_for 5 sh -c \
	"'$causeway' show -s '$sock' -j summary | jq -e '.ports == 3'"
cp "$tmp/bad.json" "$tmp/gw.json"
kill -HUP "$gwpid"
check "a bad file is logged" wait_for 5 grep -q 'reload refused, nothing has changed.*packet:none' "$tmp/gw.log"
shows "and changes nothing" summary '.ports == 3'
adds_up
stop_gateway "SIGTERM ends it with exit code 0"

# The option -l holds whatever a configuration says.
sed 's|"port": \[|"daemon": {"log-level": "error"}, &|' "$tmp/a.json" >"$tmp/level.json"
gateway "$gw" -l notice <"$tmp/level.json"
shows "-l wins at the start" summary '.log_level == "notice"'
check "a reload by the socket" reload "$tmp/level.json"
shows "-l still wins" summary '.log_level == "notice"'
kill -HUP "$gwpid"
check "a reload by SIGHUP" wait_for 5 sh -c "'$causeway' show -s '$sock' -j summary | jq -e '.generation == 3'"
shows "-l still wins" summary '.log_level == "notice"'
stop_gateway "SIGTERM ends it with exit code 0"
# From three routes to 20,000 of each family: there is memory for them, echo is answered while the
# file is read, and so is ARP, by the same thread.
config "" "" | sed 's|"device": "packet:e0"|&, "address": [{"address": "192.0.2.1/24"}]|' >"$tmp/small.json"
ip -n "$eth" address add 192.0.2.2/24 dev e1
gateway "$gw" <"$tmp/small.json"
jq -c '."causeway:causeway".route += [range(20000) | {prefix: "11.\(. / 256 | floor).\(. % 256).0/24", port: "ub0"},
	{prefix: "2001:db8:\(. / 10000 | floor):\(. % 10000)::/64", port: "ub0"}]' "$tmp/small.json" >"$tmp/large.json"
in_ns "$eth" "$python" "$CW_SRC/tests/system/ping.py" 192.0.2.1
reload "$tmp/large.json" >"$tmp/reload" 2>&1 &
r=$! pings=0
while kill -0 $r 2>/dev/null; do
	ip -n "$eth" neigh flush dev e1
	in_ns "$eth" "$python" "$CW_SRC/tests/system/ping.py" 192.0.2.1 1 && kill -0 $r 2>/dev/null && pings=$((pings + 1))
done
if wait $r; then ok "a reload of 40,000 routes"; else not_ok "a reload of 40,000 routes" "$(cat "$tmp/reload")"; fi
check "echo and ARP meanwhile" [ $pings -ge 2 ]
shows "all of them are in use" summary '.routes == 40002'
# Both families, one, and both again: tables of 64 MB must find room between those that went.
check "fewer" reload "$tmp/small.json"
jq -c '."causeway:causeway".route |= map(select(.prefix | test("^11|:") | not)) + [{prefix: "::/0", port: "ub0"}]' \
	"$tmp/large.json" >"$tmp/both.json"
for f in both small both large small both; do
	reload "$tmp/$f.json" >>"$tmp/rounds" 2>&1 || echo "$f: refused" >>"$tmp/rounds"
done
check "there is room for whatever follows" sh -c "! grep -v '^reloaded' '$tmp/rounds'"
stop_gateway "SIGTERM ends it with exit code 0"
plan
