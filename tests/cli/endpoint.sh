#!/bin/sh
# endpoint.sh - perf and copy say exactly what is wrong; lab/fig1.sh and lab/ubcopy.sh let them run.
. "$(dirname "$0")/lib.sh"
run 2 "perf needs a role" "$causeway" perf write
err_is "and says so" "causeway perf: give either -s or -c HOST"
run 2 "perf has no other operation" "$causeway" perf push -c localhost
err_is "and names it" "causeway perf: 'push' is not write, write-imm, write-notify, read, send, send-imm, atomic or prefetch"
run 2 "there are nine atomics" "$causeway" perf atomic -c localhost --atomic fetch-nand
err_is "and others are refused" "causeway perf: --atomic: 'fetch-nand' is none of the nine"
run 2 "operands are powers of two" "$causeway" perf atomic -c localhost --size 24
err_is "and says which" "causeway perf: --size: operands have 1, 2, 4 ... 64 octets"
run 2 "UTP has no writes" "$causeway" perf write -c localhost --utp
err_is "and says what it has" "causeway perf: --utp: UTP carries send, send-imm and prefetch"
run 2 "an MTU is a power of two" "$causeway" perf write -c localhost --mtu 1500
err_is "and says so" "causeway perf: --mtu: 1500 is not a power of two"
run 2 "sizes are numbers" "$causeway" perf write -c localhost --size 64,x
err_is "and says which is not" "causeway perf: --size: 'x' is not a number"
run 2 "settings have names" "$causeway" perf read -c localhost -o speed=1
err_is "and it says where they are" "causeway perf: -o: 'speed' is no setting (-o help lists them)"
run 2 "settings have ranges" "$causeway" copy -s -o retries=5,ack-every=0
err_is "and it says which" "causeway copy: -o: ack-every is 0, not between 1 and 1024"
run 0 "settings are listed" "$causeway" perf -o help
run 2 "a native end needs its link" "$causeway" perf read -c localhost --native
err_is "and says so" "causeway perf: --native needs -i INTERFACE and -a ADDRESS"
run 2 "an end has one device" "$causeway" perf read -c localhost -i lo --dpdk net_null0
err_is "and says so" "causeway perf: give either -i or --dpdk"
run 2 "a hop is for ports of DPDK" "$causeway" perf read -c localhost --hop 02:00:00:00:00:01
err_is "and says so" "causeway perf: --hop is for --dpdk: the kernel knows its routes"
run 2 "a hop is an address" "$causeway" perf read -c localhost --dpdk net_null0 --hop 02:00:x
err_is "and says so" "causeway perf: --hop: '02:00:x' is neither an IP nor a link address"
run 2 "nobody listens" "$causeway" perf read -c 127.0.0.1 -p 1
err_is "and it says where" "causeway perf: 127.0.0.1, TCP port 1: Connection refused"

echo 0123456789abcdef >"$tmp/key"
chmod 644 "$tmp/key"
run 2 "a key that others can read is refused" "$causeway" perf -s --key "$tmp/key"
err_has "and says what to do" 'others can read this key (mode 644): chmod 600'
echo short >"$tmp/short"
chmod 600 "$tmp/short"
run 2 "a short key is refused" "$causeway" perf -s --key "$tmp/short"
err_has "and says how long it is to be" 'a key has 16 to 256 octets'

run 2 "copy needs a file and a host" "$causeway" copy "$tmp/key"
err_is "and says so" "causeway copy: give FILE and HOST:, or -s"
run 2 "a host has a colon" "$causeway" copy "$tmp/key" localhost
err_is "and says so" "causeway copy: 'localhost' is not HOST: or HOST:NAME"
run 2 "IPv6 addresses have brackets" "$causeway" copy "$tmp/key" ::1:
err_is "and says how" "causeway copy: IPv6 addresses stand in brackets: [::1]:"
run 2 "names have no path" "$causeway" copy "$tmp/key" localhost:../x
err_has "and says so" "names of files have no path"
run 2 "a directory is no file" "$causeway" copy "$tmp" localhost:x
err_is "and says so" "causeway copy: $tmp: not a regular file"
plan
