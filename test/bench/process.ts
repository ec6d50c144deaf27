import { readFileSync } from "node:fs";

/** A running server. */
export interface Running {
  pid: number;
  url: string;
  /** Milliseconds from the start of the process to its first reply with status 200. */
  readyMs: number;
  /** Returns the resident memory in MiB. */
  memory(): number;
  /** Returns the processor time so far in milliseconds, including its child processes. */
  processorMs(): number;
  /** Stops the server with SIGTERM. SIGKILL ends it at once. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const startLimitMs = 10_000;
/** Linux counts the processor time of programs in hundredths of a second. */
const msPerTick = 10;
const running = new Set<Bun.Subprocess>();
// Stops all servers when the benchmark ends, also after an error.
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Returns a port on which nothing listens. */
export async function findPort(): Promise<number> {
  const probe = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(null) });
  const port = probe.port as number;
  await probe.stop(true);
  return port;
}

/**
 * Starts a server, and waits for its first reply.
 * @param log file for its standard error.
 * @throws Error if the server ends or does not reply.
 */
export async function startServer(
  command: string[],
  url: string,
  log: string,
  probePath = "/health/live",
): Promise<Running> {
  const started = performance.now();
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: Bun.file(log) });
  running.add(child);
  while (!(await answers(url + probePath))) {
    if (child.exitCode !== null || performance.now() - started > startLimitMs) {
      throw new Error(`${command.join(" ")} does not answer: ${readFileSync(log, "utf8").slice(-500)}`);
    }
    await Bun.sleep(1);
  }
  return {
    pid: child.pid,
    url,
    readyMs: performance.now() - started,
    memory() {
      const kiB = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1];
      return Number(kiB) / 1024;
    },
    processorMs: () => processorMs(child.pid),
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      await child.exited;
      running.delete(child);
    },
  };
}

/** Runs a command. Returns its milliseconds and its output. Throws if it fails. */
export function runCommand(command: string[]): { ms: number; output: string } {
  const started = performance.now();
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const ms = performance.now() - started;
  if (exitCode !== 0) throw new Error(`${command.join(" ")} failed: ${stderr.toString().slice(-500)}`);
  return { ms, output: stdout.toString() };
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { keepalive: false });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}

/** Returns the processor time of all threads of a process and of its child processes, in milliseconds. */
export function processorMs(pid: number): number {
  // The fields begin after the name in parentheses, because the name may contain spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  const below = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").match(/\d+/g) ?? [];
  const own = (Number(fields[11]) + Number(fields[12])) * msPerTick;
  return below.reduce((sum, child) => sum + processorMs(Number(child)), own);
}
