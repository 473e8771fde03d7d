# lib.sh - sourced by the labs: namespaces, links, waiting, TAP output.
#
# Everything a lab makes has a name of its own (the process number is in it) and is gone when the
# lab ends, however it ends. CW_BUILD is the build directory, CW_SRC the source tree.
set -u
: "${CW_SRC:=$(cd "$(dirname "$0")/.." && pwd)}"
: "${CW_BUILD:=$CW_SRC/build}"
causeway=$CW_BUILD/causeway
causewayd=$CW_BUILD/causewayd
lab=$(basename "$0" .sh)
tmp=$(mktemp -d)
cpu='' logs='' count=0 failed=0
export LC_ALL=C
. "$CW_SRC/tests/jq.sh"
. "$CW_SRC/lab/end.sh"
guard "$tmp"

cleanup() {
	trap - EXIT INT TERM
	end_all $$ "$tmp"
}
trap cleanup EXIT
trap 'cleanup; exit 130' INT
trap 'cleanup; exit 143' TERM

# ---- Output ------------------------------------------------------------------------------------

ok() { # TEXT
	count=$((count + 1))
	echo "ok $count - $1"
}

not_ok() { # TEXT [WHY...]
	count=$((count + 1)) failed=$((failed + 1))
	echo "not ok $count - $1"
	shift
	for why; do printf '%s\n' "$why" | sed 's/^/#   /'; done
}

note() { printf '%s\n' "$*" | sed 's/^/# /'; } # of several lines each

check() { # TEXT COMMAND... - ok when the command succeeds
	checking=$1 # no name that the command may use
	shift
	if "$@" >"$tmp/check" 2>&1; then ok "$checking"; else not_ok "$checking" "$*" "$(tail -20 "$tmp/check")"; fi
}

die() { # TEXT [FILE] - the lab can't go on
	echo "Bail out! $1"
	[ $# -lt 2 ] || sed 's/^/#   /' "$2"
	exit 1
}

plan() { # the last line of a lab
	echo "1..$count"
	[ "$failed" = 0 ]
	exit
}

# ---- What a lab needs ----------------------------------------------------------------------------

# One line for each thing that is missing here; nothing when all is there.
missing() { # PROGRAM...
	[ "$(id -u)" = 0 ] || echo "root: network namespaces and packet sockets need it (sudo make demo)"
	for p; do
		command -v "$p" >/dev/null || echo "the program $p (packaging/deps.txt names its package)"
	done
	[ -x "$causeway" ] || echo "$causeway: build it with make"
	[ -x "$causewayd" ] || echo "$causewayd: build it with make"
	[ "$(id -u)" = 0 ] || return 0
	if ! ip netns add "cw-try-$$" 2>"$tmp/try"; then
		echo "network namespaces: $(cat "$tmp/try")"
		return 0
	fi
	ip -n "cw-try-$$" link add name a type veth peer name b 2>"$tmp/try" ||
		echo "virtual Ethernet (veth) in the kernel: $(cat "$tmp/try")"
	ip -n "cw-try-$$" link add name c type bridge 2>"$tmp/try" ||
		echo "the Ethernet bridge in the kernel: $(cat "$tmp/try")"
	ip netns del "cw-try-$$"
}

# Skip the whole lab where something is missing.
need() { # PROGRAM...
	missing "$@" >"$tmp/missing"
	[ -s "$tmp/missing" ] || return 0
	echo "1..0 # SKIP needs $(tr '\n' ';' <"$tmp/missing" | sed 's/;$//; s/;/; /g')"
	exit 0
}

# ---- Namespaces and links ------------------------------------------------------------------------

# The full name of a namespace of this lab.
ns() { echo "cw-$lab-$$-$1"; }

space() { # NAME... - make namespaces
	for n; do
		ip netns add "$(ns "$n")" || die "no namespace $n"
		ip -n "$(ns "$n")" link set lo up
		# Only what the lab sends is to be on its links.
		inside "$n" sysctl -qw net.ipv6.conf.default.disable_ipv6=1 \
			net.ipv6.conf.default.accept_dad=0 net.ipv6.conf.default.router_solicitations=0 \
			net.ipv6.conf.default.accept_ra=0
	done
}

inside() { # NAME COMMAND...
	where=$(ns "$1")
	shift
	ip netns exec "$where" "$@"
}

# A cable between two interfaces, jumbo frames and no offloads. Addresses are made of the names.
cable() { # SPACE IF SPACE IF
	ip -n "$(ns "$1")" link add name "$2" mtu 9600 address "$(mac "$1" "$2")" type veth \
		peer name "$4" mtu 9600 address "$(mac "$3" "$4")" netns "$(ns "$3")" ||
		die "no cable between $1 and $3"
	inside "$1" ethtool -K "$2" rx off tx off gso off gro off tso off >/dev/null 2>&1
	inside "$3" ethtool -K "$4" rx off tx off gso off gro off tso off >/dev/null 2>&1
	ip -n "$(ns "$1")" link set "$2" up
	ip -n "$(ns "$3")" link set "$4" up
}

# The addresses of an interface: 10.NET.0.HOST/24 and 2001:db8:NET::HOST/64.
leg() { # SPACE IF NET HOST
	inside "$1" sysctl -qw "net.ipv6.conf.$2.disable_ipv6=0"
	ip -n "$(ns "$1")" addr add "10.$3.0.$4/24" dev "$2"
	ip -n "$(ns "$1")" -6 addr add "2001:db8:$3::$4/64" dev "$2" nodad
}

# The link address of an interface: always the same for the same names.
mac() { # SPACE IF
	printf '%s/%s' "$1" "$2" | cksum | awk '{ printf "02:cb:%02x:%02x:%02x:%02x\n",
		$1 / 16777216 % 256, $1 / 65536 % 256, $1 / 256 % 256, $1 % 256 }'
}

