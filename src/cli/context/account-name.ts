import { readFileSync } from "node:fs";

/**
 * The account that a command runs under, for the audit log: its name where the system's list has one, else its number.
 * Bun's own `userInfo` takes the name from `USER`, which anyone can set.
 */
export function accountName(accountsFile = "/etc/passwd"): string {
  const uid = process.getuid?.();
  return findName(accountsFile, String(uid)) ?? `uid ${uid ?? "unknown"}`;
}

function findName(path: string, uid: string): string | undefined {
  let lines: string[];
  try {
    lines = readFileSync(path, "utf8").split("\n");
  } catch {
    // A container may have no such file.
    return undefined;
  }
  return lines.map((line) => line.split(":")).find(([name, , id]) => name && id === uid)?.[0];
}
