#!/bin/sh
# pnc.sh [PREFIXES] - so many prefixes with attribute 39 go by FRR to a congestion point: by ExaBGP and
# `causeway bgp-helper`, by the helper alone, and by BMP. JSON lines: seconds, and memory.
#
#	p (bgp_speaker.py) - r FRR - c (gateway; for BGP with ExaBGP)
# shellcheck disable=SC2154,SC2034 # lib.sh sets $tmp, $pid and the like, and reads others
. "$(dirname "$0")/../lab/pnc-lib.sh"
need ip jq exabgp vtysh /usr/lib/frr/bgpd /usr/lib/frr/zebra >&2
prefixes=${1:-100000}
bound=${BOUND:-300} # seconds that anything may take

space p r c
wire p e0 r e0 11
wire r e1 c e0 14
hosts p c

now() { date +%s.%N; }
since() { # TIME
	echo "$(now) $1" | awk '{ printf "%.2f", $1 - $2 }'
}
entries() { show c proxy-sources | jq .entries; }
# Wait until the table has NUMBER entries; $took is how long that was, since TIME.
until_table() { # TIME NUMBER
	while [ "$(entries)" != "$2" ]; do
		[ "$(since "$1" | cut -d. -f1)" -lt $bound ] || die "$(entries) entries instead of $2" "$tmp/c.err"
		sleep 0.05
	done
	took=$(since "$1")
}
# Processor seconds of the gateway's control thread so far: no neighbour on this machine changes them.
cpu() { awk '{ printf "%.2f", ($14 + $15) / 100 }' "/proc/$gwpid/task/$gwpid/stat"; }
rss() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; } # PID - KiB
line() { # WHAT KEY VALUE...
	what=$1
	shift
	printf '{"bench": "pnc", "what": "%s", "prefixes": %s, "cpu_s": %s' "$what" "$prefixes" \
		"$(echo "$(cpu) $used" | awk '{ printf "%.2f", $1 - $2 }')"
	used=$(cpu)
	while [ $# -gt 0 ]; do
		printf ', "%s": %s' "$1" "$2"
		shift 2
	done
	echo '}'
}

# ---- Routers and announcements -------------------------------------------------------------------

zebra r
sed 's/10\.15\.0\.2/10.14.0.2/; s/10\.12\.0\.2/10.14.0.2/' "$CW_SRC/lab/pnc/bmp-frr.conf" >"$tmp/r/bgpd.conf"
frr r bgpd -M bmp
in_frr() {
	timeout 20 vtysh --vty_socket "$tmp/r" -c 'show bgp ipv4 unicast summary json' |
		jq -e --argjson n "$1" '.peers["10.11.0.1"].pfxRcd == $n' >/dev/null 2>&1
}
until_frr() { # TIME NUMBER
	until in_frr "$2"; do
		[ "$(since "$1" | cut -d. -f1)" -lt $bound ] || die "FRR has not got $2 prefixes" "$tmp/speaker.err"
		sleep 0.2
	done
	frr=$(since "$1")
}
# ---- By BGP ----------------------------------------------------------------------------------------

gateway_config c bgp-learner.json "$(congestion_point e0 10.14.0.2/24 10.14.0.1 fd14::2/64 fd14::1)"
jq '."causeway:causeway".pnc["hold-time"] = 0' "$tmp/c.json" >"$tmp/c0.json" && mv "$tmp/c0.json" "$tmp/c.json"
gateway c c
empty=$(rss "$gwpid")
used=$(cpu)
exabgp_config c 10.14.0.2 10.14.0.1
printf '#!/bin/sh\nexec tee %s/recorded | %s bgp-helper -s %s/c.sock\n' "$tmp" "$causeway" "$tmp" >"$tmp/helper"
sed -i 's/^exec //' "$tmp/helper"
chmod +x "$tmp/helper"
sed "s#run .* bgp-helper -s [^;]*;#run $tmp/helper;#" "$tmp/exa-c.conf" >"$tmp/exa-rec.conf"
mv "$tmp/exa-rec.conf" "$tmp/exa-c.conf"
mkfifo "$tmp/orders"
inside p /usr/bin/python3 "$CW_SRC/bench/bgp_speaker.py" 10.11.0.1 10.11.0.2 65001 "$prefixes" \
	<"$tmp/orders" 2>"$tmp/speaker.err" &
exec 9>"$tmp/orders"
exabgp c
cexa=$pid
up() { show c proxy-sources | jq -e '.sessions[] | select(.source == "bgp" and .state == "up")'; }
wait_for 60 session up || die "no session" "$tmp/exa-c.log"

begin=$(now)
echo announce >&9
until_frr "$begin" "$prefixes"
until_table "$begin" "$prefixes"
line announced frr_s "$frr" table_s "$took" rss_kib "$(rss "$gwpid")" empty_kib "$empty"

begin=$(now)
slay "$cexa"
until_table "$begin" 0
line exabgp-killed table_s "$took"
: >"$tmp/recorded"
begin=$(now)
exabgp c
cexa=$pid
wait_for 60 session up
up_s=$(since "$begin")
until_table "$begin" "$prefixes"
line restarted up_s "$up_s" table_s "$took"

begin=$(now)
"$causeway" show -j proxies -s "$tmp/c.sock" >"$tmp/all.json"
line show show_s "$(since "$begin")" octets "$(wc -c <"$tmp/all.json")"

cp "$tmp/recorded" "$tmp/replay" # what ExaBGP wrote for its helper, up to the last announcement
begin=$(now)
echo withdraw >&9
until_frr "$begin" 0
until_table "$begin" 0
line withdrawn frr_s "$frr" table_s "$took"
slay "$cexa"

# ---- The helper alone ------------------------------------------------------------------------------

begin=$(now)
(
	cat "$tmp/replay"
	sleep $bound
) | "$causeway" bgp-helper -s "$tmp/c.sock" -n replay >"$tmp/replayed" 2>"$tmp/replay.err" &
until_table "$begin" "$prefixes"
line helper-alone octets "$(wc -c <"$tmp/replay")" events "$(wc -l <"$tmp/replay")" table_s "$took"

# ---- By BMP ----------------------------------------------------------------------------------------

# FRR connects again and again; from the first moment that the gateway listens it has all to tell.
echo announce >&9
until_frr "$(now)" "$prefixes"
slay "$gwpid"
sed 's/10\.15\.0\.1/10.14.0.1/' "$CW_SRC/lab/pnc/bmp-learner.json" >"$tmp/bmp.json"
jq -s '.[0] * {"causeway:causeway": {pnc: (.[1]."causeway:causeway".pnc + {bgp: {enabled: false}})}}' \
	"$tmp/c.json" "$tmp/bmp.json" >"$tmp/c2.json" && mv "$tmp/c2.json" "$tmp/c.json"
gateway c c
used=$(cpu)
connected() { show c bmp | jq -e '.routers | length == 1'; }
wait_for 60 router connected || die "FRR does not connect" "$tmp/c.err"
begin=$(now)
until_table "$begin" "$prefixes"
line bmp table_s "$took" rss_kib "$(rss "$gwpid")" empty_kib "$empty"
begin=$(now)
echo withdraw >&9
until_frr "$begin" 0
until_table "$begin" 0
line bmp-withdrawn frr_s "$frr" table_s "$took"
