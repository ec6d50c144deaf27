import { type Arg, positionalsOf, sharedArgs } from "../src/cli/framework/args.ts";
import type { Command, CommandGroup, Load } from "../src/cli/framework/command.ts";
import { describeUsage, exitCodes, explainArg, labelArg, ownFlags } from "../src/cli/framework/help.ts";

const introduction = `# Terminal reference

<!-- \`bun scripts/write-reference.ts\` generates this file from the definitions of the commands. A test compares them. -->

\`bodega <command> <subcommand>\` manages the data that \`bodega serve\` serves, whether the server is running or not. A
change applies to the server's next request. \`tenant create\`, \`init\`, \`serve\` and \`demo\` create a new database.

- Standard output has only the result; questions, notes and warnings go to standard error.
- With \`--json\`, the result is exactly one JSON value, indented only at a terminal. An error is a JSON object on standard
  error: \`{"error": {"code", "type", "message", "remedy"?, "details"?: [{"field", "flag"?, "message"}]}}\`. Codes are those of the
  HTTP API; 5100 is an invalid command line.
- Flags can be anywhere after the command. The flags of every command can also be before it. \`--name value\`,
  \`--name=value\`, \`-n value\` and \`-nvalue\` are the same, and \`--\` ends the flags. An unknown, repeated or incomplete
  flag is an error, and nothing is changed.
- At a terminal, commands ask for missing arguments. Without a terminal, and with \`--no-input\`, a missing argument is an error.
- Dangerous commands ask for confirmation, or need \`--yes\`. Commands that delete ask for the name, or need
  \`--confirm <name>\`.
- \`<order>\` stands for a value, \`[<order>]\` for one that can be left out. In the descriptions, square brackets say whether a
  flag is required or can be repeated, and which environment variable sets it. Flags take precedence over [the environment](OPERATION.md#settings).
- Secrets are never arguments, because every user of a machine can read the arguments of commands.
- Tables fit the terminal: long texts are cut with …, and hidden columns are named. In a pipe nothing is cut. Times in
  tables are relative; JSON has them in RFC 3339. Control characters in data are escaped (\`\\u001b\`).
`;

export function listCommands({ subCommands }: CommandGroup): [path: string[], load: Load][] {
  return Object.entries(subCommands).flatMap(([name, sub]): [string[], Load][] =>
    typeof sub === "function" ? [[[name], sub]] : listCommands(sub).map(([path, load]) => [[name, ...path], load]),
  );
}

/** A command with its words, and with its arguments in the order of the help. */
interface Described {
  path: string[];
  command: Command;
  args: Explained[];
}

interface Explained {
  /** Names the argument in other commands' lists: `--title`, `-n` or `<order>`. */
  short: string;
  /** The line that describes the argument. */
  line: string;
}

/** Returns the content of `docs/CLI.md`, generated from the definitions of the commands. */
export async function renderReference(tree: CommandGroup): Promise<string> {
  const commands: Described[] = [];
  for (const [path, load] of listCommands(tree)) {
    const command = await load();
    const args = [...positionalsOf(command.args), ...ownFlags(command.args)].map(explain);
    commands.push({ path, command, args });
  }
  const common = findCommon(commands);
  return [
    introduction,
    `${renderIndex(commands)}\n`,
    `## Exit codes\n\n${renderTable(["code", "meaning"], exitCodes)}`,
    `## Flags of every command\n\n${renderList(Object.entries(sharedArgs).map((entry) => explain(entry).line))}`,
    `## Common arguments\n\nMany commands have these arguments, and list them by name only.\n\n${renderList(common)}`,
    ...renderCommands(tree, commands, common),
  ].join("\n");
}

/** Returns the lines of arguments that commands of at least three groups have, except the arguments of `serve`. */
function findCommon(commands: readonly Described[]): string[] {
  const groups = new Map<string, Set<string>>();
  for (const { path, args } of commands) {
    for (const { line } of args) groups.set(line, (groups.get(line) ?? new Set()).add(path[0] as string));
  }
  const ofServer = commands.find(({ path }) => path[0] === "serve")?.args.map(({ line }) => line) ?? [];
  return [...groups].flatMap(([line, { size }]) => (size >= 3 && !ofServer.includes(line) ? [line] : [])).toSorted();
}

