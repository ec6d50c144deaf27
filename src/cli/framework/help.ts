import type { Console } from "../terminal/console.ts";
import { bold, renderFields, wrapWords } from "../terminal/text.ts";
import { type Arg, type CommandArgs, flagsOf, formatArg, positionalsOf, sharedArgs } from "./args.ts";
import type { Command, CommandGroup, Load } from "./command.ts";

type Entry = [label: string, text: string];
type Block = string | { title: string; lines: readonly string[] } | { title: string; entries: Entry[] };

const widest = 100;
const indent = "  ";

export const exitCodes: Entry[] = [
  ["0", "done"],
  ["1", "failed, or a check did not pass"],
  ["2", "invalid command line"],
  ["3", "not found"],
  ["4", "conflict, or busy: try again"],
  ["130", "cancelled"],
];

const sharedFlags: Block = { title: "Flags of every command", entries: describeArgs(Object.entries(sharedArgs)) };

export async function renderHelp(path: string[], target: Load | CommandGroup, console: Console): Promise<string> {
  const width = Math.min(console.columns ?? widest, widest);
  const blocks =
    typeof target === "function" ? describeCommand(path, await target()) : await describeGroup(path, target);
  const texts = blocks.map((block) => {
    if (typeof block === "string") return wrapWords(block, width).join("\n");
    const layout = { width: width - indent.length, color: false };
    const lines = "lines" in block ? block.lines : renderFields(block.entries, layout).trimEnd().split("\n");
    return [bold(block.title, console.color), ...lines.map((line) => indent + line)].join("\n");
  });
  return `${texts.join("\n\n")}\n`;
}

async function describeGroup(path: string[], { meta, subCommands }: CommandGroup): Promise<Block[]> {
  const entries: Entry[] = [];
  for (const [name, sub] of Object.entries(subCommands)) {
    const isGroup = typeof sub !== "function";
    entries.push([name, (isGroup ? sub : await sub()).meta.description]);
    if (isGroup) entries.push(["", Object.keys(sub.subCommands).join(", ")]);
  }
  const words = [...path, path.length === 0 ? "<command> [subcommand]" : "<subcommand>"].join(" ");
  return [
    `${meta.description}.`,
    { title: "Usage", lines: [`bodega ${words} [flags]`] },
    { title: "Commands", entries },
    ...(path.length === 0 ? [sharedFlags, { title: "Exit codes", entries: exitCodes }] : []),
    `More about a command: bodega help ${words}`,
  ];
}

function describeCommand(path: string[], command: Command): Block[] {
  const lists = [
    { title: "Arguments", entries: describeArgs(positionalsOf(command.args)) },
    { title: "Flags", entries: describeArgs(ownFlags(command.args)) },
  ];
  return [
    `${command.meta.description}.`,
    { title: "Usage", lines: [describeUsage(path, command)] },
    ...lists.filter(({ entries }) => entries.length > 0),
    sharedFlags,
    ...command.notes,
    { title: "Examples", lines: command.examples },
  ];
}

function describeArgs(args: [string, Arg][]): Entry[] {
  return args.map(([name, arg]) => [labelArg(name, arg), explainArg(arg)]);
}

/** Formats an argument with its value for help: `-n, --namespace <namespace>`, `    --title <text>`, `<app_id>`. */
export function labelArg(name: string, arg: Arg): string {
  if (arg.type === "positional") return formatArg(name, arg);
  const short = arg.alias === undefined ? "    " : `-${arg.alias}, `;
  const hint = arg.options?.join("|") ?? arg.valueHint ?? name;
  return `${short}--${name}${arg.type === "boolean" ? "" : ` <${hint}>`}`;
}

/** Returns the description of an argument with its default, and with notes such as `[required; repeatable]`. */
export function explainArg(arg: Arg): string {
  const isWord = arg.type === "positional";
  const notes = [
    arg.required && "required",
    isWord && arg.options?.join(", "),
    arg.fallback && `or --${arg.fallback}`,
    !isWord && arg.multiple && "repeatable",
    arg.env && `or ${arg.env}`,
  ].filter(Boolean);
  const text = typeof arg.default === "string" ? `${arg.description} (default: ${arg.default})` : arg.description;
  return notes.length === 0 ? text : `${text} [${notes.join("; ")}]`;
}

export function describeUsage(path: readonly string[], command: Command): string {
  const words = positionalsOf(command.args).map(([name, arg]) => {
    const word = formatArg(name, arg);
    return arg.required ? word : `[${word}]`;
  });
  return ["bodega", ...path, ...words, "[flags]"].join(" ");
}

export function ownFlags(args: CommandArgs): [string, Arg][] {
  return flagsOf(args).filter(([name]) => !Object.hasOwn(sharedArgs, name));
}
