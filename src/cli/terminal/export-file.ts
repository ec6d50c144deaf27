import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { type FileHandle, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { internalError } from "../../server/errors.ts";
import type { Console } from "./console.ts";
import { escapeJson } from "./escape.ts";
import { confirmAction } from "./prompt.ts";
import { UsageError } from "./usage-error.ts";

/** `--output` of a command that exports. */
export const outputArg = {
  type: "string",
  alias: "o",
  valueHint: "file",
  default: "-",
  completes: "file",
  description: "File to write; - is standard output",
} as const;

const terminatedExitCode = 143;

/** The destination of an export: a file, or standard output. */
export interface ExportTarget {
  /** The file, absolute; undefined for standard output. */
  path: string | undefined;
  /** Whether the export appears on the terminal, where no progress line should be drawn. */
  isOnScreen: boolean;
  /** @throws internalError when it cannot be written, for instance to a full disk. */
  write(text: string): Promise<void>;
  /** Whether nobody reads any more. */
  isAbandoned(): boolean;
  /** Puts the whole file in its place. */
  finish(): Promise<void>;
  /** Removes what was written; a file that stood there before still does. */
  discard(): Promise<void>;
}

/**
 * Opens what `--output` names; `-` is standard output. A file is written beside its place and moved there once it is
 * whole; pipes and devices are written as they are.
 * @param mode who may read a file that is new; one that is replaced keeps its own.
 * @throws UsageError when it cannot be made, or would replace a file and nobody can be asked; CancelledError for a no.
 */
export function openExport(console: Console, given: string, { mode = 0o666 } = {}): Promise<ExportTarget> {
  return given === "-" ? Promise.resolve(standardOutput(console)) : openFile(console, given, mode);
}

function standardOutput(console: Console): ExportTarget {
  const nothing = async () => {};
  return {
    path: undefined,
    isOnScreen: console.stdoutIsTerminal,
    // Nobody's text can act on the terminal.
    write: (text) => console.write(console.stdoutIsTerminal ? escapeJson(text) : text),
    isAbandoned: () => !console.hasReader(),
    finish: nothing,
    discard: nothing,
  };
}

async function openFile(console: Console, given: string, mode: number): Promise<ExportTarget> {
  const path = await realpath(given).catch(() => resolve(given));
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) throw unusable("is a directory", path);
  if (found?.isFile()) await confirmAction(console, `Replace the file ${path}?`);
  const isPlain = found === undefined || found.isFile();
  const place = isPlain ? join(dirname(path), `.${basename(path)}.${randomUUID().slice(0, 8)}.part`) : path;
  const file = await openForWriting(place, path, isPlain ? "wx" : "w", found?.isFile() ? found.mode & 0o777 : mode);
  const removePart = () => rmSync(place, { force: true });
  // Without a listener, SIGTERM ends the process without its exit handlers.
  const terminate = () => process.exit(terminatedExitCode);
  if (isPlain) process.once("exit", removePart).once("SIGTERM", terminate);
  const forget = () => void process.off("exit", removePart).off("SIGTERM", terminate);
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (cause) {
      throw internalError(`${path} could not be written (${codeOf(cause)}).`, { cause });
    }
  };
  return {
    path,
    isOnScreen: false,
    isAbandoned: () => false,
    write: (text) => attempt(() => file.writeFile(text)),
    async finish() {
      await attempt(async () => {
        if (isPlain) await file.sync();
        await file.close();
        if (isPlain) await rename(place, path);
      });
      forget();
    },
    async discard() {
      await file.close().catch(() => {});
      if (isPlain) await rm(place, { force: true });
      forget();
    },
  };
}

async function openForWriting(place: string, path: string, flags: "w" | "wx", mode: number): Promise<FileHandle> {
  try {
    return await open(place, flags, mode);
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