# A bridge that passes tagged frames. Kernels with VLAN filtering filter, the others know only
# addresses.
bridge() { # SPACE BRIDGE PORT...
	b=$2 in=$(ns "$1")
	if ip -n "$in" link add name "$b" mtu 9600 type bridge vlan_filtering 1 2>/dev/null; then
		filtering=1
	else
		filtering=
		ip -n "$in" link add name "$b" mtu 9600 type bridge || die "no bridge in $1"
	fi
	ip -n "$in" link set "$b" type bridge stp_state 0 forward_delay 0 mcast_snooping 0 2>/dev/null
	shift 2
	for p; do
		ip -n "$in" link set "$p" master "$b" || die "$p does not join $b"
		for v in ${filtering:+$vlans}; do command bridge -n "$in" vlan add dev "$p" vid "$v"; done
	done
	ip -n "$in" link set "$b" up
}

# Make a port of the bridge an access port of one VLAN: untagged outside, tagged inside.
access_port() { # SPACE PORT VID
	in=$(ns "$1") obj=$tmp/access-$3.o
	bpf access "$obj" "-DVID=$3"
	{
		tc -n "$in" qdisc add dev "$2" clsact &&
			tc -n "$in" filter add dev "$2" egress bpf da obj "$obj" sec tc/untag &&
			tc -n "$in" filter add dev "$2" ingress bpf da obj "$obj" sec tc/tag
	} 2>"$tmp/tc" || die "no access port $2" "$tmp/tc"
}

# Mark CE at an egress, as lab/bpf/mark.c says.
mark_ce() { # SPACE IF
	in=$(ns "$1")
	bpf mark "$tmp/mark.o"
	{
		tc -n "$in" qdisc add dev "$2" clsact &&
			tc -n "$in" filter add dev "$2" egress bpf da obj "$tmp/mark.o" sec tc/mark
	} 2>"$tmp/tc" || die "no marking at $2" "$tmp/tc"
}

