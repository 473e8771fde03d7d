#!/bin/sh
# pnc-isis-levels.sh - Fast CNP proxy 5.1 between IS-IS levels: a leaf in both levels beside the border
# router announces flagged prefixes of one level in the other one, flag preserved (FRR 8.4 itself
# does not).
#
#   p -- i1 -- i2 -- i3 -- c      i1 is level 1, i2 the border, i3 level 2
#              |
#              b                  a leaf in both levels
. "$(dirname "$0")/pnc-isis-net.sh"

space p i1 i2 i3 b c
wire p e0 i1 e0 10
wire i1 e1 i2 e0 11
wire i2 e1 i3 e0 12
wire i3 e1 c e0 13
wire i2 e2 b e0 14
loopback p 10.255.0.1/32
loopback c 10.255.0.2/32
hosts p c
for i in 1 2 3; do zebra "i$i"; done
isisd 1 49.0001 level-1 e0:level-1 e1:level-1
isisd 2 49.0001 level-1-2 e0:level-1 e1:level-2-only e2:level-1-2
isisd 3 49.0002 level-2-only e0:level-2-only e1:level-2-only
gateway_config p isis-proxy.json \
	"$(proxy e0 10.255.0.2/32 fd13::2/128 10.10.0.1/24 10.255.0.1/32 fd10::1/64)" \
	'"proxy-address": [ "10.255.0.1" ], "prefix": [ "192.0.2.0/24" ], "hold-time": 2,
	"isis": { "level": "level-1" }'
gateway_config c isis-learner.json \
	"$(congestion_point e0 10.13.0.2/24 10.13.0.1 fd13::2/64 fd13::1)" \
	'"proxy-address": [ "10.255.0.2" ], "prefix": [ "198.51.100.0/24" ],
	"isis": { "level": "level-2", "area": "49.0002" }'
gateway_config b isis-border.json
gateway p p
pgw=$gwpid
gateway c c
gateway b b
bgw=$gwpid

# shellcheck disable=SC2034 # eventually shows them
logs="$tmp/p.err $tmp/c.err $tmp/b.err"
border='0000.0000.0003'
up() { known 2 && learnt isis 10.255.0.1/32 10.255.0.1 "$border level 2" &&
	learnt isis 192.0.2.0/24 10.255.0.1 "$border level 2"; }
down() {
	show p proxies | jq -e --arg from "$border level 1" '[.proxies[] | select(.from == $from
		and .source == "isis" and .proxy == "10.255.0.2") | .prefix]
		== ["10.255.0.2/32", "198.51.100.0/24"]'
}
eventually "level 2 learns the proxy of level 1 from the border's leaf" 60 up
eventually "level 1 learns the proxy of level 2" 60 down
not_back() { show p isis | jq -e '[.database[] | select(.lsp | startswith("0000.0000.0001"))] | length == 1' &&
	show p proxies | jq -e 'all(.proxies[]; .prefix != "192.0.2.0/24")'; }
check "what came from a level does not come back to it" not_back
routed() { ip -n "$(ns i3)" route show 10.255.0.1 | grep -q 'proto isis'; }
eventually "level 2 has a route to the proxy" 60 routed
direct() { ip -n "$(ns i2)" route show 10.255.0.1 | grep -q "via 10.11.0.1"; }
check "and the border goes the way of level 1, not by its leaf" direct
notifies "congestion in level 2: a message reaches the proxy in level 1" 192.0.2.9 203.0.113.9

end "$pgw"
eventually "the proxy ends: level 2 forgets it" 60 known 0
gateway p p
eventually "it starts again: level 2 has it again" 60 up
slay "$bgw"
eventually "kill -9 of the border's leaf: level 2 forgets" 60 known 0
gateway b b
eventually "it starts again: both levels have all again" 60 up
eventually "down as well" 60 down
plan
