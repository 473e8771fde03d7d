# guest.sh - sourced by labs after lib.sh: small virtual machines with Debian's own kernel, for what
# this machine's kernel lacks (rdma_rxe, ib_ipoib, modules of the project's own).
#
#   guest_need ib_write_bw                     # skips the lab where something is missing
#   space net                                  # lib.sh: the namespace with the guests' network
#   guest_modules="rdma_rxe ib_uverbs"         # loaded before the command runs
#   guest a net tap:a0 ib_write_bw -d rxe0     # boots; runs any program of the host
#   guest b net tap:b0 sh "$here/client.sh"
#   guest_wait b 120                           # the command's exit status
#
# A guest whose command is `sh "$guest_obey"` takes commands while the lab runs:
#
#   guest_do a 20 ip link show ib0             # output and exit status are the command's
#   guest_leave a                              # the guest powers off
#
# QEMU's own commands: guest_monitor a set_link n0 off
#
# A guest sees the host's whole file system (9p, read-only, changes stay in its memory), so programs
# need no copying. /share in it is $share on the host, the same for all guests: NAME.out, NAME.err,
# NAME.rc and NAME.dmesg are the command's output, its exit status and the kernel's log;
# $tmp/NAME.console is the console. Interfaces are eth0, eth1 ... in the order of their NICs:
#
#   tap:IF           a tap interface of the namespace, made here; join it to a bridge
#   udp:MINE:PEER    frames as UDP payload between two ports of 127.0.0.1 (the namespace's): another
#                    guest or any program is the other end
#
# Several are written with commas. MODEL= in front of one makes it another adapter than virtio-net-pci (QEMU's
# -device, properties behind slashes: e1000e=tap:a0). The first NIC's PCI address is 0000:00:10.0, the second's
# 0000:00:11.0 and so on.
#
# guest_cpu (max), guest_cpus (1), guest_memory (512, in MiB), guest_machine (pc), guest_devices (QEMU's options for
# more of them) and guest_kernel_options may be set.
# Guests are emulated (TCG) unless CW_ACCEL says kvm, and about ten times slower than the machine.
#
# The kernel is the newest one under /lib/modules that has rdma_rxe; without one, Debian's package is
# fetched and unpacked below CW_GUEST ($CW_BUILD/guest), never installed.
share=$tmp/share
mkdir "$share"
: "${CW_GUEST:=$CW_BUILD/guest}" "${CW_ACCEL:=tcg}"
guest_modules='' guest_cpu=max guest_cpus=1 guest_memory=512 guest_machine=pc
guest_devices='' guest_kernel_options=''
guest_obey=$(realpath "$CW_SRC")/lab/guest/obey.sh
guest_boot_modules="virtio_pci 9pnet_virtio 9p overlay"

# ---- The kernel --------------------------------------------------------------------------------

guest_has_kernel() { # ROOT
	guest_root=$1
	for d in "$1"/lib/modules/*/kernel/drivers/infiniband/sw/rxe; do
		[ -d "$d" ] || continue
		guest_release=${d#"$1/lib/modules/"}
		guest_release=${guest_release%%/*}
	done
	[ -n "${guest_release:-}" ] && [ -f "$1/boot/vmlinuz-$guest_release" ]
}

# What the metapackage of deps.txt stands for, such as linux-image-6.1.0-57-amd64.
guest_package() { # METAPACKAGE
	apt-cache depends "$1" 2>/dev/null | sed -n "s/^ *Depends: \(${1%-*}-[0-9].*\)/\1/p" | head -1
}

guest_fetch() { # PACKAGE... - unpack packages of Debian below CW_GUEST
	rm -rf "$tmp/debs"
	mkdir -p "$CW_GUEST" "$tmp/debs"
	(cd "$tmp/debs" && apt-get download "$@") >"$tmp/fetch" 2>&1 || return 1
	for deb in "$tmp"/debs/*.deb; do
		# Some 300 MB that no guest has a device for.
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$CW_GUEST" --exclude='*/kernel/sound' \
			--exclude='*/drivers/gpu' --exclude='*/drivers/media' --exclude='*/net/wireless' || return 1
	done
	rm -rf "$tmp/debs"
}

guest_kernel() { # finds or fetches it; one lab at a time
	guest_has_kernel '' && return
	mkdir -p "$CW_GUEST"
	exec 8>"$CW_GUEST/lock"
	flock 8
	guest_has_kernel "$CW_GUEST" || {
		image=$(guest_package linux-image-amd64)
		[ -n "$image" ] && guest_fetch "$image" && guest_has_kernel "$CW_GUEST" &&
			depmod -b "$CW_GUEST" "$guest_release"
	}
	set -- $?
	exec 8>&-
	return "$1"
}

