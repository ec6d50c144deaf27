import { constants, copyFileSync, linkSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");
const built = join(root, "dist", "bodega");
const sources = ["src", "drizzle", "scripts", "package.json", "bun.lock"];
let firstCopy: string | undefined;

/**
 * Puts the built executable at `path`, and builds it first where it is missing or older than its source. It weighs more
 * than a hundred megabytes, so further places of one test file are links to the first.
 * @throws Error with the builder's words when it cannot be built.
 */
export function placeExecutable(path: string): void {
  if (firstCopy !== undefined) {
    linkSync(firstCopy, path);
    return;
  }
  if (lastChange([built]) <= lastChange(sources.map((name) => join(root, name)))) build();
  copyFileSync(built, path, constants.COPYFILE_FICLONE);
  firstCopy = path;
}

/** Forgets the copy, which its test file has removed. */
export function forgetExecutable(): void {
  firstCopy = undefined;
}

function build(): void {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, join(root, "scripts", "build.ts")], {
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
