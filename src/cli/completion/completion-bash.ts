import { leadingArgs } from "../framework/args.ts";
import { type CommandWords, type CompletionWords, type FlagWord, isNameKind, listFlags } from "./completion-words.ts";

/** A completion script for bash 3.2 and later, which needs nothing but bash itself, and the program for names. */
export function renderBashCompletion({ nouns, commands }: CompletionWords): string {
  const valueFlags = new Set(
    commands.flatMap(({ flags }) => flags.filter((flag) => flag.takesValue).flatMap((flag) => flag.forms)),
  );
  const cases = commands.map(renderCommand);
  const groups = [...new Set(commands.filter(({ path }) => path.length === 2).map(({ path }) => path[0] as string))];
  const verbs = groups.map((noun) => `    "${noun} ") words="${commandsOf(noun, commands).join(" ")}" ;;`);
  return `# bash completion for bodega
_bodega_names() {
  local value description
  local -a before=()
  for value in "\${line[@]}"; do
    value=\${value//[\\"\\'\\\\]/}
    before+=("$value")
  done
  while IFS=$'\\t' read -r value description; do
    COMPREPLY+=("$value")
  done < <("\${COMP_WORDS[0]}" __complete "$1" "$current" "\${before[@]}" 2>/dev/null)
}
_bodega() {
  local current previous noun="" verb="" words="" word glue="" cut="" flag="" index=0 place=-1
  local -a line=()
  # The shell cuts words at these signs as well: an email, an address and --flag=value are put together again.
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
  previous=""
  ((\${#line[@]})) && previous=\${line[\${#line[@]}-1]}
  if [[ $current == -*=* ]]; then previous=\${current%%=*}; current=\${current#*=}; fi
  [[ $current != "\${COMP_WORDS[COMP_CWORD]}" ]] && cut=\${current%"\${current##*[@:=]}"}
  while ((index < \${#line[@]})); do
    word=\${line[index]}
    case $word in
      ${[...valueFlags].join("|")}) ((index++)) ;;
      -*) ;;
      *)
        ((place++))
        if [[ -z $noun ]]; then noun=$word; elif [[ -z $verb ]]; then verb=$word; fi ;;
    esac
    ((index++))
  done
  if [[ $noun == help ]]; then noun=$verb; verb=""; place=-1; fi
  case $noun in
    ${groups.join("|")}) ((place--)) ;;
    *) verb="" ;;
  esac
  COMPREPLY=()
  case "$noun $verb $previous" in
${renderValues(commands).join("\n")}
  esac
  if [[ -z $flag && $current != -* ]]; then
    case "$noun $verb $place" in
${commands.flatMap(renderPlaces).join("\n")}
    esac
  fi
  case "$noun $verb" in
    " ") words="${nouns.map(({ name }) => name).join(" ")}" ;;
${verbs.join("\n")}
${cases.join("\n")}
  esac
  [[ -z $flag && \${#COMPREPLY[@]} -eq 0 ]] && COMPREPLY=($(compgen -W "$words" -- "$current"))
  # Only what stands behind the last cut is replaced.
  [[ -n $cut ]] && COMPREPLY=("\${COMPREPLY[@]#"$cut"}")
  return 0
}
complete -F _bodega bodega
`;
}

function commandsOf(noun: string, commands: CommandWords[]): string[] {
  return commands.filter(({ path }) => path.length === 2 && path[0] === noun).map(({ path }) => path[1] as string);
}

function renderCommand({ path, flags, choices }: CommandWords): string {
  const words = [...choices, ...flags.flatMap(({ forms }) => forms)];
  return `    "${key(path)}") words="${words.join(" ")}" ;;`;
}

/** What follows a flag that takes a value; free texts are offered nothing. */
function renderValues(commands: CommandWords[]): string[] {
  const before = { path: [""], flags: listFlags(leadingArgs) };
  return [before, ...commands].flatMap(({ path, flags }) =>
    flags
      .filter((flag) => flag.takesValue)
      .map((flag) => {
        const patterns = flag.forms.map((form) => `"${key(path)} ${form}"`).join("|");
        return `    ${patterns}) flag=1; ${offerValues(flag)};;`;
      }),
  );
}

function renderPlaces({ path, places }: CommandWords): string[] {
  return places.flatMap(({ names, isLast }, place) => {
    if (names === undefined) return [];
    const pattern = isLast ? `"${key(path)} "*` : `"${key(path)} ${place}"`;
    return [`      ${pattern}) ${offerValues({ options: [], completes: names })};;`];
  });
}

function offerValues({ options, completes }: Pick<FlagWord, "options" | "completes">): string {
  if (options.length > 0) return `COMPREPLY=($(compgen -W "${options.join(" ")}" -- "$current")) `;
  if (completes === undefined) return "";
  if (isNameKind(completes)) return `_bodega_names ${completes} `;
  const kind = completes === "directory" ? "d" : "f";
  // One name a line, so that names with spaces stay whole; older shells lack compopt and do without quoting.
  return `compopt -o filenames 2>/dev/null; while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -${kind} -- "$current") `;
}

/** The two words of a command as the script holds them: `tenant create`, `serve `. */
function key([noun, verb = ""]: string[]): string {
  return `${noun} ${verb}`;
}
