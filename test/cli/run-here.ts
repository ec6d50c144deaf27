import { runCli } from "../../src/cli/run.ts";
import type { Terminal } from "../../src/cli/terminal/terminal.ts";

/** The result of a finished command. */
export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface HereOptions {
  env: Record<string, string | undefined>;
  /** Columns of the terminal on standard output. Default: no terminal. */
  columns?: number;
  /** Whether the command may ask questions, unless flags forbid it. */
  canAsk?: boolean;
  /** Standard input. Default: empty. */
  input?: string | Uint8Array;
}

/**
 * Runs one command line in this process, for tests that check only the output. Other effects of a process need
 * `runAtTerminal` or `openCli`.
 */
export async function runHere(
  args: string[],
  { env, columns, canAsk = false, input = "" }: HereOptions,
): Promise<Outcome> {
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
    async writeError(text) {
      stderr += text;
    },
    readInput: async () => Buffer.from(input).toString(),
    async *streamInput() {
      yield Buffer.from(input);
    },
    screen: undefined,
    onInterrupt() {},
    holdSignals: () => () => undefined,
    releaseSignals() {},
    setPriority() {},
  };
  const code = await runCli(args, terminal);
  return { code, stdout, stderr };
}
