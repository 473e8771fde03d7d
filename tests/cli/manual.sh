#!/bin/sh
# manual.sh - man pages and --help tell of the same options, and every command is told of.
. "$(dirname "$0")/lib.sh"
man=$CW_SRC/docs/man

# Long options, one a line. In mdoc "Fl -name" is --name.
help_options() { "$causeway" "$1" --help | sed -n 's/^ \{2,6\}\(-.\(, \| \)\)\?\(--[a-z0-9-]*\).*/\3/p' | sort -u; }
man_options() { sed -n '/^\.Bl/,/^\.El/s/^\.It.* -\([a-z0-9-]\{2,\}\).*/--\1/p' "$man/causeway-$1.1" | sort -u; }

for c in decode craft convert check show explain reload capture-drops log-level ipoib mgid qpmap perf copy cnp gen sink \
	uet pnc bgp-helper; do
	help_options "$c" >"$tmp/help"
	man_options "$c" >"$tmp/man"
	check "$c has options in its help" grep -q -e --help "$tmp/help"
	same "$c: its page has the options of its help" "$tmp/help" "$tmp/man"
	while read -r option; do
		# An option that does not exist would be called unknown.
		# A server would wait for clients.
		timeout 1 "$causeway" "$c" "$option" </dev/null >/dev/null 2>"$tmp/err"
		check "$c knows $option" sh -c '! grep -q "unknown option" "$1"' - "$tmp/err"
	done <"$tmp/help"
done
"$causeway" help >"$tmp/out"
sed -n '/^commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p' "$tmp/out" >"$tmp/commands"
check "there are commands" grep -q decode "$tmp/commands"
for h in help --help -h; do
	run 0 "help $h" "$causeway" help "$h"
	check "is the list of commands" grep -q "^  decode  " "$tmp/out"
done
while read -r c; do
	check "causeway(1) tells of $c" grep -q "^\.It Cm $c\$" "$man/causeway.1"
	run 0 "$c --help" "$causeway" "$c" --help
	run 0 "$c -h" "$causeway" "$c" -h
	out_is "is the same" "$("$causeway" "$c" --help)"
	run 2 "$c --help on a full disk" sh -c '"$1" "$2" --help >/dev/full' - "$causeway" "$c"
	run 0 "help $c" "$causeway" help "$c"
done <"$tmp/commands"

# Examples of the pages and of --help that need nothing but a capture do run.
cd "$tmp" || exit 2
cp "$fixtures/uboe.pcap" uboe.pcap
"$causeway" decode -j --filter 'layer=ipv4 and not layer=vlan' uboe.pcap | "$causeway" craft - a.pcap
cp "$fixtures/ub.pcap" ub.pcap
cp "$fixtures/rxe-pairs.pcap" roce.pcap
cp "$CW_SRC/tests/cli/convert.json" gateway.json
PATH=$CW_BUILD:$PATH
for c in decode craft convert check qpmap cnp; do
	# One that listens needs an interface with traffic.
	"$causeway" "$c" --help | sed -n '/^examples:/,/^$/s/^  \(causeway .*\)/\1/p' | grep -v -e ' -i ' >"$tmp/examples"
	check "$c has examples" [ -s "$tmp/examples" ]
	while read -r line; do
		sh -c "$line" </dev/null >"$tmp/out" 2>"$tmp/err"
		check "example: $line" [ $? -le 1 ]
		check "it has nothing to complain about" sh -c '! grep "^causeway\|^jq" "$1"' - "$tmp/err"
	done <"$tmp/examples"
done
plan
