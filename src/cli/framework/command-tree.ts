import type { Command } from "./command.ts";

export type Load = () => Promise<{ default: Command }>;

/** A command with subcommands: `bodega <command> <subcommand>`. The name of a subcommand can have two words. */
export interface CommandGroup {
  description: string;
  commands: Record<string, Load>;
}

export type CommandTree = Record<string, Load | CommandGroup>;

/** The subcommands of a group by name; undefined when the word is a plain command or unknown. */
export function commandsOf(tree: CommandTree, group: string): Record<string, Load> | undefined {
  const entry = lookUp(tree, group);
  return typeof entry === "object" ? entry.commands : undefined;
}

export async function loadCommand(tree: CommandTree, path: readonly string[]): Promise<Command | undefined> {
  const [group, ...name] = path;
  const entry = group === undefined ? undefined : lookUp(tree, group);
  const load =
    typeof entry === "object" ? lookUp(entry.commands, name.join(" ")) : path.length === 1 ? entry : undefined;
  return load && (await load()).default;
}

export function nextWords(commands: Record<string, Load>, words: readonly string[]): string[] {
  const fitting = Object.keys(commands).map((name) => name.split(" "));
  const following = fitting.filter((name) => words.every((word, index) => word === name[index]));
  return [...new Set(following.flatMap((name) => name[words.length] ?? []))];
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
