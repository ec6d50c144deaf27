import { randomBytes } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { type FileHandle, open, realpath, rename, rm } from "node:fs/promises";
import { AppError } from "../server/errors.ts";
import type { FlagArg } from "./args.ts";
import type { Io } from "./io.ts";
import { UsageError } from "./usage-error.ts";

const formats = ["csv", "ndjson"] as const;
export type ProductFormat = (typeof formats)[number];

const endings: Record<string, ProductFormat> = {
  csv: "csv",
  tsv: "csv",
  txt: "csv",
  ndjson: "ndjson",
  jsonl: "ndjson",
};

export const formatFlag = {
  type: "enum",
  options: formats,
  description: "What the file is, where its name does not end in .csv, .tsv, .ndjson or .jsonl",
} as const satisfies FlagArg;

/** The format that a file's name tells; undefined when it does not, as for `-`. */
export function formatOf(path: string): ProductFormat | undefined {
  return endings[/\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ""];
}

/** A file to read: its pieces, and how many bytes it has where that is known. */
export interface ProductSource {
  bytes: AsyncIterable<Uint8Array>;
  size: number | undefined;
}

/**
 * Opens a file, or standard input for `-`. With `signal` its reading ends with an error.
 * @throws UsageError for one that is not there, cannot be read or is a folder.
 */
export async function openSource(path: string, io: Io, signal: AbortSignal): Promise<ProductSource> {
  if (path === "-") return { bytes: io.streamInput(signal), size: undefined };
  const file = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    throw fileFault("<file>", path, "cannot be read", error);
  });
  const stat = await file.stat();
  if (stat.isDirectory()) {
    await file.close();
    throw fileFault("<file>", path, "is a folder");
  }
  const bytes = createReadStream(path, { fd: file.fd, autoClose: false, signal, highWaterMark: 256 * 1024 });
  return { bytes: closing(bytes, file), size: stat.isFile() ? stat.size : undefined };
}

async function* closing(bytes: AsyncIterable<Uint8Array>, file: FileHandle): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes;
  } finally {
    await file.close();
  }
}

/** A file to write: all of it, or nothing. */
export interface ProductTarget {
  write(text: string): Promise<void>;
  /** Whether nobody reads any more. */
  isAbandoned(): boolean;
  /** Puts the file in its place. */
  finish(): Promise<void>;
  /** Leaves what stood there before. */
  discard(): Promise<void>;
}

/**
 * Opens a file beside the one that is meant, which takes its place at the end; standard output for `-`. What is no file,
 * such as a device, is written as it is.
 * @throws UsageError for one that cannot be written.
 */
export async function openTarget(path: string, io: Io): Promise<ProductTarget> {
  if (path === "-") return { write: io.write, isAbandoned: io.isAbandoned, finish: nothing, discard: nothing };
  const place = await realpath(path).catch(() => path);
  const standing = statSync(place, { throwIfNoEntry: false });
  if (standing?.isDirectory()) throw fileFault("--output", path, "is a folder");
  const isBeside = standing === undefined || standing.isFile();
  const working = isBeside ? `${place}.${randomBytes(4).toString("hex")}.part` : place;
  const file = await open(working, isBeside ? "wx" : "w", standing ? standing.mode & 0o777 : 0o666).catch((error) => {
    throw fileFault("--output", path, "cannot be written", error);
  });
  const attempt = async (act: () => Promise<unknown>) => {
    try {
      await act();
    } catch (error) {
      const { code = "unknown" } = error as NodeJS.ErrnoException;
      throw new AppError(5000, `The products could not be written to ${path} (${code}).`, { cause: error });
    }
  };
  return {
    write: (text) => attempt(() => file.writeFile(text)),
    isAbandoned: () => false,
    finish: () =>
      attempt(async () => {
        if (isBeside) await file.sync();
        await file.close();
        if (isBeside) await rename(working, place);
      }),
    async discard() {
      await file.close().catch(() => {});
      if (isBeside) await rm(working, { force: true });
    },
  };
}

async function nothing(): Promise<void> {}

function fileFault(field: string, path: string, what: string, error?: NodeJS.ErrnoException): UsageError {
  const message = `${what}${error ? ` (${error.code ?? "unknown"})` : ""}: ${path}`;
  return new UsageError(`${field} ${message}.`, { details: [{ field, message }] });
}
