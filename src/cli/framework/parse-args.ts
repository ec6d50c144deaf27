import { type ParseArgsConfig, parseArgs } from "node:util";
import { suggestWord } from "../../server/values/closest-match.ts";
import { UsageError } from "../terminal/usage-error.ts";
import { type Arg, type CommandArgs, type FlagArg, flagsOf, formatArg, formatFlag, positionalsOf } from "./args.ts";

/** The given values by argument name. A switch that is on by default is false when turned off. */
export type GivenValues = Record<string, string | boolean | string[]>;

interface OptionToken {
  kind: "option";
  index: number;
  name: string;
  /** As it was typed: `-n`, `--name`. */
  rawName: string;
  value?: string;
  /** The value is in the same word: `--name=x`, `-nx`. */
  inlineValue?: boolean;
}

/** A piece of a command line, as node:util cuts it. */
type Token =
  | OptionToken
  | { kind: "positional"; index: number; value: string }
  | { kind: "option-terminator"; index: number };

/**
 * Splits a command line into flags and words without checking it. `typed` maps what a person types (`json`, `no-input`)
 * to the definition's name.
 */
export function tokenize(argv: string[], args: CommandArgs): { tokens: Token[]; typed: Map<string, string> } {
  const options: NonNullable<ParseArgsConfig["options"]> = {};
  const typed = new Map<string, string>();
  for (const [name, arg] of flagsOf(args)) {
    const long = formatFlag(name, arg).slice(2);
    typed.set(long, name);
    if (arg.negatable) {
      typed.set(`no-${name}`, name);
      options[`no-${name}`] = { type: "boolean" };
    }
    options[long] = { type: arg.type === "boolean" ? "boolean" : "string", ...(arg.alias && { short: arg.alias }) };
  }
  const { tokens } = parseArgs({ args: argv, options, strict: false, allowPositionals: true, tokens: true });
  return { tokens: tokens as Token[], typed };
}

/** Whether `-h` or `--help` is among the flags; it takes precedence over every error. */
export function asksForHelp(argv: string[], args: CommandArgs): boolean {
  const { tokens } = tokenize(argv, args);
  return tokens.some((token) => token.kind === "option" && token.name === "help" && token.value === undefined);
}

/**
 * Reads a command's arguments strictly. Required ones may still be missing from the result: see `findMissing`.
 * @throws UsageError for an unknown, repeated, empty or incomplete flag, a value that is not an option, and too many words.
 */
export function parseCommandArgs(
  argv: string[],
  args: CommandArgs,
  env: Record<string, string | undefined>,
): GivenValues {
  const { tokens, typed } = tokenize(argv, args);
  const values: GivenValues = {};
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind === "option") readOption(token, args, typed, values);
  }
  readWords(words, args, values);
  refuseTwoNames(args, values);
  for (const [name, arg] of flagsOf(args)) {
    if (values[name] === undefined && arg.env && env[arg.env]) values[name] = env[arg.env] as string;
  }
  applyFallbacks(args, values);
  return values;
}

/** The required arguments that have no value yet, in the order of the definition. */
export function findMissing(args: CommandArgs, values: GivenValues): [string, Arg][] {
  return Object.entries(args).filter(([name, arg]) => arg.required === true && values[name] === undefined);
}

/** One error that names every argument that is missing. */
export function missingError(missing: [string, Arg][]): UsageError {
  const names = missing.map(([name, arg]) => formatArg(name, arg));
  return new UsageError(`Missing ${names.join(", ")}.`, {
    details: missing.map(([name, arg]) => ({
      field: formatArg(name, arg),
      message: `is required: ${arg.description}`,
    })),
  });
}

