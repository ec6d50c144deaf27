import { type Arg, type CommandArgs, flagsOf, formatArg, positionalsOf, sharedArgs } from "./args.ts";
import type { Command } from "./command.ts";

/** Exit codes with their meanings. */
export const exitCodes: readonly [number, string][] = [
  [0, "done"],
  [1, "failed, or a check did not pass"],
  [2, "invalid command line"],
  [3, "not found"],
  [4, "conflict, or busy: try again"],
  [130, "cancelled"],
];

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
