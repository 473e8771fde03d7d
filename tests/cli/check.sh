#!/bin/sh
# check.sh - causeway check: good, wrong and unreadable configurations; the schema itself.
. "$(dirname "$0")/lib.sh"

cat >"$tmp/bad.json" <<'END'
{"causeway:causeway": {"port": [{"mtu": 70000, "kind": "ethernet", "device": "packet:x", "name": "eth0"}]}}
END
printf '{"a": 1,\n}' >"$tmp/syntax.json"
echo '{}' >"$tmp/empty.json"
: >"$tmp/nothing.json"

run 0 "an empty object is a configuration" "$causeway" check "$tmp/empty.json"
out_is "it has no ports" "$tmp/empty.json: ok: 0 ports, 0 routes, 0 static neighbours, 0 NPI map entries"
run 1 "a wrong value gives exit code 1" "$causeway" check "$tmp/bad.json"
err_is "path, value and reason are said" \
	"$tmp/bad.json: /causeway:causeway/port[name='eth0']/mtu: \"70000\": value out of range 68..9216"
run 1 "the same as JSON" "$causeway" check -j "$tmp/bad.json"
check "it has code, path, value, reason" jq -e --arg f "$tmp/bad.json" \
	'. == {file: $f, ok: false, error: {code: "range", path: "/causeway:causeway/port[name='"'eth0'"']/mtu",
	 value: "70000", reason: "value out of range 68..9216"}}' "$tmp/out"
run 1 "a syntax error" "$causeway" check "$tmp/syntax.json"
err_is "it has line and column" "$tmp/syntax.json: line 2, column 1: string or '}' expected near '}'"
run 1 "a file of no octets" "$causeway" check "$tmp/nothing.json"
run 2 "a file that isn't there gives exit code 2" "$causeway" check "$tmp/none.json"
err_is "and the system's reason" "$tmp/none.json: No such file or directory"
run 2 "a directory" "$causeway" check "$tmp"
run 2 "no file" "$causeway" check
run 2 "two files" "$causeway" check "$tmp/empty.json" "$tmp/bad.json"
run 2 "an unknown option" "$causeway" check --strict "$tmp/empty.json"
run 0 "help" "$causeway" check --help
out_has "it has examples" '^examples:'

# What is good and seldom meant.
noted() { # NAME NOTE JQ - the example with a change has this note, and no other
	jq "$3" "$CW_SRC/packaging/example.json" >"$tmp/noted.json"
	run 0 "$1 is good" "$causeway" check "$tmp/noted.json"
	err_is "and noted" "${2:+$tmp/noted.json: note: /causeway:causeway/$2}"
}
noted "the example" '' .
noted "a next hop off the link" \
	"route[prefix='10.2.0.0/16']/next-hop: \"198.51.100.1\": is in no subnet of port 'eth0'" \
	'.[].route[3]["next-hop"] = "198.51.100.1"'
noted "the same that is a static neighbour" '' '.[].route[3]["next-hop"] = "198.51.100.1" |
	.[].neighbour += [{port: "eth0", ip: "198.51.100.1", vid: 7, mac: "02:00:00:00:00:01"}]'
noted "a route without a next hop" "route[prefix='10.2.0.0/16']: \"10.2.0.0/16\": has no next-hop and is in no subnet of \
port 'eth0': each destination is looked for on its link" 'del(.[].route[3]["next-hop"])'
noted "the address of a network" \
	"port[name='eth0']/address[address='192.0.2.0/24']: \"192.0.2.0/24\": is the network address of its subnet" \
	'.[].port[1].address[0].address = "192.0.2.0/24"'
noted "a broadcast address" \
	"port[name='eth0']/address[address='192.0.2.255/24']: \"192.0.2.255/24\": is the broadcast address of its subnet" \
	'.[].port[1].address[0].address = "192.0.2.255/24"'
noted "a subnet at two ports" \
	"port[name='eth1']/address[address='192.0.2.65/26']: \"192.0.2.65/26\": port 'eth0' has an overlapping subnet" \
	'.[].port += [{name: "eth1", kind: "ethernet", device: "packet:eth1", address: [{address: "192.0.2.65/26"}]}]'
noted "an MTU that is less than the other side's" "port[name='eth0']/mtu: \"1500\": is less than 9000 of port 'ub0': \
larger packets from there are dropped as mtu" '.[].port[1].mtu = 1500'
run 0 "notes as JSON" "$causeway" check -j "$tmp/noted.json"
check "have path, value, text" jq -e '.ok and (.notes | length == 1) and
	(.notes[0] | .value == "1500" and (.path | endswith("/mtu")) and (.text | length > 9))' "$tmp/out"

check "- is the standard input" sh -c '[ "$("$1" check - <"$2")" = "-: ok: 0 ports, 0 routes, 0 static neighbours, 0 NPI map entries" ]' \
	- "$causeway" "$tmp/empty.json"
run 2 "a misspelt option" "$causeway" check --pritn "$tmp/empty.json"
err_is "the nearest is offered" "causeway check: unknown option '--pritn'; did you mean --print?"
run 2 "a value for an option that takes none" "$causeway" check --print=yes "$tmp/empty.json"
err_is "is said" "causeway check: option '--print' takes no value"
run 2 "a misspelt command" "$causeway" chekc
err_is "the nearest is offered, too" "causeway: no command 'chekc'; did you mean 'check'?"
run 2 "a command like none" "$causeway" xyzzy
err_is "there is no guess" "causeway: no command 'xyzzy'"
run 2 "help for a misspelt command" "$causeway" help chekc
for o in --help -h help; do
	run 0 "causeway $o" "$causeway" "$o"
	out_has "lists the commands" '^  decode '
done
for o in --version -V version; do
	run 0 "causeway $o" "$causeway" "$o"
	out_has "is a version" '^causeway [0-9]'
done

run 0 "--print" "$causeway" check --print "$tmp/empty.json"
cp "$tmp/out" "$tmp/effective.json"
check "it has every default" jq -e '."causeway:causeway".ub2e | .udp.port == 4792 and .ecn.ce == "severe"' "$tmp/out"
run 0 "what it prints is a configuration" "$causeway" check --print "$tmp/effective.json"
same "and its own effective one" "$tmp/out" "$tmp/effective.json"

# The example that is installed.
run 0 "the example configuration is good" "$causeway" check "$CW_SRC/packaging/example.json"
run 0 "from any directory" sh -c 'cd / && "$1" check "$2"' - "$causeway" "$CW_SRC/packaging/example.json"

# An independent program agrees on schema and instance.
if command -v yanglint >"$tmp/which"; then
	run 0 "yanglint takes the schema" yanglint "$CW_SRC/yang/causeway.yang"
	check "without a warning" test ! -s "$tmp/err"
	run 0 "yanglint takes the example" yanglint -t config "$CW_SRC/yang/causeway.yang" \
		"$CW_SRC/packaging/example.json"
	run 0 "yanglint takes the effective configuration" yanglint -t config \
		"$CW_SRC/yang/causeway.yang" "$tmp/effective.json"
	run 7 "yanglint refuses the wrong one" yanglint -t config "$CW_SRC/yang/causeway.yang" "$tmp/bad.json"
else
	skip "yanglint" "libyang2-tools is not installed"
fi

# The reference can't go stale.
"$CW_BUILD/daemon/control/confdocs" "$CW_SRC/yang/configuration.md.in" >"$tmp/configuration.md"
same "docs/configuration.md is what 'make docs' writes" "$CW_SRC/docs/configuration.md" \
	"$tmp/configuration.md"
plan
