# bash completion for bodega
# @ : and = also break words in bash: an email, an address and --flag=value are joined again.
_bodega() {
  local word value description current glue="" cut="" files=""
  local -a line=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if ((${#line[@]})) && [[ -n $glue || $word == [@:=]* ]]; then
      line[${#line[@]}-1]+=$word
    else
      line+=("$word")
    fi
    glue=""
    [[ $word == *[@:=] ]] && glue=1
  done
  current=${line[${#line[@]}-1]}
  unset "line[${#line[@]}-1]"
  [[ $current != "${COMP_WORDS[COMP_CWORD]}" ]] && cut=${current%"${current##*[@:=]}"}
  COMPREPLY=()
  while IFS=$'\t' read -r value description; do
    case $value in
      :file) files=f ;;
      :directory) files=d ;;
      *) COMPREPLY+=("${value#"$cut"}") ;;
    esac
  done < <("${COMP_WORDS[0]}" __complete "$current" "${line[@]//[\"\'\\]/}" 2>/dev/null)
  if [[ -n $files ]]; then
    [[ $current == -*=* ]] && current=${current#*=}
    compopt -o filenames 2>/dev/null
    while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen "-$files" -- "$current")
  fi
}
complete -F _bodega bodega
