#!/bin/sh
# explain.sh - causeway explain: every drop and event has its advice, and the advice is about settings that
# there are; what a gateway counted.
. "$(dirname "$0")/lib.sh"
stub=$CW_BUILD/tests/control_stub
sock=$tmp/c.sock
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf "$tmp"' EXIT

run 0 "all are listed" "$causeway" explain
sed -n 's/^\(drop\|event\)  *\([a-z0-9-]*\) .*/\2/p' "$tmp/out" >"$tmp/names"
sed -n 's/^\tX([A-Z0-9_]*, *"\([a-z0-9-]*\)".*/\1/p' "$CW_SRC/include/causeway/drop.h" >"$tmp/table"
check "the table was read" grep -qx -e npi-unmapped "$tmp/table"
same "as in drop.h" "$tmp/table" "$tmp/names"
sed -n 's/^count  *\([a-z_]*\) .*/\1/p' "$tmp/out" | sort >"$tmp/counts"
# Those that the gateway shows of a port, but packets, octets and the sum of drops.
sed -n 's/^	set_num(o, "\([a-z_]*\)", \(c->\|s\.\).*/\1/p' "$CW_SRC/daemon/control/show.c" |
	grep -v -e '_packets$' -e '_octets$' | sort -u >"$tmp/shown"
check "the gateway's counters were read" grep -qx -e rx_missed "$tmp/shown"
same "counters of a port are those that it shows" "$tmp/shown" "$tmp/counts"
sed -n 's/^count  *\([a-z_]*\) .*/\1/p' "$tmp/out" >>"$tmp/names"

run 0 "as JSON" "$causeway" explain -j
check "each has a rule, a cause and a remedy" jq -es \
	'all(.[]; (.rule, .cause, .remedy) | type == "string" and length > 5)' "$tmp/out"
check "and settings" jq -es 'any(.[]; .settings | length > 2)' "$tmp/out"
jq -r '.settings[]' "$tmp/out" | sort -u >"$tmp/settings"
while read -r path; do
	leaf=${path##*/} above=${path%/*}
	if [ "$above" = "$path" ]; then
		check "$path is in the configuration" grep -q "^### \`causeway/$leaf\`" "$CW_SRC/docs/configuration.md"
	else
		check "$path is in the configuration" sh -c '
			grep -q "^### .causeway/$2/$3. \|^### .causeway/$2/$3.$" "$1" ||
				sed -n "\\;^### .causeway/$2.;,/^### /p" "$1" | grep -q "^| .$3. |"' - \
			"$CW_SRC/docs/configuration.md" "$above" "$leaf"
	fi
done <"$tmp/settings"

run 0 "one in full" "$causeway" explain npi-unmapped
out_has "its text" '^npi-unmapped: partition has no VLAN$'
out_has "what became of the packet" '^  kind      drop: the packet is gone$'
out_has "the section" '^  rule      draft-li-uboe-00 5.3$'
out_has "the settings" '^  settings  ub2e/npi/map, ub2e/npi/mode$'
# shellcheck disable=SC2046 # one word a name
run 0 "all in full" "$causeway" explain $(cat "$tmp/names")
check "in 80 columns" sh -c '! grep -q ".\{81\}" "$1"' - "$tmp/out"
run 2 "a misspelt name" "$causeway" explain npi-unmaped
err_is "the nearest is offered" "causeway explain: no drop, event or counter 'npi-unmaped'; did you mean npi-unmapped?"
run 2 "a name like none" "$causeway" explain zzzzzzzz
err_is "is said" "causeway explain: no drop, event or counter 'zzzzzzzz'; without a name all are listed"
run 2 "names and --counted" "$causeway" explain --counted ttl
run 2 "a socket without --counted" "$causeway" explain -s "$sock" ttl

run 2 "no gateway" "$causeway" explain --counted -s "$sock"
"$stub" "$sock" >"$tmp/stub" 2>&1 &
pid=$!
for _ in $(seq 100); do
	[ ! -s "$tmp/stub" ] || break
	sleep 0.05
done
run 0 "what a gateway counted" "$causeway" explain -c -s "$sock"
out_has "with its count" '^  counted   3 packets$'
check "and nothing else" sh -c '[ "$(grep -c "^[a-z]" "$1")" = 1 ] && grep -q "^mtu: " "$1"' - "$tmp/out"
run 0 "as JSON" "$causeway" explain -cj -s "$sock"
check "it is a member" jq -e '.name == "mtu" and .packets == 3' "$tmp/out"
plan
