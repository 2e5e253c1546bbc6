# bash completion of uma-gpu: the program itself prints the commands and flags that may come next.
_uma_gpu() {
	local words=("${COMP_WORDS[@]:0:COMP_CWORD}") current=${COMP_WORDS[COMP_CWORD]}
	[[ $current == -* ]] && words+=("$current")
	mapfile -t COMPREPLY < <(compgen -W "$("${words[@]}" --generate-bash-completion 2>/dev/null)" -- "$current")
}
complete -o bashdefault -o default -F _uma_gpu uma-gpu
