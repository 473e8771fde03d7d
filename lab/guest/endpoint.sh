#!/bin/sh
# endpoint.sh CAUSEWAY SERVER|- MTU SECONDS TEST:SIZE... - causeway perf on eth0, in a guest where
# perftest.sh has run before. Without a server (-) this is the server. A test is write_bw, write_lat
# ...; the client's report, JSON, goes to standard output under a line "== TEST:SIZE".
causeway=$1 server=$2 mtu=$3 seconds=$4
shift 4
for test; do
	name=${test%:*}
	case $name in *_bw) bound="-D $seconds" ;; *) bound="-n 200 --latency" ;; esac
	if [ "$server" = - ]; then
		"$causeway" perf -s || exit 1
		continue
	fi
	echo "== $test"
	tries=100
	# The client comes too early as long as the server starts.
	# shellcheck disable=SC2086 # bound is several words
	until "$causeway" perf "${name%_*}" -c "$server" -j --mtu "$mtu" --size "${test#*:}" $bound \
		2>/tmp/report; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] && grep -q 'Connection refused' /tmp/report || {
			cat /tmp/report
			exit 1
		}
		sleep 0.3
	done
done
