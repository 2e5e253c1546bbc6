#compdef uma-gpu
# zsh completion of uma-gpu: the program itself prints the commands and flags that may come next.
_uma_gpu() {
	local -a list
	local current=$words[CURRENT]
	[[ $current == -* ]] || current=
	list=("${(@f)$(${words[1,CURRENT-1]} $current --generate-bash-completion 2>/dev/null)}")
	_alternative 'words:uma-gpu:compadd -a list' 'files:file:_files'
}
compdef _uma_gpu uma-gpu
