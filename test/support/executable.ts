import { constants, copyFileSync, linkSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");
const built = join(root, "dist", "bodega");
const sources = ["src", "examples", "drizzle", "scripts", "package.json", "bun.lock"];

/**
 * Returns the path of the built executable. Builds it first if it is missing, or older than its source.
 * @throws Error with the builder's message if the build fails.
 */
export function builtExecutable(): string {
  if (lastChange([built]) <= lastChange(sources.map((name) => join(root, name)))) build();
  return built;
}

/** Puts the built executable at `path`. */
export function placeExecutable(path: string): void {
  linkOrCopy(builtExecutable(), path);
}

/** Links a large file to a second path. Copies it if the paths are on different file systems. */
export function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
  }
}

/** Builds the executable. `flags` of the builder can build another version. Throws with the builder's message. */
export function build(...flags: string[]): void {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, join(root, "scripts", "build.ts"), ...flags], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (exitCode !== 0) throw new Error(`The executable cannot be built: ${stdout}${stderr}`);
}

/**
 * Returns the time of the latest change to a file in these directories, in epoch milliseconds. Returns 0 if there are
 * no files.
 */
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
