import { type FileHandle, open, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { AppError } from "../server/errors.ts";
import { UsageError } from "./usage-error.ts";

/** A new file that waits for its secret. */
export interface SecretFile {
  /** Absolute. */
  path: string;
  /** Writes the secret and a line break, and waits until both are on disk. */
  save(secret: string): Promise<void>;
  /** Removes the file again, because there is no secret after all. */
  discard(): Promise<void>;
}

/** What a file is for: the flag that named it, and the command that makes another secret. */
interface SecretFilePurpose {
  flag: string;
  again: string;
}

const appSecret: SecretFilePurpose = { flag: "--secret-file", again: "bodega key rotate <app_id>" };

/**
 * Makes the file before the secret exists, readable by its owner only, so that a secret is never made that cannot be kept.
 * @throws AppError 5302 when the file exists, UsageError when it cannot be made.
 */
export async function reserveSecretFile(given: string, { flag, again } = appSecret): Promise<SecretFile> {
  const path = resolve(given);
  const file = await createFile(path, flag);
  return {
    path,
    async save(secret) {
      try {
        await file.writeFile(`${secret}\n`);
        await file.sync();
      } catch (cause) {
        const message = `The secret could not be written to ${path}. Make a new one with: ${again}`;
        throw new AppError(5000, message, { cause });
      } finally {
        await file.close();
      }
    },
    async discard() {
      await file.close();
      await rm(path, { force: true });
    },
  };
}

async function createFile(path: string, flag: string): Promise<FileHandle> {
  try {
    return await open(path, "wx", 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") throw new AppError(5302, `The file ${path} exists already; nothing was done.`);
    const message = `cannot be created (${code ?? "unknown"}): ${path}`;
    throw new UsageError(`${flag} ${message}.`, { details: [{ field: flag, message }] });
  }
}
