#!/bin/sh
# faults.sh [PACKETS] - a gateway under fire: every kind of wrong packet that `causeway gen` knows, from
# either side and in both IP versions, as many of each as of good packets.
#
#   a ub0 - ub0 g1 eth0 - eth0 e
#
# The counters of the port that they come in by must grow by exactly what was sent, kind by kind, those of
# the other port by nothing, and every good packet must come through meanwhile.
. "$(dirname "$0")/lib.sh"
packets=${1:-1000} full_rate=${RATE:-25000}
need ip ethtool taskset jq

cat >"$tmp/g1.json" <<EOF
{ "causeway:causeway": {
  "daemon": { "control-socket": "$tmp/g1.sock" },
  "port": [
    { "name": "ub", "kind": "ub", "device": "packet:ub0", "mtu": 1500,
      "npi-filter": [ 5, 4097 ] },
    { "name": "eth", "kind": "ethernet", "device": "packet:eth0", "mtu": 1500,
      "npi-filter": [ 5, 4097 ],
      "address": [ { "address": "10.2.0.254/24" }, { "address": "2001:db8:2::fe/64" },
                   { "address": "10.3.0.254/24" }, { "address": "2001:db8:3::fe/64" } ] }
  ],
  "route": [
    { "prefix": "10.1.0.0/16", "port": "ub" },
    { "prefix": "2001:db8:1::/48", "port": "ub" },
    { "prefix": "10.2.0.0/16", "port": "eth", "mac": "$(mac e eth0)" },
    { "prefix": "2001:db8:2::/48", "port": "eth", "mac": "$(mac e eth0)" },
    { "prefix": "10.3.0.0/24", "port": "eth" },
    { "prefix": "2001:db8:3::/64", "port": "eth" }
  ],
  "ub2e": {
    "icrc": { "check-from-ub": "drop", "check-from-ethernet": "drop" },
    "cci": { "unmappable": "drop" },
    "ip": { "plain-ip": false },
    "npi": { "mode": "table", "map": [ { "id": 5, "vid": 5 }, { "id": 99, "vid": 99 } ] }
  }
} }
EOF

# Every kind for a side and a version, but those of the pattern SKIP, each with PERCENT.
kinds() { # SIDE IP PERCENT SKIP
	net=10.3.0.77 nowhere=192.0.2.1 own=10.2.0.99
	[ "$2" = 4 ] || net=2001:db8:3::77 nowhere=2001:db8:99::1 own=2001:db8:2::99
	"$causeway" gen --list-faults | awk -v side="$1" -v ip="IPv$2" -v share="$3" -v skip="$4" \
		-v net="$net" -v nowhere="$nowhere" -v own="$own" '
		$2 != "both" && $2 != side { next }
		$3 ~ /^IPv[46]$/ && $3 != ip { next }
		$1 ~ skip { next }
		{ arg = "" }
		$1 == "npi-filter" { arg = "=99" }
		$1 == "npi-unmapped" { arg = "=4097" }
		$1 == "no-route" { arg = "=" nowhere }
		$1 == "same-domain" { arg = "=" own }
		$1 == "neighbour-fail" { arg = "=" net }
		$1 == "mtu" { arg = "=4000" }
		{ printf "%s%s%s:%s", n++ ? "," : "", $1, arg, share }'
}

drop_counters() { show g1 counters | jq -c '.ports | map({ key: .port, value: .drops }) | from_entries'; }

# What the counters grew by, by port and reason, without zeros.
grown() { # BEFORE
	drop_counters | jq -cS --argjson old "$1" 'with_entries(.key as $port
		| .value |= (with_entries(.value -= ($old[$port][.key] // 0)) | with_entries(select(.value != 0)))
		| select(.value != {}))'
}
total_grown() { grown "$1" | jq '[.[][]] | add // 0'; }
has_grown() { [ "$(total_grown "$1")" = "$2" ]; }

# Fire at the gateway. Then $old has the counters from before, $tmp/gen.out the manifest.
fire() { # SIDE IP FAULTS
	from=a to=e dev=ub0 ends4="--src 10.1.0.1+16 --dst 10.2.0.1+16"
	ends6="--src 2001:db8:1::1+16 --dst 2001:db8:2::1+16" extra="--npi 5" todev=eth0
	[ "$1" = ub ] || {
		from=e to=a dev=eth0 todev=ub0 ends4="--src 10.2.0.1+16 --dst 10.1.0.1+16"
		ends6="--src 2001:db8:2::1+16 --dst 2001:db8:1::1+16" extra="--vlan 5 --dmac $(mac g1 eth0)"
	}
	[ "$2" = 4 ] && ends=$ends4 || ends=$ends6
	rate=$full_rate
	for try in 1 2 3 4; do
		before=$(overruns g1) old=$(drop_counters)
		sink good $to -i $todev --hops 1
		cpu=0
		start gen $from "$causeway" gen -j --to "$1" "-$2" -i $dev --count "$packets" --rate "$rate" \
			--size 64-1400 $ends $extra --faults "$3"
		cpu=
		wait "$pid" || die "gen fails" "$tmp/gen.err"
		wait "$(cat "$tmp/good.sinkpid")"
		faulty=$(jq .faulty "$tmp/gen.out")
		# Next hops that do not answer are given up after a while.
		wait_for 15 counters has_grown "$old" "$faulty" && return
		[ "$(overruns g1)" -gt "$before" ] || return
		rate=$((rate / 2))
		note "this machine is busy: its queues overflowed; once more, at $rate packets/s"
	done
}

unnamed='^(random|neighbour-fail)$'
space a g1 e
cable a ub0 g1 ub0
cable g1 eth0 e eth0
cpu=1 gateway g1 g1
cpu=
for side in ub uboe; do
	for ip in 4 6; do
		fire $side $ip "$(kinds $side $ip 100 "$unnamed")"
		[ $side = ub ] && port=ub || port=eth
		jq -cS --arg port $port '{ ($port): .drops }' "$tmp/gen.out" >"$tmp/sent"
		grown "$old" >"$tmp/counted"
		what="$(jq '.faults | length' "$tmp/gen.out") kinds of wrong packets, $faulty in all"
		if cmp -s "$tmp/sent" "$tmp/counted"; then
			ok "$side, IPv$ip: $what: $(jq '.[] | length' "$tmp/counted") counters of the port agree exactly"
		else
			not_ok "$side, IPv$ip: $what: counters of the port agree exactly" "sent    $(cat "$tmp/sent")" \
				"counted $(cat "$tmp/counted")"
		fi
		verdict "$side, IPv$ip: good packets meanwhile" good "$packets"
	done
done

# Random octets, and next hops that do not answer: their sum is known.
for side in ub uboe; do
	for ip in 4 6; do
		list="random:500"
		[ $side = uboe ] || list="$list,$(kinds ub $ip 20 '^([^n]|n[^e])')"
		fire $side $ip "$list"
		n=$(total_grown "$old")
		if [ "$n" = "$faulty" ]; then
			ok "$side, IPv$ip: $list: $faulty sent, as many dropped"
			note "$(grown "$old")"
		else
			not_ok "$side, IPv$ip: $list: $faulty sent, as many dropped" "$(grown "$old")"
		fi
		verdict "$side, IPv$ip: good packets meanwhile" good "$packets"
	done
done
adds_up g1
check "the gateway still answers" show g1 summary
plan
