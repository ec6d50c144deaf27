import { type CommandDef, defineCommand as defineCittyCommand } from "citty";
import type { Console } from "../terminal/console.ts";
import { type ArgValues, type CommandArgs, type SharedValues, sharedArgs } from "./args.ts";
import type { CommandTree } from "./command-tree.ts";

/** Arguments of which exactly one is needed; where none is given, a person is asked which. */
export interface OneOf {
  question: string;
  /** By the argument's name, what a person reads of it. */
  ways: Readonly<Record<string, string>>;
}

/** A citty command together with what its help needs. */
export interface Command extends CommandDef {
  meta: { name: string; description: string };
  /** With the shared flags. */
  args: CommandArgs & CommandDef["args"];
  /** Complete command lines that work. */
  examples: readonly string[];
  /** What else there is to know, one paragraph each. */
  notes: readonly string[];
  /** Runs until it is stopped, and handles SIGINT and SIGTERM itself. */
  longRunning: boolean;
  oneOf: OneOf | undefined;
}

interface CommandDefinition<T extends CommandArgs> {
  name: string;
  /** One line, in the imperative, without a full stop. */
  description: string;
  args: T;
  examples: readonly string[];
  notes?: readonly string[];
  longRunning?: boolean;
  /** The command itself refuses none, and more than one: nobody may be there to be asked. */
  oneOf?: OneOf & { ways: { readonly [K in keyof T]?: string } };
  /**
   * Calls one service and prints what it answers.
   * @returns the exit code, where it is not 0 though nothing failed.
   */
  run(args: ArgValues<T> & SharedValues, console: Console, tree: CommandTree): Promise<number | void>;
}

/** What `run.ts` hands to a command through citty, which itself keeps only the last of a repeated flag. */
export interface CommandData {
  console: Console;
  tree: CommandTree;
  lists: Record<string, string[]>;
}

/** Makes the citty command of one command; the shared flags are added to its own. */
export function defineCommand<const T extends CommandArgs>(definition: CommandDefinition<T>): Command {
  const args = { ...definition.args, ...sharedArgs } as unknown as Command["args"];
  const command = defineCittyCommand({
    meta: { name: definition.name, description: definition.description },
    args,
    run({ args: parsed, data }) {
      const { console, tree, lists } = data as CommandData;
      const values = Object.keys(args).map((name) => [name, lists[name] ?? readValue(args, name, parsed[name])]);
      return definition.run(Object.fromEntries(values), console, tree);
    },
  });
  return {
    ...command,
    meta: { name: definition.name, description: definition.description },
    args,
    examples: definition.examples,
    notes: definition.notes ?? [],
    longRunning: definition.longRunning ?? false,
    oneOf: definition.oneOf,
  };
}

function readValue(args: CommandArgs, name: string, value: unknown): unknown {
  const arg = args[name];
  if (arg?.type !== "boolean" || arg.negatable) return value;
  return value ?? arg.default ?? false;
}
