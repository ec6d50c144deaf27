import { type CommandDef, defineCommand as defineCittyCommand } from "citty";
import type { Console } from "../terminal/console.ts";
import { type ArgValues, type CommandArgs, type SharedValues, sharedArgs } from "./args.ts";
import { completeValues, type GivenValues } from "./parse-args.ts";

/** Arguments of which exactly one is needed, or with `several` one or more; a terminal asks which when none is given. */
export interface OneOf {
  question: string;
  several?: boolean;
  /** The choices by argument name, as a person reads them; an empty text is the argument's description. */
  ways: Readonly<Record<string, string>>;
}

export interface Command extends CommandDef {
  meta: { description: string };
  args: CommandArgs & CommandDef["args"];
  examples: readonly string[];
  notes: readonly string[];
  /** Runs until it is stopped, and handles SIGINT and SIGTERM itself. */
  longRunning: boolean;
  oneOf: OneOf | undefined;
}

interface CommandDefinition<T extends CommandArgs> {
  description: string;
  args: T;
  examples: readonly string[];
  notes?: readonly string[];
  longRunning?: boolean;
  /** Says what the command did, unless in a dry run: `{name}` is a field of the record, `{revoked token}` a count. */
  done?: string;
  oneOf?: OneOf & { ways: { readonly [K in keyof T]?: string } };
  /** Returns the exit code, where it is not 0 though nothing failed. */
  run(args: ArgValues<T> & SharedValues, console: Console): Promise<number | void>;
}

export function defineCommand<const T extends CommandArgs>(definition: CommandDefinition<T>): Command {
  const { description, examples, notes = [], longRunning = false, done, oneOf } = definition;
  const meta = { description };
  const args = { ...definition.args, ...sharedArgs } as unknown as Command["args"];
  const command = defineCittyCommand({
    meta,
    args,
    run: ({ args: values, data: console }) =>
      definition.run(values as unknown as ArgValues<T> & SharedValues, {
        ...(console as Console),
        done: values["dry-run"] === true ? undefined : done,
      }),
  });
  return { ...command, meta, args, examples, notes, longRunning, oneOf };
}

export function requireAny(...names: string[]) {
  return { question: "What should change?", several: true, ways: Object.fromEntries(names.map((name) => [name, ""])) };
}

/** Runs a command with parsed values: citty would drop all but the last of a repeated flag. Returns the exit code. */
export async function runCommand(command: Command, values: GivenValues, console: Console): Promise<number> {
  const args = { _: [], ...completeValues(command.args, values) } as never;
  const result: unknown = await command.run?.({ rawArgs: [], args, cmd: command, data: console });
  return typeof result === "number" ? result : 0;
}
