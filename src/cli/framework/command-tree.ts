import type { Command } from "./command.ts";

type Load = () => Promise<{ default: Command }>;

/** A noun with its commands: `bodega <noun> <command>`. */
export interface CommandGroup {
  description: string;
  commands: Record<string, Load>;
}

/** All commands by name; a function is a command of one word. */
export type CommandTree = Record<string, Load | CommandGroup>;

/** The commands of one noun by name, or undefined when the word is a command by itself or nothing at all. */
export function commandsOf(tree: CommandTree, noun: string): Record<string, Load> | undefined {
  const entry = lookUp(tree, noun);
  return typeof entry === "object" ? entry.commands : undefined;
}

/** The command at a path of one or two words, or undefined. */
export async function loadCommand(tree: CommandTree, path: readonly string[]): Promise<Command | undefined> {
  const [noun, name] = path;
  const entry = noun === undefined ? undefined : lookUp(tree, noun);
  const load = typeof entry === "object" ? lookUp(entry.commands, name ?? "") : path.length === 1 ? entry : undefined;
  return load && (await load()).default;
}

/** Every path of the tree, in its order: `["serve"]`, `["tenant", "create"]`. */
export function listPaths(tree: CommandTree): string[][] {
  return Object.entries(tree).flatMap(([noun, entry]) =>
    typeof entry === "function" ? [[noun]] : Object.keys(entry.commands).map((command) => [noun, command]),
  );
}

/** An own property only: a user's word may be `constructor`. */
function lookUp<T>(record: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
