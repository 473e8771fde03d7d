# lib.sh - sourced by the shell tests: TAP output, a temporary directory, ways to run the command.
#
#	. "$(dirname "$0")/lib.sh"
#	run 0 "decode reads pcap" "$causeway" decode file.pcap    # exit code, name, command
#	out_has "it has a UDP layer" '\[udp\]'                    # of the run before
#	err_is "and says why" 'causeway decode: ...'
#	plan                                                      # last line
#
# The test runner sets CW_BUILD (build directory) and CW_SRC (source tree).
set -u
: "${CW_SRC:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${CW_BUILD:=$CW_SRC/build}"
causeway=$CW_BUILD/causeway
fixtures=$CW_SRC/tests/pcap
python=/usr/bin/python3 # Debian's: it has scapy
. "$CW_SRC/tests/jq.sh"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
export LC_ALL=C TZ=UTC
count=0 failed=0

ok() { # NAME
	count=$((count + 1))
	echo "ok $count - $1"
}

not_ok() { # NAME [WHY...]
	count=$((count + 1)) failed=$((failed + 1))
	echo "not ok $count - $1"
	shift
	for why; do
		printf '%s\n' "$why" | head -20 | sed 's/^/# /'
	done
}

skip() { # NAME REASON
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

check() { # NAME COMMAND... - ok when the command succeeds
	name=$1
	shift
	if "$@" >"$tmp/check" 2>&1; then
		ok "$name"
	else
		not_ok "$name" "$*" "$(cat "$tmp/check")"
	fi
}

run() { # CODE NAME COMMAND... - ok when the exit code is CODE; output is kept in $tmp/out, $tmp/err
	want=$1 name=$2
	shift 2
	"$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	code=$?
	if [ "$code" = "$want" ]; then
		ok "$name"
	else
		not_ok "$name" "exit code $code, expected $want" "$*" "$(cat "$tmp/err")"
	fi
}

out_has() { # NAME REGEX
	if grep -q -e "$2" "$tmp/out"; then ok "$1"; else not_ok "$1" "no match: $2" "$(cat "$tmp/out")"; fi
}

err_has() { # NAME REGEX
	if grep -q -e "$2" "$tmp/err"; then ok "$1"; else not_ok "$1" "no match: $2" "$(cat "$tmp/err")"; fi
}

out_is() { # NAME TEXT
	if [ "$(cat "$tmp/out")" = "$2" ]; then ok "$1"; else not_ok "$1" "expected: $2" "got: $(cat "$tmp/out")"; fi
}

err_is() { # NAME TEXT - the first line of the error output
	if [ "$(head -1 "$tmp/err")" = "$2" ]; then ok "$1"; else not_ok "$1" "expected: $2" "got: $(cat "$tmp/err")"; fi
}

same() { # NAME FILE FILE
	if cmp -s "$2" "$3"; then ok "$1"; else not_ok "$1" "$(diff "$2" "$3" 2>&1)"; fi
}

frames() { # FILE.pcap - the packets in hex, one a line
	"$python" - "$1" <<'PY'
import struct, sys
d, at = open(sys.argv[1], "rb").read(), 24
while at < len(d):
    n = struct.unpack_from("<I", d, at + 8)[0]
    print(d[at + 16:at + 16 + n].hex())
    at += 16 + n
PY
}

plan() {
	echo "1..$count"
	[ "$failed" = 0 ] || exit 1
	exit 0
}
