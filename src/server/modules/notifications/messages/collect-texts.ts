import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The contents of all files in `texts/`, by language. Imported as a macro, so that it runs when the program is built and
 * its answer stands in the executable: a new language is a new file, and nothing else.
 */
export function collectTexts(): Record<string, Record<string, string>> {
  const folder = join(import.meta.dir, "texts");
  const names = readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .sort();
  return Object.fromEntries(
    names.map((name) => [name.slice(0, -".json".length), JSON.parse(readFileSync(join(folder, name), "utf8"))]),
  );
}
