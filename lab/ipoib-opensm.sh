#!/bin/sh
# ipoib-opensm.sh - subnet administration by the real OpenSM, on ibsim: the join matrix, traps, and a
# link of ours that goes on when OpenSM is killed and started again.
. "$(dirname "$0")/lib.sh"
need ibsim opensm
so=$(find /usr/lib -name libumad2sim.so -print -quit 2>/dev/null)
[ -n "$so" ] || die "no libumad2sim.so: install libumad2sim0"
here=$CW_SRC/lab/ipoib name=iblab$$
export IBSIM_SOCKNAME="$name" OSM_TMP_DIR="$tmp" OSM_CACHE_DIR="$tmp"
unset LC_ALL
cd "$tmp" || exit 1

start_opensm() {
	rm -f "$tmp/osm.log"
	SIM_HOST=Hca1 LD_PRELOAD=$so opensm -f "$tmp/osm.log" -P "$here/partitions.conf" -s 0 \
		>"$tmp/opensm.out" 2>&1 &
	opensm=$!
	i=0
	until grep -q 'Entering MASTER state' "$tmp/osm.log" 2>/dev/null; do
		i=$((i + 1))
		[ $i -lt 100 ] || die "OpenSM did not become master" "$tmp/opensm.out"
		sleep 0.1
	done
	sleep 0.5
}

ibsim -s -n "$here/net4hca.netlist" >"$tmp/ibsim.log" 2>&1 &
sleep 0.7
start_opensm
mkfifo "$tmp/go"
"$CW_BUILD/tests/ipoib_opensm" "$name" <"$tmp/go" >"$tmp/out" 2>&1 &
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
start_opensm
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
