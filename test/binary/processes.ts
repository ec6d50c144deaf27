import { readdirSync, readFileSync } from "node:fs";

/** True if the system has /proc. */
export const hasProc = process.platform === "linux";

interface Process {
  pid: number;
  parent: number;
  state: string;
}

/** Process ids of the direct children of a process. */
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

/** All processes: from /proc, which a bare Linux has without any program, elsewhere from `ps`, which is part of it. */
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
    // The name before the last parenthesis may contain any character.
    const [state = "", parent = ""] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { pid, parent: Number(parent), state };
  } catch {
    return undefined;
  }
}
