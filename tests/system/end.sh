#!/bin/sh
# end.sh - a lab or a test that ends, in any way, ends all that it has started.
. "$(dirname "$0")/lib.sh"

# Programs behind a subshell, a program of a program, one that outlives its parent, a loop.
busy="sleep 9$$"
lab='. "$CW_SRC/lab/lib.sh"; space a; inside a $busy &
	start b a sh -c "$busy & wait"; inside a setsid -f $busy; while :; do inside a $busy; done &
	echo "$tmp" >"$ready"; read -r x'
system='. "$CW_SRC/tests/system/lib.sh"; ns a; in_ns "$a" $busy &
	in_ns "$a" sh -c "$busy & wait" & in_ns "$a" setsid -f $busy; while :; do in_ns "$a" $busy; done &
	echo "$tmp" >"$ready"; read -r x'
ready=$tmp/ready
export CW_SRC CW_BUILD busy ready

running() { # NUMBER - are there so many of its programs?
	[ "$(pgrep -fxc "$busy")" = "$1" ]
}
nothing_is_left() {
	running 0 && [ ! -e "$(cat "$ready")" ] && ! ip netns list | grep -q -e "-$victim\b"
}

mkfifo "$tmp/in"
ending() { # NAME PROGRAM DIRECTORY [SIGNAL] - without one, by its input's end
	rm -f "$ready"
	setsid env --default-signal=INT sh -c "$2" "$CW_SRC/$3/victim.sh" <"$tmp/in" >"$tmp/victim" 2>&1 &
	victim=$!
	exec 9>"$tmp/in"
	wait_for 30 test -s "$ready"
	check "$1: four programs run" wait_for 30 running 4
	case ${4:-} in
	'') ;;
	KILL) kill -s KILL -- "-$victim" ;; # as meson does: its whole group
	*) kill -s "$4" "$victim" ;;
	esac
	exec 9>&-
	wait "$victim" 2>/dev/null
	# After KILL the guard has to notice.
	check "$1: nothing is left" wait_for 30 nothing_is_left
}
for signal in '' INT TERM KILL; do
	# shellcheck disable=SC2086
	ending "a lab, ${signal:-its own end}" "$lab" lab $signal
	# shellcheck disable=SC2086
	ending "a test, ${signal:-its own end}" "$system" tests/system $signal
done
plan
