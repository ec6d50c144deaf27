import { type ParseArgsConfig, parseArgs } from "node:util";
import { suggestWord } from "../../server/values/unknown-name.ts";
import { invalidFlag, UsageError } from "../terminal/usage-error.ts";
import { type Arg, type CommandArgs, type FlagArg, flagsOf, formatArg, formatFlag, positionalsOf } from "./args.ts";

export type GivenValues = Record<string, string | boolean | string[]>;

/** A piece of a command line. `rawName` is the flag as it was typed, `inlineValue` whether its value is in the same word. */
type Token = ReturnType<typeof tokenize>["tokens"][number];
type OptionToken = Extract<Token, { kind: "option" }>;

/** Splits a command line without checking it. `typed` maps a flag as it is typed (`no-input`) to the definition's name. */
export function tokenize(argv: string[], args: CommandArgs) {
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
  const parsed = parseArgs({ args: argv, options, strict: false, allowPositionals: true, tokens: true }).tokens;
  const tokens = parsed.flatMap((token, place) => {
    const value = argv[token.index] as string;
    if (token.kind !== "option" || !/^-\d+$/.test(value)) return [token];
    // A number such as -2 is a word, because no flag is a digit. The parser makes a token of each digit.
    return parsed[place - 1]?.index === token.index ? [] : [{ kind: "positional" as const, index: token.index, value }];
  });
  return { tokens, typed };
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
export function parseCommandArgs(argv: string[], args: CommandArgs, env: Record<string, string | undefined>) {
  const { tokens, typed } = tokenize(argv, args);
  const values: GivenValues = {};
  for (const token of tokens) if (token.kind === "option") readOption(token, args, typed, values);
  const words = tokens.flatMap((token) => (token.kind === "positional" ? [token.value] : []));
  readWords(words, args, values);
  const positionals = positionalsOf(args);
  for (const [name, arg] of positionals) {
    const fallback = values[arg.fallback ?? ""];
    if (fallback === undefined || values[name] === undefined || fallback === values[name]) continue;
    throw invalidFlag(`--${arg.fallback}`, `differs from the argument ${formatArg(name, arg)}`);
  }
  for (const [name, arg] of flagsOf(args)) {
    if (values[name] === undefined && arg.env && env[arg.env]) values[name] = env[arg.env] as string;
  }
  for (const [name, arg] of positionals) {
    const fallback = values[arg.fallback ?? ""];
    if (fallback !== undefined) values[name] ??= fallback;
  }
  return values;
}

export function findMissing(args: CommandArgs, values: GivenValues): [string, Arg][] {
  return Object.entries(args).filter(([name, arg]) => arg.required === true && values[name] === undefined);
}

/** The values that `run` receives: parsed, with defaults, false for a switch that is off, and empty lists. */
export function completeValues(args: CommandArgs, given: GivenValues): Record<string, unknown> {
  const values: Record<string, unknown> = { ...given };
  for (const [name, arg] of Object.entries(args)) {
    const value = given[name] ?? defaultOf(arg);
    if (value === undefined) continue;
    const isParsed = arg.parse !== undefined && typeof value === "string";
    values[name] = isParsed ? arg.parse?.(formatArg(name, arg), value) : value === "" ? null : value;
  }
  return values;
}

function defaultOf(arg: Arg): GivenValues[string] | undefined {
  if (arg.type === "positional") return arg.variadic ? [] : undefined;
  if (arg.type === "boolean") return arg.negatable ? undefined : (arg.default ?? false);
  return arg.multiple ? [] : arg.default;
}

function readOption(token: OptionToken, args: CommandArgs, typed: Map<string, string>, values: GivenValues): void {
  const name = typed.get(token.name);
  if (name === undefined) throw unknownFlagError(token.rawName, typed.keys());
  const arg = args[name] as FlagArg;
  const flag = formatFlag(name, arg);
  if (values[name] !== undefined && !arg.multiple) throw invalidFlag(flag, "was given more than once");
  if (arg.type === "boolean") {
    if (token.value !== undefined) throw invalidFlag(flag, "takes no value");
    values[name] = arg.negatable ? token.name === name : arg.default !== true;
    return;
  }
  const value = readFlagValue(token, flag, arg);
  values[name] = arg.multiple ? [...((values[name] as string[] | undefined) ?? []), value] : value;
}

function readFlagValue({ value, inlineValue, rawName }: OptionToken, flag: string, arg: FlagArg): string {
  if (value === undefined) throw invalidFlag(flag, "needs a value");
  if (!inlineValue && value.startsWith("-") && value !== "-") {
    throw invalidFlag(flag, "needs a value", `To pass a value that begins with a hyphen, write ${flag}=${value}`);
  }
  if (inlineValue && !rawName.startsWith("--") && value.startsWith("=")) {
    throw invalidFlag(rawName, "takes its value without =", `Write ${rawName} ${value.slice(1)}`);
  }
  if (value === "" && !arg.allowEmpty) throw invalidFlag(flag, "must not be empty");
  checkOption(flag, value, arg.options);
  return value;
}

function checkOption(field: string, value: string, options: readonly string[] | undefined): void {
  if (options === undefined || options.includes(value)) return;
  const meant = suggestWord(value, options);
  throw invalidFlag(field, `must be one of ${options.join(", ")}`, meant && `Did you mean ${meant}?`);
}

function readWords(words: string[], args: CommandArgs, values: GivenValues): void {
  for (const [name, arg] of positionalsOf(args)) {
    if (words.length === 0) break;
    const taken = words.splice(0, arg.variadic ? words.length : 1);
    if (taken.includes("")) throw invalidFlag(formatArg(name, arg), "must not be empty");
    for (const word of taken) checkOption(formatArg(name, arg), word, arg.options);
    values[name] = arg.variadic ? taken : (taken[0] as string);
  }
  if (words.length === 0) return;
  // If the command has a secret, the word may be one, so it is not repeated.
  if (!Object.keys(args).some((name) => /secret|password/.test(name))) {
    throw new UsageError(`Unexpected argument ${JSON.stringify(words[0])}.`);
  }
  throw new UsageError("Too many arguments.", {
    hint: "Secrets are never arguments: other users of the machine and the shell history could read them.",
  });
}

export function unknownFlagError(flag: string, known: Iterable<string>, hint?: string): UsageError {
  const meant = flag.startsWith("--") ? suggestWord(flag.slice(2), known) : undefined;
  const details = [{ field: flag, message: "is unknown" }];
  return new UsageError(`Unknown flag ${flag}.`, { hint: meant ? `Did you mean --${meant}?` : hint, details });
}
