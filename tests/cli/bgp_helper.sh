#!/bin/sh
# bgp_helper.sh - causeway bgp-helper with more prefixes than the answers to which fit into a pipe: ExaBGP waits
# for room for each answer, and the helper must not wait for ExaBGP.
. "$(dirname "$0")/lib.sh"

run 0 "20,000 prefixes go to an ExaBGP that answers each" \
	"$python" "$CW_SRC/tests/cli/bgp_helper.py" "$causeway" "$tmp/sock" 20000
is() { # NAME JQ
	check "$1" test "$(jq "$2" "$tmp/out")" = true
}
is "each once" '.announced == 20000 and .different == 20002 and .commands == 20002'
is "with its attribute" '.first == "announce route 10.0.0.0/32 next-hop 10.0.0.1 attribute " +
	"[ 0x27 0xc0 0x000101040a000001fffe00040a000001 ]"'
is "a change is told as what is different" '.changes | map(split(" ")[:5] | join(" ")) == [
	"announce route 10.0.0.1/32 next-hop 10.0.0.2", "announce route 10.0.78.32/32 next-hop 10.0.0.1",
	"withdraw route 10.0.0.0/32 next-hop 10.0.0.1", "withdraw route 10.0.0.1/32 next-hop 10.0.0.1"]'
is "it ends with ExaBGP" '.exit == 0'
plan
