import type { CompletionWords, FlagWord } from "./completion-words.ts";

/** A completion script for fish 3 and later. */
export function renderFishCompletion({ nouns, commands }: CompletionWords): string {
  const groups = nouns
    .map(({ name }) => name)
    .filter((name) => commands.some(({ path }) => path.length === 2 && path[0] === name));
  const lines = [
    "# fish completion for bodega",
    "complete -c bodega -f",
    ...nouns.map(({ name, description }) => complete("__fish_use_subcommand", `-a ${name} -d ${quote(description)}`)),
  ];
  for (const { path, description, flags, choices } of commands) {
    const [noun, verb] = path;
    const here = verb === undefined ? seen(noun) : `${seen(noun)}; and ${seen(verb)}`;
    if (verb !== undefined) {
      const siblings = commands.filter((other) => other.path[0] === noun).map((other) => other.path[1]);
      const open = `${seen(noun)}; and not ${seen(...siblings)}`;
      lines.push(complete(open, `-a ${verb} -d ${quote(description)}`));
    }
    if (choices.length > 0) lines.push(complete(here, `-a ${quote(choices.join(" "))}`));
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

function formatFlagOptions({ forms, description, takesValue, options, completes }: FlagWord): string {
  const names = forms.map((form) => (form.startsWith("--") ? `-l ${form.slice(2)}` : `-s ${form.slice(1)}`));
  const values =
    options.length > 0
      ? ` -x -a ${quote(options.join(" "))}`
      : takesValue
        ? completes !== "directory" && completes !== "file"
          ? " -x"
          : " -r -F"
        : "";
  return `${names.join(" ")}${values} -d ${quote(description)}`;
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
