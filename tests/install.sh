#!/bin/sh
# install.sh - what `make install` puts down can be used: a program built with pkg-config links the
# shared and the static library, the unit is sound, the manual knows every command.
set -u
build=${CW_BUILD:-build}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0
check() { # NAME COMMAND...
	name=$1
	shift
	n=$((n + 1))
	if "$@" >"$tmp/log" 2>&1; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		sed 's/^/# /' "$tmp/log" | tail -12
	fi
}
dest=$tmp/dest
meson install -C "$build" --no-rebuild --destdir "$dest" >"$tmp/log" 2>&1 || {
	sed 's/^/# /' "$tmp/log" | tail
	echo "Bail out! meson install failed"
	exit 1
}
pc=$(find "$dest" -name causeway.pc)
prefix=$dest$(sed -n 's/^prefix=//p' "$pc")
lib=$(dirname "$(dirname "$pc")")
flags() { # as a user of the package would, but below DESTDIR
	PKG_CONFIG_PATH=$(dirname "$pc") PKG_CONFIG_SYSROOT_DIR=$dest pkg-config "$@" causeway
}

cat >"$tmp/user.c" <<'C'
#include <stdio.h>
#include <causeway/packet.h>
#include <causeway/wire/eth.h>

int main(void)
{
	uint8_t frame[CW_SIZE_ETH] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x12, 0x34};
	struct cw_packet p;

	puts(cw_strerror(cw_dissect(&p, CW_LINK_ETHERNET, frame, sizeof(frame), NULL)));
	return p.nlayers == 1 && p.layers[0].hdr == &cw_hdr_eth ? 0 : 1;
}
C
check "a program builds with the shared library" \
	sh -c "cc -Wall -Werror $(flags --cflags) -o $tmp/shared $tmp/user.c $(flags --libs)"
check "it needs libcauseway.so.0" sh -c "readelf -d $tmp/shared | grep -q 'NEEDED.*libcauseway.so.0'"
check "it runs" env LD_LIBRARY_PATH="$lib" "$tmp/shared"
check "a program builds with the static library" sh -c "cc -Wall -Werror $(flags --cflags) \
	-o $tmp/static $tmp/user.c -Wl,-Bstatic $(flags --static --libs) -Wl,-Bdynamic"
check "it needs no shared one" sh -c "! readelf -d $tmp/static | grep -q libcauseway"
check "it runs" "$tmp/static"
check "of the static one every name begins with cw_" sh -c "nm -g --defined-only $lib/libcauseway.a |
	awk 'NF == 3 && \$3 !~ /^(cw)?_/ { print; bad = 1 } END { exit bad }'"
check "symbols have the library's version" \
	sh -c "nm -D $lib/libcauseway.so | grep -q ' T cw_dissect@@CAUSEWAY_'"

check "the command is there, and runs" "$prefix/bin/causeway" --version
check "the daemon is there, and runs" "$prefix/sbin/causewayd" --version
check "neither has a path of the build in it" sh -c \
	"! readelf -d $prefix/bin/causeway $prefix/sbin/causewayd $lib/libcauseway.so | grep -E 'R(UN)?PATH'"
commands=$("$prefix/bin/causeway" help | sed -n '/^commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p')
check "commands were found" test -n "$commands"
for c in $commands; do
	check "causeway(1) knows $c" grep -q "^\.It Cm $c\$" "$prefix/share/man/man1/causeway.1"
done
for m in "$prefix"/share/man/man*/*; do
	check "mandoc formats $(basename "$m")" mandoc -T utf8 "$m"
done
check "bash finds completions" bash -c ". $prefix/share/bash-completion/completions/causeway &&
	complete -p causeway"
check "zsh finds completions" grep -qx "#compdef causeway" "$prefix/share/zsh/site-functions/_causeway"
check "the YANG module is there" test -s "$prefix/share/yang/causeway/causeway.yang"
# The unit's capabilities: see the comment in it.
unit=$prefix/lib/systemd/system/causewayd.service
programs=$(sed -n 's/^Exec[A-Za-z]*=\([^ ]*\).*/\1/p' "$unit" | sort -u)
check "the unit starts programs" test -n "$programs"
for p in $programs; do
	check "$p, of the unit, was installed" test -x "$dest$p"
done
if command -v systemd-analyze >/dev/null; then
	# Exposure in tenths: what packet sockets and interface settings need is about 2.
	check "the unit is hardened" systemd-analyze security --offline=true --root="$dest" \
		--threshold=25 causewayd.service
fi
echo "1..$n"
