/** Completion scripts by shell. Each asks `bodega __complete` for candidates, and completes files itself. */
export const completionScripts = {
  // bash splits words at @ : = as well: an email, an address and --flag=value are joined again.
  bash: `# bash completion for bodega
_bodega() {
  local word value description current glue="" cut="" files=""
  local -a line=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if ((\${#line[@]})) && [[ -n $glue || $word == [@:=]* ]]; then
      line[\${#line[@]}-1]+=$word
    else
      line+=("$word")
    fi
    glue=""
    [[ $word == *[@:=] ]] && glue=1
  done
  current=\${line[\${#line[@]}-1]}
  unset "line[\${#line[@]}-1]"
  [[ $current != "\${COMP_WORDS[COMP_CWORD]}" ]] && cut=\${current%"\${current##*[@:=]}"}
  COMPREPLY=()
  while IFS=$'\\t' read -r value description; do
    case $value in
      :file) files=f ;;
      :directory) files=d ;;
      *) COMPREPLY+=("\${value#"$cut"}") ;;
    esac
  done < <("\${COMP_WORDS[0]}" __complete "$current" "\${line[@]//[\\"\\'\\\\]/}" 2>/dev/null)
  if [[ -n $files ]]; then
    [[ $current == -*=* ]] && current=\${current#*=}
    compopt -o filenames 2>/dev/null
    while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen "-$files" -- "$current")
  fi
}
complete -F _bodega bodega
`,
  zsh: `#compdef bodega
_bodega() {
  local value description
  local -a entries
  while IFS=$'\\t' read -r value description; do
    case $value in
      :file) compset -P '-*='; _files; return ;;
      :directory) compset -P '-*='; _files -/; return ;;
      *) entries+=("\${value//:/\\\\:}\${description:+:$description}") ;;
    esac
  done < <(\${~words[1]} __complete "\${(Q)PREFIX}" "\${(@Q)words[2,CURRENT-1]}" 2>/dev/null)
  _describe -t values value entries
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _bodega "$@"; else compdef _bodega bodega; fi
`,
  fish: `# fish completion for bodega
function __bodega_complete
    set -l line (commandline -opc)
    set -l current (commandline -ct | string collect --allow-empty)
    for candidate in (command $line[1] __complete "$current" $line[2..-1] 2>/dev/null)
        switch $candidate
            case ':file*'
                __fish_complete_path "$current"
            case ':directory*'
                __fish_complete_directories "$current"
            case '*'
                printf '%s\\n' $candidate
        end
    end
end
complete -c bodega -f -a '(__bodega_complete)'
`,
} as const;
