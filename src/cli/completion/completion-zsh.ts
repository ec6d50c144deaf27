import { type CommandWords, type CompletionWords, type FlagWord, isNameKind } from "./completion-words.ts";

/** A completion script for zsh; it works from a folder of \`fpath\` and by being evaluated. */
export function renderZshCompletion({ nouns, commands }: CompletionWords): string {
  const groups = nouns
    .map(({ name }) => name)
    .filter((name) => commands.some(({ path }) => path.length === 2 && path[0] === name));
  const valueFlags = new Set(
    commands.flatMap(({ flags }) => flags.filter((flag) => flag.takesValue).flatMap((flag) => flag.forms)),
  );
  return `#compdef bodega
_bodega_names() {
  local -a names
  local value description
  while IFS=$'\\t' read -r value description; do
    names+=("\${value//:/\\\\:}\${description:+:$description}")
  done < <(\${~words[1]} __complete $1 "\${(Q)PREFIX}" "\${(@Q)words[2,CURRENT-1]}" 2>/dev/null)
  _describe -t names $1 names
}
_bodega() {
  local -a entries
  local noun="" verb="" word index place=-1
  for ((index = 2; index < CURRENT; index++)); do
    word=\${words[index]}
    case $word in
      ${[...valueFlags].join("|")}) ((index++)) ;;
      -*) ;;
      *)
        ((place++))
        if [[ -z $noun ]]; then noun=$word; elif [[ -z $verb ]]; then verb=$word; fi ;;
    esac
  done
  [[ $noun == help ]] && noun=$verb && verb=""
  case $noun in
    ${groups.join("|")}) ((place--)) ;;
    *) verb="" ;;
  esac
  case "$noun $verb" in
    " ")
      entries=(${nouns.map(({ name, description }) => quote(`${name}:${description}`)).join(" ")})
      _describe command entries ;;
${groups.map((noun) => renderNoun(noun, commands)).join("\n")}
${commands.map(renderCommand).join("\n")}
  esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _bodega "$@"; else compdef _bodega bodega; fi
`;
}

function renderNoun(noun: string, commands: CommandWords[]): string {
  const verbs = commands.filter(({ path }) => path.length === 2 && path[0] === noun);
  return `    "${noun} ")
      entries=(${verbs.map(({ path, description }) => quote(`${path[1]}:${description}`)).join(" ")})
      _describe verb entries ;;`;
}

function renderCommand({ path, flags, choices, places }: CommandWords): string {
  const rest = choices.length > 0 ? ` '*:value:(${choices.join(" ")})'` : ` '*:value:${renderPlaces(places)}'`;
  return `    "${path[0]} ${path[1] ?? ""}")
      _arguments -s ${flags.flatMap(renderFlag).join(" ")}${rest} ;;`;
}

/** What is offered for a positional depends on how many stand before it, noun and verb not counted. */
function renderPlaces(places: CommandWords["places"]): string {
  const offers = places.flatMap(({ names, isLast }, place) =>
    names === undefined ? [] : [`(( place ${isLast ? ">=" : "=="} ${place} )) && ${renderAction(names)}`],
  );
  return offers.length === 0 ? " " : `{ ${offers.join("; ")} }`;
}

function renderAction(completes: FlagWord["completes"]): string {
  // The space keeps options of the shell's own from standing before the word.
  if (isNameKind(completes)) return ` _bodega_names ${completes}`;
  return completes === "directory" ? "_files -/" : completes === "file" ? "_files" : " ";
}

function renderFlag({ forms, description, takesValue, options, completes }: FlagWord): string[] {
  const action = options.length > 0 ? `(${options.join(" ")})` : renderAction(completes);
  const text = description.replaceAll("[", "(").replaceAll("]", ")").replaceAll(":", "\\:");
  return forms.map((form) => {
    const joined = takesValue && form.startsWith("--") ? "=" : "";
    return quote(`*${form}${joined}[${text}]${takesValue ? `:value:${action}` : ""}`);
  });
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
