import { suggestWord } from "../../server/values/unknown-name.ts";
import { UsageError } from "../terminal/usage-error.ts";
import { leadingArgs } from "./args.ts";
import { type CommandTree, wordsAfter } from "./command-tree.ts";
import { tokenize, unknownFlagError } from "./parse-args.ts";

/** Bytes that are not UTF-8 are replaced with this character, which must not reach the database. */
const broken = "\ufffd";

/** Finds the command, also behind shared flags (`bodega --json tenant list`). Errors: UsageError for other words. */
export function findCommand(
  tree: CommandTree,
  argv: string[],
): { kind: "help" | "run"; path: string[]; rest: string[] } {
  if (argv.some((word) => word.includes(broken))) {
    throw new UsageError("An argument is not UTF-8 text.", { hint: "Set the locale of the terminal to UTF-8." });
  }
  const { words, places, help } = scanWords(tree, argv);
  if (words[0] === "help") {
    return { kind: "help", path: words[1] === "help" ? [] : checkPath(tree, words.slice(1)), rest: [] };
  }
  const path = checkPath(tree, words);
  const isFound = isWhole(tree, path);
  const taken = new Set(places.slice(0, path.length));
  const rest = argv.filter((_, index) => !taken.has(index));
  if (!isFound && !help && argv.length > path.length) throw incomplete(tree, path);
  return { kind: isFound ? "run" : "help", path, rest };
}

export function scanWords(tree: CommandTree, argv: string[]): { words: string[]; places: number[]; help: boolean } {
  const { tokens, typed } = tokenize(argv, leadingArgs);
  const words: string[] = [];
  const places: number[] = [];
  let help = false;
  for (const token of tokens) {
    if (token.kind === "option-terminator") break;
    if (token.kind === "positional") {
      words.push(token.value);
      places.push(token.index);
      if (words[0] !== "help" && isWhole(tree, words)) break;
    } else if (token.name === "help") help = true;
    else if (token.name === "version" && words.length === 0) return { words: ["version"], places: [token.index], help };
    else if (!typed.has(token.name)) {
      throw unknownFlagError(token.rawName, typed.keys(), "Put the flags of a command after it.");
    }
  }
  return { words, places, help };
}

function isWhole(tree: CommandTree, words: readonly string[]): boolean {
  return words.length > 0 && wordsAfter(tree, words).length === 0;
}

/** Returns the words as a path into the tree. The command itself refuses an extra word, unless help was asked for. */
function checkPath(tree: CommandTree, words: readonly string[]): string[] {
  const path: string[] = [];
  for (const word of words) {
    const known = wordsAfter(tree, path);
    if (known.length === 0) break;
    path.push(word);
    if (!known.includes(word)) throw unknownCommand(path, path.length === 1 ? [...known, "help"] : known);
  }
  return path;
}

function unknownCommand(words: string[], candidates: string[]): UsageError {
  const path = words.slice(0, -1);
  const meant = suggestWord(words.at(-1) as string, candidates);
  const before = ["bodega", ...path].join(" ");
  const hint = meant === undefined ? `Run "${before} -h" for the commands.` : `Did you mean "${before} ${meant}"?`;
  return new UsageError(`Unknown command ${JSON.stringify(words.join(" "))}.`, { path, hint });
}

function incomplete(tree: CommandTree, path: string[]): UsageError {
  const line = ["bodega", ...path, path.length > 0 ? "<subcommand>" : "<command>"].join(" ");
  const hint = `Choose one of ${wordsAfter(tree, path).join(", ")}.`;
  return new UsageError(`Incomplete command "${line}".`, { path, hint });
}
