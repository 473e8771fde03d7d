# causeway.bash - completion for bash. All words come from the command's own help texts.

# The words that begin indented lines of a help text after the line that matches FROM.
_causeway_words() { # FROM HELP
	sed -n "/$1/,/^\$/s/^  \\([a-z][a-z0-9-]*\\) .*/\\1/p" <<<"$2"
}

_causeway() {
	local cur=$2 prev=$3 command=$1 sub=${COMP_WORDS[1]} help options

	COMPREPLY=()
	if ((COMP_CWORD == 1)) || [[ $sub == help ]]; then
		help=$("$command" help 2>/dev/null)
		mapfile -t COMPREPLY < <(compgen -W "help $(_causeway_words '^commands:' "$help")" -- "$cur")
		return
	fi
	help=$("$command" "$sub" --help 2>/dev/null) || return
	if [[ $cur == -* ]]; then
		options=$(grep -oE '^ +(-[a-zA-Z0-9], )?--[a-z0-9-]+|^  +-[a-zA-Z0-9]\b' <<<"$help")
		mapfile -t COMPREPLY < <(compgen -W "${options//,/}" -- "$cur")
	elif [[ $sub == explain && $prev != -s && $prev != --socket ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$command" explain | awk '{ print $2 }')" -- "$cur")
	elif [[ $prev != -* ]]; then
		options=$(sed -n "s/^\\(usage:\\|      \\) causeway $sub \\([a-z][a-z-]*\\)\\b.*/\\2/p" <<<"$help")
		mapfile -t COMPREPLY < <(compgen -W "$options $(_causeway_words 'WHAT is' "$help")" -- "$cur")
	fi
}

complete -o default -F _causeway causeway