# Damage one packet of 128 at an egress, as lab/bpf/corrupt.c says.
damage() { # SPACE IF
	bpf corrupt "$tmp/corrupt.o"
	{
		tc -n "$(ns "$1")" qdisc add dev "$2" clsact &&
			tc -n "$(ns "$1")" filter add dev "$2" egress bpf da obj "$tmp/corrupt.o" sec tc/corrupt
	} 2>"$tmp/tc" || die "no damage at $2" "$tmp/tc"
}

bpf() { # SOURCE OBJECT [OPTION...]
	src=$CW_SRC/lab/bpf/$1.c obj=$2
	shift 2
	[ -f "$obj" ] && return
	clang -O2 -target bpf "-I/usr/include/$(uname -m)-linux-gnu" "$@" -c "$src" -o "$obj" \
		2>"$tmp/clang" || die "clang can't compile $src" "$tmp/clang"
}

# ---- Processes -------------------------------------------------------------------------------------

# Poll until a command succeeds.
wait_for() { # SECONDS WHAT COMMAND...
	tries=$((50 * $1)) what=$2
	shift 2
	until "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.02
	done
}

# The same by the clock: where a try takes long, on a busy machine, fewer fit in.
within() { # SECONDS COMMAND...
	read -r up _ </proc/uptime
	deadline=$((${up%.*} + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		read -r up _ </proc/uptime
		[ "${up%.*}" -le $deadline ] || return 1
		sleep 0.02
	done
}

# Start in the background; output goes to $tmp/NAME.out and .err. The process number is in $pid.
# $cpu pins it: a sender that changes CPUs can overtake its own packets in the kernel's queues.
start() { # NAME SPACE COMMAND...
	id=$1 where=$(ns "$2")
	shift 2
	ip netns exec "$where" ${cpu:+taskset -c "$((cpu % $(nproc)))"} "$@" \
		>"$tmp/$id.out" 2>"$tmp/$id.err" </dev/null &
	pid=$!
}

alive() { kill -0 "$1" 2>/dev/null; }

# A sink that is ready when this returns. Its report will be $tmp/NAME.out.
sink() { # NAME SPACE OPTION...
	sockets=$(inside "$2" sh -c 'wc -l </proc/net/packet')
	id=$1 at=$2
	shift 2
	start "$id" "$at" "$causeway" sink -j --timeout 100 "$@"
	echo "$pid" >"$tmp/$id.sinkpid"
	wait_for 10 "sink $id" inside "$at" sh -c "
		[ \$(grep -c ' 0003 ' /proc/net/packet) -gt 0 ] && [ \$(wc -l </proc/net/packet) -gt $sockets ]" ||
		die "sink $id does not start" "$tmp/$id.err"
}

# A gateway that is ready when this returns: $tmp/NAME.json is its configuration. The control socket
# is $tmp/NAME.sock.
gateway() { # NAME SPACE
	"$causeway" check "$tmp/$1.json" >"$tmp/$1.check" 2>&1 ||
		die "configuration of $1 is refused" "$tmp/$1.check"
	start "$1" "$2" "$causewayd" -c "$tmp/$1.json"
	gw=$1 gwpid=$pid
	wait_for 20 "$1" show "$1" ports || {
		alive "$gwpid" || die "gateway $gw has ended" "$tmp/$gw.err"
		die "gateway $gw does not answer" "$tmp/$gw.err"
	}
}

show() { # NAME TABLE [OPTION...]
	g=$1
	shift
	"$causeway" show -j -s "$tmp/$g.sock" "$@"
}

# Sum of a drop counter (or of all, without a name) of a gateway.
drops() { # GATEWAY [NAME]
	show "$1" drops | jq --arg name "${2:-}" '[.. | objects | select(has("reason") and has("packets"))
		| select($name == "" or .reason == $name) | .packets] | add // 0'
}

# ---- Other people's routers, and what a gateway learns from them -----------------------------------

# FRR's zebra in a namespace, ready when this returns. The daemons of a namespace have $tmp/SPACE, with
# DAEMON.conf, for their files.
zebra() { # SPACE
	mkdir -p "$tmp/$1" && chown frr:frr "$tmp/$1"
	: >"$tmp/$1/zebra.conf"
	frr "$1" zebra
	wait_for 10 zebra test -S "$tmp/$1/zserv.api" || die "zebra does not start" "$tmp/$1-zebra.err"
}

frr() { # SPACE DAEMON [OPTION...]
	r=$1 d=$2
	shift 2
	rm -f "$tmp/$r/$d.pid"
	start "$r-$d" "$r" "/usr/lib/frr/$d" -f "$tmp/$r/$d.conf" -i "$tmp/$r/$d.pid" \
		-z "$tmp/$r/zserv.api" --vty_socket "$tmp/$r" --log "file:$tmp/$r/$d.log" "$@"
}

# A cable with IPv4 and IPv6 addresses: 10.NET.0.1 and fdNET::1 at the first end, 2 at the other.
address() { # SPACE IF NET HOST
	in=$(ns "$1")
	ip -n "$in" link set "$2" mtu 1500
	inside "$1" sysctl -qw "net.ipv6.conf.$2.disable_ipv6=0" net.ipv4.ip_forward=1 \
		net.ipv6.conf.all.forwarding=1
	ip -n "$in" addr add "10.$3.0.$4/24" dev "$2"
	ip -n "$in" addr add "fd$3::$4/64" dev "$2" nodad
}
wire() { # SPACE IF SPACE IF NET
	cable "$1" "$2" "$3" "$4"
	address "$1" "$2" "$5" 1
	address "$3" "$4" "$5" 2
}
loopback() { # SPACE ADDRESS...
	s=$1
	shift
	inside "$s" sysctl -qw net.ipv6.conf.lo.disable_ipv6=0
	for a; do ip -n "$(ns "$s")" addr add "$a" dev lo; done
}

# Has the congestion point, gateway c, learnt these senders from this proxy? FROM is who announced it.
learnt() { # SOURCE PREFIX PROXY [FROM]
	show c proxies | jq -e --arg s "$1" --arg p "$2" --arg q "$3" --arg f "${4-}" '.proxies[] |
		select(.source == $s and .prefix == $p and .proxy == $q and .used and (.stale | not)
			and ($f == "" or .from == $f))'
}

known() { # NUMBER - are there just so many proxies in its table?
	show c proxies | jq -e --argjson n "$1" '.proxies | length == $n'
}

# ok when a command succeeds within a time, with how long that took; else the table of gateway c and the
# end of each FILE that $logs names.
eventually() { # TEXT SECONDS COMMAND...
	text=$1 limit=$2
	shift 2
	begin=$(date +%s%N)
	if within "$limit" "$@"; then
		ok "$text # $((($(date +%s%N) - begin) / 1000000)) ms"
	else
		# shellcheck disable=SC2086
		not_ok "$text" "$(show c proxies | jq -c . | head -c 2000)" "$(tail -n 6 $logs </dev/null)"
	fi
}

# ---- Measuring -------------------------------------------------------------------------------------

# Frames that this machine's kernel and these gateways had no room for.
overruns() { # GATEWAY...
	n=$(awk '{ n += sprintf("%d", "0x" $2) } END { print n + 0 }' /proc/net/softnet_stat)
	for g; do n=$((n + $(show "$g" ports | jq '[.ports[] | .rx_missed + .rx_no_buffer] | add'))); done
	echo "$n"
}

# Is it worth another try? On a machine that is too busy the kernel's own queues overflow, which says
# nothing about a gateway: when packets were lost and such a queue did overflow (BEFORE is what
# overruns told before), $rate is halved and this succeeds. Of four tries the last one counts.
busy() { # TRY BEFORE GATEWAY... -- REPORT...
	try=$1 before=$2 gws=''
	shift 2
	while [ "$1" != -- ]; do gws="$gws $1" && shift; done
	shift
	[ "$(jq -s '[.[].runs[].lost] | add // 0' "$@")" != 0 ] && [ "$try" -lt 4 ] || return 1
	over=$(($(overruns $gws) - before))
	[ "$over" -gt 0 ] || return 1
	rate=$((rate / 2))
	note "this machine is busy: its queues lost $over frames; once more, at $rate packets/s"
}

# ---- Verdicts --------------------------------------------------------------------------------------

verdict() { # WHAT SINK PACKETS
	if jq -e --argjson n "$3" '.ok and (.runs | length == 1) and .runs[0].received == $n' \
		"$tmp/$2.out" >/dev/null 2>&1; then
		ok "$1: $3 packets, none lost, none changed beyond the rules"
		note "$(jq -r '.runs[0] | (if .from == "ub" then "FECN" else "ECN" end) + " as sent -> as received: " + (.cc |
			map("\(.sent) -> \(.received) \(.packets)") | join(", "))' "$tmp/$2.out")"
	else
		not_ok "$1: $3 packets, none lost, none changed beyond the rules" \
			"$(cat "$tmp/$2.out" "$tmp/$2.err")"
	fi
}

