import { readdirSync, readFileSync } from "node:fs";

/** Whether the system has /proc. */
export const hasProc = process.platform === "linux";

interface Process {
  pid: number;
  parent: number;
  state: string;
}

/** Returns the ids of a process's direct children. */
export function childrenOf(pid: number): number[] {
  return listProcesses()
    .filter(({ parent }) => parent === pid)
    .map((child) => child.pid);
}

/** Whether a process still runs; a zombie does not. */
export function isRunning(pid: number): boolean {
  const found = hasProc ? readProc(pid) : listProcesses().find((one) => one.pid === pid);
  return found !== undefined && !/^[ZX]/.test(found.state);
}

/** Lists all processes. Reads /proc on Linux, where `ps` may be missing, and runs `ps` on other systems. */
function listProcesses(): Process[] {
  if (hasProc) {
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    return pids.map((name) => readProc(Number(name))).filter((found) => found !== undefined);
  }
  const { stdout } = Bun.spawnSync(["ps", "-A", "-o", "pid=,ppid=,stat="]);
  const lines = stdout.toString().trim().split("\n");
  return lines.map((line) => {
    const [pid, parent, state = ""] = line.trim().split(/\s+/);
    return { pid: Number(pid), parent: Number(parent), state };
  });
}

function readProc(pid: number): Process | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The process name can contain any character, so the fields begin after the last parenthesis.
    const [state = "", parent = ""] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { pid, parent: Number(parent), state };
  } catch {
    return undefined;
  }
}
