# bash completion of uma-gpu: the program itself says what could come next.
_uma_gpu() {
	local line=${COMP_LINE:0:COMP_POINT} words list current cut
	read -ra words <<<"$line"
	[[ $line == *[[:space:]] ]] && words+=("")
	current=${words[${#words[@]} - 1]}
	mapfile -t list < <("$1" __complete "${words[@]:1}" 2>/dev/null)
	COMPREPLY=()
	if [[ ${#list[@]} -gt 0 && ${list[${#list[@]} - 1]} == :files ]]; then
		unset "list[${#list[@]} - 1]"
		compopt -o default
	fi
	# readline begins a new word behind : and =
	cut=${current%"${current##*[=:]}"}
	for current in "${list[@]}"; do
		current=${current%%$'\t'*}
		COMPREPLY+=("${current#"$cut"}")
	done
}
complete -F _uma_gpu uma-gpu
