# end.sh - sourced by lab/lib.sh and tests/system/lib.sh: end processes, whatever they do.

gone() { # PID... - have they all ended?
	for p; do
		kill -0 "$p" 2>/dev/null && case $(ps -o stat= -p "$p") in Z* | '') ;; *) return 1 ;; esac
	done
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
