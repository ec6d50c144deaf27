import { commandTree } from "./commands/command-tree.ts";
import type { CommandArgs } from "./framework/args.ts";
import type { Command, CommandData } from "./framework/command.ts";
import { loadCommand } from "./framework/command-tree.ts";
import { findCommand } from "./framework/find-command.ts";
import { asksForHelp, type GivenValues, parseCommandArgs, toRawArgs } from "./framework/parse-args.ts";
import { promptMissing } from "./framework/prompt-missing.ts";
import { type Failure, reportError } from "./framework/report-error.ts";
import { createConsole } from "./terminal/console.ts";
import { printJson } from "./terminal/output.ts";
import type { Terminal } from "./terminal/terminal.ts";

/**
 * Runs one command line. Arguments are judged here, before citty sees them, because citty lets mistakes pass.
 * @returns the exit code: 0 done, 1 failed, 2 usage, 3 not found, 4 conflict or busy, 130 cancelled. Never throws.
 */
export async function runCli(argv: string[], terminal: Terminal): Promise<number> {
  if (argv[0] === "__complete") {
    const { completeValues } = await import("./completion/complete-values.ts");
    await completeValues(argv.slice(1), terminal);
    return 0;
  }
  const failure: Failure = { json: asksForJson(argv), path: [], args: {} };
  try {
    const target = findCommand(argv);
    failure.path = target.path;
    const command = target.kind === "run" ? await loadCommand(commandTree, target.path) : undefined;
    if (command === undefined || asksForHelp(target.rest, command.args)) {
      const { renderHelp } = await import("./framework/help.ts");
      const console = createConsole(terminal, {});
      const help = await renderHelp(
        target.path,
        failure.json ? { ...console, columns: undefined, color: false } : console,
      );
      await (failure.json ? printJson(console, { help }) : console.write(help));
      return 0;
    }
    failure.args = command.args;
    failure.values = parseCommandArgs(target.rest, command.args, terminal.env);
    return await runParsed(command, failure.values, terminal);
  } catch (error) {
    return reportError(error, terminal, failure);
  }
}

/** Says what ended the process outside of a command's own course, without a stack trace; returns the exit code. */
export function reportCrash(error: unknown, terminal: Terminal): Promise<number> {
  return reportError(error, terminal, { json: false, path: [], args: {} });
}

async function runParsed(command: Command, values: GivenValues, terminal: Terminal): Promise<number> {
  const console = createConsole(terminal, values);
  await promptMissing(command, values, console);
  if (command.longRunning) terminal.releaseSignals();
  const lists: CommandData["lists"] = {};
  for (const [name, arg] of Object.entries(command.args as CommandArgs)) {
    const isList = arg.type === "positional" ? arg.variadic : arg.type !== "boolean" && arg.multiple;
    if (isList) lists[name] = (values[name] as string[] | undefined) ?? [];
  }
  const { runCommand } = await import("citty");
  const data: CommandData = { console, tree: commandTree, lists };
  const { result } = await runCommand(command, { rawArgs: toRawArgs(command.args, values), data });
  return typeof result === "number" ? result : 0;
}

/** `--json` counts even when the rest of the line cannot be read, so that its error is JSON as well. */
function asksForJson(argv: string[]): boolean {
  const end = argv.indexOf("--");
  return argv.slice(0, end === -1 ? undefined : end).includes("--json");
}
