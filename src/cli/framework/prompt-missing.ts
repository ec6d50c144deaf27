import type { OfferedName } from "../../server/admin/complete-names.ts";
import { invalidField } from "../../server/errors.ts";
import type { Console } from "../terminal/console.ts";
import { escapeControls } from "../terminal/escape.ts";
import { askChoice, askText } from "../terminal/prompt.ts";
import { truncateText } from "../terminal/table.ts";
import { UsageError } from "../terminal/usage-error.ts";
import { type Arg, formatArg } from "./args.ts";
import type { Command } from "./command.ts";
import { findMissing, type GivenValues } from "./parse-args.ts";
import { isGiven } from "./parse-values.ts";

const maxListed = 10;

/** Asks for missing arguments at a terminal. Elsewhere, throws a UsageError that names all of them. */
export async function promptMissing(
  { args, oneOf }: Pick<Command, "args" | "oneOf">,
  values: GivenValues,
  console: Console,
  findNames: (kind: string, values: GivenValues, console: Console) => Promise<OfferedName[]>,
): Promise<void> {
  const missing = findMissing(args, values);
  if (missing.length > 0 && !console.canAsk) {
    const details = missing.map(([name, arg]) => {
      return { field: formatArg(name, arg), message: `is required: ${arg.description}` };
    });
    throw new UsageError(`Missing ${details.map(({ field }) => field).join(", ")}.`, { details });
  }
  const fillIn = async (name: string, arg: Arg) => {
    const kind = arg.completes;
    let known: string[] | undefined;
    if (kind !== undefined && kind !== "file" && kind !== "directory") {
      // Errors are left to the command itself.
      const names = await findNames(kind, values, console).catch(() => []);
      if (!console.quiet) await listNames(console, names);
      // Other kinds have names that are not listed.
      if (kind === "namespace" && names.length > 0 && names.length <= maxListed)
        known = names.map(({ value }) => value);
    }
    values[name] = await askForArg(name, arg, (text) => {
      if (known?.includes(text) === false) throw invalidField(name, `choose one of ${known.join(", ")}`);
      arg.parse?.(formatArg(name, arg), text);
      return arg.check?.(text, values, console);
    });
  };
  for (const [name, arg] of sortQuestions(missing)) await fillIn(name, arg);
  if (oneOf === undefined) return;
  const ways = Object.entries(oneOf.ways).map(([value, name]) => ({
    value,
    name: name || (args[value] as Arg).description,
    arg: args[value] as Arg,
  }));
  const given = ways.filter(({ value }) => isGiven(values[value])).length;
  if (given === 0 && console.canAsk) {
    const chosen = await askChoice(oneOf.question, ways);
    const arg = args[chosen] as Arg;
    if (arg.type === "boolean") values[chosen] = true;
    else await fillIn(chosen, arg);
  } else if (given === 0 || (given > 1 && !oneOf.several)) {
    const names = ways.map(({ value, arg }) => formatArg(value, arg));
    throw new UsageError(`Give ${oneOf.several ? "at least" : "exactly"} one of ${names.join(", ")}.`, {
      details: [{ field: names[0] as string, message: "is required, or another of these" }],
    });
  }
}

/** The store comes first: other arguments are names in it. */
export function sortQuestions(missing: [string, Arg][]): [string, Arg][] {
  return missing.toSorted(([a], [b]) => Number(b === "namespace") - Number(a === "namespace"));
}

async function askForArg(name: string, arg: Arg, check: (text: string) => unknown): Promise<string | string[]> {
  const message = `${arg.description} (${formatArg(name, arg)})`;
  const { options } = arg;
  if (options)
    return askChoice(
      message,
      options.map((value) => ({ value, name: value })),
    );
  const isList = arg.type === "positional" ? arg.variadic : arg.type !== "boolean" && arg.multiple;
  const split = (text: string) => (isList ? text.split(/\s+/) : [text]);
  const text = await askText(message, { check: (line) => Promise.all(split(line).map(check)) });
  return isList ? split(text) : text;
}

async function listNames(console: Console, names: OfferedName[]): Promise<void> {
  if (names.length === 0 || names.length > maxListed) return;
  const width = Math.max(...names.map(({ value }) => Bun.stringWidth(value)));
  const lines = names.map(({ value, description }) => {
    const line = `  ${value}${" ".repeat(width - Bun.stringWidth(value))}  ${description}`;
    return `${truncateText(escapeControls(line), console.screen?.columns ?? 80).trimEnd()}\n`;
  });
  await console.writeError(lines.join(""));
}
