# fish completion of uma-gpu: the program itself says what could come next.
function __uma_gpu_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] __complete $words[2..] 2>/dev/null)
        if test "$line" = ":files"
            set -l flag (string match -r '^--[^=]*=' -- $words[-1])
            string replace -r '^' -- "$flag" (__fish_complete_path (string replace -- "$flag" '' $words[-1]))
        else
            echo $line
        end
    end
end
complete -c uma-gpu -f -a '(__uma_gpu_complete)'
