import { accessSync, constants, lstatSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { AppError, conflict, errnoOf, internalError } from "../../server/errors.ts";
import { type Console, info, printRecord, warn } from "../terminal/console.ts";
import { escapeControls } from "../terminal/text.ts";
import { invalidFlag } from "../terminal/usage-error.ts";

interface SecretRecord<T> {
  kind: "secret" | "password";
  secretField: keyof T & string;
  /** The text between id and secret with `-q`. */
  separator: string;
  /** The fields for people; by default those of the record. */
  show?(made: object): object;
}

/**
 * Creates a secret and delivers it once: to a new file, or to standard output. `-q` prints the first field of its
 * record, and the secret after it unless a file gets the secret. Nothing is created if the file cannot be created.
 */
export async function deliverSecret<T extends object>(
  console: Console,
  path: string | undefined,
  { kind, secretField, separator, show = (made) => made }: SecretRecord<NoInfer<T>>,
  make: () => Promise<T>,
): Promise<T> {
  const file = path === undefined ? undefined : planSecretFile(path, `--save-${kind}-to`);
  const print = (record: object) => printRecord(console, console.json ? record : show(record));
  const made = await make();
  const { [secretField]: secret, ...rest } = made;
  try {
    if (file) await file.save(String(secret));
    else if (console.quiet && !console.json) {
      await console.write(`${escapeControls(`${Object.values(made)[0]}${separator}${secret}`)}\n`);
    } else await print(made);
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause;
    throw internalError(`${cause.message} The new ${kind} is valid, but was not delivered. Make another one.`, {
      cause,
    });
  }
  if (file) {
    await print(console.json ? { ...rest, [`${kind}_file`]: file.path } : rest);
    await info(console, `The ${kind} is in ${file.path}`);
  } else if (!console.json) await warn(console, `Save this ${kind} now. It won't be shown again.`);
  return made;
}

/** Checks that a file can be created. Errors: conflict for one that exists, UsageError; `save` throws internalError. */
export function planSecretFile(given: string, flag = "--save-secret-to") {
  const path = resolve(given);
  const alreadyExists = conflict(`The file ${path} already exists.`, { remedy: "Choose another file name." });
  let exists: boolean;
  try {
    exists = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
    if (!exists) accessSync(dirname(path), constants.W_OK | constants.X_OK);
  } catch (error) {
    throw invalidFlag(flag, `cannot be created (${errnoOf(error)}): ${path}`);
  }
  if (exists) throw alreadyExists;
  const notWritten = (cause: NodeJS.ErrnoException) => {
    if (cause.code === "EEXIST") throw alreadyExists;
    throw internalError(`The secret could not be written to ${path} (${cause.code}).`, { cause });
  };
  return {
    path,
    async save(secret: string): Promise<void> {
      const file = await open(path, "wx", 0o600).catch(notWritten);
      try {
        await file.writeFile(`${secret}\n`);
        await file.sync();
      } catch (error) {
        await rm(path, { force: true });
        notWritten(error as NodeJS.ErrnoException);
      } finally {
        await file.close();
      }
    },
  };
}
