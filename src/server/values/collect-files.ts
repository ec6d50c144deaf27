import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns the files of a folder in base64, by path. If imported as a macro, the function runs during the build.
 * @param folder path below src/server.
 */
export function collectFiles(folder: string): Record<string, string> {
  const path = join(import.meta.dir, "..", folder);
  const names = [...new Bun.Glob("**/*").scanSync(path)].sort();
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(path, name), "base64")]));
}
