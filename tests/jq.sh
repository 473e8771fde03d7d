# jq.sh - sourced by labs and shell tests: jq whose -e agrees to nothing where there is no input.
#
# Before 1.7 jq ends with 0 if its input is empty, so a check of a file that was not written passed.

jq() { # ARGUMENT...
	for jq_arg; do
		case $jq_arg in
		-e | -e[a-z] | -[a-z]e)
			jq_out=$(command jq "$@") || return
			[ -n "$jq_out" ] || return 4 # as jq 1.7 does
			printf '%s\n' "$jq_out"
			return
			;;
		esac
	done
	command jq "$@"
}
