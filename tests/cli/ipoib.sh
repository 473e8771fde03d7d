#!/bin/sh
# IPoIB captures: every field as an independent decoder reads it.
. "$(dirname "$0")/lib.sh"
"$python" "$CW_SRC/tests/tools/ipoib_oracle.py" "$causeway" "$CW_SRC" "$tmp"
