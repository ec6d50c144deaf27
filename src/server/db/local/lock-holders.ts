import { readFileSync, statSync } from "node:fs";
import { ownCommand } from "../../config/own-command.ts";
import { attempt } from "../../errors.ts";

/**
 * Describes the other processes that have a lock on a file, such as `product export, pid 4711`. Only Linux lists them,
 * and a container lists only its own; elsewhere it returns `another command`.
 */
export function describeHolders(path: string): string {
  const inode = statSync(path).ino;
  const locks = attempt(() => readFileSync("/proc/locks", "utf8")) ?? "";
  // Waiting processes have an arrow before the kind of their lock, so that their columns do not match.
  const ofFile = [...locks.matchAll(/^\d+: \w+ +\w+ +\w+ (\d+) [\da-f:]+:(\d+) /gm)].filter(
    ([, pid, file]) => Number(file) === inode && Number(pid) !== process.pid,
  );
  const pids = [...new Set(ofFile.map(([, pid = ""]) => pid))];
  return pids.map((pid) => `${nameCommand(pid)}, pid ${pid}`).join("; ") || "another command";
}

/** The noun and verb of a process of this program. */
function nameCommand(pid: string): string {
  const line = attempt(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")) ?? "";
  const words = line.split("\0").slice(ownCommand.length, ownCommand.length + 2);
  return words.filter((word) => /^[a-z][a-z-]*$/.test(word)).join(" ") || "another command";
}
