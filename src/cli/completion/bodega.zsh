#compdef bodega
_bodega() {
  local value description
  local -a entries
  while IFS=$'\t' read -r value description; do
    case $value in
      :file) compset -P '-*='; _files; return ;;
      :directory) compset -P '-*='; _files -/; return ;;
      *) entries+=("${value//:/\\:}${description:+:$description}") ;;
    esac
  done < <(${~words[1]} __complete "${(Q)PREFIX}" "${(@Q)words[2,CURRENT-1]}" 2>/dev/null)
  _describe -t values value entries
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _bodega "$@"; else compdef _bodega bodega; fi
