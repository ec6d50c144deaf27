import { once } from "node:events";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Console } from "../../terminal/console.ts";
import { invalidFlag, type UsageError } from "../../terminal/usage-error.ts";

/** The bytes of a file, and its size where that is known. */
export interface ProductSource {
  bytes: AsyncIterable<Uint8Array>;
  size: number | undefined;
  /** Must be called at the end. */
  close(): void;
}

/**
 * Opens a file, or standard input for `-`. The signal ends reading with an error.
 * @throws UsageError for a file that cannot be read.
 */
export async function openSource(path: string, console: Console, signal: AbortSignal): Promise<ProductSource> {
  if (path === "-") return { bytes: console.streamInput(signal), size: undefined, close: () => {} };
  const refuse = (error: NodeJS.ErrnoException): never => {
    throw fileFault(path, `cannot be read (${error.code ?? "unknown"})`);
  };
  const found = await stat(path).catch(refuse);
  if (found.isDirectory()) throw fileFault(path, "is a directory");
  // The stream alone owns the descriptor: it may be in the middle of a read when the import stops.
  const bytes = createReadStream(path, { signal, highWaterMark: 256 * 1024 });
  await once(bytes, "open").catch(refuse);
  return { bytes, size: found.isFile() ? found.size : undefined, close: () => void bytes.destroy() };
}

function fileFault(path: string, what: string): UsageError {
  return invalidFlag("<file>", `${what}: ${path}`);
}
