import { AppError, malformedRequest } from "../../server/errors.ts";
import { CancelledError, type Console, fitLines, invalidFlag } from "./console.ts";
import { escapeControls } from "./text.ts";

/** Asks before a dangerous action, unless `--yes` is given. Errors: malformedRequest without a terminal and `--yes`. */
export async function confirmAction(console: Console, question: string): Promise<void> {
  if (console.assumeYes) return;
  if (!console.canAsk) throw invalidFlag("--yes", "is required without a terminal", question);
  if (!(await askYesNo(escapeControls(question), false))) throw new CancelledError();
}

/** Asks the user to type `name` before something is deleted. `--confirm` can give the name; `--yes` is not enough. */
export async function confirmName(console: Console, warning: string, name: string, given: string | undefined) {
  let typed = given;
  if (typed === undefined) {
    if (!console.canAsk) throw invalidFlag("--confirm", `${name} is required without a terminal`, warning);
    await console.writeError(`${escapeControls(warning)}\n`);
    typed = await askText(`Type ${escapeControls(name)} to continue:`, { optional: true });
  }
  if (typed === name) return;
  throw malformedRequest(`The name does not match ${JSON.stringify(name)}. Nothing was changed.`);
}

/** Returns true for a valid answer, otherwise a message. Ignores unexpected errors: the command will report them. */
async function judgeAnswer(check: () => unknown): Promise<true | string> {
  try {
    await check();
    return true;
  } catch (error) {
    if (!(error instanceof AppError) || error.exit === 1) return true;
    const message = error.details?.[0]?.message ?? error.message;
    return `${message.charAt(0).toUpperCase()}${message.slice(1).replace(/\.$/, "")}.`;
  }
}

interface TextQuestion {
  suggestion?: string | undefined;
  optional?: boolean;
  /** A function of a service that throws AppError for a wrong answer. */
  check?: (text: string) => unknown;
}

export async function askText(message: string, { suggestion, optional = false, check }: TextQuestion = {}) {
  const validate = (text: string) => {
    if (text.trim() === "") return optional || "A value is required.";
    return judgeAnswer(() => check?.(text.trim()));
  };
  const question = { message: fit(message), validate, ...(suggestion && { default: suggestion }) };
  return (await ask(({ input }, context) => input(question, context))).trim();
}

export function askChoice<T>(message: string, choices: readonly { value: T; name: string }[]): Promise<T> {
  return ask(({ select }, context) => select({ message: fit(message), choices }, context)) as Promise<T>;
}

export function askYesNo(message: string, suggestion: boolean): Promise<boolean> {
  return ask(({ confirm }, context) => confirm({ message: fit(message), default: suggestion }, context));
}

/** Asks twice for a new password. Returns null if the user types none. `check` throws AppError for a bad password. */
export async function askNewPassword(needs: string, check: (password: string) => void): Promise<string | null> {
  hint(`A password needs ${needs}. Leave it empty to generate one and show it once.`);
  for (;;) {
    const first = await askHidden("New password");
    if (first === "") return null;
    const verdict = await judgeAnswer(() => check(first));
    if (verdict !== true) hint(verdict);
    else if ((await askHidden("Repeat the password")) === first) return first;
    else hint("The passwords differ.");
  }
}

function askHidden(message: string): Promise<string> {
  // The library's shortcut for showing the password is off, because a shown password would stay on the screen.
  return ask(({ password }, context) => password({ message, mask: true, toggleMask: false }, context));
}

/** Wraps a question between words, because the library would break lines within words. */
function fit(message: string): string {
  return fitLines({ columns: process.stderr.columns }, `? ${message}`).slice(2);
}

function hint(text: string): void {
  process.stderr.write(`${fitLines({ columns: process.stderr.columns }, text)}\n`);
}

async function ask<T>(
  prompt: (prompts: typeof import("@inquirer/prompts"), context: object) => Promise<T>,
): Promise<T> {
  // Ctrl-D must abort the question. By default, the library waits for input forever, and the process ends silently.
  const abandoned = new AbortController();
  const abandon = () => abandoned.abort();
  process.once("beforeExit", abandon);
  try {
    // Loading the library is slow, and most commands ask nothing, so it is loaded only here.
    const prompts = await import("@inquirer/prompts");
    // Questions go to standard error, so that standard output contains only the answer.
    return await prompt(prompts, { input: process.stdin, output: process.stderr, signal: abandoned.signal });
  } catch (error) {
    if (error instanceof Error && /^(?:Exit|Abort)PromptError$/.test(error.name)) throw new CancelledError();
    throw error;
  } finally {
    process.off("beforeExit", abandon);
  }
}
