import { commandLine } from "./command-line.ts";
import type { Terminal } from "./terminal.ts";

export type Console = ReturnType<typeof createConsole>;

/** Applies the shared flags. Colours need a terminal, no NO_COLOR (any non-empty value), and not TERM=dumb. */
export function createConsole(terminal: Terminal, flags: Readonly<Record<string, unknown>>) {
  const { env } = terminal;
  // The library of prompts reads this variable.
  if (flags.color === false) env.NO_COLOR = "1";
  return {
    ...terminal,
    json: flags.json === true,
    quiet: flags.quiet === true,
    color: terminal.stdoutIsTerminal && !env.NO_COLOR && env.TERM !== "dumb",
    canAsk: terminal.stdinIsTerminal && terminal.stderrIsTerminal && flags.input !== false,
    assumeYes: flags.yes === true,
    command: commandLine(flags),
    /** The sentence before the command's record; see `done` of a command's definition. */
    done: undefined as string | undefined,
  };
}
