import type * as citty from "citty";
import type { Console } from "../terminal/console.ts";
import type { Terminal } from "../terminal/terminal.ts";
import {
  type ArgValues,
  type CommandArgs,
  formatArg,
  type GivenValues,
  type SharedValues,
  sharedArgs,
} from "./args.ts";

export type Command = ReturnType<typeof defineCommand>;

/** The data of one run of the program. The plugins, the command and the error report share this object. */
export interface Run {
  terminal: Terminal;
  json: boolean;
  path: readonly string[];
  command?: Command;
  values: GivenValues;
  console?: Console;
}

export type ReadyRun = Required<Run>;

export interface CommandDefinition<T extends CommandArgs> {
  description: string;
  args: T;
  examples: readonly string[];
  notes?: readonly string[];
  /** The sentence to print after success, except in a dry run. `fillIn` replaces `{name}` by a field of the record. */
  done?: string;
  /** Exactly one of these arguments is needed. If none is given, the command asks at a terminal. */
  oneOf?: readonly (keyof T & string)[];
  anyOf?: readonly string[];
  /** At most one argument of each group may be given. */
  exclusive?: readonly (readonly string[])[];
  /** Returns the exit code if it is not 0, for example after a failed check. Errors are thrown instead. */
  run(args: ArgValues<T> & SharedValues, console: Console): Promise<number | void>;
}

export function defineCommand<const T extends CommandArgs>(definition: CommandDefinition<T>) {
  const { description, examples, notes = [], done, oneOf, anyOf, exclusive } = definition;
  const args: CommandArgs = { ...definition.args, ...sharedArgs };
  const run = ({ data: { console, values: given } }: citty.CommandContext) => {
    const values = parseValues(args, given);
    const isDryRun = values["dry-run"] === true;
    return definition.run(values as ArgValues<T> & SharedValues, { ...console, done: isDryRun ? undefined : done });
  };
  return { meta: { description }, args, examples, notes, oneOf, anyOf, exclusive, run };
}

function parseValues(args: CommandArgs, given: GivenValues): Record<string, unknown> {
  const entries = Object.entries(args).map(([name, arg]) => {
    const value = given[name] ?? given[arg.fallback ?? name];
    const parse = (text: string) => (arg.parse ? arg.parse(formatArg(name, arg), text) : text || null);
    if (Array.isArray(value)) return [name, value.map(parse)];
    return [name, typeof value === "string" ? parse(value) : value];
  });
  return Object.fromEntries(entries);
}

export type Load = () => Promise<Command>;

/** A command with subcommands, which are loaded only when needed. */
export interface CommandGroup extends citty.CommandDef {
  meta: { description: string };
  subCommands: Record<string, Load | CommandGroup>;
}
