import { AppError, internalError } from "../../server/errors.ts";
import type { Console } from "../terminal/console.ts";
import { escapeControls } from "../terminal/escape.ts";
import { info, printRecord, warn } from "../terminal/output.ts";
import { UsageError } from "../terminal/usage-error.ts";
import { planSecretFile } from "./secret-file.ts";

/** A flag that sends a secret into a file, and the path that it was given. */
interface FileFlag {
  flag: "--secret-file" | "--password-file";
  path: string | undefined;
}

/** How the record of a new secret is printed. */
interface SecretRecord<T> {
  idField: keyof T & string;
  secretField: keyof T & string;
  /** Between id and secret with `-q`. */
  separator: string;
  /** The command that makes another secret: `key rotate app_…`. */
  renew(made: T): string;
}

/**
 * Makes a secret, then delivers it once: into a new file, or on standard output. `-q` prints its id, and the secret
 * behind it where no file takes it.
 * @throws UsageError or conflict before anything is made, where the secret could not be delivered; internalError with the
 * command that makes another one, where that fails afterwards.
 */
export async function deliverSecret<T extends object>(
  console: Console,
  { flag, path }: FileFlag,
  shape: SecretRecord<T>,
  make: () => Promise<T>,
): Promise<T> {
  const file = path === undefined ? undefined : planSecretFile(path, flag);
  if (file === undefined) requireReader(console, flag);
  const made = await make();
  const { idField, secretField, separator } = shape;
  const { [secretField]: secret, ...rest } = made;
  const command = shape.renew(made);
  if (file === undefined) {
    const line = escapeControls(`${made[idField]}${separator}${secret}`);
    const isLine = console.quiet && !console.json;
    await printOrExplain(console, command, () =>
      isLine ? console.write(`${line}\n`) : printRecord(console, made, idField),
    );
    if (!console.json) await warn(console, "Save this secret now. It won't be shown again.");
    return made;
  }
  await file.save(String(secret)).catch((error: unknown) => {
    throw notDelivered(error, command);
  });
  const fileField = flag.slice(2).replaceAll("-", "_");
  await printRecord(console, console.json ? { ...rest, [fileField]: file.path } : rest, idField);
  await info(console, `The ${fileField.replace("_file", "")} is in ${file.path}`);
  return made;
}

async function printOrExplain(console: Console, command: string, print: () => Promise<void>): Promise<void> {
  await print().catch((error: unknown) => {
    throw notDelivered(error, command);
  });
  if (!console.hasReader()) throw notDelivered(internalError("Standard output was closed."), command);
}

function notDelivered(error: unknown, command: string): unknown {
  if (!(error instanceof AppError)) return error;
  const message = `${error.message} The new secret is valid, but was not delivered.`;
  return internalError(message, { remedy: `Make another one: bodega ${command}`, cause: error });
}

/**
 * Refuses to make a secret that nobody would see.
 * @param flag writes it to a file instead.
 * @throws UsageError naming that flag.
 */
export function requireReader(console: Console, flag: string): void {
  if (!console.leadsNowhere()) return;
  throw new UsageError("Standard output is closed or /dev/null, so nobody would see the secret.", {
    hint: `Write it to a file with ${flag} <path>.`,
    details: [{ field: flag, message: "is required when standard output is closed or /dev/null" }],
  });
}
