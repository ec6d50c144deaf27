import type { OfferedName } from "../../server/admin/complete-names.ts";
import { malformedRequest } from "../../server/errors.ts";
import type { Console } from "../terminal/console.ts";
import { askChoice, askText } from "../terminal/prompt.ts";
import { escapeControls, renderFields } from "../terminal/text.ts";
import { type Arg, type CommandArgs, formatArg, type GivenValues } from "./args.ts";
import type { ReadyRun } from "./command.ts";
import { isGiven } from "./parse-values.ts";

export type FindNames = (kind: string, values: GivenValues, console: Console) => Promise<OfferedName[]>;

/** Asks for missing arguments. Without a terminal, throws malformedRequest, which names all missing arguments. */
export async function askForMissing(run: ReadyRun, findNames: FindNames): Promise<void> {
  const { command, console, values } = run;
  const missing = findMissing(command.args, values);
  if (missing.length > 0 && !console.canAsk) throw missingError(missing);
  for (const [name] of missing) values[name] = await askForArg(name, run, findNames);
  const chosen = await chooseOneOf(run);
  if (chosen !== undefined) values[chosen] = await askForArg(chosen, run, findNames);
}

/** Returns the required arguments that have no value. The store comes first, because other names are looked up in it. */
export function findMissing(args: CommandArgs, values: GivenValues): [string, Arg][] {
  const missing = Object.entries(args).filter(([name, { required, fallback = name }]) => {
    return required && !isGiven(values[name]) && !isGiven(values[fallback]);
  });
  return missing.toSorted(([a], [b]) => Number(b === "namespace") - Number(a === "namespace"));
}

export function missingError(missing: [string, Arg][], remedy?: string) {
  const details = missing.map(([name, arg]) => {
    return { field: formatArg(name, arg), message: `is required: ${arg.description}` };
  });
  return malformedRequest(`Missing ${details.map(({ field }) => field).join(", ")}.`, { remedy, details });
}

async function askForArg(name: string, { command, values, console }: ReadyRun, findNames: FindNames) {
  const arg = command.args[name] as Arg;
  if (arg.type === "boolean") return true;
  const message = `${arg.description} (${formatArg(name, arg)})`;
  const { completes: kind = "file", options } = arg;
  // If the names cannot be read, none are offered, and the command itself will report the error.
  const names = kind === "file" || kind === "directory" ? [] : await findNames(kind, values, console).catch(() => []);
  if (names.length > 0 && names.length <= 10 && !console.quiet) {
    const fields = names.map(({ value, description }) => [`  ${value}`, escapeControls(description)] as const);
    await console.writeError(renderFields(fields, { width: console.screen?.columns, color: false }));
  }
  const choices = options?.map((value) => ({ value, name: value }));
  if (choices) return askChoice(message, choices);
  const check = (word: string) => arg.parse?.(formatArg(name, arg), word);
  const split = (text: string) => (arg.multiple ? text.split(/\s+/) : [text]);
  const text = await askText(message, { check: (line) => split(line).map(check) });
  return arg.multiple ? split(text) : text;
}

/** Asks which argument to give, if the command needs one of several and has none. Returns the name of that argument. */
async function chooseOneOf({ command, values, console }: ReadyRun): Promise<string | undefined> {
  const { args, oneOf, anyOf } = command;
  const names = oneOf ?? anyOf ?? [];
  const given = names.filter((name) => isGiven(values[name])).length;
  if (names.length === 0 || given === 1 || (given > 1 && anyOf)) return undefined;
  if (given === 0 && console.canAsk) {
    const choices = names.map((value) => ({ value, name: String(args[value]?.description) }));
    return askChoice("Choose one", choices);
  }
  const labels = names.map((name) => formatArg(name, args[name] as Arg));
  throw malformedRequest(`Give ${anyOf ? "at least" : "exactly"} one of ${labels.join(", ")}.`);
}
