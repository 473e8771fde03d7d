#!/bin/sh
# show.sh - causeway show, reload, capture-drops, log-level against a control socket; metrics with
# curl; who owns a socket.
. "$(dirname "$0")/lib.sh"
stub=$CW_BUILD/tests/control_stub
sock=$tmp/c.sock
pids=
trap 'for p in $pids; do kill "$p" 2>/dev/null; done; rm -rf "$tmp"' EXIT

start() { # ARGUMENT... - waits until it serves; $pid
	rm -f "$tmp/stub"
	"$stub" "$@" >"$tmp/stub" 2>&1 &
	pid=$!
	pids="$pids $pid"
	i=0
	while [ ! -s "$tmp/stub" ] && [ $i -lt 100 ]; do
		sleep 0.05
		i=$((i + 1))
	done
}

run 2 "no gateway" "$causeway" show -s "$sock"
err_is "is said" "causeway show: $sock: no gateway is running on this socket"

metrics=$tmp/m.sock
start "$sock" "unix:$metrics"
run 0 "show summary is the default" "$causeway" show -s "$sock"
out_has "a duration has its unit" '^uptime  *1 d 02:03:04$'
out_has "octets have theirs" '^rx octets  *1.23 MB$'
out_has "what is nested is a list" '^  mtu  3$'
run 0 "the socket may come from the environment" env CAUSEWAY_SOCKET="$sock" "$causeway" show counters
out_has "a table has a head" '^port  rx packets  rx octets  tx packets  tx octets  dropped$'
out_has "numbers stand at the right" '^eth0          12          -           -          -        -$'
run 0 "show -j" "$causeway" show -s "$sock" -j counters
check "is the answer as it came" jq -e '.ports[0].rx_packets == 5000' "$tmp/out"
out_has "on one line" '^{"ports":.*}$'
run 0 "show drops" "$causeway" show -s "$sock" drops
check "hides what never occurred" sh -c '! grep -q "^mtu" "$1" && grep -q "^ttl  *ran out  *4" "$1"' - "$tmp/out"
run 0 "show --all drops" "$causeway" show -s "$sock" --all drops
out_has "shows it" '^mtu  *too large  *0'
run 0 "show config" "$causeway" show -s "$sock" config
mv "$tmp/out" "$tmp/config.json"
run 0 "it is a configuration" "$causeway" check "$tmp/config.json"
run 1 "an unknown WHAT" "$causeway" show -s "$sock" nothing
err_is "the choice is said" \
	'causeway show: what: "nothing": not one of summary, counters, drops, config'
run 2 "a filter of something else" "$causeway" show -s "$sock" --to 10.0.0.1 drops
err_is "is said" "causeway show: there is no --to of drops"
run 2 "two of a thing" "$causeway" show -s "$sock" routes 10.0.0.1 10.0.0.2
err_is "the second one is named" "causeway show: one thing at a time: '10.0.0.2' too?"
run 2 "two WHATs" "$causeway" show -s "$sock" drops config

run 0 "--watch shows rates" "$causeway" show -s "$sock" --watch 1 --count 2 counters
out_has "packets a second" '^ub0   *\(5.00\|4.9[0-9]\) k  *[78].[0-9]* M'
out_has "and the reasons of drops" '^ub0 drops: mtu \(10\|9.9[0-9]\)/s$'
check "twice" sh -c '[ "$(grep -c "^ub0 drops" "$1")" = 2 ]' - "$tmp/out"
run 0 "--watch shows rates of drops" "$causeway" show -s "$sock" --watch 1 --count 1 drops
out_has "each with its text and count" '^ttl  *ran out  *[0-9]*4  *\(10\|9.9[0-9]\) *$'
run 0 "--watch of the rest repeats it" "$causeway" show -j -s "$sock" --watch 1 --count 2 drops
check "so many times" sh -c '[ "$(wc -l <"$1")" = 2 ]' - "$tmp/out"

echo '{"causeway:causeway": {"daemon": {"workers": 2}}}' >"$tmp/two.json"
echo '{"causeway:causeway": {"daemon": {"workers": 99}}}' >"$tmp/bad.json"
echo '{}' >"$tmp/good.json"
run 0 "reload" "$causeway" reload -s "$sock" "$tmp/good.json"
out_is "says the generation" "reloaded: generation 2"
run 1 "reload of a wrong file" "$causeway" reload -s "$sock" "$tmp/bad.json"
err_is "names the file" \
	"$tmp/bad.json: /causeway:causeway/daemon/workers: \"99\": value out of range 1..64"
run 1 "reload that the gateway refuses" "$causeway" reload -s "$sock" "$tmp/two.json"
err_is "quotes it" \
	"$tmp/two.json: /causeway:causeway/daemon/workers: \"2\": can't change while running"
