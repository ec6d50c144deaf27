import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import type { Console } from "../../terminal/console.ts";
import { UsageError } from "../../terminal/usage-error.ts";

/** A file to read: its pieces, and how many bytes it has where that is known. */
export interface ProductSource {
  bytes: AsyncIterable<Uint8Array>;
  size: number | undefined;
  /** To be called at the end, also where nothing was read. */
  close(): Promise<void>;
}

/**
 * Opens a file, or standard input for `-`. With `signal` its reading ends with an error.
 * @throws UsageError for one that is not there, cannot be read or is a folder.
 */
export async function openSource(path: string, console: Console, signal: AbortSignal): Promise<ProductSource> {
  if (path === "-") return { bytes: console.streamInput(signal), size: undefined, close: async () => {} };
  const file = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    throw fileFault("<file>", path, "cannot be read", error);
  });
  const stat = await file.stat();
  if (stat.isDirectory()) {
    await file.close();
    throw fileFault("<file>", path, "is a folder");
  }
  const bytes = createReadStream(path, { fd: file.fd, autoClose: false, signal, highWaterMark: 256 * 1024 });
  return { bytes, size: stat.isFile() ? stat.size : undefined, close: () => file.close() };
}

function fileFault(field: string, path: string, what: string, error?: NodeJS.ErrnoException): UsageError {
  const message = `${what}${error ? ` (${error.code ?? "unknown"})` : ""}: ${path}`;
  return new UsageError(`${field} ${message}.`, { details: [{ field, message }] });
}
