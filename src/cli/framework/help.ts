import type { Console } from "../terminal/console.ts";
import { breakWords, wrapWords } from "../terminal/wrap.ts";
import { type Arg, type CommandArgs, flagsOf, formatArg, positionalsOf, sharedArgs } from "./args.ts";
import type { Command } from "./command.ts";
import { type CommandTree, commandsOf, loadCommand } from "./command-tree.ts";

type Entry = [label: string, text: string];

const widest = 100;
/** Minimum width of a text beside its label. */
const narrowest = 24;
const indent = "  ";

/** Exit codes with their meanings. */
export const exitCodes: readonly [number, string][] = [
  [0, "done"],
  [1, "failed, or a check did not pass"],
  [2, "invalid command line"],
  [3, "not found"],
  [4, "conflict, or busy: try again"],
  [130, "cancelled"],
];

/** Help about the program, a group or a command, wrapped to the terminal; ends with a line break. */
export async function renderHelp(tree: CommandTree, path: readonly string[], console: Console): Promise<string> {
  const page: Page = { blocks: [], width: Math.min(console.columns ?? widest, widest), color: console.color };
  if (path.length === 0) await writeRoot(page, tree);
  else if (path.length === 1 && commandsOf(tree, path[0] as string)) await writeGroup(page, tree, path[0] as string);
  else await writeCommand(page, tree, path);
  return `${page.blocks.join("\n\n")}\n`;
}

async function writeRoot(page: Page, tree: CommandTree): Promise<void> {
  addParagraph(page, "Bodega: a store-and-content back end in one executable.");
  addSection(page, "Usage", ["bodega <command> [flags]", "bodega <command> <subcommand> [flags]"]);
  const entries: Entry[] = [];
  for (const [name, entry] of Object.entries(tree)) {
    const description =
      typeof entry === "object" ? entry.description : (await loadCommand(tree, [name]))?.meta.description;
    entries.push([name, description ?? ""]);
    if (typeof entry === "object") entries.push(["", Object.keys(entry.commands).join(", ")]);
  }
  addList(page, "Commands", [...entries, ["help", "Show help about a command, such as: bodega help key issue"]]);
  addList(page, "Flags of every command", describeArgs(Object.entries(sharedArgs)));
  addList(
    page,
    "Exit codes",
    exitCodes.map(([code, meaning]): Entry => [String(code), meaning]),
  );
}

async function writeGroup(page: Page, tree: CommandTree, group: string): Promise<void> {
  const entry = tree[group];
  addParagraph(page, typeof entry === "object" ? `${entry.description}.` : "");
  addSection(page, "Usage", [`bodega ${group} <subcommand> [flags]`]);
  const entries: Entry[] = [];
  for (const name of Object.keys(commandsOf(tree, group) ?? {})) {
    entries.push([name, (await loadCommand(tree, [group, name]))?.meta.description ?? ""]);
  }
  addList(page, "Subcommands", entries);
  addParagraph(page, `More about a subcommand: bodega help ${group} <subcommand>`);
}

async function writeCommand(page: Page, tree: CommandTree, path: readonly string[]): Promise<void> {
  const command = await loadCommand(tree, path);
  if (command === undefined) return;
  addParagraph(page, `${command.meta.description}.`);
  addCommands(page, "Usage", [describeUsage(path, command)], "");
  addList(page, "Arguments", describeArgs(positionalsOf(command.args)));
  addList(page, "Flags", describeArgs(ownFlags(command.args)));
  addList(page, "Flags of every command", describeArgs(Object.entries(sharedArgs)));
  for (const note of command.notes) addParagraph(page, note);
  addCommands(page, "Examples", command.examples, " \\");
}

function describeArgs(args: [string, Arg][]): Entry[] {
  const aligned = args.some(([, arg]) => arg.type !== "positional" && arg.alias !== undefined);
  return args.map(([name, arg]) => {
    const label = labelArg(name, arg);
    return [aligned && label.startsWith("--") ? `    ${label}` : label, explainArg(arg)];
  });
}

/** Blocks of text, set apart by empty lines, and how they are laid out. */
interface Page {
  blocks: string[];
  width: number;
  color: boolean;
}

function addParagraph(page: Page, text: string): void {
  page.blocks.push(wrapWords(text, page.width).join("\n"));
}

function addSection(page: Page, title: string, lines: readonly string[]): void {
  const heading = page.color ? `\u001b[1m${title}\u001b[22m` : title;
  page.blocks.push([heading, ...lines.map((line) => indent + line)].join("\n"));
}

/** Command lines, broken between their words; `mark` ends a line that continues, as the shell needs it. */
function addCommands(page: Page, title: string, lines: readonly string[], mark: string): void {
  const width = page.width - indent.length;
  const broken = lines.flatMap((line) => {
    if (line.length <= width) return [line];
    const words = line.match(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g) ?? [];
    const pieces = breakWords(words, width - indent.length - mark.length);
    return pieces.map((piece, at) => (at === 0 ? "" : indent) + piece + (at === pieces.length - 1 ? "" : mark));
  });
  addSection(page, title, broken);
}

function addList(page: Page, title: string, entries: Entry[]): void {
  if (entries.length === 0) return;
  const labelWidth = Math.max(...entries.map(([label]) => label.length)) + 2;
  const room = page.width - indent.length;
  const beside = room - labelWidth;
  const lines = entries.flatMap(([label, text]) => {
    if (beside >= narrowest) {
      return wrapWords(text, beside).map((line, index) => `${(index === 0 ? label : "").padEnd(labelWidth)}${line}`);
    }
    const above = label === "" ? [] : wrapWords(label.trim(), room);
    return [...above, ...wrapWords(text, room - indent.length).map((line) => indent + line)];
  });
  addSection(page, title, lines);
}

/** The argument with its short form and value: `-n, --namespace <namespace>`, `<app_id>`. */
export function labelArg(name: string, arg: Arg): string {
  if (arg.type === "positional") return formatArg(name, arg);
  const short = arg.alias === undefined ? "" : `-${arg.alias}, `;
  const hint = arg.options?.join("|") ?? arg.valueHint ?? name;
  if (arg.negatable) return `${short}--${name}, --no-${name}`;
  return `${short}${formatArg(name, arg)}${arg.type === "boolean" ? "" : ` <${hint}>`}`;
}

/** Its description, and in brackets what the definition adds: required, repeatable, default, environment. */
export function explainArg(arg: Arg): string {
  const notes: string[] = [];
  if (arg.required) notes.push("required");
  if (arg.type === "positional") {
    if (arg.options !== undefined) notes.push(arg.options.join(", "));
    if (arg.fallback !== undefined) notes.push(`or --${arg.fallback}`);
  } else {
    if (arg.multiple) notes.push("repeatable");
    if (typeof arg.default === "string") notes.push(`default ${arg.default}`);
    const variable = arg.env ?? arg.configEnv;
    if (variable !== undefined) notes.push(`or ${variable}`);
  }
  return notes.length === 0 ? arg.description : `${arg.description} [${notes.join("; ")}]`;
}

/** `bodega key publish <app_id> [flags]`. */
export function describeUsage(path: readonly string[], command: Command): string {
  const words = positionalsOf(command.args).map(([name, arg]) => {
    const word = formatArg(name, arg);
    return arg.required ? word : `[${word}]`;
  });
  return ["bodega", ...path, ...words, "[flags]"].join(" ");
}

/** A command's flags of its own, without those that every command takes. */
export function ownFlags(args: CommandArgs): [string, Arg][] {
  return flagsOf(args).filter(([name]) => !Object.hasOwn(sharedArgs, name));
}