# The Ethernet leg, seen by other people's software: tagged, IP and its checksums right, UDP without
# checksum (draft 4.1), nothing malformed; and every ICRC still right.
leg_checks() { # IP FILE VLANS [FRAMES-AT-LEAST]
	tshark -r "$2" -o ip.check_checksum:TRUE -o udp.check_checksum:TRUE \
		-o udp.ignore_ipv6_zero_checksum:TRUE -T fields -E separator=, \
		-Y 'udp.dstport == 4792' -e vlan.id -e ip.checksum.status -e ip.flags.df \
		-e udp.checksum -e udp.checksum.status -e udp.dstport 2>/dev/null |
		sort | uniq -c | awk '{ print $2, $1 }' >"$tmp/leg"
	if [ "$1" = 4 ]; then want="^$3,1,(True|1),0x0000,3,4792 "; else want="^$3,,,0x0000,3,4792 "; fi
	seen=$(awk '{ n += $2 } END { print n + 0 }' "$tmp/leg")
	if [ "$seen" -gt "${4:-1000}" ] && ! grep -qvE "$want" "$tmp/leg"; then
		ok "IPv$1, Ethernet leg: tshark agrees on VLANs, IP, checksums, UDP ($seen frames)"
	else
		not_ok "IPv$1, Ethernet leg: tshark agrees on VLANs, IP, checksums, UDP" "$(cat "$tmp/leg")"
	fi
	check "IPv$1, Ethernet leg: tshark finds nothing malformed" sh -c \
		"! tshark -r '$2' -Y '_ws.malformed or ip.checksum.status == 0' 2>/dev/null | grep ."
	"$causeway" decode -j --summary --filter 'family=uboe' "$2" >"$tmp/leg.json" 2>&1
	check "IPv$1, Ethernet leg: every ICRC is right" jq -e --argjson n "$seen" \
		'.icrc.ok.packets == $n and .packets == $n and .verdict.ok.packets == $n' "$tmp/leg.json"
}

# Nothing of ours was dropped. Frames for other stations (not-for-us) are the bridge's floods.
no_drops() { # GATEWAY
	show "$1" drops | jq -c '[.drops[] | select(.packets > 0 and .reason != "not-for-us")
		| {reason, packets}]' >"$tmp/dropped"
	if [ "$(cat "$tmp/dropped")" = "[]" ]; then
		ok "$1 dropped nothing"
	else
		not_ok "$1 dropped nothing" "$(cat "$tmp/dropped")"
	fi
}

balanced() { # GATEWAY
	show "$1" counters >"$tmp/balance" && jq -ef "$(dirname "$0")/balance.jq" "$tmp/balance" >/dev/null
}

# Waits a little: what is on its way is in no counter yet.
adds_up() { # GATEWAY
	tries=20
	while ! balanced "$1" && [ $tries -gt 0 ]; do
		sleep 0.2
		tries=$((tries - 1))
	done
	if [ $tries -gt 0 ]; then
		ok "$1: the counters add up"
	else
		not_ok "$1: the counters add up" "$(jq -c . "$tmp/balance")"
	fi
}
