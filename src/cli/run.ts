import * as citty from "citty";
import { malformedRequest } from "../server/errors.ts";
import { attempt } from "../server/values/attempt.ts";
import { commandTree } from "./commands/command-tree.ts";
import type { GivenValues } from "./framework/args.ts";
import type { CommandGroup, Load, ReadyRun, Run } from "./framework/command.ts";
import { findCommand } from "./framework/find-command.ts";
import { askForMissing, findMissing } from "./framework/questions.ts";
import { readArgs, refuseTogether, type Token, tokenize } from "./framework/read-args.ts";
import { reportError } from "./framework/report-error.ts";
import { type Console, createConsole, info, printJson } from "./terminal/console.ts";
import type { Terminal } from "./terminal/terminal.ts";

/** Citty runs this plugin before the command. It reads the arguments, finds the store, and asks for missing values. */
const preparation: citty.CittyPlugin = {
  name: "preparation",
  async setup({ rawArgs, data }) {
    const run: ReadyRun = data;
    run.values = readArgs(rawArgs, run.command.args);
    refuseTogether(run.command, run.values);
    run.console = createConsole(run.terminal, run.values);
    await findStore(run);
    await askForMissing(run, findNames);
  },
};

export async function runCli(argv: string[], terminal: Terminal): Promise<number> {
  if (argv[0] === "__complete") {
    const { printCompletions } = await import("./completion/complete.ts");
    await printCompletions(commandTree, argv.slice(1), terminal);
    return 0;
  }
  if (argv[0] === "__decode") return (await import("../server/modules/media/decoder.ts")).serveDecoder();
  const path: string[] = [];
  const run: Run = { terminal, json: asksForJson(argv), path, values: {} };
  try {
    const { target, rest, isHelp } = findCommand(commandTree, argv, path);
    if (typeof target !== "function" && !isHelp && rest.length > 0) throw incompleteError(target, path);
    if (isHelp || typeof target !== "function") return await printHelp(path, target, run);
    run.command = await target();
    // Help is printed even if the rest of the line has errors.
    if (tokenize(rest, run.command.args).some(isHelpFlag)) return await printHelp(path, target, run);
    // Citty gets no definitions of arguments: it would drop values, and refuse a line before `preparation` can ask.
    const command = { ...run.command, args: {}, plugins: [preparation] };
    const { result } = await citty.runCommand(command, { rawArgs: rest, data: run });
    return typeof result === "number" ? result : 0;
  } catch (error) {
    return reportError(error, run);
  }
}

function isHelpFlag(token: Token): boolean {
  return token.kind === "option" && token.flag === "help" && !token.inlineValue;
}

function incompleteError({ subCommands }: CommandGroup, path: string[]) {
  const line = ["bodega", ...path, path.length > 0 ? "<subcommand>" : "<command>"].join(" ");
  const remedy = `Choose one of ${Object.keys(subCommands).join(", ")}.`;
  return malformedRequest(`Incomplete command "${line}".`, { remedy });
}

async function printHelp(path: string[], target: Load | CommandGroup, { json, terminal }: Run): Promise<number> {
  const { renderHelp } = await import("./framework/help.ts");
  const console = createConsole(terminal, {});
  const plain = { ...console, columns: undefined, color: false };
  const help = await renderHelp(path, target, json ? plain : console);
  await (json ? printJson(console, { help }) : console.write(help));
  return 0;
}

/**
 * Sets `namespace` from the settings, or to the only store, if no flag has set it.
 * @throws malformedRequest with the list of stores, if only the store is missing and there is no terminal to ask at.
 */
async function findStore({ command, console, values, terminal }: ReadyRun): Promise<void> {
  const { namespace: arg } = command.args;
  if (arg?.type !== "string" || arg.env === undefined || values.namespace !== undefined) return;
  const { openOptions } = await import("../server/config/environment.ts");
  // Wrong settings are ignored here, because the command itself reports them.
  const env = attempt(() => openOptions(values, terminal.env).env) ?? terminal.env;
  values.namespace = env.BODEGA_NAMESPACE || undefined;
  if (!arg.required || values.namespace !== undefined) return;
  const names = (await findNames("namespace", values, console).catch(() => [])).map(({ value }) => value);
  if (names.length === 1) {
    values.namespace = names[0];
    return info(console, `Using store ${names[0]}.`);
  }
  if (console.canAsk || findMissing(command.args, values).length > 1) return;
  const { requireDatabase } = await import("./context/context.ts");
  requireDatabase(values as Parameters<typeof requireDatabase>[0], console);
  if (names.length === 0) return;
  const stores = names.length > 10 ? `${names.slice(0, 10).join(", ")}, …` : names.join(", ");
  throw malformedRequest(`Missing --namespace. Stores: ${stores}.`);
}

async function findNames(kind: string, values: GivenValues, console: Console) {
  const { findNames: find } = await import("./completion/complete.ts");
  return find(kind, values as Parameters<typeof find>[1], console);
}

/** Returns whether a command line has `--json`. Also reads invalid lines, because their error must be JSON too. */
function asksForJson(argv: string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(0, end === -1 ? undefined : end).includes("--json");
}
