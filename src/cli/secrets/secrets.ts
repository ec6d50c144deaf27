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
  "password-stdin": {
    type: "boolean",
    field: "password",
    description: "Read the user's password from standard input, as one line",
  },
  "password-file": fileArg("Read the user's password from this file, as one line", { field: "password" }),
  "random-password": { type: "boolean", description: "Generate a password, and show it once" },
  "save-password-to": fileArg("Generate a password, and write it to this new file (mode 0600) instead of printing it"),
} as const satisfies CommandArgs;

/** Groups of flags that exclude each other. The two flags that generate a password do not, so there are two groups. */
export const passwordGroups = ["random-password", "save-password-to"].map((generates) => {
  return ["password-stdin", "password-file", "no-password", generates];
});

type PasswordChoice = ArgValues<typeof passwordFlags>;

export interface NewPassword {
  password: string;
  isRandom: boolean;
}

/** Reads, generates or asks for a new password. The error for a missing one also names the flags in `others`. */
export async function resolvePassword(
  args: PasswordChoice,
  console: Console,
  others: readonly string[] = [],
): Promise<NewPassword> {
  const given = await readPassword(args, console);
  if (given !== undefined || console.canAsk) return given ?? askStrongPassword();
  const ways = ["--password-stdin", "--password-file", "--random-password", "--save-password-to", ...others];
  throw malformedRequest(`Missing ${ways.slice(0, -1).join(", ")} or ${ways.at(-1)}.`, {
    details: [{ field: "--password-stdin", message: "or another one of these is required without a terminal" }],
  });
}

/** Returns the password that flags give or generate; undefined without such flags. */
export async function readPassword(args: PasswordChoice, console: Console): Promise<NewPassword | undefined> {
  if (args["random-password"] || args["save-password-to"] !== undefined) {
    return { password: makePassword(), isRandom: true };
  }
  const file = args["password-file"];
  if (file !== undefined) return { password: readSecretFile(file, "--password-file"), isRandom: false };
  if (!args["password-stdin"]) return undefined;
  return { password: await readSecretLine(console, "--password-stdin"), isRandom: false };
}

/** Reads one line of standard input, without its line break. Refuses a terminal, which would show the typed secret. */
async function readSecretLine(console: Console, flag: string): Promise<string> {
  if (console.stdinIsTerminal) throw invalidFlag(flag, "needs a pipe or a file on standard input");
  const line = withoutBreak(await console.readInput(maxBytes));
  if (line === "") throw invalidFlag(flag, "needs a line on standard input, but standard input is empty");
  if (/[\r\n]/.test(line)) throw invalidFlag(flag, "needs exactly one line on standard input");
  return line;
}

export function readSecretFile(path: string, flag: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw invalidFlag(flag, `cannot be read (${errnoOf(error)}): ${path}`);
  }
  const line = withoutBreak(bytes.toString());
  if (line === "") throw invalidFlag(flag, `is empty: ${path}`);
  if (!isUtf8(bytes) || /[\r\n]/.test(line)) throw invalidFlag(flag, `must be one line of text: ${path}`);
  return line;
}

function withoutBreak(text: string): string {
  return text.replace(/\r?\n$/, "");
}

export async function askStrongPassword(): Promise<NewPassword> {
  const { passwordNeeds, requireStrongPassword } = await import("../../server/modules/passwords/password-policy.ts");
  const { askNewPassword } = await import("../terminal/prompt.ts");
  const typed = await askNewPassword(passwordNeeds, (password) => requireStrongPassword("password", password));
  return { password: typed ?? makePassword(), isRandom: typed === null };
}

/** Generates a password that satisfies the policy (specification, section 8): 145 random bits, in groups of five. */
function makePassword(): string {
  for (;;) {
    const characters = Array.from({ length: 25 }, () => letters[randomInt(letters.length)]).join("");
    const password = characters.replaceAll(/.{5}(?=.)/g, "$&-");
    if (/[a-z]/.test(password) && /[A-Z]/.test(password) && /\d/.test(password)) return password;
  }
}

interface SecretRecord<T> {
  kind: "secret" | "password";
  secretField: keyof T & string;
  separator: string;
}

/**
 * Creates a secret and delivers it once: to a new file, or to standard output. With `-q`, prints the record's first
 * field, and the secret if there is no file. If the file cannot be created, no secret is created.
 */
export async function deliverSecret<T extends object>(
  console: Console,
  path: string | undefined,
  { kind, secretField, separator }: SecretRecord<NoInfer<T>>,
  make: () => Promise<T>,
): Promise<T> {
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
    throw internalError(`${cause.message} The new ${kind} is valid, but was not delivered. Make another one.`, {
      cause,
    });
  }
  if (file) {
    await printRecord(console, console.json ? { ...rest, [`${kind}_file`]: file.path } : rest);
    await info(console, `The ${kind} is in ${file.path}`);
  } else if (!console.json) await warn(console, `Save this ${kind} now. It won't be shown again.`);
  return made;
}

/** Checks that a file can be created. Errors: conflict if it exists, malformedRequest; from `save`, internalError. */
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
