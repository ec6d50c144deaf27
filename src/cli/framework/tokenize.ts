import { type ParseArgsConfig, parseArgs } from "node:util";
import { suggestWord } from "../../server/values/unknown-name.ts";
import { UsageError } from "../terminal/usage-error.ts";
import { type CommandArgs, flagForms, flagsOf } from "./args.ts";

/** A piece of a command line. `rawName` is a flag as typed, `flag` its name: `input` for `--no-input`. */
export type Token = ReturnType<typeof tokenize>[number];

export function tokenize(argv: string[], args: CommandArgs) {
  const options: NonNullable<ParseArgsConfig["options"]> = {};
  const names = new Map<string, string>();
  for (const [name, arg] of flagsOf(args)) {
    for (const form of flagForms(name, arg)) {
      names.set(form, name);
      options[form.slice(2)] = { type: arg.type, ...(arg.alias && { short: arg.alias }) };
    }
  }
  const { tokens } = parseArgs({ args: argv, options, strict: false, allowPositionals: true, tokens: true });
  // A number such as -2 is a word, because no flag is a digit. The parser treats each digit as a flag.
  const isNumber = ({ index }: { index: number }) => /^-\d+$/.test(argv[index] as string);
  return tokens
    .filter((token, place) => tokens[place - 1]?.index !== token.index || !isNumber(token))
    .map((token) => {
      if (token.kind !== "option") return token;
      const { index } = token;
      if (isNumber(token)) return { kind: "positional" as const, index, value: argv[index] as string };
      return { ...token, flag: names.get(`--${token.name}`) };
    });
}

/** Whether `-h` or `--help` is given, which takes precedence over every error. */
export function asksForHelp(argv: string[], args: CommandArgs): boolean {
  return tokenize(argv, args).some((token) => token.kind === "option" && token.flag === "help" && !token.inlineValue);
}

export function unknownFlagError(flag: string, args: CommandArgs, hint?: string): UsageError {
  const known = flagsOf(args).flatMap(([name, arg]) => flagForms(name, arg).map((form) => form.slice(2)));
  const meant = flag.startsWith("--") ? suggestWord(flag.slice(2), known) : undefined;
  const details = [{ field: flag, message: "is unknown" }];
  return new UsageError(`Unknown flag ${flag}.`, { hint: meant ? `Did you mean --${meant}?` : hint, details });
}
