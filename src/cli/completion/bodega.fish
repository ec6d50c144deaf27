# fish completion for bodega
function __bodega_complete
    set -l line (commandline -opc)
    set -l current (commandline -ct)
    for candidate in (command $line[1] __complete "$current" $line[2..-1] 2>/dev/null)
        switch $candidate
            case ':file*'
                __fish_complete_path "$current"
            case ':directory*'
                __fish_complete_directories "$current"
            case '*'
                printf '%s\n' $candidate
        end
    end
end
complete -c bodega -f -a '(__bodega_complete)'
