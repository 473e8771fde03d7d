#!/bin/sh
# leaves.sh - each leaf of the conversion rules, and inputs at their edges, from file to wire.
. "$(dirname "$0")/lib.sh"
"$python" "$CW_SRC/tests/tools/ub2e_leaves.py" "$causeway" "$tmp"
