import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import type { Console } from "../../terminal/console.ts";
import { invalidFlag, type UsageError } from "../../terminal/usage-error.ts";

/** The bytes of a file, and its size where that is known. */
export interface ProductSource {
  bytes: AsyncIterable<Uint8Array>;
  size: number | undefined;
  /** Must be called at the end. */
  close(): Promise<void>;
}

/**
 * Opens a file, or standard input for `-`. The signal ends reading with an error.
 * @throws UsageError for a file that cannot be read.
 */
export async function openSource(path: string, console: Console, signal: AbortSignal): Promise<ProductSource> {
  if (path === "-") return { bytes: console.streamInput(signal), size: undefined, close: async () => {} };
  const file = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    throw fileFault("<file>", path, "cannot be read", error);
  });
  const stat = await file.stat();
  if (stat.isDirectory()) {
    await file.close();
    throw fileFault("<file>", path, "is a directory");
  }
  const bytes = createReadStream(path, { fd: file.fd, autoClose: false, signal, highWaterMark: 256 * 1024 });
  return { bytes, size: stat.isFile() ? stat.size : undefined, close: () => file.close() };
}

function fileFault(field: string, path: string, what: string, error?: NodeJS.ErrnoException): UsageError {
  return invalidFlag(field, `${what}${error ? ` (${error.code ?? "unknown"})` : ""}: ${path}`);
}