/** The values that a command's `run` receives: with defaults, false for a switch that is off, and empty lists. */
export function completeValues(args: CommandArgs, given: GivenValues): Record<string, string | boolean | string[]> {
  const values = { ...given };
  for (const [name, arg] of Object.entries(args)) {
    const value = given[name] ?? defaultOf(arg);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

function defaultOf(arg: Arg): string | boolean | string[] | undefined {
  if (arg.type === "positional") return arg.variadic ? [] : undefined;
  if (arg.type === "boolean") return arg.negatable ? undefined : (arg.default ?? false);
  return arg.multiple ? [] : arg.default;
}

function readOption(token: OptionToken, args: CommandArgs, typed: Map<string, string>, values: GivenValues): void {
  const name = typed.get(token.name);
  const arg = name === undefined ? undefined : (args[name] as FlagArg);
  if (name === undefined || arg === undefined) throw unknownFlagError(token.rawName, typed.keys());
  const flag = formatFlag(name, arg);
  if (values[name] !== undefined && !arg.multiple) throw fault(flag, "was given more than once");
  if (arg.type === "boolean") {
    if (token.value !== undefined) throw fault(flag, "takes no value");
    values[name] = arg.negatable ? token.name === name : arg.default !== true;
    return;
  }
  const value = readFlagValue(token, flag, arg);
  const before = values[name] as string[] | undefined;
  values[name] = arg.multiple ? [...(before ?? []), value] : value;
}

function readFlagValue(token: OptionToken, flag: string, arg: FlagArg): string {
  const { value } = token;
  if (value === undefined) throw fault(flag, "needs a value");
  if (!token.inlineValue && value.startsWith("-") && value !== "-") {
    throw fault(flag, "needs a value", `To pass a value that begins with a hyphen, write ${flag}=${value}`);
  }
  if (token.inlineValue && !token.rawName.startsWith("--") && value.startsWith("=")) {
    throw fault(token.rawName, "takes its value without =", `Write ${token.rawName} ${value.slice(1)}`);
  }
  if (value === "" && !arg.allowEmpty) throw fault(flag, "must not be empty");
  checkOption(flag, value, arg.options);
  return value;
}

function checkOption(field: string, value: string, options: readonly string[] | undefined): void {
  if (options === undefined || options.includes(value)) return;
  const meant = suggestWord(value, options);
  throw fault(
    field,
    `must be one of ${options.join(", ")}`,
    meant === undefined ? undefined : `Did you mean ${meant}?`,
  );
}

function readWords(words: string[], args: CommandArgs, values: GivenValues): void {
  const left = [...words];
  for (const [name, arg] of positionalsOf(args)) {
    if (left.length === 0) break;
    const taken = left.splice(0, arg.variadic ? left.length : 1);
    if (taken.includes("")) throw fault(formatArg(name, arg), "must not be empty");
    for (const word of taken) checkOption(formatArg(name, arg), word, arg.options);
    values[name] = arg.variadic ? taken : (taken[0] as string);
  }
  if (left[0] !== undefined) throw unexpectedWord(left[0], args);
}

/** The error about an extra word. If the command has a secret, the word may be one, so it is not repeated. */
function unexpectedWord(word: string, args: CommandArgs): UsageError {
  const secret = Object.keys(args).find((name) => /secret|password/.test(name));
  if (secret === undefined) return new UsageError(`Unexpected argument ${JSON.stringify(word)}.`);
  return new UsageError("Too many arguments.", {
    hint: "Secrets are never arguments: other users of the machine and the shell history could read them.",
  });
}

/** A flag that replaces a positional must have the same value if both are given. */
function refuseTwoNames(args: CommandArgs, values: GivenValues): void {
  for (const [name, arg] of positionalsOf(args)) {
    const fallback = arg.fallback === undefined ? undefined : values[arg.fallback];
    if (fallback === undefined || values[name] === undefined || fallback === values[name]) continue;
    throw fault(`--${arg.fallback}`, `differs from the argument ${formatArg(name, arg)}`);
  }
}

function applyFallbacks(args: CommandArgs, values: GivenValues): void {
  for (const [name, arg] of positionalsOf(args)) {
    const fallback = arg.fallback === undefined ? undefined : values[arg.fallback];
    if (fallback !== undefined) values[name] ??= fallback;
  }
}

/** The error about an unknown flag, with the most similar known one. */
export function unknownFlagError(flag: string, known: Iterable<string>, fallbackHint?: string): UsageError {
  const meant = flag.startsWith("--") ? suggestWord(flag.slice(2), known) : undefined;
  const hint = meant === undefined ? fallbackHint : `Did you mean --${meant}?`;
  return new UsageError(`Unknown flag ${flag}.`, { hint, details: [{ field: flag, message: "is unknown" }] });
}

function fault(field: string, message: string, hint?: string): UsageError {
  return new UsageError(`${field} ${message}.`, { hint, details: [{ field, message }] });
}
