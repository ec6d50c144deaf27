import { malformedRequest } from "../../server/errors.ts";
import { suggestWord } from "../../server/values/unknown-name.ts";
import { leadingArgs } from "./args.ts";
import type { CommandGroup, Load } from "./command.ts";
import { tokenize, unknownFlagError } from "./read-args.ts";

/**
 * Finds the command or group that a command line names. Adds each known word to `path`, which the caller can read even
 * if this function throws. `rest` has all other words, such as `--json` in `bodega --json tenant list`.
 * @throws malformedRequest for an unknown word or flag.
 */
export function findCommand(tree: CommandGroup, argv: string[], path: string[] = []) {
  let target: Load | CommandGroup = tree;
  const places = new Set<number>();
  let isHelp = false;
  for (const token of tokenize(argv, leadingArgs)) {
    if (typeof target === "function" || token.kind === "option-terminator") break;
    if (token.kind === "option" && token.name !== "version") {
      const hint = "Write the flags of a command after its name.";
      if (token.flag === undefined) throw unknownFlagError(token.rawName, leadingArgs, hint);
      isHelp ||= token.flag === "help";
      continue;
    }
    const word = token.kind === "option" ? token.name : token.value;
    places.add(token.index);
    if (word === "help") isHelp = true;
    else {
      target = findSubCommand(target, path, word);
      path.push(word);
    }
  }
  return { path, target, rest: argv.filter((_, index) => !places.has(index)), isHelp };
}

function findSubCommand({ subCommands }: CommandGroup, path: string[], word: string): Load | CommandGroup {
  // Every object inherits properties such as `constructor`, which are no commands.
  const found = Object.hasOwn(subCommands, word) ? subCommands[word] : undefined;
  if (found !== undefined) return found;
  const before = ["bodega", ...path].join(" ");
  const meant = suggestWord(word, [...Object.keys(subCommands), "help"]);
  const remedy = meant === undefined ? `Run "${before} -h" for the commands.` : `Did you mean "${before} ${meant}"?`;
  throw malformedRequest(`Unknown command ${JSON.stringify([...path, word].join(" "))}.`, { remedy });
}
