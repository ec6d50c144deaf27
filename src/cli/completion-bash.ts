import type { CommandWords, CompletionWords, FlagWord } from "./completion-words.ts";

/** A completion script for bash 3.2 and later, which needs nothing but bash itself. */
export function renderBashCompletion({ nouns, commands }: CompletionWords): string {
  const valueFlags = new Set(
    commands.flatMap(({ flags }) => flags.filter((flag) => flag.takesValue).flatMap((flag) => flag.forms)),
  );
  const cases = commands.map(renderCommand);
  const groups = [...new Set(commands.filter(({ path }) => path.length === 2).map(({ path }) => path[0] as string))];
  const verbs = groups.map((noun) => `    "${noun} ") words="${verbsOf(noun, commands).join(" ")}" ;;`);
  return `# bash completion for bodega
_bodega() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  local noun="" verb="" words="" word index=1
  if [[ $current == "=" ]]; then current=""; elif [[ $previous == "=" ]]; then previous=\${COMP_WORDS[COMP_CWORD-2]}; fi
  while ((index < COMP_CWORD)); do
    word=\${COMP_WORDS[index]}
    case $word in
      ${[...valueFlags].join("|")})
        ((index++))
        [[ \${COMP_WORDS[index]} == "=" ]] && ((index++)) ;;
      -*) ;;
      *) if [[ -z $noun ]]; then noun=$word; elif [[ -z $verb ]]; then verb=$word; fi ;;
    esac
    ((index++))
  done
  [[ $noun == help ]] && noun=$verb && verb=""
  case $noun in
    ${groups.join("|")}) ;;
    *) verb="" ;;
  esac
  COMPREPLY=()
  case "$noun $verb $previous" in
${renderValues(commands).join("\n")}
  esac
  case "$noun $verb" in
    " ") words="${nouns.map(({ name }) => name).join(" ")}" ;;
${verbs.join("\n")}
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _bodega bodega
`;
}

function verbsOf(noun: string, commands: CommandWords[]): string[] {
  return commands.filter(({ path }) => path.length === 2 && path[0] === noun).map(({ path }) => path[1] as string);
}

function renderCommand({ path, flags, choices }: CommandWords): string {
  const words = [...choices, ...flags.flatMap(({ forms }) => forms)];
  return `    "${key(path)}") words="${words.join(" ")}" ;;`;
}

/** What follows a flag that takes a value; free texts are offered nothing. */
function renderValues(commands: CommandWords[]): string[] {
  return commands.flatMap(({ path, flags }) =>
    flags
      .filter((flag) => flag.takesValue)
      .map((flag) => {
        const patterns = flag.forms.map((form) => `"${key(path)} ${form}"`).join("|");
        return `    ${patterns}) ${offerValues(flag)}return ;;`;
      }),
  );
}

function offerValues({ options, completes }: FlagWord): string {
  if (options.length > 0) return `COMPREPLY=($(compgen -W "${options.join(" ")}" -- "$current")); `;
  if (completes !== "directory" && completes !== "file") return "";
  const kind = completes === "directory" ? "d" : "f";
  // One name a line, so that names with spaces stay whole; older shells lack compopt and do without quoting.
  return `local IFS=$'\\n'; compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -${kind} -- "$current")); `;
}

/** The two words of a command as the script holds them: `tenant create`, `serve `. */
function key([noun, verb = ""]: string[]): string {
  return `${noun} ${verb}`;
}
