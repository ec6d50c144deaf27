import { commandLine } from "./command-line.ts";
import type { Terminal } from "./terminal.ts";

/** The flags of every command that change how it prints and asks. */
interface ConsoleFlags {
  json?: boolean;
  quiet?: boolean;
  yes?: boolean;
  input?: boolean;
  color?: boolean;
  "data-dir"?: unknown;
  "database-url"?: unknown;
}

/** A terminal with the effects of the shared flags. */
export interface Console extends Terminal {
  json: boolean;
  quiet: boolean;
  /** Colours on standard output. */
  color: boolean;
  /** Whether questions can be asked. */
  canAsk: boolean;
  /** `--yes`: confirmation questions are answered with yes. */
  assumeYes: boolean;
  /** A command line for the same database: `key list -n demo` with the flags that name the database. */
  command(words: string): string;
}

/** Applies the shared flags. Colours need a terminal, and neither NO_COLOR (any non-empty value) nor TERM=dumb. */
export function createConsole(terminal: Terminal, flags: ConsoleFlags): Console {
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
  };
}