function renderCommands(tree: CommandGroup, commands: readonly Described[], common: readonly string[]): string[] {
  const isServe = ({ path }: Described) => path[0] === "serve";
  return commands.flatMap((described, index) => {
    const { path, command } = described;
    const isFirst = path[0] !== commands[index - 1]?.path[0];
    const earlier = commands.slice(0, index).filter((other) => other.path[0] === path[0] || isServe(other));
    const notes = command.notes.map((note) => {
      const at = commands.slice(0, index).find((other) => other.command.notes.includes(note));
      const isLong = note.length > 100;
      return at && isLong ? `${note.slice(0, note.indexOf(". "))}. More at \`${nameOf(at)}\`.` : note;
    });
    return [
      ...(isFirst ? renderHeading(tree, path[0] as string) : []),
      renderCommand(described, [renderList(listArgs(described, earlier, common)), ...notes.map(escapeMarkdown)]),
    ];
  });
}

const nameOf = ({ path }: Described) => `bodega ${path.join(" ")}`;

/** Describes the arguments of a command. If an earlier command describes an argument, only its name is listed. */
function listArgs({ args }: Described, earlier: readonly Described[], common: readonly string[]): string[] {
  const own: string[] = [];
  const named = new Map<string, string[]>();
  for (const { line, short } of args) {
    const at = earlier.find((other) => other.args.some((arg) => arg.line === line));
    const isCommon = common.includes(line);
    if (!isCommon && at === undefined) own.push(line);
    else {
      const title = isCommon || at === undefined ? "[Common](#common-arguments)" : `As for \`${nameOf(at)}\``;
      named.set(title, [...(named.get(title) ?? []), short]);
    }
  }
  return [...own, ...[...named].map(([title, names]) => `${title}: ${names.join(", ")}`)];
}

/** Links to the sections of commands and groups, by their anchors on GitHub. */
function renderIndex(commands: readonly Described[]): string {
  const sections = new Map<string, string>();
  for (const { path, command } of commands) {
    const [name = ""] = path;
    const title = path.length === 1 ? usageOf(path, command) : `bodega ${name}`;
    sections.set(name, title.replace(/[^a-z -]/g, "").replaceAll(" ", "-"));
  }
  return [...sections].map(([name, anchor]) => `[${name}](#${anchor})`).join(" · ");
}

/** Every command has flags, so the headings omit them. */
const usageOf = (path: string[], command: Command) => describeUsage(path, command).replace(/ \[flags\]$/, "");

function renderHeading(tree: CommandGroup, group: string): string[] {
  const entry = tree.subCommands[group];
  return typeof entry === "object" ? [`## bodega ${group}\n\n${entry.meta.description}.\n`] : [];
}

function renderCommand({ path, command }: Described, parts: readonly string[]): string {
  return [
    `${path.length === 1 ? "##" : "###"} \`${usageOf(path, command)}\`\n`,
    `${command.meta.description}.\n`,
    ...parts.filter(Boolean).map((part) => `${part.trimEnd()}\n`),
    `\`\`\`sh\n${command.examples.join("\n")}\n\`\`\`\n`,
  ].join("\n");
}

function explain([name, arg]: [string, Arg]): Explained {
  const label = labelArg(name, arg).trim();
  const text = escapeMarkdown(explainArg(arg.type === "positional" ? { ...arg, required: false } : arg));
  const short = arg.alias ? `-${arg.alias}` : label.replace(/ <.*/, "");
  return { short: `\`${short}\``, line: `\`${label}\`: ${text}` };
}

function renderList(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}\n`).join("");
}

function renderTable(header: [string, string], rows: [string, string][]): string {
  return [header, ["---", "---"], ...rows].map((row) => `| ${row.join(" | ")} |\n`).join("");
}

/** Escapes a text for Markdown, where `<namespace>` would be an HTML tag. */
function escapeMarkdown(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "\\<").replaceAll("*", "\\*");
}
