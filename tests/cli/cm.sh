#!/bin/sh
# CM messages: every field as an independent decoder reads it.
. "$(dirname "$0")/lib.sh"
"$python" "$CW_SRC/tests/tools/cm_oracle.py" "$causeway" "$tmp"
