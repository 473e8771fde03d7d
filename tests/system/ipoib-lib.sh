# ipoib-lib.sh - sourced by the tests of IPoIB instead of lib.sh: what a gateway shows, and echoes.
# The gateway of the namespace $a has the socket $tmp/a.sock and the log $tmp/a.log.
. "$(dirname "$0")/lib.sh"
within=30 # seconds for a ping

ask() { # NAME TOPIC JQ
	"$causeway" ipoib show "$2" -j -s "$tmp/$1.sock" >"$tmp/ask" && jq -e "$3" "$tmp/ask" >/dev/null
}

asks() { # TEXT NAME TOPIC JQ
	text=$1
	shift
	if wait_for 30 ask "$@"; then ok "$text"; else not_ok "$text" "$*" "$(jq -c . "$tmp/ask")" "$(tail -5 "$tmp/$1.log")"; fi
}

ping() { # NAME ADDRESS OCTETS
	eval "from=\$$1"
	timeout "$within" ip netns exec "$from" "$python" "$CW_SRC/tests/system/ping.py" "$2" 3 "$3"
}
