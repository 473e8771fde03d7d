#!/bin/sh
# pci.sh - a gateway on PCI devices, in a guest: QEMU's e1000 (82540EM), e1000e (82574L), virtio-net and
# vmxnet3, each as a UB port and as an Ethernet port, driven by DPDK through VFIO and an IOMMU. Packets come
# from gen and go to sink on the host, by the devices' other ends.
#
#   guest: causewayd: e1000   - t0 \
#                     e1000e  - t1  gen, sink, ping
#                     virtio  - t2
#                     vmxnet3 - t3
#          kernel:    spare   - t4 /
#
# Single and double tags, taken out by the devices and left in; links that go down; devices that come and go
# with reloads; what is said about a device that can't be had. With CW_FULL every device has every kind of tag,
# the gateway starts again, without huge pages, and a second guest without IOMMU runs uio_pci_generic.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/guest.sh"
guest_need ip jq dumpcap tshark ethtool ${CW_FULL:+lspci dpdk-devbind.py}
tests=$(realpath "$CW_SRC")/tests/system
devices="e1000 e1000e virtio vmxnet3"
packets=100 rate=100
peer=02:00:00:00:00:11

# ---- The gateway ---------------------------------------------------------------------------------

address() { # DEVICE - its place on the bus
	case $1 in
	e1000) echo 0000:00:10.0 ;;
	e1000e) echo 0000:00:11.0 ;;
	virtio) echo 0000:00:12.0 ;;
	vmxnet3) echo 0000:00:13.0 ;;
	spare) echo 0000:00:14.0 ;;
	esac
}
tap() { # DEVICE
	case $1 in e1000) echo t0 ;; e1000e) echo t1 ;; virtio) echo t2 ;; vmxnet3) echo t3 ;; esac
}

# Two pairs of ports, UB and Ethernet: from 10.NET.0.0 behind UB to 10.(NET+1).0.0 behind Ethernet.
pair() { # UB ETHERNET NET
	cat <<-EOF
		{"ports": [
		    {"name": "$1", "kind": "ub", "device": "dpdk:$(address "$1")", "mtu": 9216},
		    {"name": "$2", "kind": "ethernet", "device": "dpdk:$(address "$2")", "mtu": 9216,
		      "vlan-strip": $strip, "outer-vid": $outer,
		      "address": [{"address": "10.$(($3 + 1)).0.254/24"}, {"address": "2001:db8:$(($3 + 1))::fe/64"}]}],
		  "routes": [
		    {"prefix": "10.$3.0.0/16", "port": "$1"}, {"prefix": "2001:db8:$3::/48", "port": "$1"},
		    {"prefix": "10.$(($3 + 1)).0.0/16", "port": "$2", "mac": "$peer"},
		    {"prefix": "2001:db8:$(($3 + 1))::/48", "port": "$2", "mac": "$peer"}]}
	EOF
}
config() { # BUFFERS PAIR... - a pair is UB:ETHERNET
	buffers=$1 n=1
	shift
	for p; do
		pair "${p%:*}" "${p#*:}" $n
		n=$((n + 2))
	done | jq -s --argjson buffers "$buffers" '{"causeway:causeway": {
		daemon: {"control-socket": "/run/gw.sock", buffers: $buffers},
		port: map(.ports[]), route: map(.routes[])}}' >"$share/gw.json"
}
# The same configuration with another port, FOR a device.
with_port() { # DEVICE-STRING
	jq --arg device "$1" '."causeway:causeway".port += [{name: "other", kind: "ub", device: $device}]' \
		"$share/gw.json" >"$share/other.json"
}

