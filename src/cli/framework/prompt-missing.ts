import type { Console } from "../terminal/console.ts";
import { escapeControls } from "../terminal/escape.ts";
import type { Arg } from "./args.ts";
import type { Command } from "./command.ts";
import { findMissing, type GivenValues, missingError } from "./parse-args.ts";

/** So many names are told before one is asked for; of more, a person knows which. */
const maxTold = 10;

/** Asks for what is missing where somebody can answer; elsewhere it is an error that names all of it. */
export async function promptMissing(
  { args, oneOf }: Pick<Command, "args" | "oneOf">,
  values: GivenValues,
  console: Console,
): Promise<void> {
  const missing = findMissing(args, values);
  if (missing.length > 0 && !console.canAsk) throw missingError(missing);
  for (const [name, arg] of sortQuestions(missing)) await fillIn(name, arg, values, console);
  if (oneOf === undefined || !console.canAsk || Object.keys(oneOf.ways).some((name) => isGiven(values[name]))) return;
  const { chooseOption } = await import("../terminal/prompt.ts");
  const chosen = await chooseOption(oneOf.question, oneOf.ways);
  const arg = args[chosen] as Arg;
  if (arg.type === "boolean") values[chosen] = true;
  else await fillIn(chosen, arg, values, console);
}

async function fillIn(name: string, arg: Arg, values: GivenValues, console: Console): Promise<void> {
  await printNames(arg, values, console);
  const { askForArg } = await import("../terminal/prompt.ts");
  values[name] = await askForArg(name, arg);
}

function isGiven(value: GivenValues[string] | undefined): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
}

/** The store is asked for first: what else is asked for is one of its names. */
export function sortQuestions(missing: [string, Arg][]): [string, Arg][] {
  const isStore = ([name]: [string, Arg]) => name === "namespace";
  return [...missing.filter(isStore), ...missing.filter((entry) => !isStore(entry))];
}

/** Says which names there are to choose from, where they are few. Whatever goes wrong will be told by the command itself. */
async function printNames({ completes: kind }: Arg, values: GivenValues, console: Console): Promise<void> {
  if (kind === undefined || kind === "file" || kind === "directory" || console.quiet) return;
  const { findNames } = await import("../completion/complete-values.ts");
  const text = (name: string) => values[name] as string | undefined;
  const flags = { "data-dir": text("data-dir"), "database-url": text("database-url") };
  const wanted = { kind, prefix: "", namespace: text("namespace") };
  const names = await findNames(flags, console, wanted).catch(() => []);
  if (names.length === 0 || names.length > maxTold) return;
  const { truncateText } = await import("../terminal/table.ts");
  const width = Math.max(...names.map(({ value }) => Bun.stringWidth(value)));
  const lines = names.map(({ value, description }) => {
    const line = `  ${value}${" ".repeat(width - Bun.stringWidth(value))}  ${description}`;
    return `${truncateText(escapeControls(line), console.screen?.columns ?? 80).trimEnd()}\n`;
  });
  await console.writeError(lines.join(""));
}
