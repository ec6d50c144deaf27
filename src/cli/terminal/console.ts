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

/** A terminal together with the manners that the shared flags ask for. */
export interface Console extends Terminal {
  json: boolean;
  quiet: boolean;
  /** Colours on standard output. */
  color: boolean;
  /** A question would be seen and could be answered. */
  canAsk: boolean;
  /** `--yes`: what a dangerous command asks is answered. */
  assumeYes: boolean;
  /** A command line that does something in the same database: `key list -n demo` with the flags that name it. */
  command(words: string): string;
}

/** Applies the shared flags. Colours need a terminal, and neither NO_COLOR (any non-empty value) nor TERM=dumb. */
export function createConsole(terminal: Terminal, flags: ConsoleFlags): Console {
  const { env } = terminal;
  // The library that asks questions knows no flag, but it reads this.
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
