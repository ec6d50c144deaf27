import { suggestWord } from "../../server/values/unknown-name.ts";
import { UsageError } from "../terminal/console.ts";
import { leadingArgs } from "./args.ts";
import type { CommandGroup, Load } from "./command.ts";
import { type Token, tokenize, unknownFlagError } from "./strictness.ts";

/** Replaces bytes that are not UTF-8, and must not reach the database. */
const broken = "\ufffd";

/**
 * Follows the words of a command line into the tree. `rest` are the words that are not in `path`; it includes shared
 * flags before the command: `bodega --json tenant list`.
 * @throws UsageError for an unknown word or flag.
 */
export function findCommand(tree: CommandGroup, argv: string[]) {
  if (argv.some((word) => word.includes(broken))) {
    throw new UsageError("An argument is not UTF-8 text.", { hint: "Set the locale of the terminal to UTF-8." });
  }
  let target: Load | CommandGroup = tree;
  const path: string[] = [];
  const places = new Set<number>();
  let isHelp = false;
  for (const token of tokenize(argv, leadingArgs)) {
    if (typeof target === "function" || token.kind === "option-terminator") break;
    const word = wordOf(token, path.length === 0);
    if (word === undefined) isHelp ||= token.kind === "option" && token.flag === "help";
    else {
      places.add(token.index);
      if (word === "help" && path.length === 0) isHelp = true;
      else {
        path.push(word);
        target = findSubCommand(target, path);
      }
    }
  }
  return { path, target, rest: argv.filter((_, index) => !places.has(index)), isHelp };
}

/** Returns the word of a token; undefined for a shared flag. `--version` is a command. Errors: UsageError. */
function wordOf(token: Exclude<Token, { kind: "option-terminator" }>, isFirst: boolean): string | undefined {
  if (token.kind !== "option") return token.value;
  if (token.name === "version" && isFirst) return token.name;
  if (token.flag !== undefined) return undefined;
  throw unknownFlagError(token.rawName, leadingArgs, "Put the flags of a command after it.");
}

function findSubCommand({ subCommands }: CommandGroup, path: string[]): Load | CommandGroup {
  const word = path.at(-1) as string;
  // Only own properties, because a word may be `constructor`.
  const found = Object.hasOwn(subCommands, word) ? subCommands[word] : undefined;
  if (found !== undefined) return found;
  const before = ["bodega", ...path.slice(0, -1)].join(" ");
  const meant = suggestWord(word, [...Object.keys(subCommands), ...(path.length === 1 ? ["help"] : [])]);
  const hint = meant === undefined ? `Run "${before} -h" for the commands.` : `Did you mean "${before} ${meant}"?`;
  throw new UsageError(`Unknown command ${JSON.stringify(path.join(" "))}.`, { path: path.slice(0, -1), hint });
}

export function incompleteError({ subCommands }: CommandGroup, path: string[]): UsageError {
  const line = ["bodega", ...path, path.length > 0 ? "<subcommand>" : "<command>"].join(" ");
  const hint = `Choose one of ${Object.keys(subCommands).join(", ")}.`;
  return new UsageError(`Incomplete command "${line}".`, { path, hint });
}
