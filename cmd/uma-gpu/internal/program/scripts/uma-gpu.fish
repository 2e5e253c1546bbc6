# fish completion of uma-gpu: the program itself prints the commands and flags that may come next.
function __uma_gpu_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    string match -q -- '-*' $current; and set -a words $current
    $words --generate-bash-completion 2>/dev/null
end
complete -c uma-gpu -a '(__uma_gpu_complete)'
