import { suggestWord } from "../../server/values/closest-match.ts";
import { commandTree } from "../commands/command-tree.ts";
import { leadingArgs } from "./args.ts";
import { commandsOf } from "./command-tree.ts";
import { tokenize, unknownFlagError } from "./parse-args.ts";
import { UsageError } from "./usage-error.ts";

/** What stands for bytes that are no UTF-8: taken as they are, they would be stored so. */
const broken = "\ufffd";

/** What a command line asks for: help about a path of words, or to run the command at that path with the rest. */
export interface Target {
  kind: "help" | "run";
  path: string[];
  rest: string[];
}

/**
 * Finds the command, which may stand after flags that every command takes (`bodega --json tenant list`).
 * @throws UsageError for an unknown word, and for a flag before the command that needs to know the command.
 */
export function findCommand(argv: string[]): Target {
  if (argv.some((word) => word.includes(broken))) {
    throw new UsageError("An argument is no UTF-8 text.", { hint: "Have the terminal write UTF-8: see its locale." });
  }
  const { words, places, help } = scanWords(argv);
  if (words[0] === "help")
    return { kind: "help", path: words[1] === "help" ? [] : checkPath(words.slice(1)), rest: [] };
  const path = checkPath(words.slice(0, 2));
  const found = path.length === 2 || (path.length === 1 && commandsOf(commandTree, path[0] as string) === undefined);
  const taken = new Set(places.slice(0, path.length));
  const rest = argv.filter((_, index) => !taken.has(index));
  if (found) return { kind: "run", path, rest };
  if (!help && argv.length > path.length) throw incomplete(path);
  return { kind: "help", path, rest };
}

/** The leading words and where they stand; scanning ends at the word that completes a command. */
function scanWords(argv: string[]): { words: string[]; places: number[]; help: boolean } {
  const { tokens, typed } = tokenize(argv, leadingArgs);
  const words: string[] = [];
  const places: number[] = [];
  let help = false;
  for (const token of tokens) {
    if (token.kind === "option-terminator") break;
    if (token.kind === "positional") {
      words.push(token.value);
      places.push(token.index);
      if (words[0] !== "help" && (words.length === 2 || commandsOf(commandTree, words[0] as string) === undefined))
        break;
    } else if (token.name === "help") help = true;
    else if (token.name === "version" && words.length === 0) return { words: ["version"], places: [token.index], help };
    else if (!typed.has(token.name)) {
      throw unknownFlagError(token.rawName, typed.keys(), "Flags of a command stand after it.");
    }
  }
  return { words, places, help };
}

/** The words as a path into the tree; one word too many is left to the command, unless help was asked for. */
function checkPath(words: string[]): string[] {
  const [noun, command] = words;
  if (noun === undefined) return [];
  if (!Object.hasOwn(commandTree, noun)) throw unknownCommand([noun], [...Object.keys(commandTree), "help"]);
  const commands = commandsOf(commandTree, noun);
  if (commands === undefined || command === undefined) return [noun];
  if (!Object.hasOwn(commands, command)) throw unknownCommand([noun, command], Object.keys(commands));
  return [noun, command];
}

function unknownCommand(path: string[], candidates: string[]): UsageError {
  const meant = suggestWord(path.at(-1) as string, candidates);
  const before = ["bodega", ...path.slice(0, -1)].join(" ");
  return new UsageError(`Unknown command ${JSON.stringify(path.join(" "))}.`, {
    path: path.slice(0, -1),
    hint: meant === undefined ? `Run "${before} -h" for the commands.` : `Did you mean "${before} ${meant}"?`,
  });
}

function incomplete(path: string[]): UsageError {
  const commands = commandsOf(commandTree, path[0] ?? "");
  const choices = commands ? Object.keys(commands) : Object.keys(commandTree);
  return new UsageError(
    `Incomplete command "${["bodega", ...path].join(" ")} <${commands ? "subcommand" : "command"}>".`,
    {
      path: commands ? path : [],
      hint: `Choose one of ${choices.join(", ")}.`,
    },
  );
}
