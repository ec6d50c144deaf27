import { type ParseArgsConfig, parseArgs } from "node:util";
import { malformedRequest } from "../../server/errors.ts";
import { suggestWord } from "../../server/values/unknown-name.ts";
import { invalidFlag } from "../terminal/console.ts";
import { type Arg, type CommandArgs, flagsOf, formatArg, type GivenValues, positionalsOf } from "./args.ts";
import type { Command } from "./command.ts";
import { isGiven } from "./parse-values.ts";

/** Bun replaces bytes that are not UTF-8 by this character, which must not reach the database. */
const broken = "\ufffd";

/**
 * Reads the values of the arguments from a command line. Does not check that required arguments are given.
 * @throws malformedRequest for an unknown, repeated, empty or incomplete flag, a wrong value, and too many words.
 */
export function readArgs(rawArgs: string[], args: CommandArgs): GivenValues {
  if (rawArgs.some((word) => word.includes(broken))) {
    throw malformedRequest("An argument is not UTF-8 text.", { remedy: "Set the locale of the terminal to UTF-8." });
  }
  const values: GivenValues = {};
  const words: string[] = [];
  for (const token of tokenize(rawArgs, args)) {
    if (token.kind === "positional") words.push(token.value);
    else if (token.kind === "option") readFlag(token, args, values);
  }
  for (const [name, { type, multiple, default: preset }] of flagsOf(args)) {
    values[name] ??= multiple ? [] : type === "boolean" ? false : preset;
  }
  readWords(words, args, values);
  return values;
}

function readFlag(token: Extract<Token, { kind: "option" }>, args: CommandArgs, values: GivenValues): void {
  const { flag: name, value, inlineValue } = token;
  if (name === undefined) throw unknownFlagError(token.rawName, args);
  const arg = args[name] as Arg;
  const flag = formatArg(name, arg);
  const before = values[name];
  if (before !== undefined && !arg.multiple) throw invalidFlag(flag, "was given more than once");
  if (arg.type === "boolean") {
    if (value !== undefined) throw invalidFlag(flag, "takes no value");
    values[name] = true;
    return;
  }
  if (value === undefined) throw invalidFlag(flag, "needs a value");
  if (!inlineValue && value.startsWith("-") && value !== "-") {
    throw invalidFlag(flag, "needs a value", `To pass a value that begins with a hyphen, write ${flag}=${value}`);
  }
  if (value === "" && !arg.allowEmpty) throw invalidFlag(flag, "must not be empty");
  checkOption(flag, value, arg.options);
  values[name] = arg.multiple ? [...(Array.isArray(before) ? before : []), value] : value;
}

export function refuseTogether({ args, exclusive = [] }: Command, values: GivenValues): void {
  for (const group of exclusive) {
    const given = group.filter((name) => isGiven(values[name])).map((name) => formatArg(name, args[name] as Arg));
    if (given.length > 1) throw malformedRequest(`${given.join(" and ")} cannot be used together.`);
  }
}

function checkOption(field: string, value: string, options: readonly string[] | undefined): void {
  if (options === undefined || options.includes(value)) return;
  const meant = suggestWord(value, options);
  throw invalidFlag(field, `must be one of ${options.join(", ")}`, meant && `Did you mean ${meant}?`);
}

function readWords(words: string[], args: CommandArgs, values: GivenValues): void {
  for (const [name, arg] of positionalsOf(args)) {
    const taken = words.splice(0, arg.multiple ? words.length : 1);
    const label = formatArg(name, arg);
    if (taken.includes("")) throw invalidFlag(label, "must not be empty");
    for (const word of taken) checkOption(label, word, arg.options);
    values[name] = arg.multiple ? taken : taken[0];
    const fallback = values[arg.fallback ?? ""];
    if (taken.length > 0 && isGiven(fallback) && fallback !== values[name]) {
      throw invalidFlag(`--${arg.fallback}`, `differs from the argument ${label}`);
    }
  }
  if (words.length > 0) throw excessError(words[0] as string, args);
}

/** Returns the error for an unexpected word. The word may be a secret, so commands with secrets do not repeat it. */
function excessError(word: string, args: CommandArgs) {
  if (!Object.keys(args).some((name) => /secret|password/.test(name))) {
    return malformedRequest(`Unexpected argument ${JSON.stringify(word)}.`);
  }
  const [flag] = flagsOf(args).find(([name, { type }]) => type === "string" && name !== "namespace") ?? [];
  const meant = positionalsOf(args).length === 0 ? `Did you mean --${flag}? ` : "";
  const reason = "Never write a secret as an argument: other users of the machine can read it.";
  return malformedRequest("Too many arguments.", { remedy: meant + reason });
}

const numberMark = "\0";

/** A part of a command line. `rawName` is a flag as typed; `flag` is its name, if the command has this flag. */
export type Token = ReturnType<typeof tokenize>[number];

export function tokenize(argv: string[], args: CommandArgs) {
  const options: NonNullable<ParseArgsConfig["options"]> = {};
  for (const [name, { type, alias }] of flagsOf(args)) {
    options[name] = { type: type as "string" | "boolean", ...(alias && { short: alias }) };
  }
  // The mark turns a number such as -2 into a word. Without it, the parser would read each digit as a flag.
  const words = argv.map((word) => word.replace(/^-\d+$/, `${numberMark}$&`));
  const { tokens } = parseArgs({ args: words, options, strict: false, allowPositionals: true, tokens: true });
  return tokens.map((token) => {
    if (token.kind === "option-terminator") return token;
    if (token.kind === "positional") return { ...token, value: token.value.replace(numberMark, "") };
    const flag = Object.hasOwn(options, token.name) ? token.name : undefined;
    return { ...token, value: token.value?.replace(numberMark, ""), flag };
  });
}

export function unknownFlagError(flag: string, args: CommandArgs, hint?: string) {
  const known = flagsOf(args).map(([name]) => name);
  const meant = flag.startsWith("--") ? suggestWord(flag.slice(2), known) : undefined;
  return malformedRequest(`Unknown flag ${flag}.`, { remedy: meant ? `Did you mean --${meant}?` : hint });
}
