import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { type FileHandle, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { AppError } from "../server/errors.ts";
import type { Io } from "./io.ts";
import { confirmAction } from "./prompt.ts";
import { UsageError } from "./usage-error.ts";

/** A file that an export goes to. */
export interface ExportFile {
  /** Absolute. */
  path: string;
  /** @throws AppError 5000 when it cannot be written, for instance to a full disk. */
  write(text: string): Promise<void>;
  /** Puts the whole file in its place. */
  finish(): Promise<void>;
  /** Removes what was written; a file that stood there before still does. */
  discard(): Promise<void>;
}

/**
 * Opens a file of `--output`. It is written beside its place, readable by its owner only, and moved there once it is
 * whole. Pipes and devices are written as they are.
 * @throws UsageError when it cannot be made, or would replace a file and nobody can be asked; CancelledError for a no.
 */
export async function openExportFile(io: Io, given: string): Promise<ExportFile> {
  const path = await realpath(given).catch(() => resolve(given));
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) throw unusable("is a folder", path);
  if (found?.isFile()) await confirmAction(io, `Replace the file ${path}?`);
  const isPlain = found === undefined || found.isFile();
  const place = isPlain ? join(dirname(path), `.${basename(path)}.${randomUUID().slice(0, 8)}.part`) : path;
  const file = await openForWriting(place, path, isPlain);
  const removePart = () => rmSync(place, { force: true });
  // ctrl-C ends the process at once.
  if (isPlain) process.once("exit", removePart);
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (cause) {
      throw new AppError(5000, `${path} could not be written (${codeOf(cause)}).`, { cause });
    }
  };
  return {
    path,
    write: (text) => attempt(() => file.writeFile(text)),
    async finish() {
      await attempt(async () => {
        if (isPlain) await file.sync();
        await file.close();
        if (isPlain) await rename(place, path);
      });
      process.off("exit", removePart);
    },
    async discard() {
      await file.close().catch(() => {});
      if (isPlain) await rm(place, { force: true });
      process.off("exit", removePart);
    },
  };
}

async function openForWriting(place: string, path: string, isPlain: boolean): Promise<FileHandle> {
  try {
    return await open(place, isPlain ? "wx" : "w", 0o600);
  } catch (error) {
    throw unusable(`cannot be created (${codeOf(error)})`, path);
  }
}

function unusable(why: string, path: string): UsageError {
  const message = `${why}: ${path}`;
  return new UsageError(`--output ${message}.`, { details: [{ field: "--output", message }] });
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "unknown";
}
