import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The contents of the JSON files in a folder, by file name without `.json`. Imported as a macro, so that it runs when
 * the program is built, and the executable contains the result.
 * @param folder path below src/server.
 */
export function collectJson(folder: string): Record<string, unknown> {
  const path = join(import.meta.dir, "..", folder);
  const names = readdirSync(path).filter((name) => name.endsWith(".json"));
  return Object.fromEntries(
    names.sort().map((name) => [name.slice(0, -".json".length), JSON.parse(readFileSync(join(path, name), "utf8"))]),
  );
}

/** The files of a folder and those below it in base64, by path. A macro, as `collectJson`. */
export function collectFiles(folder: string): Record<string, string> {
  const path = join(import.meta.dir, "..", folder);
  return Object.fromEntries(
    [...new Bun.Glob("**/*").scanSync(path)].sort().map((name) => [name, readFileSync(join(path, name), "base64")]),
  );
}
