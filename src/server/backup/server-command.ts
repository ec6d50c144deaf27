import { type Config, inheritConfig } from "../config/config.ts";
import { workingDir } from "../config/data-dir.ts";
import type { Environment } from "../config/environment.ts";
import { attempt } from "../values/attempt.ts";

export interface CommandRun {
  /** The program, which may need a runtime before it. */
  command: readonly string[];
  env: Environment;
}

/** How long a command may take to remove unfinished work, such as the parts of an upload. */
const cleanUpMs = 5000;

/**
 * Runs a command of this program with the settings of a server. It ends with the server, after `timeoutMs`, or at the
 * signal.
 * @returns the output and the reason of a failure; undefined for a success.
 */
export async function runServerCommand(
  config: Config,
  words: readonly string[],
  { command, env, signal, timeoutMs }: CommandRun & { signal: AbortSignal; timeoutMs: number },
): Promise<{ stdout: string; failure: string | undefined }> {
  const child = Bun.spawn([...command, ...words, "--json"], {
    ...workingDir(config.dataDir),
    env: inheritConfig(config, env),
    stdio: ["ignore", "pipe", "pipe"],
    // The command ends when this channel closes.
    ipc() {},
    detached: true,
    ...{ timeout: timeoutMs, killSignal: "SIGKILL" },
  });
  const abort = () => {
    child.disconnect();
    setTimeout(() => child.kill("SIGKILL"), cleanUpMs).unref();
  };
  signal.addEventListener("abort", abort);
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  signal.removeEventListener("abort", abort);
  if (child.exitCode === 0) return { stdout, failure: undefined };
  const lastLine = stderr.trim().split("\n").at(-1) ?? "";
  const message = attempt(() => String(JSON.parse(lastLine).error.message));
  const end = child.signalCode ?? `exit code ${child.exitCode}`;
  return { stdout, failure: message ?? `The process ended (${end}). ${lastLine}`.trimEnd() };
}
