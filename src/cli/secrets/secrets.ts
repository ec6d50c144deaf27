import { isUtf8 } from "node:buffer";
import { randomInt } from "node:crypto";
import { accessSync, constants, lstatSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { AppError, conflict, errnoOf, internalError, malformedRequest } from "../../server/errors.ts";
import { type ArgValues, type CommandArgs, fileArg } from "../framework/args.ts";
import { type Console, info, invalidFlag, printRecord, warn } from "../terminal/console.ts";
import { escapeControls } from "../terminal/text.ts";

const maxBytes = 4096;
// The alphabet omits characters that look alike: 0 O o, 1 l I.
const letters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";

export const passwordNote =
  "A password needs at least 16 characters with a lowercase letter, an uppercase letter, a digit and a special character, " +
  "and must not be a common one. At a terminal, it is not shown while you type. If you type nothing, a password is generated.";

export const passwordFlags = {
  "password-stdin": { type: "boolean", field: "password", description: "Read the password from standard input" },
  "password-file": fileArg("Read the password from this file, which has one line", { field: "password" }),
  "random-password": { type: "boolean", description: "Generate a password, and show it once" },
  "save-password-to": fileArg("Generate a password, and write it to this new file (mode 0600) instead of printing it"),
} as const satisfies CommandArgs;

/** Groups of flags that exclude each other. The two flags that generate a password can be combined. */
export const passwordGroups = ["random-password", "save-password-to"].map((generates) => {
  return ["password-stdin", "password-file", "no-password", generates];
});

type PasswordChoice = ArgValues<typeof passwordFlags>;

type NewPassword = { password: string; isRandom: boolean };

/** Reads, generates or asks for a new password. */
export async function resolvePassword(args: PasswordChoice, console: Console): Promise<NewPassword> {
  const given = await readPassword(args, console);
  if (given !== undefined || console.canAsk) return given ?? askStrongPassword();
  throw malformedRequest("Missing --password-stdin, --password-file, --random-password or --save-password-to.", {
    details: [{ field: "--password-stdin", message: "or one of the other flags is required without a terminal" }],
  });
}

/** Returns the password that flags give or generate; undefined without such flags. */
export async function readPassword(args: PasswordChoice, console: Console): Promise<NewPassword | undefined> {
  if (args["random-password"] || args["save-password-to"] !== undefined) {
    return { password: makePassword(), isRandom: true };
  }
  const file = args["password-file"];
  if (file !== undefined) return { password: readSecretFile(file, "--password-file"), isRandom: false };
  const flag = "--password-stdin";
  if (!args["password-stdin"]) return undefined;
  // A terminal would show the typed password.
  if (console.stdinIsTerminal) throw invalidFlag(flag, "needs a pipe or a file on standard input");
  return { password: requireLine(flag, await console.readInput(maxBytes), "standard input"), isRandom: false };
}

export function readSecretFile(path: string, flag: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw invalidFlag(flag, `cannot be read (${errnoOf(error)}): ${path}`);
  }
  if (!isUtf8(bytes)) throw invalidFlag(flag, `must be one line of text: ${path}`);
  return requireLine(flag, bytes.toString(), path);
}

/** Returns the only line of a text, without its line break. */
function requireLine(flag: string, text: string, source: string): string {
  const line = text.replace(/\r?\n$/, "");
  if (line === "") throw invalidFlag(flag, `needs one line of text, but ${source} is empty`);
  if (/[\r\n]/.test(line)) throw invalidFlag(flag, `must be one line of text: ${source}`);
  return line;
}

export async function askStrongPassword(): Promise<NewPassword> {
  const { passwordNeeds, requireStrongPassword } = await import("../../server/modules/passwords/password-policy.ts");
  const { askNewPassword } = await import("../terminal/prompt.ts");
  const typed = await askNewPassword(passwordNeeds, (password) => requireStrongPassword("password", password));
  return { password: typed ?? makePassword(), isRandom: typed === null };
}

/** Generates a password of 145 random bits, in groups of five characters. It satisfies section 8 of the specification. */
function makePassword(): string {
  for (;;) {
    const characters = Array.from({ length: 25 }, () => letters[randomInt(letters.length)]).join("");
    const password = characters.replaceAll(/.{5}(?=.)/g, "$&-");
    if (/[a-z]/.test(password) && /[A-Z]/.test(password) && /\d/.test(password)) return password;
  }
}

/**
 * Creates a secret and delivers it once: to a new file, or to standard output. With `-q`, prints the record's first
 * field, and without a file also `separator` and the secret. If the file cannot be created, no secret is created.
 */
export async function deliverSecret<T extends object>(
  console: Console,
  path: string | undefined,
  { secretField, separator = ":" }: { secretField: keyof NoInfer<T> & string; separator?: string },
  make: () => Promise<T>,
): Promise<T> {
  const kind = secretField === "password" ? "password" : "secret";
  const file = path === undefined ? undefined : planSecretFile(path, `--save-${kind}-to`);
  const made = await make();
  const { [secretField]: secret, ...rest } = made;
  try {
    if (file) await file.save(String(secret));
    else if (console.quiet && !console.json) {
      await console.write(`${escapeControls(`${Object.values(made)[0]}${separator}${secret}`)}\n`);
    } else await printRecord(console, made);
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause;
    const lost = `The new ${kind} is valid, but was not delivered. Make another one.`;
    throw internalError(`${cause.message} ${lost}`, { cause });
  }
  if (file) {
    await printRecord(console, console.json ? { ...rest, [`${kind}_file`]: file.path } : rest);
    await info(console, `The ${kind} is in ${file.path}`);
  } else if (!console.json) await warn(console, `Save this ${kind} now. It won't be shown again.`);
  return made;
}

/** Checks that a file can be created, and returns `save`, which writes a secret to it. Errors: conflict if it exists. */
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
  return {
    path,
    async save(secret: string): Promise<void> {
      try {
        await writeFile(path, `${secret}\n`, { flag: "wx", mode: 0o600, flush: true });
      } catch (cause) {
        if (errnoOf(cause) === "EEXIST") throw alreadyExists;
        await rm(path, { force: true });
        throw internalError(`The secret could not be written to ${path} (${errnoOf(cause)}).`, { cause });
      }
    },
  };
}
