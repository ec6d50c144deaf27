import { randomBytes } from "node:crypto";
import { accessSync, constants, lstatSync } from "node:fs";
import { link, open, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { AppError, conflict, internalError } from "../../server/errors.ts";
import { UsageError } from "../framework/usage-error.ts";

/** A new file for a secret. There is nothing of it before `save`. */
export interface SecretFile {
  /** Absolute. */
  path: string;
  /**
   * Writes the secret and a line break. The file gets its name when both are on disk, so that it is whole or not there.
   * @throws conflict when somebody else has made it meanwhile, internalError when it cannot be written.
   */
  save(secret: string): Promise<void>;
  /** Removes what was saved, because there is no such secret after all. */
  discard(): Promise<void>;
}

/**
 * Looks whether a file can be made where a flag names one, before there is a secret for it.
 * @throws conflict when it exists, UsageError when it cannot be made.
 */
export function planSecretFile(given: string, flag = "--secret-file"): SecretFile {
  const path = resolve(given);
  requireRoom(path, flag);
  let isSaved = false;
  return {
    path,
    async save(secret) {
      await saveWhole(path, `${secret}\n`);
      isSaved = true;
    },
    async discard() {
      if (isSaved) await rm(path, { force: true });
      isSaved = false;
    },
  };
}

function requireRoom(path: string, flag: string): void {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) throw standsAlready(path);
    accessSync(dirname(path), constants.W_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof AppError) throw error;
    const message = `cannot be created (${codeOf(error)}): ${path}`;
    throw new UsageError(`${flag} ${message}.`, { details: [{ field: flag, message }] });
  }
}

/** Readable by its owner only, from its first byte on. */
async function saveWhole(path: string, text: string): Promise<void> {
  const partial = join(dirname(path), `.${randomBytes(8).toString("hex")}.part`);
  try {
    const file = await open(partial, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await giveName(partial, path);
    await syncFolder(dirname(path));
  } catch (error) {
    if (error instanceof AppError) throw error;
    const message = `The secret could not be written to ${path} (${codeOf(error)}); nothing was done.`;
    throw internalError(message, { cause: error });
  } finally {
    await rm(partial, { force: true });
  }
}

async function giveName(partial: string, path: string): Promise<void> {
  try {
    await link(partial, path);
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw standsAlready(path);
    // A memory card knows no second name for a file; there the check of a moment ago has to do.
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(codeOf(error))) throw error;
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) throw standsAlready(path);
    await rename(partial, path);
  }
}

/** Without this the name itself may be lost with the power. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r").catch(() => undefined);
  // One that may be written and not read, or a file system that syncs no folders.
  await folder?.sync().catch(() => {});
  await folder?.close();
}

function standsAlready(path: string): AppError {
  return conflict(`The file ${path} exists already; nothing was done.`, {
    remedy: "Name another. A command that was killed may have left it, with a secret that never came to be valid.",
  });
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "unknown";
}
