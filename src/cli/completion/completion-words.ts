import {
  type CommandArgs,
  type FlagArg,
  flagsOf,
  formatFlag,
  type NameKind,
  nameKinds,
  positionalsOf,
} from "../framework/args.ts";
import { type CommandTree, listPaths, loadCommand } from "../framework/command-tree.ts";

/** One flag as a completion script needs it. */
export interface FlagWord {
  /** `--name`, and `-n` where there is one. */
  forms: string[];
  description: string;
  takesValue: boolean;
  options: readonly string[];
  completes: FlagArg["completes"];
}

/** One command: its words, and what can follow. */
export interface CommandWords {
  path: string[];
  description: string;
  flags: FlagWord[];
  /** The choices of its first positional, where they are known. */
  choices: readonly string[];
  /** What each positional takes, in their order; the last may stand for all that follow. */
  places: { names: NameKind | "file" | "directory" | undefined; isLast: boolean }[];
}

/** Everything that a completion script offers. */
export interface CompletionWords {
  nouns: { name: string; description: string }[];
  commands: CommandWords[];
}

/** Reads the whole command tree. */
export async function collectWords(tree: CommandTree): Promise<CompletionWords> {
  const commands: CommandWords[] = [];
  for (const path of listPaths(tree)) {
    const verb = await loadCommand(tree, path);
    if (verb === undefined) continue;
    const choices = positionalChoices(verb.args);
    const places = positionalsOf(verb.args).map(([, arg]) => ({
      names: arg.completes,
      isLast: arg.variadic === true,
    }));
    commands.push({ path, description: verb.meta.description, flags: listFlags(verb.args), choices, places });
  }
  const nouns = Object.entries(tree).map(([name, entry]) => ({
    name,
    description:
      typeof entry === "object"
        ? entry.description
        : (commands.find(({ path }) => path[0] === name)?.description ?? ""),
  }));
  return { nouns: [...nouns, { name: "help", description: "Show help about a command" }], commands };
}

/** The flags of a definition as a script needs them. */
export function listFlags(args: CommandArgs): FlagWord[] {
  return flagsOf(args).map(([name, arg]) => ({
    forms: [
      formatFlag(name, arg),
      ...(arg.negatable ? [`--no-${name}`] : []),
      ...(arg.alias === undefined ? [] : [`-${arg.alias}`]),
    ],
    description: arg.description,
    takesValue: arg.type !== "boolean",
    options: arg.options ?? [],
    completes: arg.completes,
  }));
}

function positionalChoices(args: CommandArgs): readonly string[] {
  const first = Object.values(args).find((arg) => arg.type === "positional");
  return first?.type === "positional" ? (first.options ?? []) : [];
}

/** Whether a completion script asks the program for these. */
export function isNameKind(completes: FlagArg["completes"]): completes is NameKind {
  return nameKinds.some((kind) => kind === completes);
}