gw_start() { # forwards when this returns
	rm -f "$share/gw.log" "$share/gw.exit"
	guest_do "$guest" 20 sh -c '(sh -c "
		\"\$0\" -c /share/gw.json >/share/gw.log 2>&1 &
		echo \$! >/run/gw.pid
		wait
		echo \$? >/share/gw.exit" "$0" >/dev/null 2>&1 &)' "$(realpath "$causewayd")"
	wait_for 120 gateway gw_said 'is forwarding' || die "the gateway does not start" "$share/gw.log"
	asked ports
}
gw_said() { # TEXT
	[ -e "$share/gw.exit" ] || grep -q "$1" "$share/gw.log"
}
gw_stop() { # by SIGTERM: well?
	guest_do "$guest" 20 sh -c 'kill $(cat /run/gw.pid)'
	wait_for 60 "the gateway's end" test -s "$share/gw.exit" && grep -qx 0 "$share/gw.exit"
}
reload() { # FILE
	guest_do "$guest" 60 "$(realpath "$causeway")" reload -s /run/gw.sock "/share/$1" >"$tmp/reload" 2>&1
	rc=$?
	cat "$tmp/reload"
	return $rc
}
refused() { # DEVICE-STRING REASON
	with_port "$1"
	! reload other.json && grep -qF -- "$2" "$tmp/reload"
}
asked() { # TABLE - into $tmp/asked
	guest_do "$guest" 30 "$(realpath "$causeway")" show -j -s /run/gw.sock "$1" >"$tmp/asked"
}
has() { # PORT JQ - as asked last
	jq -e --arg port "$1" ".ports[] | select(.name == \$port) | $2" "$tmp/asked"
}
port_is() { asked ports && has "$@"; }
port_mac() { has "$1" .mac | tr -d '"'; }

# ---- Devices -------------------------------------------------------------------------------------

# As `dpdk-devbind.py --bind` does, which is slow in a guest.
bind() { # DRIVER DEVICE...
	driver=$1
	shift
	for d; do address "$d"; done | tr '\n' ' ' >"$tmp/bind"
	# shellcheck disable=SC2046 # several words
	guest_do "$guest" 60 sh -ec 'driver=$1
		shift
		for a; do
			d=/sys/bus/pci/devices/$a
			[ ! -e $d/driver ] || echo $a >$d/driver/unbind
			echo $driver >$d/driver_override
			[ -z "$driver" ] || echo $a >/sys/bus/pci/drivers_probe
			[ -z "$driver" ] || [ "$(basename "$(readlink $d/driver)")" = "$driver" ]
		done' bind "$driver" $(cat "$tmp/bind") >"$tmp/bound" || die "can't bind to '$driver'" "$tmp/bound"
}
huge_pages() { # NUMBER
	guest_do "$guest" 60 sh -c "echo $1 >/proc/sys/vm/nr_hugepages; grep HugePages_Free /proc/meminfo"
}
boot() { # NAME MODEL...
	guest=$1 n=0 nics=
	shift
	for model; do
		nics=$nics${nics:+,}$model=tap:t$n
		n=$((n + 1))
	done
	guest "$guest" net "$nics" sh "$guest_obey"
	for t in $(seq 0 $((n - 1))); do inside net ethtool -K "t$t" rx off tx off gso off gro off tso off; done \
		>/dev/null 2>&1
	guest_do "$guest" 240 true || die "guest $guest does not boot" "$tmp/$guest.console"
}

# ---- Traffic -------------------------------------------------------------------------------------

