import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The contents of all files in `templates/`, by language. Imported as a macro, so that it runs when the program is
 * built and its answer stands in the executable: a new language is a new file, and nothing else.
 */
export function collectTemplates(): Record<string, unknown> {
  const folder = join(import.meta.dir, "templates");
  const names = readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .sort();
  return Object.fromEntries(
    names.map((name) => [name.slice(0, -".json".length), JSON.parse(readFileSync(join(folder, name), "utf8"))]),
  );
}
