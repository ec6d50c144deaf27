import { commandTree } from "../../src/cli/commands/command-tree.ts";
import { formatArg } from "../../src/cli/framework/args.ts";
import type { Verb } from "../../src/cli/framework/command.ts";
import { listPaths, loadVerb } from "../../src/cli/framework/command-tree.ts";
import { findMissing, type GivenValues, parseVerbArgs, toRawArgs } from "../../src/cli/framework/parse-args.ts";
import { sortQuestions } from "../../src/cli/framework/prompt-missing.ts";
import type { PreparedShop } from "./prepared-shop.ts";
import { type Outcome, openCli, type Step } from "./run-bodega.ts";
import { runHere } from "./run-here.ts";
import { type VerbCall, verbCalls } from "./verb-calls.ts";

/** A verb with how it is called. */
export interface CalledVerb {
  /** `tenant create`. */
  name: string;
  path: string[];
  verb: Verb;
  call: VerbCall;
}

const paths = listPaths(commandTree);
const names = paths.map((path) => path.join(" "));

/** Verbs that `verbCalls` does not tell of, and what it tells of that is no verb. */
export function findUntold(): { untold: string[]; gone: string[] } {
  return {
    untold: names.filter((name) => !Object.hasOwn(verbCalls, name)),
    gone: Object.keys(verbCalls).filter((name) => !names.includes(name)),
  };
}

/** All verbs of the program, with how the tests call them; without those that `verbCalls` does not tell of. */
export async function listCalledVerbs(): Promise<CalledVerb[]> {
  const told = paths.filter((path) => Object.hasOwn(verbCalls, path.join(" ")));
  return Promise.all(
    told.map(async (path) => {
      const name = path.join(" ");
      return { name, path, verb: (await loadVerb(commandTree, path)) as Verb, call: verbCalls[name] as VerbCall };
    }),
  );
}

/** The whole command line of a verb's good call, with what it would ask answered by flags. */
export function fullLine({ path, call }: CalledVerb, shop: PreparedShop): string[] {
  return [...path, ...call.args(shop), ...(call.instead?.(shop) ?? [])];
}

/** Runs a command line of a verb on a copy of the store, in a process of its own only where it must be. */
export function runCall({ call }: CalledVerb, shop: PreparedShop, line: string[]): Promise<Outcome> {
  const env = shop.env as Record<string, string>;
  if (!call.alone && call.input === undefined) return runHere(line, { env });
  const input = call.input === undefined ? {} : { input: call.input };
  return openCli(shop.dataDir).run(line, { env, cwd: shop.dir, ...input });
}

/** What a person at a terminal is asked, one after the other, and answers: required arguments, then what else there is. */
export function listQuestions(called: CalledVerb, shop: PreparedShop): Step[] {
  const { required } = leaveOutRequired(called, shop);
  const values = new Map(required.map(({ name, value }) => [name, value]));
  const inTurn = sortQuestions(required.map(({ name, arg }) => [name, arg]));
  const asked = inTurn.map(([name, arg]): Step => {
    // The first of several choices stands ready.
    const answer = "options" in arg && arg.options ? "" : [values.get(name)].flat().join(" ");
    return [`(${formatArg(name, arg)})`, `${answer}\r`];
  });
  return [...asked, ...(called.call.asks?.(shop) ?? [])];
}

/** The same line without the arguments that the verb requires, and those, in the order in which they are asked for. */
export function leaveOutRequired(called: CalledVerb, shop: PreparedShop) {
  const { path, verb, call } = called;
  const values = parseVerbArgs(call.args(shop), verb.args, {});
  const required = findMissing(verb.args, {}).map(([name, arg]) => ({ name, arg, value: values[name] }));
  const rest: GivenValues = Object.fromEntries(
    Object.entries(values).filter(([name]) => !required.some((one) => one.name === name)),
  );
  return { line: [...path, ...toRawArgs(verb.args, rest)], required };
}
