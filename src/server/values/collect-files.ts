import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The files of a folder and those below it in base64, by path. Imported as a macro, so that it runs when the program is
 * built, and the executable contains the result.
 * @param folder path below src/server.
 */
export function collectFiles(folder: string): Record<string, string> {
  const path = join(import.meta.dir, "..", folder);
  return Object.fromEntries(
    [...new Bun.Glob("**/*").scanSync(path)].sort().map((name) => [name, readFileSync(join(path, name), "base64")]),
  );
}
