# end.sh - sourced by lab/lib.sh and tests/system/lib.sh: end processes, whatever they do.

gone() { # PID... - have they all ended?
	! ps -o stat= -p "$*" 2>/dev/null | grep -qv '^Z'
}

# Ask, wait up to five seconds, then insist: a program that hangs when it is to stop (OpenSM does
# when ibsim has gone first) must not hang the lab.
end() { # PID...
	for p; do kill "$p" 2>/dev/null; done
	tries=50
	until gone "$@" || [ $tries = 0 ]; do
		tries=$((tries - 1))
		sleep 0.1
	done
	for p; do kill -9 "$p" 2>/dev/null; done
	for p; do wait "$p" 2>/dev/null; done
}

# What a shell has started, and what that has started.
below() { # PID
	ps -eo pid=,ppid= | awk -v top="$1" '{ parent[$1] = $2 } END { for (p in parent) {
		for (q = parent[p]; q > 1 && q != top;) q = parent[q]
		if (q == top) print p } }'
}

# The namespaces of a shell: each has the shell's number in its name, between hyphens.
spaces_of() { # PID
	ip netns list 2>/dev/null | awk '{ print $1 }' | awk -F- -v n="$1" '/^cw/ {
		for (i = 2; i <= NF; i++) if ($i == n) { print; break } }'
}

# The number of a job may be that of a subshell, or of a program that has ended: what it started is still
# in its namespace.
end_spaces() { # PID
	for s in $(spaces_of "$1"); do
		# shellcheck disable=SC2046
		end $(ip netns pids "$s" 2>/dev/null)
		ip netns del "$s" 2>/dev/null
	done
}

# End all that a shell has started, first what starts others, and remove its namespaces and directory.
end_all() { # PID DIRECTORY
	# shellcheck disable=SC2046
	end $(below "$1")
	end_spaces "$1"
	rm -rf "$2"
}

# The same when this shell is killed: meson gives a test half a second between TERM and KILL. The guard
# has a session of its own and is nobody's job.
guard() { # DIRECTORY
	(setsid sh -c 'tail --pid="$2" -f /dev/null; . "$1"; end_spaces "$2"; rm -rf "$3"' guard \
		"$CW_SRC/lab/end.sh" $$ "$1" >/dev/null 2>&1 </dev/null &)
}
