import { readFileSync, statSync } from "node:fs";
import { ownCommand } from "../../config/own-command.ts";
import { attempt } from "../../values/attempt.ts";

/**
 * Names the other processes that have a database file open, such as `product export, pid 4711`. Only Linux lists them, and
 * a container lists only its own; elsewhere it returns `another command`.
 */
export function describeUsers(path: string): string {
  const { ino } = statSync(`${path}-users`);
  const locks = attempt(() => readFileSync("/proc/locks", "utf8")) ?? "";
  // Lines of waiting processes contain an arrow.
  const ofFile = locks.matchAll(new RegExp(`^\\d+: \\w+ +\\w+ +\\w+ (\\d+) [\\da-f:]+:${ino} `, "gm"));
  const pids = new Set([...ofFile].map(([, pid = ""]) => pid));
  pids.delete(String(process.pid));
  return [...pids].map((pid) => `${nameCommand(pid)}, pid ${pid}`).join("; ") || "another command";
}

/** The noun and verb of a process of this program. */
function nameCommand(pid: string): string {
  const line = attempt(() => readFileSync(`/proc/${pid}/cmdline`, "utf8")) ?? "";
  const words = line.split("\0").slice(ownCommand.length, ownCommand.length + 2);
  return words.filter((word) => /^[a-z][a-z-]*$/.test(word)).join(" ") || "another command";
}
