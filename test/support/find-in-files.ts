import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Searches all files below a directory for texts. Returns `file: text` for each text that it finds. */
export function findInFiles(dir: string, texts: readonly string[]): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const bytes = readFileSync(join(entry.parentPath, entry.name));
    for (const text of texts) if (bytes.includes(text)) found.push(`${entry.name}: ${text}`);
  }
  return found;
}
