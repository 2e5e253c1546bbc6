#compdef uma-gpu
# zsh completion of uma-gpu: the program itself says what could come next.
_uma_gpu() {
	local -a list pairs
	local line
	list=("${(@f)$("${(Q)words[1]}" __complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
	for line in $list; do
		if [[ $line == :files ]]; then
			compset -P '--*='
			_files
		else
			pairs+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
		fi
	done
	(( $#pairs )) && _describe uma-gpu pairs
}
if [[ $funcstack[1] == _uma-gpu || $funcstack[1] == _uma_gpu ]]; then
	_uma_gpu "$@"
else
	compdef _uma_gpu uma-gpu
fi
