import { attempt } from "../server/errors.ts";
import { commandTree } from "./commands/command-tree.ts";
import { formatArg } from "./framework/args.ts";
import { type Command, runCommand } from "./framework/command.ts";
import { loadCommand } from "./framework/command-tree.ts";
import { findCommand } from "./framework/find-command.ts";
import { asksForHelp, findMissing, type GivenValues, parseCommandArgs } from "./framework/parse-args.ts";
import { promptMissing } from "./framework/prompt-missing.ts";
import { type Failure, reportError } from "./framework/report-error.ts";
import { type Console, createConsole } from "./terminal/console.ts";
import { info, printJson } from "./terminal/output.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { UsageError } from "./terminal/usage-error.ts";

/** Runs one command line. Returns the exit code, which `exitCodes` explains. Never throws. */
export async function runCli(argv: string[], terminal: Terminal): Promise<number> {
  if (argv[0] === "__complete") {
    const { printCompletions } = await import("./completion/complete.ts");
    await printCompletions(commandTree, argv.slice(1), terminal);
    return 0;
  }
  if (argv[0] === "__decode") return (await import("../server/modules/media/decoder.ts")).serveDecoder();
  const failure: Failure = { json: asksForJson(argv), path: [], args: {} };
  try {
    const target = findCommand(commandTree, argv);
    failure.path = target.path;
    const command = target.kind === "run" ? await loadCommand(commandTree, target.path) : undefined;
    if (command === undefined || asksForHelp(target.rest, command.args)) {
      await printHelp(target.path, failure.json, terminal);
      return 0;
    }
    failure.args = command.args;
    const parse = (env: Terminal["env"]) => parseCommandArgs(target.rest, command.args, env);
    failure.values = parse(terminal.env);
    const namespace = command.args.namespace && (await readNamespace(failure.values, terminal));
    if (namespace !== undefined) failure.values = parse({ ...terminal.env, BODEGA_NAMESPACE: namespace });
    const console = createConsole(terminal, failure.values);
    await chooseOnlyStore(command, failure.values, console);
    await promptMissing(command, failure.values, console, findNames);
    if (command.longRunning) terminal.releaseSignals();
    return await runCommand(command, failure.values, console);
  } catch (error) {
    return reportError(error, terminal, failure);
  }
}

async function printHelp(path: readonly string[], json: boolean, terminal: Terminal): Promise<void> {
  const { renderHelp } = await import("./framework/help.ts");
  const console = createConsole(terminal, {});
  const plain = { ...console, columns: undefined, color: false };
  const help = await renderHelp(commandTree, path, json ? plain : console);
  await (json ? printJson(console, { help }) : console.write(help));
}

/** BODEGA_NAMESPACE of bodega.env, unless the command line or the environment names a store. */
async function readNamespace(values: GivenValues, { env }: Terminal): Promise<string | undefined> {
  if (values.namespace !== undefined) return undefined;
  const { openOptions } = await import("../server/config/env-file.ts");
  // The command itself reports what is wrong with the settings.
  return attempt(() => openOptions(values, env).env.BODEGA_NAMESPACE);
}

/** Fills in a required namespace where there is only one store. Of several, the error names the stores. */
async function chooseOnlyStore({ args }: Command, values: GivenValues, console: Console): Promise<void> {
  if (args.namespace?.required !== true || values.namespace !== undefined) return;
  const names = (await findNames("namespace", values, console).catch(() => [])).map(({ value }) => value);
  const [only] = names;
  if (only !== undefined && names.length === 1) {
    values.namespace = only;
    return info(console, `Using store ${only}.`);
  }
  if (console.canAsk || findMissing(args, values).length > 1) return;
  const { requireDatabase } = await import("./context/context.ts");
  requireDatabase(values as Parameters<typeof requireDatabase>[0], console);
  const stores = names.length > 10 ? `${names.slice(0, 10).join(", ")}, …` : names.join(", ");
  const field = formatArg("namespace", args.namespace);
  if (names.length > 0)
    throw new UsageError(`Missing ${field}. Stores: ${stores}.`, {
      details: [{ field, message: `is required: ${stores}` }],
    });
}

async function findNames(kind: string, values: GivenValues, console: Console) {
  const { findNames: find } = await import("./completion/complete.ts");
  return find(kind, values as Parameters<typeof find>[1], console);
}

/** `--json` counts even when the rest of the line cannot be parsed, so that its error is JSON too. */
function asksForJson(argv: string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(0, end === -1 ? undefined : end).includes("--json");
}