ends() { # IP FROM-NET TO-NET
	if [ "$1" = 4 ]; then
		echo "-4 --src 10.$2.0.1+4 --dst 10.$3.0.1+4"
	else
		echo "-6 --src 2001:db8:$2::1+4 --dst 2001:db8:$3::1+4"
	fi
}
gens() { # NAME SIDE FROM-NET TO-NET INTERFACE OPTION... - of both IP versions
	name=$1 side=$2 from=$3 to=$4 at=$5
	shift 5
	for ip in 4 6; do
		# shellcheck disable=SC2046 # several words
		start "$name$ip" net "$causeway" gen -j --to "$side" -i "$at" --count $packets --rate $rate --flows 4 \
			--sport 49152+4 --size 64:3,512:2,1400:2,4096:1,8192:1 $(ends $ip "$from" "$to") "$@"
		echo "$pid" >"$tmp/$name$ip.pid"
	done
}
gens_end() { # NAME...
	for g; do
		for ip in 4 6; do wait "$(cat "$tmp/$g$ip.pid")" || die "gen $g fails" "$tmp/$g$ip.err"; done
	done
}
both_ways() { # PAIR... - as configured, with $tags for gen
	net=1 all=''
	# All of them before the first gen: a gen that ends confuses the count of sockets.
	for d in $(echo "$*" | tr : ' '); do
		sink "at-$d" net -i "$(tap "$d")" --hops 1 --runs 2 --idle 20
	done
	for p; do
		ub=${p%:*} eth=${p#*:}
		gens "to-$eth" ub $net $((net + 1)) "$(tap "$ub")" --npi 5
		# shellcheck disable=SC2086 # several words
		gens "to-$ub" uboe $((net + 1)) $net "$(tap "$eth")" --dmac "$(port_mac "$eth")" $tags
		all="$all to-$eth to-$ub" net=$((net + 2))
	done
	# shellcheck disable=SC2086
	gens_end $all
	for p; do
		arrived "$doing, UB by ${p%:*} to Ethernet by ${p#*:}" "at-${p#*:}"
		arrived "$doing, Ethernet by ${p#*:} to UB by ${p%:*}" "at-${p%:*}"
	done
}
arrived() { # TEXT SINK
	wait "$(cat "$tmp/$2.sinkpid")"
	check "$1: IPv4 and IPv6, none lost or changed" sh -c "cat '$tmp/$2.err'
		jq -c . '$tmp/$2.out' && jq -e --argjson n $((2 * packets)) \
		'.ok and (.runs | length == 2) and ([.runs[].received] | add) == \$n' '$tmp/$2.out' >/dev/null"
}

tagging() { # single|double
	if [ "$1" = double ]; then
		outer=100 tags="--outer-vlan 100 --vlan 5"
	else
		outer=0 tags="--vlan 5"
	fi
}

# One configuration, reloaded, and traffic both ways; captured, it is looked at by tshark as well.
round() { # single|double STRIP CAPTURE PAIR...
	tagging "$1"
	strip=$2 capture=$3 doing="$1 tags, vlan-strip $2"
	shift 3
	config 8192 "$@"
	check "reload: $doing" reload gw.json
	asked ports
	for p; do
		check "${p#*:} strips: $strip" has "${p#*:}" ".vlan_strip == $strip"
		legs="${legs:+$legs }-i $(tap "${p#*:}")"
	done
	[ "$capture" = no ] || {
		# shellcheck disable=SC2086 # several options
		start legs net dumpcap -q $legs -w "$tmp/legs.pcapng"
		dump=$pid
		wait_for 20 dumpcap test -s "$tmp/legs.pcapng" || die "dumpcap does not start" "$tmp/legs.err"
	}
	legs=''
	both_ways "$@"
	[ "$capture" = no ] || {
		kill -INT "$dump"
		wait "$dump"
		for ip in 4 6; do
			tshark -r "$tmp/legs.pcapng" -Y "ip$([ $ip = 4 ] || echo v6)" -w "$tmp/leg$ip.pcapng" 2>/dev/null
			leg_checks $ip "$tmp/leg$ip.pcapng" 5 $((4 * packets - 1))
		done
		check "every frame has its outer tag, or none" test "$(tshark -r "$tmp/legs.pcapng" \
			-Y "udp.dstport == 4792 and ieee8021ad.id == 100" 2>/dev/null | wc -l)" = \
			$((outer > 0 ? 8 * packets : 0))
	}
}

# Hosts find the gateway by ARP and by neighbour discovery, which is multicast.
pings() { # DEVICE NET
	inside net sysctl -qw "net.ipv6.conf.$(tap "$1").disable_ipv6=0"
	ip -n "$(ns net)" addr add "10.$2.0.1/24" dev "$(tap "$1")"
	ip -n "$(ns net)" -6 addr add "2001:db8:$2::1/64" dev "$(tap "$1")" nodad
	for to in "10.$2.0.254" "2001:db8:$2::fe"; do
		check "$1 answers a ping to $to" within 30 inside net timeout 5 /usr/bin/python3 "$tests/ping.py" "$to"
	done
	ip -n "$(ns net)" addr flush dev "$(tap "$1")"
	inside net sysctl -qw "net.ipv6.conf.$(tap "$1").disable_ipv6=1"
}
all_ping() { # PAIR...
	net=2
	for p; do
		pings "${p#*:}" $net
		net=$((net + 2))
	done
}

# The largest packets that a device takes, and one octet more.
jumbo() { # UB ETHERNET NET LARGEST - UDP's payload is 60 octets shorter
	sink jumbo net -i "$(tap "$2")" --hops 1 --idle 20 --timeout 40
	# shellcheck disable=SC2046
	inside net "$causeway" gen --to ub -i "$(tap "$1")" --count 20 --rate 100 --npi 5 --size $(($4 - 60)) \
		$(ends 4 "$3" $(($3 + 1))) >"$tmp/jumbo.gen" 2>&1
	wait "$(cat "$tmp/jumbo.sinkpid")"
	check "$2 sends packets of $4 octets" jq -e '.ok and .runs[0].received == 20' "$tmp/jumbo.out"
}

# ---- What else devices do --------------------------------------------------------------------------

links() {
	n=0
	for d in $devices; do
		guest_monitor "$guest" set_link n$n off
		check "$d: the link goes down" within 30 port_is "$d" '.link == "down" and .mbit_per_second == null'
		guest_monitor "$guest" set_link n$n on
		check "$d: the link comes up" within 30 port_is "$d" '.link == "up"'
		n=$((n + 1))
	done
}

described() {
	for d in e1000:net_e1000_em e1000e:net_e1000_em virtio:net_virtio vmxnet3:net_vmxnet3; do
		name=${d%:*}
		check "show ports: $name, ${d#*:}, its address and MAC" has "$name" \
			".driver == \"${d#*:}\" and .device == \"dpdk:$(address "$name")\" and
			.mac == \"$(mac "$guest" "eth$(tap "$name" | tr -d t)")\" and .link == \"up\" and .rx_missed == 0"
	done
	check "show ports: e1000 has 1000 Mbit/s" has e1000 '.mbit_per_second == 1000'
	check "show ports: vmxnet3 sends 9000 octets at most" has vmxnet3 '.mtu == 9000'
	check "that is in the log" grep -q 'port vmxnet3: mtu 9216 is 9000' "$share/gw.log"
}

# Devices that can't be had, each with what to do about it. Nothing of what is running changes.
not_had() {
	check "no such device" refused dpdk:0000:00:1e.7 "there is no PCI device 0000:00:1e.7"
	check "a device of the kernel's: its driver, and how to bind" refused "dpdk:$(address spare)" \
		"driven by the kernel's e1000e; DPDK needs vfio-pci there: dpdk-devbind.py --bind=vfio-pci $(address spare)"
	bind '' spare
	check "a device without driver: how to bind" refused "dpdk:$(address spare)" \
		"has no driver; DPDK needs vfio-pci there: dpdk-devbind.py --bind=vfio-pci $(address spare)"
	check "another port's device, by its short name" refused "dpdk:00:10.0" \
		"PCI device 0000:00:10.0 is open as another port"
	asked ports
	check "the ports are the same" jq -e '.ports | map(.name) | sort == ["e1000", "e1000e", "virtio", "vmxnet3"]' "$tmp/asked"
}

comes_and_goes() {
	if [ -n "${CW_FULL:-}" ]; then
		check "dpdk-devbind.py --bind=vfio-pci, as that says" guest_do "$guest" 120 \
			dpdk-devbind.py --bind=vfio-pci "$(address spare)"
	else
		bind vfio-pci spare
	fi
	for try in first ${CW_FULL:+second}; do
		with_port "dpdk:pci:00:14.0"
		check "a port comes with a reload, the $try time" reload other.json
		check "it is up" within 30 port_is other '.link == "up" and .driver == "net_e1000_em"'
		check "it goes with a reload" reload gw.json
	done
}

# Another process wants a device that is in use.
claimed() {
	jq '."causeway:causeway" |= (.daemon["control-socket"] = "/run/second.sock" | del(.route) |
		.port |= map(select(.name == "virtio")))' "$share/gw.json" >"$share/second.json"
	guest_do "$guest" 120 timeout 60 "$(realpath "$causewayd")" -c /share/second.json >"$tmp/second" 2>&1
	[ $? = 1 ] && grep -q "PCI device $(address virtio) is in use by another process" "$tmp/second"
}

# A gateway without packets naps between polls of its four devices. Its CPU time is told in percent.
naps() {
	asked workers && cp "$tmp/asked" "$tmp/before"
	guest_do "$guest" 30 sh -c 'used() { awk "{ print \$14 + \$15 }" /proc/$(cat /run/gw.pid)/stat; }
		a=$(used); sleep 3; b=$(used); echo $(((b - a) * 100 / 3 / $(getconf CLK_TCK)))' >"$tmp/cpu"
	asked workers && jq -es '[.[].workers[0]] | (.[1].sleeps - .[0].sleeps) /
		(.[1].walks - .[0].walks) > 0.9' "$tmp/before" "$tmp/asked"
}

# ---- With an IOMMU: VFIO -----------------------------------------------------------------------------

iommu_guest() {
	guest_machine=q35,kernel-irqchip=split guest_memory=1024
	guest_devices="-device intel-iommu,intremap=on,caching-mode=on,device-iotlb=on"
	guest_kernel_options=intel_iommu=on
	guest_modules="vfio-pci e1000e"
	boot v e1000 e1000e virtio-net-pci/disable-legacy=on/iommu_platform=on vmxnet3 e1000e
	# Without huge pages QEMU's e1000e and vmxnet3 lose what they send across a page that the IOMMU maps.
	huge_pages 240 >"$tmp/huge"
	# shellcheck disable=SC2086 # several words
	bind vfio-pci $devices
	strip=false
	tagging single
	config 8192 e1000:e1000e virtio:vmxnet3
	gw_start
	described
	all_ping e1000:e1000e virtio:vmxnet3
	jumbo virtio vmxnet3 3 9000
	round double true yes e1000:e1000e virtio:vmxnet3
	[ -z "${CW_FULL:-}" ] || {
		round single true no e1000:e1000e virtio:vmxnet3
		round double false no e1000:e1000e virtio:vmxnet3
		round single false yes e1000:e1000e virtio:vmxnet3
		round double true no e1000e:e1000 vmxnet3:virtio
		round single false no e1000e:e1000 vmxnet3:virtio
		round double false yes e1000e:e1000 vmxnet3:virtio
	}
	round single true no e1000e:e1000 vmxnet3:virtio
	[ -z "${CW_FULL:-}" ] || {
		jumbo e1000e e1000 1 9216
		jumbo vmxnet3 virtio 3 9216
		all_ping e1000e:e1000 vmxnet3:virtio
	}
	links
	not_had
	comes_and_goes
	check "an idle gateway naps" naps
	note "CPU of an idle gateway with four devices, emulated: $(cat "$tmp/cpu") %"
	[ -z "${CW_FULL:-}" ] || check "a device of another process" claimed
	check "SIGTERM ends it well" gw_stop
}

# The devices are as good as new for the next gateway, and ordinary memory does, behind an IOMMU.
starts_again() {
	huge_pages 0 >"$tmp/huge"
	strip=false
	tagging single
	config 4096 e1000:virtio
	gw_start
	check "a second start, without huge pages" grep -q 'MB without huge pages' "$share/gw.log"
	doing="without huge pages, single tags"
	both_ways e1000:virtio
	check "SIGTERM ends it well" gw_stop
}

# ---- Without IOMMU: uio_pci_generic --------------------------------------------------------------------

uio_guest() {
	guest_machine=pc guest_devices='' guest_kernel_options='' guest_modules="uio_pci_generic"
	boot u e1000 e1000e virtio-net-pci vmxnet3
	# shellcheck disable=SC2086
	bind uio_pci_generic $devices
	strip=false
	tagging single
	config 8192 e1000:e1000e virtio:vmxnet3
	rm -f "$share/gw.log"
	guest_do u 120 timeout 60 "$(realpath "$causewayd")" -c /share/gw.json >"$tmp/nohuge" 2>&1
	check "uio_pci_generic without huge pages: what it needs" grep -q \
		"PCI device 0000:00:10.0: uio_pci_generic needs root and enough free huge pages" "$tmp/nohuge"
	huge_pages 240 >"$tmp/huge"
	gw_start
	round single false no e1000:e1000e virtio:vmxnet3
	check "a device of another process" claimed
	check "SIGTERM ends it well" gw_stop
	guest_leave u
}

space net
iommu_guest
if [ -n "${CW_FULL:-}" ]; then
	starts_again
	guest_leave v
	for t in 0 1 2 3 4; do ip -n "$(ns net)" link del t$t; done
	uio_guest
else
	guest_leave v
fi
plan
