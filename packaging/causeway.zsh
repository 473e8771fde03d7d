#compdef causeway
# causeway.zsh - completion for zsh. All words and what is said of them come from the command's own help texts.

# "name:what it is" of the indented lines of a help text after the line that matches FROM.
_causeway_words() { # FROM HELP
	print -r -- "$2" | sed -n "/$1/,/^\$/s/^  \\([a-z][a-z0-9-]*\\)  *\\(.*\\)/\\1:\\2/p"
}

# "--name:what it is", and the same for the short option in front of it.
_causeway_options() { # HELP
	print -r -- "$1" | sed -nE 's/^ +(-[^ ,]+)(, (-[^ ]+))? *([^ ]+  +)?(.*)/\1:\5\n\3:\5/p' | grep '^-'
}

_causeway() {
	local command=$words[1] sub=$words[2] prev=$words[CURRENT-1] help
	local -a offers

	if ((CURRENT == 2)) || [[ $sub == help && CURRENT -eq 3 ]]; then
		offers=(help:'show what a command does' ${(f)"$(_causeway_words '^commands:' "$($command help 2>/dev/null)")"})
		_describe -t commands command offers
		return
	fi
	help=$($command $sub --help 2>/dev/null) || return
	if [[ $words[CURRENT] == -* ]]; then
		offers=(${(f)"$(_causeway_options $help)"})
		_describe -t options option offers
	elif [[ $sub == explain && $prev != (-s|--socket) ]]; then
		offers=(${(f)"$($command explain | sed -E 's/^[a-z]+ +([a-z0-9_-]+) +(.*)/\1:\2/')"})
		_describe -t reasons reason offers
	elif [[ $prev != -* ]]; then
		offers=(${(f)"$(_causeway_words 'WHAT is' $help)"}
			${(f)"$(print -r -- $help | sed -n "s/^\\(usage:\\|      \\) causeway $sub \\([a-z][a-z-]*\\)\\b.*/\\2/p")"})
		_describe -t words word offers || _files
	else
		_files
	fi
}

_causeway "$@"
