import { type CommandWords, type CompletionWords, type FlagWord, isNameKind } from "./completion-words.ts";

/** A completion script for fish 3 and later. */
export function renderFishCompletion({ nouns, commands }: CompletionWords): string {
  const groups = nouns
    .map(({ name }) => name)
    .filter((name) => commands.some(({ path }) => path.length === 2 && path[0] === name));
  const lines = [
    "# fish completion for bodega",
    ...renderHelpers(commands),
    "complete -c bodega -f",
    ...nouns.map(({ name, description }) => complete("__fish_use_subcommand", `-a ${name} -d ${quote(description)}`)),
  ];
  for (const { path, description, flags, choices, places } of commands) {
    const [noun, verb] = path;
    const here = verb === undefined ? seen(noun) : `${seen(noun)}; and ${seen(verb)}`;
    if (verb !== undefined) {
      const siblings = commands.filter((other) => other.path[0] === noun).map((other) => other.path[1]);
      const open = `${seen(noun)}; and not ${seen(...siblings)}`;
      lines.push(complete(open, `-a ${verb} -d ${quote(description)}`));
    }
    if (choices.length > 0) lines.push(complete(here, `-a ${quote(choices.join(" "))}`));
    for (const [place, { names, isLast }] of places.entries()) {
      if (names === undefined) continue;
      const at = `${here}; and __bodega_place ${path.length + place}${isLast ? " or-more" : ""}`;
      lines.push(complete(at, isNameKind(names) ? `-a ${quote(`(__bodega_names ${names})`)}` : "-F"));
    }
    lines.push(...flags.map((flag) => complete(here, formatFlagOptions(flag))));
  }
  lines.push(
    complete(
      seen("help"),
      `-a ${quote([...groups, ...commands.filter(({ path }) => path.length === 1).map(({ path }) => path[0])].join(" "))}`,
    ),
  );
  return `${lines.join("\n")}\n`;
}

/** What asks the program for names, and what tells how many words stand before the one that is typed. */
function renderHelpers(commands: CommandWords[]): string[] {
  const valueFlags = new Set(
    commands.flatMap(({ flags }) => flags.filter((flag) => flag.takesValue).flatMap((flag) => flag.forms)),
  );
  return [
    "function __bodega_names",
    "    set -l line (commandline -opc)",
    "    command $line[1] __complete $argv[1] (commandline -ct | string collect --allow-empty) $line[2..-1] 2>/dev/null",
    "end",
    "function __bodega_place",
    "    set -l seen 0",
    "    set -l skip 0",
    "    for word in (commandline -opc)[2..-1]",
    "        if test $skip = 1",
    "            set skip 0",
    "            continue",
    "        end",
    "        switch $word",
    `            case ${[...valueFlags].join(" ")}`,
    "                set skip 1",
    "            case '-*'",
    "            case '*'",
    "                set seen (math $seen + 1)",
    "        end",
    "    end",
    '    test $seen -eq $argv[1]; or begin; test "$argv[2]" = or-more; and test $seen -gt $argv[1]; end',
    "end",
  ];
}

function formatFlagOptions({ forms, description, takesValue, options, completes }: FlagWord): string {
  const names = forms.map((form) => (form.startsWith("--") ? `-l ${form.slice(2)}` : `-s ${form.slice(1)}`));
  const values = options.length > 0 ? ` -x -a ${quote(options.join(" "))}` : takesValue ? formatAction(completes) : "";
  return `${names.join(" ")}${values} -d ${quote(description)}`;
}

function formatAction(completes: FlagWord["completes"]): string {
  if (isNameKind(completes)) return ` -x -a ${quote(`(__bodega_names ${completes})`)}`;
  return completes === undefined ? " -x" : " -r -F";
}

function complete(condition: string, rest: string): string {
  return `complete -c bodega -n ${quote(condition)} ${rest}`;
}

function seen(...words: (string | undefined)[]): string {
  return `__fish_seen_subcommand_from ${words.join(" ")}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
