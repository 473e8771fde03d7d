#!/bin/sh
# SMPs with PortInfo: every field as an independent decoder reads it.
. "$(dirname "$0")/lib.sh"
"$python" "$CW_SRC/tests/tools/smp_oracle.py" "$causeway" "$tmp"
