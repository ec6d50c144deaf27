import { once } from "node:events";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Console } from "../../terminal/console.ts";
import { invalidFlag } from "../../terminal/usage-error.ts";

/**
 * Opens a file, or standard input for `-`. The signal ends reading with an error.
 * @returns the bytes, their number where it is known, and `close`, which must be called at the end.
 * @throws UsageError for a file that cannot be read.
 */
export async function openSource(path: string, console: Console, signal: AbortSignal) {
  if (path === "-") return { bytes: console.streamInput(signal), size: undefined, close: () => {} };
  const refuse = (error: NodeJS.ErrnoException): never => {
    throw invalidFlag("<file>", `cannot be read (${error.code ?? "unknown"}): ${path}`);
  };
  const found = await stat(path).catch(refuse);
  if (found.isDirectory()) throw invalidFlag("<file>", `is a directory: ${path}`);
  // The stream alone owns the descriptor: it may be in the middle of a read when the import stops.
  const bytes = createReadStream(path, { signal, highWaterMark: 256 * 1024 });
  await once(bytes, "open").catch(refuse);
  return { bytes, size: found.isFile() ? found.size : undefined, close: () => void bytes.destroy() };
}
