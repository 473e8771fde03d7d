# ipoib-guest-lib.sh - sourced by labs with Linux's ib_ipoib in guests a and b, after guest.sh: guests with the
# adapter of lab/guest/cw_hca, a gateway in the namespace `net`, and traffic between them. Guests' interfaces and
# the gateway are on the bridge `fabric` of that namespace.
tests=$(realpath "$CW_SRC")/tests/system

# ---- Guests, and the gateway ---------------------------------------------------------------------

boot() { # NAME GUID LID QPN PKEYS
	guest "$1" net "tap:${1}0" sh "$guest_obey"
	inside net sysctl -qw "net.ipv6.conf.${1}0.disable_ipv6=1"
	ip -n "$(ns net)" link set "${1}0" master fabric
	guest_do "$1" 240 sh -ec "
		sysctl -qw net.ipv6.conf.eth0.disable_ipv6=1 net.ipv4.conf.all.arp_ignore=1
		ip link set eth0 up" >"$tmp/boot" || die "guest $1 has no eth0" "$tmp/boot"
	plug "$@"
}
# The adapter of a guest, and its interface ib0, which has the first P_Key.
plug() { # NAME GUID LID QPN PKEYS
	guest_do "$1" 60 sh -ec "
		insmod /share/cw_hca.ko guid=0x1000$2 lid=$3 qpn=$4 pkeys=$5
		ip link set ib0 up
		ip addr add 10.77.1.$3/24 dev ib0
		ip addr add fd00:77:1::$3/64 dev ib0 nodad" >"$tmp/plug" ||
		die "guest $1 has no ib0" "$tmp/plug"
}
joined() { # GUEST INTERFACE - Linux gives it carrier when it has joined the broadcast group
	check "$2 of guest $1 has joined the broadcast group" guest_do "$1" 60 sh -c \
		"until [ \"\$(cat /sys/class/net/$2/carrier)\" = 1 ]; do sleep 0.2; done"
}
unplug() { # GUEST - what its adapter has counted is a comment
	guest_do "$1" 60 sh -c 'ip link set ib0 down; rmmod cw_hca; dmesg | grep "cw_hca: tx" | tail -1' >"$tmp/unplug"
	note "guest $1: $(sed 's/.*cw_hca/cw_hca/' "$tmp/unplug")"
	check "guest $1: no damaged packet has come" grep -q 'bad_crc 0 ' "$tmp/unplug"
}
leave() { # GUEST
	unplug "$1"
	guest_leave "$1"
}
serve() { # the gateway, with the configuration in $tmp/gw.json
	"$causeway" check "$tmp/gw.json" >"$tmp/gw.check" 2>&1 || die "configuration is refused" "$tmp/gw.check"
	start gw net "$causewayd" -c "$tmp/gw.json" -s "$tmp/gw.sock"
	gwpid=$pid
	asks "the gateway's links are up" links '[.links[].state] | unique == ["up"]'
}
ask() { # TOPIC JQ
	"$causeway" ipoib show "$1" -j -s "$tmp/gw.sock" >"$tmp/ask" && jq -e "$2" "$tmp/ask" >/dev/null
}
asks() { # TEXT TOPIC JQ
	text=$1
	shift
	if wait_for 10 "$text" ask "$@"; then
		ok "$text"
	else
		not_ok "$text" "$*" "$(cat "$tmp/ask")" "$(tail -5 "$tmp/gw.err")"
	fi
}

# ---- Traffic -------------------------------------------------------------------------------------

on_for() { # SECONDS WHERE COMMAND... - in a guest, or in a namespace of the lab
	limit=$1 who=$2
	shift 2
	case $who in a | b) guest_do "$who" "$limit" "$@" ;; *) inside "$who" timeout "$limit" "$@" ;; esac
}
on() { on_for 60 "$@"; } # WHERE COMMAND...
ping() { # FROM ADDRESS [OCTETS]
	on "$1" python3 "$tests/ping.py" "$2" 3 "${3:-56}"
}
ping_again() { # what comes first may be lost, or teach the path's MTU
	ping "$@" || ping "$@" || ping "$@" || ping "$@"
}
pings() { # FROM ADDRESS OCTETS...
	from=$1 to=$2
	shift 2
	for size; do check "$from to $to, $size octets" ping_again "$from" "$to" "$size"; done
}

# Its output is a file that guests see, too.
background() { # WHERE FILE COMMAND...
	who=$1 file=$2
	shift 2
	rm -f "$share/$file"
	case $who in
	a | b) guest_do "$who" 30 sh -c "$(for w; do guest_quote "$w"; done) >/share/$file 2>&1 </dev/null &" ;;
	*)
		inside "$who" timeout 200 "$@" >"$share/$file" 2>&1 </dev/null &
		;;
	esac
}
said() { wait_for 40 "$2" grep -q "$2" "$share/$1"; } # FILE WORD

mcast() { # LISTENER IF GROUP SENDER IF
	background "$1" mcast python3 "$tests/mcast.py" listen "$3" "$2"
	said mcast listening || return
	case $4 in a | b) answer=/share/mcast ;; *) answer=$share/mcast ;; esac
	on "$4" python3 "$tests/mcast.py" send "$3" "$5" "$answer"
}

bulk() { # SERVER ADDRESS CLIENT MEGABYTES
	background "$1" bulk sh -c "python3 $tests/bulk.py serve $2 && echo received"
	said bulk listening && on "$3" python3 "$tests/bulk.py" send "$2" "$4" && said bulk received
}

# A session of somebody who types, for as long as neighbours have to be asked for again.
chat() { # SERVER ADDRESS CLIENT SECONDS
	background "$1" chat timeout 200 python3 "$tests/chat.py" serve "$2"
	said chat listening && on_for 150 "$3" python3 "$tests/chat.py" talk "$2" "$4" >"$tmp/chat" 2>&1
	got=$?
	note "$1 and $3: $(tail -1 "$tmp/chat")"
	return $got
}

# iperf3's report in $tmp/iperf; on() has room for its seconds.
iperf() { # SERVER ADDRESS CLIENT OPTION...
	server=$1 to=$2 from=$3
	shift 3
	background "$server" iperf timeout 60 iperf3 -s -1 --forceflush
	said iperf 'Server listening' && on "$from" iperf3 -J -c "$to" "$@" >"$tmp/iperf.out" &&
		sed -n '/^{/,$p' "$tmp/iperf.out" >"$tmp/iperf" && # a guest's warnings are in it, too
		jq -e '.end.sum_received.bytes // .end.sum.bytes > 0' "$tmp/iperf" >/dev/null && return
	tail -5 "$tmp/iperf.out" # what it says in place of a report
	return 1
}
iperf_tcp() { # SERVER ADDRESS CLIENT OPTION...
	iperf "$@" -t 3 && note "$1 and $3: TCP $(jq '.end.sum_received.bits_per_second / 1e6 | round' "$tmp/iperf") Mbit/s"
}
