import type { Console } from "./console.ts";
import { escapeControls } from "./escape.ts";
import { CancelledError, UsageError } from "./usage-error.ts";

const showCursor = "\u001b[?25h";
// Questions go to standard error, so that standard output carries the answer only.
export const streams = { input: process.stdin, output: process.stderr };

/** Has one of several ways chosen; what each is called by, and what a person reads of it. */
export function chooseOption(question: string, ways: Readonly<Record<string, string>>): Promise<string> {
  const choices = Object.entries(ways).map(([value, name]) => ({ value, name }));
  return ask(({ select }) => select({ message: question, choices }, streams));
}

/**
 * Asks before a dangerous command acts. `--yes` answers it.
 * @throws CancelledError for a no, UsageError naming `--yes` where nobody can be asked.
 */
export async function confirmAction(console: Console, question: string): Promise<void> {
  if (console.assumeYes) return;
  if (!console.canAsk) throw needsFlag("--yes", question);
  const agreed = await ask(({ confirm }) => confirm({ message: escapeControls(question), default: false }, streams));
  if (!agreed) throw new CancelledError();
}

/**
 * Ends a command that will ask, before it looks for anything, where nobody can answer.
 * @throws UsageError naming `--yes`.
 */
export function requireAnswer(console: Console, question: string): void {
  if (!console.assumeYes && !console.canAsk) throw needsFlag("--yes", question);
}

/**
 * Has the name of what will be destroyed typed, or given as `--confirm <name>`; `--yes` is not enough.
 * @throws UsageError when the name differs, or where nobody can be asked; CancelledError for ctrl-C.
 */
export async function confirmName(
  console: Console,
  warning: string,
  name: string,
  given: string | undefined,
): Promise<void> {
  if (given === undefined && !console.canAsk) throw needsFlag(`--confirm ${name}`, warning);
  const typed = given ?? (await askName(console, warning, name));
  if (typed === name) return;
  throw new UsageError(`The name given does not match ${JSON.stringify(name)}; nothing was done.`, {
    details: [{ field: "--confirm", message: `must be ${name}` }],
  });
}

async function askName(console: Console, warning: string, name: string): Promise<string> {
  await console.writeError(`${escapeControls(warning)}\n`);
  const message = `Type ${escapeControls(name)} to go on:`;
  return (await ask(({ input }) => input({ message }, streams))).trim();
}

/**
 * Asks for a new password, twice, without showing it.
 * @param check says what is wrong with one, so that a weak one is not typed twice for nothing.
 * @throws CancelledError for ctrl-C.
 */
export async function askNewPassword(check: (password: string) => true | string): Promise<string> {
  for (;;) {
    const first = await askHidden("New password", check);
    if ((await askHidden("The same again")) === first) return first;
    process.stderr.write("The two are not the same.\n");
  }
}

/**
 * Asks for a line that is not shown, and again from the start until it can be taken: what nobody sees cannot be mended.
 * Asterisks tell that keys are taken.
 */
export async function askHidden(
  message: string,
  validate: (text: string) => true | string = () => true,
): Promise<string> {
  for (;;) {
    // A key that showed it would leave it in the terminal's memory.
    const text = await ask(({ password }) => password({ message, mask: true, toggleMask: false }, streams));
    const verdict = text === "" ? "A value is needed." : validate(text);
    if (verdict === true) return text;
    process.stderr.write(`${verdict}\n`);
  }
}

function needsFlag(flag: string, question: string): UsageError {
  const field = flag.split(" ")[0] as string;
  return new UsageError(`This needs ${flag} where nobody can be asked.`, {
    hint: question,
    details: [{ field, message: "is required without a terminal" }],
  });
}

/**
 * Asks one question of the prompts' library, which is loaded with the first.
 * @throws CancelledError for ctrl-C and ctrl-D.
 */
export async function ask<T>(prompt: (prompts: typeof import("@inquirer/prompts")) => Promise<T>): Promise<T> {
  // ctrl-D closes the input without an answer: nothing is left to wait for, and the process would end as if all were done.
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
    if (error instanceof Error && error.name === "ExitPromptError") throw new CancelledError();
    throw error;
  } finally {
    process.off("beforeExit", abandon);
  }
}
