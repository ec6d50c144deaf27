import { accessSync, constants, lstatSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type AppError, conflict, internalError } from "../../server/errors.ts";
import { UsageError } from "../terminal/usage-error.ts";

/** A new file for a secret, readable by its owner only. It does not exist before `save`. */
export interface SecretFile {
  /** Absolute. */
  path: string;
  /**
   * Writes the secret and a line break, and syncs them to disk.
   * @throws conflict when the file was created meanwhile, internalError when it cannot be written.
   */
  save(secret: string): Promise<void>;
}

/**
 * Checks that a file can be created, before there is a secret for it.
 * @throws conflict when it exists, UsageError when it cannot be created.
 */
export function planSecretFile(given: string, flag = "--secret-file"): SecretFile {
  const path = resolve(given);
  let exists: boolean;
  try {
    exists = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
    if (!exists) accessSync(dirname(path), constants.W_OK | constants.X_OK);
  } catch (error) {
    const message = `cannot be created (${errorCode(error)}): ${path}`;
    throw new UsageError(`${flag} ${message}.`, { details: [{ field: flag, message }] });
  }
  if (exists) throw alreadyExists(path);
  return { path, save: (secret) => saveNew(path, `${secret}\n`) };
}

async function saveNew(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", 0o600).catch((error) => {
    throw errorCode(error) === "EEXIST" ? alreadyExists(path) : notWritten(path, error);
  });
  try {
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw notWritten(path, error);
  } finally {
    await file.close();
  }
}

function alreadyExists(path: string): AppError {
  return conflict(`The file ${path} already exists.`, { remedy: "Name another file." });
}

function notWritten(path: string, cause: unknown): AppError {
  return internalError(`The secret could not be written to ${path} (${errorCode(cause)}).`, { cause });
}

function errorCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "unknown";
}
