# opensm-lib.sh - sourced: the real OpenSM, on four adapters of the simulator ibsim (ipoib/net4hca.netlist).
# $sim names the simulator; whoever speaks to it has $IBSIM_SOCKNAME in its environment. Its sockets are
# those of one namespace.

so=$(find /usr/lib -name libumad2sim.so -print -quit 2>/dev/null)
[ -n "$so" ] || die "no libumad2sim.so: install libumad2sim0"
here=$(realpath "$CW_SRC")/lab/ipoib sim=$lab$$
export IBSIM_SOCKNAME="$sim" OSM_TMP_DIR="$tmp" OSM_CACHE_DIR="$tmp"
unset LC_ALL

start_ibsim() { # SPACE
	start ibsim "$1" ibsim -s -n "$here/net4hca.netlist"
	wait_for 20 ibsim grep -q "$sim:ctl" "/proc/$pid/net/unix" || die "ibsim does not start" "$tmp/ibsim.err"
}

# OpenSM at the adapter Hca1; its number is in $opensm.
start_opensm() { # SPACE
	rm -f "$tmp/osm.log"
	start opensm "$1" env SIM_HOST=Hca1 "LD_PRELOAD=$so" opensm -f "$tmp/osm.log" -P "$here/partitions.conf" -s 0
	opensm=$pid
	wait_for 30 OpenSM grep -q 'Entering MASTER state' "$tmp/osm.log" ||
		die "OpenSM did not become master" "$tmp/opensm.out"
}
