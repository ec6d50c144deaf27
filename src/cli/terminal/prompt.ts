import { AppError } from "../../server/errors.ts";
import type { Console } from "./console.ts";
import { escapeControls } from "./escape.ts";
import { CancelledError, UsageError } from "./usage-error.ts";

const showCursor = "\u001b[?25h";
// Questions go to standard error, so that standard output carries the answer only.
export const streams = { input: process.stdin, output: process.stderr };

/**
 * Asks before a dangerous command acts. `--yes` answers it.
 * @param signal ends the question.
 * @throws CancelledError for a no, UsageError naming `--yes` when it cannot ask.
 */
export async function confirmAction(console: Console, question: string, signal?: AbortSignal): Promise<void> {
  requireAnswer(console, question);
  if (console.assumeYes) return;
  const prompt = { message: escapeControls(question), default: false };
  const agreed = await ask(({ confirm }) => confirm(prompt, { ...streams, ...(signal && { signal }) }));
  if (!agreed) throw new CancelledError();
}

/**
 * Refuses a command that will ask for confirmation if there is no terminal, before the command reads anything.
 * @throws UsageError naming `--yes`.
 */
export function requireAnswer(console: Console, question: string): void {
  if (!console.assumeYes && !console.canAsk) throw needsFlag("--yes", question);
}

/**
 * Asks to type the name of the thing that will be deleted, or uses `--confirm <name>`; `--yes` is not enough.
 * @throws UsageError when the name differs or it cannot ask; CancelledError for ctrl-C.
 */
export async function confirmName(
  console: Console,
  warning: string,
  name: string,
  given: string | undefined,
): Promise<void> {
  let typed = given;
  if (typed === undefined) {
    if (!console.canAsk) throw needsFlag(`--confirm ${name}`, warning);
    await console.writeError(`${escapeControls(warning)}\n`);
    const message = `Type ${escapeControls(name)} to continue:`;
    typed = (await ask(({ input }) => input({ message }, streams))).trim();
  }
  if (typed === name) return;
  throw new UsageError(`The name does not match ${JSON.stringify(name)}. Nothing was changed.`, {
    details: [{ field: "--confirm", message: `must be ${name}` }],
  });
}

/** Runs the check of an answer. Returns true, or the message of its AppError as a prompt shows it. */
export function judgeAnswer(check: () => unknown): true | string {
  try {
    check();
    return true;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const message = error.details?.[0]?.message ?? error.message;
    return `${message.charAt(0).toUpperCase()}${message.slice(1).replace(/\.$/, "")}.`;
  }
}

/**
 * Asks for a new password, twice, without showing it, after saying what it needs.
 * @param check throws AppError for a refused password, before it is typed a second time.
 * @throws CancelledError for ctrl-C.
 */
export async function askNewPassword(needs: string, check: (password: string) => void): Promise<string> {
  process.stderr.write(`A password needs ${needs}.\n`);
  for (;;) {
    const first = await askHidden("New password", (text) => judgeAnswer(() => check(text)));
    if ((await askHidden("Repeat the password")) === first) return first;
    process.stderr.write("The passwords differ.\n");
  }
}

/**
 * Asks for a line that is shown as asterisks, and again from the start until it is valid: a hidden line cannot be edited.
 */
export async function askHidden(
  message: string,
  validate: (text: string) => true | string = () => true,
): Promise<string> {
  for (;;) {
    // A key that shows the text would leave it in the scrollback.
    const text = await ask(({ password }) => password({ message, mask: true, toggleMask: false }, streams));
    const verdict = text === "" ? "A value is required." : validate(text);
    if (verdict === true) return text;
    process.stderr.write(`${verdict}\n`);
  }
}

function needsFlag(flag: string, question: string): UsageError {
  const field = flag.split(" ")[0] as string;
  return new UsageError(`This command needs ${flag} without a terminal.`, {
    hint: question,
    details: [{ field, message: "is required without a terminal" }],
  });
}

/**
 * Asks one question. The library of prompts is loaded with the first.
 * @throws CancelledError for ctrl-C, ctrl-D and an aborted signal.
 */
export async function ask<T>(prompt: (prompts: typeof import("@inquirer/prompts")) => Promise<T>): Promise<T> {
  // ctrl-D closes the input without an answer, and the process would end with exit code 0.
  const { promise: abandoned, reject } = Promise.withResolvers<never>();
  const abandon = () => {
    process.stdin.setRawMode?.(false);
    process.stderr.write(`\n${showCursor}`);
    reject(new CancelledError());
  };
  process.once("beforeExit", abandon);
  try {
    return await Promise.race([prompt(await import("@inquirer/prompts")), abandoned]);
  } catch (error) {
    if (error instanceof Error && /^(?:Exit|Abort)PromptError$/.test(error.name)) throw new CancelledError();
    throw error;
  } finally {
    process.off("beforeExit", abandon);
  }
}
