import { runCli } from "../../src/cli/run.ts";
import type { Terminal } from "../../src/cli/terminal/terminal.ts";
import type { Outcome } from "./run-bodega.ts";

interface HereOptions {
  env: Record<string, string | undefined>;
  /** Columns of a terminal on standard output; none unless given. */
  columns?: number;
  /** Someone could be asked, if the flags allow it. */
  canAsk?: boolean;
}

/**
 * Runs one command line as the program does, but within this process, for walks over many command lines that look at
 * the answer only. What a process does beside that needs `runAtTerminal` or `openCli`.
 */
export async function runHere(args: string[], { env, columns, canAsk = false }: HereOptions): Promise<Outcome> {
  let stdout = "";
  let stderr = "";
  const terminal: Terminal = {
    env: { TERM: "xterm", ...env },
    stdinIsTerminal: canAsk,
    stdoutIsTerminal: columns !== undefined,
    stderrIsTerminal: canAsk,
    columns,
    async write(text) {
      stdout += text;
    },
    hasReader: () => true,
    leadsNowhere: () => false,
    async writeError(text) {
      stderr += text;
    },
    readInput: async () => "",
    async *streamInput() {},
    screen: undefined,
    onInterrupt() {},
    holdSignals: () => () => undefined,
    releaseSignals() {},
  };
  const code = await runCli(args, terminal);
  return { code, stdout, stderr };
}
