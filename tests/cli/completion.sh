#!/bin/bash
# completion.sh - what bash offers for a beginning of a line is what the help texts name.
. "$(dirname "$0")/lib.sh"
. "$CW_SRC/packaging/causeway.bash"

# The offers for the words of a line, the last one unfinished: one a line, in $tmp/out.
offers() { # WORD...
	COMP_WORDS=(causeway "$@")
	COMP_CWORD=$#
	_causeway "$causeway" "${COMP_WORDS[$#]}" "${COMP_WORDS[$# - 1]}"
	printf '%s\n' "${COMPREPLY[@]}" | sort >"$tmp/out"
}

offers ''
"$causeway" help | sed -n '/^commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p' | cat - <(echo help) | sort >"$tmp/all"
check "there are commands" test -s "$tmp/all"
same "every command is offered" "$tmp/all" "$tmp/out"
offers cap
out_is "a command with a hyphen" "capture-drops"
offers decode --s
out_is "a long option without a short one" "--summary"
offers decode --js
out_is "a long option behind a short one" "--json"
offers show nei
out_is "a thing to show" "neighbours"
offers show co
out_is "several" "$(printf '%s\n' config congestion counters)"
offers ipoib sh
out_is "a word of a command" "show"
offers uet re
out_is "words of its several usages" "$(printf '%s\n' read recv)"
offers explain npi-z
out_is "a reason for drops" "npi-zero"
offers explain ttl cn-b
out_is "a second one" "cn-border"
offers show --socket /var/ru
out_is "nothing for a value: bash offers files" ""
offers nosuch -
out_is "nothing for a command that is not there" ""
for c in $(cat "$tmp/all"); do
	[ "$c" = help ] || {
		offers "$c" --h
		check "$c offers --help" grep -qx -e --help "$tmp/out"
	}
done
offers help dec
out_is "a command to be helped with" "decode"

# The same of zsh, whose offers have a text: "name:text".
command -v zsh >/dev/null || {
	check "zsh is not here # SKIP" true
	plan
	exit
}
zsh_offers() { # WORD...
	zsh -fc '_describe() { print -rl -- ${(P)4}; }; _files() { print files; }
		words=("$1" "${@:3}"); CURRENT=$#words; . "$2"' - "$causeway" "$CW_SRC/packaging/causeway.zsh" "$@" \
		>"$tmp/zsh"
	cut -d: -f1 "$tmp/zsh" | sort >"$tmp/out"
}
zsh_offers ''
same "zsh: every command is offered" "$tmp/all" "$tmp/out"
check "zsh: with its text" grep -q '^decode:show the packets of a capture' "$tmp/zsh"
zsh_offers show ''
"$causeway" show --help | sed -n '/WHAT is/,/^$/s/^  \([a-z0-9-]*\) .*/\1/p' | sort >"$tmp/what"
same "zsh: things to show" "$tmp/what" "$tmp/out"
zsh_offers uet ''
out_is "zsh: words of its several usages" "$(printf '%s\n' allreduce perf read recv send write)"
zsh_offers explain npi
check "zsh: a reason for drops, with its text" grep -qx 'npi-zero:partition ID 0 is invalid' "$tmp/zsh"
zsh_offers explain rx
"$causeway" explain | awk '{ print $2 }' | sort >"$tmp/reasons"
same "zsh: every reason and counter" "$tmp/reasons" "$tmp/out"
zsh_offers show --socket ''
out_is "zsh: files for a value" "files"
zsh_offers help ''
same "zsh: a command to be helped with" "$tmp/all" "$tmp/out"
for c in $(cat "$tmp/all"); do
	[ "$c" = help ] || {
		zsh_offers "$c" -
		"$causeway" "$c" --help | sed -n 's/^ \{2,6\}\(-.\(, \| \)\)\?\(--[a-z0-9-]*\).*/\3/p' | sort -u >"$tmp/long"
		same "zsh: $c: its long options" "$tmp/long" <(grep -e ^-- "$tmp/out" | sort -u)
	}
done
plan