# Skip the lab where guests can't run, or where a program is missing.
guest_need() { # PROGRAM...
	need qemu-system-x86_64 busybox cpio gzip xz readelf depmod modprobe flock "$@"
	[ -e /dev/net/tun ] || die "no /dev/net/tun"
	guest_kernel || {
		echo "1..0 # SKIP needs Debian's kernel: $(tail -1 "$tmp/fetch" 2>/dev/null)"
		exit 0
	}
	guest_image
	guest_initramfs
}

# The kernel as an ELF file, when it is packed by xz as Debian's: emulated, it takes 10 s to unpack
# itself.
guest_image() {
	packed=$guest_root/boot/vmlinuz-$guest_release
	guest_image=$CW_GUEST/vmlinux-$guest_release
	[ -s "$guest_image" ] && return
	at=$(grep -abo "$(printf '\3757zXZ')" "$packed" | head -1 | cut -d: -f1)
	mkdir -p "$CW_GUEST"
	# What follows the packed kernel makes xz complain.
	tail -c "+$((${at:-0} + 1))" "$packed" | xz -dc --single-stream >"$guest_image.$$" 2>/dev/null
	if readelf -h "$guest_image.$$" >/dev/null 2>&1; then
		mv "$guest_image.$$" "$guest_image"
	else
		rm -f "$guest_image.$$"
		guest_image=$packed
	fi
}

