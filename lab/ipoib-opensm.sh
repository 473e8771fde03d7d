#!/bin/sh
# ipoib-opensm.sh - subnet administration by the real OpenSM, on ibsim: the join matrix, traps, and a
# link of ours that goes on when OpenSM is killed and started again.
. "$(dirname "$0")/lib.sh"
need ibsim opensm
. "$(dirname "$0")/opensm-lib.sh"
cd "$tmp" || exit 1

space ib
start_ibsim ib
start_opensm ib
mkfifo "$tmp/go"
inside ib "$CW_BUILD/tests/ipoib_opensm" "$sim" <"$tmp/go" >"$tmp/out" 2>&1 &
tool=$!
exec 9>"$tmp/go"
i=0
until grep -q '^# up' "$tmp/out"; do
	i=$((i + 1))
	if [ $i -ge 900 ] || ! kill -0 "$tool" 2>/dev/null; then die "the tool stopped" "$tmp/out"; fi
	sleep 0.1
done
# Asked first: killed hard, it would keep its place in ibsim.
end "$opensm"
start_opensm ib
echo >&9
wait "$tool"
end "$opensm"
grep -v '^#' "$tmp/out" >"$tmp/tap"
while read -r line; do
	case $line in
	"not ok"*) not_ok "${line#* - }" ;;
	"ok"*) ok "${line#* - }" ;;
	*) note "$line" ;;
	esac
done <"$tmp/tap"
plan