run 1 "the same as JSON" "$causeway" reload -j -s "$sock" "$tmp/two.json"
check "with its code" jq -e '.error.code == "conflict"' "$tmp/out"
run 1 "one that is refused before it is sent, as JSON" "$causeway" reload -j -s "$sock" "$tmp/bad.json"
check "with its code, too" jq -e --arg f "$tmp/bad.json" '.file == $f and .ok == false and .error.code == "range"' "$tmp/out"
check "from the standard input" sh -c '[ "$("$1" reload -s "$2" - <"$3")" = "reloaded: generation 3" ]' - \
	"$causeway" "$sock" "$tmp/good.json"
run 2 "options of others are unknown" "$causeway" reload -s "$sock" --stop
run 1 "reload without a file that is known" "$causeway" reload -s "$sock"
"$python" -c 'import json, sys
json.dump({"causeway:causeway": {"port": [{"name": "u", "kind": "ub", "device": "packet:u"}],
	"route": [{"prefix": "10.%d.%d.0/24" % (i // 256, i % 256), "port": "u"} for i in range(30000)]}}, sys.stdout)' \
	>"$tmp/large.json"
check "a configuration too large for a request" test "$(wc -c <"$tmp/large.json")" -gt 1048576
run 0 "is reloaded too" "$causeway" reload -s "$sock" "$tmp/large.json"

run 0 "a configuration that comes by a pipe" bash -c '"$1" reload -s "$2" <(cat "$3")' - "$causeway" "$sock" "$CW_SRC/packaging/example.json"
run 0 "log-level" "$causeway" log-level -s "$sock" debug
run 0 "capture-drops" sh -c 'cd "$1" && "$2" capture-drops -j -s c.sock d.pcapng' - "$tmp" "$causeway"
check "makes the path absolute" jq -e --arg f "$(cd "$tmp" && pwd)/d.pcapng" '.file == $f' "$tmp/out"
run 2 "capture-drops needs a file" "$causeway" capture-drops -s "$sock"

# Any client: a line in, a line out.
"$python" - "$sock" >"$tmp/out" <<'END'
import json, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
f = s.makefile("rw")
for r in ({"id": 1, "cmd": "version"}, {"id": "x", "cmd": "help"}, "nonsense"):
    f.write((r if isinstance(r, str) else json.dumps(r)) + "\n")
f.flush()
a = [json.loads(f.readline()) for _ in range(3)]
print(a[0]["data"]["protocol"], a[1]["id"], len(a[1]["data"]), a[2]["error"]["code"])
END
out_is "the protocol by hand" "1 x 7 syntax"

run 1 "a second gateway on the same socket is refused" "$stub" "$sock"
err_has "the first one is named" ": another gateway is running on this socket (process $pid)$"
run 0 "and still serves" "$causeway" show -s "$sock" drops

# Metrics, as a monitoring system reads them.
run 0 "curl reads the metrics" curl -sf --unix-socket "$metrics" http://localhost/metrics
cat >"$tmp/parse.py" <<'END'
import re, sys
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
NAME = r'[a-zA-Z_:][a-zA-Z0-9_:]*'
HELP = re.compile(rf'# HELP ({NAME}) (?:[^\\\n]|\\[\\n])*')
TYPE = re.compile(rf'# TYPE ({NAME}) (counter|gauge|histogram|summary|untyped)')
SAMPLE = re.compile(rf'({NAME})(?:\{{{LABEL}(?:,{LABEL})*\}})? [-+0-9.e]+')
family, seen, n = None, set(), 0
text = sys.stdin.read()
assert text.endswith("\n")
for line in text[:-1].split("\n"):
    if m := HELP.fullmatch(line):
        assert m[1] not in seen, line
        seen.add(m[1])
    elif m := TYPE.fullmatch(line):
        family = m[1]
        assert m[2] != "counter" or family.endswith("_total"), line
    else:
        m = SAMPLE.fullmatch(line)
        assert m and m[1] == family, line
        n += 1
print(n, "samples")
END
"$python" "$tmp/parse.py" <"$tmp/out" >"$tmp/parsed" 2>&1
check "every line has the text format" grep -qx '3 samples' "$tmp/parsed"
run 22 "nothing else is served" curl -sf --unix-socket "$metrics" http://localhost/
run 22 "nor other methods" curl -sf --unix-socket "$metrics" -d x http://localhost/metrics
run 0 "HEAD" curl -sfI --unix-socket "$metrics" http://localhost/metrics

kill "$pid"
wait "$pid"
check "the sockets are removed" sh -c '[ ! -e "$1" ] && [ ! -e "$2" ] && [ ! -e "$1.lock" ]' - "$sock" "$metrics"
start "$sock"
kill -9 "$pid"
wait "$pid" 2>"$tmp/killed"
check "a killed one leaves its socket" test -S "$sock"
run 2 "show says that it is gone" "$causeway" show -s "$sock"
start "$sock"
run 0 "the next one takes its place" "$causeway" show -s "$sock" drops
run 1 "metrics for everybody are refused" "$stub" "$tmp/other.sock" 0.0.0.0:9797
err_has "with the reason" '0.0.0.0:9797: not a loopback address, and metrics-allow-remote is false$'
plan
