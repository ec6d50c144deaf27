import { accessSync, constants, lstatSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { AppError, conflict, errnoOf, internalError } from "../../server/errors.ts";
import type { Console } from "../terminal/console.ts";
import { escapeControls } from "../terminal/escape.ts";
import { info, printRecord, warn } from "../terminal/output.ts";
import { invalidFlag, UsageError } from "../terminal/usage-error.ts";

interface SecretRecord<T> {
  flag: "--save-secret-to" | "--save-password-to";
  secretField: keyof T & string;
  /** Between id and secret with `-q`. */
  separator: string;
  renew(made: T): string;
  /** The fields for people; without it, those of the record. */
  show?(made: object): object;
}

/**
 * Makes a secret, then delivers it once: into a new file, or on standard output. `-q` prints its id, and the secret
 * after it unless a file gets the secret. Nothing is made if it could not be delivered; if delivery fails afterwards,
 * the error names the command that makes another one.
 */
export async function deliverSecret<T extends object>(
  console: Console,
  path: string | undefined,
  { flag, secretField, separator, renew, show = (made) => made }: SecretRecord<NoInfer<T>>,
  make: () => Promise<T>,
): Promise<T> {
  const file = path === undefined ? undefined : planSecretFile(path, flag);
  if (file === undefined) requireReader(console, flag);
  const print = (record: object) => printRecord(console, console.json ? record : show(record));
  const made = await make();
  const { [secretField]: secret, ...rest } = made;
  const notDelivered = (error: unknown) => {
    if (!(error instanceof AppError)) throw error;
    const message = `${error.message} The new secret is valid, but was not delivered.`;
    throw internalError(message, { remedy: `Create another one: bodega ${renew(made)}`, cause: error });
  };
  if (file === undefined) {
    const line = escapeControls(`${Object.values(made)[0]}${separator}${secret}`);
    const isLine = console.quiet && !console.json;
    await (isLine ? console.write(`${line}\n`) : print(made)).catch(notDelivered);
    if (!console.hasReader()) notDelivered(internalError("Standard output was closed."));
    if (!console.json) await warn(console, "Save this secret now. It won't be shown again.");
    return made;
  }
  await file.save(String(secret)).catch(notDelivered);
  const kind = flag === "--save-secret-to" ? "secret" : "password";
  await print(console.json ? { ...rest, [`${kind}_file`]: file.path } : rest);
  await info(console, `The ${kind} is in ${file.path}`);
  return made;
}

/** Refuses to make a secret that nobody would see. The error names the flag that writes it to a file, if there is one. */
export function requireReader(console: Console, flag?: string): void {
  if (!console.leadsNowhere()) return;
  const details = flag && [{ field: flag, message: "is required when standard output is closed or /dev/null" }];
  throw new UsageError("Standard output is closed or /dev/null, so nobody would see the secret.", {
    ...(flag && { hint: `Write it to a file with ${flag} <file>.` }),
    ...(details && { details }),
  });
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
