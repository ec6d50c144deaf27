import { constants, copyFileSync, linkSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");
const built = join(root, "dist", "bodega");
const sources = ["src", "examples", "drizzle", "scripts", "package.json", "bun.lock"];

/**
 * Puts the built executable at `path`, and builds it first where it is missing or older than its source.
 * @throws Error with the builder's message when it cannot be built.
 */
export function placeExecutable(path: string): void {
  if (lastChange([built]) <= lastChange(sources.map((name) => join(root, name)))) build();
  linkOrCopy(built, path);
}

/** A second name for a file of a hundred megabytes, or a copy where the two places are on different file systems. */
export function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
  }
}

/** Builds the executable, or another version of it with `flags` of the builder. Throws with the builder's message. */
export function build(...flags: string[]): void {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, join(root, "scripts", "build.ts"), ...flags], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (exitCode !== 0) throw new Error(`The executable cannot be built: ${stdout}${stderr}`);
}

/** Epoch milliseconds of the latest change to any file in these places; 0 when there is none. */
function lastChange(paths: string[]): number {
  let latest = 0;
  for (const path of paths) {
    const entry = statSync(path, { throwIfNoEntry: false });
    if (entry === undefined) continue;
    const inside = entry.isDirectory() ? lastChange(readdirSync(path).map((name) => join(path, name))) : entry.mtimeMs;
    latest = Math.max(latest, inside);
  }
  return latest;
}