# Build a kernel module for the guests, from a directory with its Makefile (obj-m). The module is
# put into $share: the guest loads it with insmod /share/NAME.ko.
guest_module() { # DIRECTORY
	guest_headers || die "no kernel headers for $guest_release" "$tmp/fetch"
	m=$tmp/module-$(basename "$1")
	cp -R "$1" "$m"
	make -C "$guest_root/usr/src/linux-headers-$guest_release" M="$m" modules >"$m.log" 2>&1 ||
		die "the kernel module in $1 does not build" "$m.log"
	cp "$m"/*.ko "$share/"
}

# Debian's makefiles name each other by absolute paths: below CW_GUEST they are adjusted.
guest_headers() {
	h=$guest_root/usr/src/linux-headers-$guest_release
	[ -f "$h/Makefile" ] && return
	[ -n "$guest_root" ] || return # installed kernel: the headers have to be installed, too
	exec 8>"$CW_GUEST/lock"
	flock 8
	[ -f "$h/Makefile" ] || {
		base=${guest_release%-*}
		guest_fetch "linux-headers-$guest_release" "linux-headers-$base-common" \
			"linux-kbuild-${base%.*-*}" &&
			sed -i "s,/usr/src/,$(realpath "$CW_GUEST")/usr/src/,g" "$h/Makefile" &&
			ln -sfn "$(realpath "$CW_GUEST")/usr/lib/linux-kbuild-${base%.*-*}/scripts" "$h/scripts" &&
			ln -sfn "$(realpath "$CW_GUEST")/usr/lib/linux-kbuild-${base%.*-*}/tools" "$h/tools"
	}
	set -- $?
	exec 8>&-
	return "$1"
}

guest_initramfs() {
	r=$tmp/initramfs
	mkdir -p "$r/bin" "$r/proc" "$r/dev" "$r/host" "$r/layer" "$r/root"
	cp "$(command -v busybox)" "$r/bin/busybox"
	for a in sh mount umount mkdir insmod switch_root cat; do ln -s busybox "$r/bin/$a"; done
	for m in $guest_boot_modules; do
		modprobe -d "$guest_root/" -S "$guest_release" --show-depends "$m" || echo "missing $m"
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$tmp/boot-modules"
	while read -r f; do
		cp "$f" "$r/"
		basename "$f"
	done <"$tmp/boot-modules" >"$r/modules"
	echo "$(realpath "$CW_SRC")/lab/guest/run" >"$r/runner"
	cp "$CW_SRC/lab/guest/init" "$r/init"
	(cd "$r" && find . | cpio -o -H newc --quiet | gzip -1) >"$tmp/initramfs.gz" ||
		die "no initramfs for the guests"
}

# ---- Guests ------------------------------------------------------------------------------------

# One word for the shell of the guest.
guest_quote() { printf "'%s' " "$(printf %s "$1" | sed "s/'/'\\\\''/g")"; }

# QEMU's options of a NIC, one a line.
guest_nic() { # GUEST SPACE NUMBER NIC
	case $4 in
	*=*) model=${4%=*} nic=${4##*=} ;;
	*) model=virtio-net-pci nic=$4 ;;
	esac
	case $nic in
	tap:*)
		t=${nic#tap:}
		# A guest that starts again finds the interface of its last life.
		[ -n "$(ip -n "$(ns "$2")" -o link show "$t" 2>/dev/null)" ] ||
			ip -n "$(ns "$2")" tuntap add "$t" mode tap || return 1
		ip -n "$(ns "$2")" link set "$t" mtu 9600 up || return 1
		printf '%s\n' -netdev "tap,id=n$3,ifname=$t,script=no,downscript=no"
		;;
	udp:*)
		p=${nic#udp:}
		# shellcheck disable=SC2140 # one word, over two lines
		printf '%s\n' -netdev "dgram,id=n$3,local.type=inet,local.host=127.0.0.1,local.port=${p%:*}$(
			)",remote.type=inet,remote.host=127.0.0.1,remote.port="${p#*:}"
		;;
	*) return 1 ;;
	esac
	case $model in virtio-net-pci*) model=$model/host_mtu=9600 ;; esac
	printf '%s\n' -device "$(echo "$model" | tr / ,),netdev=n$3,romfile=,addr=0x$((10 + $3)).0$(
		),mac=$(mac "$1" "eth$3")"
}

guest() { # NAME SPACE NIC,... COMMAND...
	g=$1 at=$2 nics=$3
	shift 3
	for word; do guest_quote "$word"; done >"$share/$g.cmd"
	printf '%s\n' $guest_modules >"$share/$g.modules"
	rm -f "$share/$g.rc" "$share/$g".[0-9]*
	echo 0 >"$tmp/$g.order"
	n=0
	: >"$tmp/$g.nics"
	for nic in $(echo "$nics" | tr , ' '); do
		guest_nic "$g" "$at" $n "$nic" >>"$tmp/$g.nics" || die "no NIC $nic for guest $g"
		n=$((n + 1))
	done
	rm -f "$tmp/$g.monitor.in" "$tmp/$g.monitor.out"
	mkfifo "$tmp/$g.monitor.in" "$tmp/$g.monitor.out"
	# shellcheck disable=SC2046 # one option a word, none has blanks
	start "$g" "$at" qemu-system-x86_64 -accel "$CW_ACCEL" -cpu "$guest_cpu" -smp "$guest_cpus" \
		-m "$guest_memory" -machine "$guest_machine" $guest_devices -nodefaults -display none \
		-no-reboot -serial "file:$tmp/$g.console" -monitor "pipe:$tmp/$g.monitor" \
		-kernel "$guest_image" -initrd "$tmp/initramfs.gz" \
		-append "console=ttyS0 quiet panic=-1 no_timer_check mitigations=off $guest_kernel_options guest.name=$g $(
			)guest.modules=$(realpath "$guest_root/lib/modules")" \
		-virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap \
		-virtfs "local,path=$share,mount_tag=share,security_model=none" $(cat "$tmp/$g.nics")
	echo "$pid" >"$tmp/$g.guestpid"
}

guest_ended() { [ -s "$share/$1.rc" ] || ! alive "$(cat "$tmp/$1.guestpid")"; } # NAME

# Wait for the command's end; its exit status is returned.
guest_wait() { # NAME SECONDS
	g=$1
	wait_for "$2" "guest $g" guest_ended "$g" ||
		die "guest $g takes more than $2 s" "$tmp/$g.console"
	[ -s "$share/$g.rc" ] || die "guest $g has ended without a result" "$tmp/$g.console"
	return "$(cat "$share/$g.rc")"
}

# The next command of a guest, whole at once: the guest looks for the file's name.
guest_order() { # NAME COMMAND... - its number is in $tmp/NAME.order
	g=$1 order=$(($(cat "$tmp/$1.order") + 1))
	shift
	for word; do guest_quote "$word"; done >"$share/order"
	echo "$order" >"$tmp/$g.order"
	mv "$share/order" "$share/$g.$order.do"
}

# Within SECONDS, as the guest counts them. May be a condition of wait_for.
guest_do() { # NAME SECONDS COMMAND...
	g=$1 limit=$2
	shift 2
	guest_order "$g" timeout "$limit" "$@"
	polls=$((20 * (limit + 30)))
	until [ -s "$share/$g.$order.rc" ]; do
		polls=$((polls - 1))
		alive "$(cat "$tmp/$g.guestpid")" || die "guest $g has ended" "$tmp/$g.console"
		[ $polls -gt 0 ] || die "guest $g does not answer: $*" "$tmp/$g.console"
		sleep 0.05
	done
	cat "$share/$g.$order.out"
	return "$(cat "$share/$g.$order.rc")"
}

guest_monitor() { # NAME COMMAND...
	g=$1
	shift
	echo "$*" >"$tmp/$g.monitor.in"
}

guest_leave() { # NAME - power off, and wait for it
	guest_order "$1"
	guest_wait "$1" 60
	wait "$(cat "$tmp/$1.guestpid")"
}
