import { listCommands } from "../../scripts/reference.ts";
import { commandTree } from "../../src/cli/commands/command-tree.ts";
import { type CommandArgs, flagsOf, formatArg, type GivenValues, positionalsOf } from "../../src/cli/framework/args.ts";
import type { Command } from "../../src/cli/framework/command.ts";
import { findMissing } from "../../src/cli/framework/questions.ts";
import { readArgs } from "../../src/cli/framework/read-args.ts";
import { type CommandCall, commandCalls } from "./command-calls.ts";
import type { PreparedShop } from "./prepared-shop.ts";
import { openCli, type Step } from "./run-bodega.ts";
import { type Outcome, runHere } from "./run-here.ts";

/** A command, and a successful call of it. */
export interface CalledCommand {
  /** The words of the command, such as `tenant create`. */
  name: string;
  path: string[];
  command: Command;
  call: CommandCall;
}

const commands = listCommands(commandTree);
const names = commands.map(([path]) => path.join(" "));

/** Returns the commands that `commandCalls` lacks, and its entries that are not commands. */
export function findMissingCalls(): { missing: string[]; unknown: string[] } {
  return {
    missing: names.filter((name) => !Object.hasOwn(commandCalls, name)),
    unknown: Object.keys(commandCalls).filter((name) => !names.includes(name)),
  };
}

/** Lists all commands, each with its call in `commandCalls`. */
export async function listCalledCommands(): Promise<CalledCommand[]> {
  const called = commands.filter(([path]) => Object.hasOwn(commandCalls, path.join(" ")));
  return Promise.all(
    called.map(async ([path, load]) => {
      const name = path.join(" ");
      return { name, path, command: await load(), call: commandCalls[name] as CommandCall };
    }),
  );
}

const reading =
  /^(?:list|show|check|status|verify|deliveries|devices|preview|withdrawals|todo|version|completion|sales|products|customers|tax)$/;

/** Returns a function that makes a copy of the store for a call. Commands that only read share one copy. */
export function shareCopies(copyShop: () => PreparedShop): (called: CalledCommand) => PreparedShop {
  let shared: PreparedShop | undefined;
  return ({ path }) => {
    if (!reading.test(path.at(-1) ?? "")) return copyShop();
    shared ??= copyShop();
    return shared;
  };
}

/** Returns the complete command line of a call, with flags instead of prompts. */
export function fullLine({ path, call }: CalledCommand, shop: PreparedShop): string[] {
  return [...path, ...call.args(shop), ...(call.instead?.(shop) ?? [])];
}

/**
 * Runs a command line on a copy of the store: in this process, unless the command needs its own. `columns` is the width of
 * a terminal on standard output.
 */
export function runCall(
  { call }: CalledCommand,
  shop: PreparedShop,
  line: string[],
  columns?: number,
): Promise<Outcome> {
  const { dataDir, dir: cwd, env } = shop;
  if (call.alone) return openCli(dataDir).run(line, { env, cwd });
  return runHere(line, { env, input: call.input ?? "", ...(columns !== undefined && { columns }) });
}

/** Returns the prompts of a call at a terminal, with answers: those for required arguments first. */
export function listQuestions(called: CalledCommand, shop: PreparedShop): Step[] {
  const { required } = leaveOutRequired(called, shop);
  const asked = required.map(({ name, arg, value }): Step => {
    // Enter selects the first choice.
    const answer = "options" in arg && arg.options ? "" : [value].flat().join(" ");
    return [`(${formatArg(name, arg)})`, `${answer}\r`];
  });
  return [...asked, ...(called.call.asks?.(shop) ?? [])];
}

/** Splits a command line: returns it without required arguments, and these arguments in the order of their prompts. */
export function leaveOutRequired(called: CalledCommand, shop: PreparedShop) {
  const { path, command, call } = called;
  const values = readArgs(call.args(shop), command.args);
  const required = findMissing(command.args, {}).map(([name, arg]) => ({ name, arg, value: values[name] }));
  const rest: GivenValues = Object.fromEntries(
    Object.entries(values).filter(([name]) => !required.some((one) => one.name === name)),
  );
  return { line: [...path, ...toLine(command.args, rest)], required };
}

/** Returns the command line of parsed values. */
function toLine(args: CommandArgs, values: GivenValues): string[] {
  const flags = flagsOf(args).flatMap(([name, arg]) => {
    const value = values[name];
    if (value === undefined) return [];
    if (value === (arg.default ?? false)) return [];
    if (typeof value === "boolean") return [formatArg(name, arg)];
    return [value].flat().map((text) => `--${name}=${text}`);
  });
  const words = positionalsOf(args).flatMap(([name]) => (values[name] as string | string[] | undefined) ?? []);
  return [...flags, ...(words.some((word) => word.startsWith("-")) ? ["--"] : []), ...words];
}
