import type { Command } from "./command.ts";

export type Load = () => Promise<{ default: Command }>;

/** A command with subcommands: `bodega <command> <subcommand>`. The name of a subcommand can have two words. */
export interface CommandGroup {
  description: string;
  commands: Record<string, Load>;
}

export type CommandTree = Record<string, Load | CommandGroup>;

/** The words that can follow those of a path; none after a whole command or an unknown word. */
export function wordsAfter(tree: CommandTree, [group, ...words]: readonly string[]): string[] {
  if (group === undefined) return Object.keys(tree);
  const entry = lookUp(tree, group);
  if (typeof entry !== "object") return [];
  const names = Object.keys(entry.commands).map((name) => name.split(" "));
  const fitting = names.filter((name) => words.every((word, index) => word === name[index]));
  return [...new Set(fitting.flatMap((name) => name[words.length] ?? []))];
}

export async function loadCommand(tree: CommandTree, path: readonly string[]): Promise<Command | undefined> {
  const [group, ...name] = path;
  const entry = group === undefined ? undefined : lookUp(tree, group);
  const load =
    typeof entry === "object" ? lookUp(entry.commands, name.join(" ")) : path.length === 1 ? entry : undefined;
  return load && (await load()).default;
}

/** Every path of the tree, in its order: `["serve"]`, `["tenant", "create"]`. */
export function listPaths(tree: CommandTree): string[][] {
  return Object.entries(tree).flatMap(([group, entry]) =>
    typeof entry === "function"
      ? [[group]]
      : Object.keys(entry.commands).map((command) => [group, ...command.split(" ")]),
  );
}

/** An own property only: a user's word may be `constructor`. */
function lookUp<T>(record: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
