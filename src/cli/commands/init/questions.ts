import { AppError } from "../../../server/errors.ts";
import type { Console } from "../../terminal/console.ts";
import { info } from "../../terminal/output.ts";
import { ask, streams } from "../../terminal/prompt.ts";

interface TextQuestion {
  /** Taken when nothing is typed. */
  suggestion?: string | undefined;
  /** Nothing is an answer too. */
  optional?: boolean;
  /** Throws AppError validationFailed for what is no answer, so that a rule is the service's own. */
  check?: (text: string) => unknown;
}

/** Asks for a line of text, and again until it can be taken. */
export async function askText(message: string, question: TextQuestion = {}): Promise<string> {
  const { suggestion, optional = false, check } = question;
  const validate = (text: string) => {
    if (text.trim() === "") return optional || "A value is needed.";
    return judge(() => check?.(text.trim()));
  };
  const config = { message, validate, ...(suggestion !== undefined && suggestion !== "" && { default: suggestion }) };
  return (await ask(({ input }) => input(config, streams))).trim();
}

/** One of several answers, and what a person reads of it. */
export interface Choice<T> {
  value: T;
  name: string;
}

/** Has one of a few answers chosen; the first is suggested. */
export function askChoice<T>(message: string, choices: Choice<T>[], suggestion?: T): Promise<T> {
  const config = { message, choices, ...(suggestion !== undefined && { default: suggestion }) };
  return ask(({ select }) => select(config, streams)) as Promise<T>;
}

/** Has one of many found by typing a part of it; the suggested one stands first. */
export function askSearch(message: string, choices: Choice<string>[], suggestion: string): Promise<string> {
  const first = choices.filter(({ value }) => value === suggestion);
  const ordered = [...first, ...choices.filter(({ value }) => value !== suggestion)];
  const source = (term: string | undefined) => {
    const wanted = (term ?? "").trim().toLowerCase();
    const begins = ordered.filter(({ value }) => value.toLowerCase().startsWith(wanted));
    const holds = ordered.filter((choice) => !begins.includes(choice) && choice.name.toLowerCase().includes(wanted));
    return [...begins, ...holds];
  };
  return ask(({ search }) => search({ message, source, pageSize: 7 }, streams));
}

/** A yes or no. */
export function askYesNo(message: string, suggestion: boolean): Promise<boolean> {
  return ask(({ confirm }) => confirm({ message, default: suggestion }, streams));
}

/** Says what the next questions are about. */
export async function beginPart(console: Console, text: string): Promise<void> {
  await info(console, "");
  await info(console, text);
}

/** What a check finds wrong, as a prompt takes it. */
export function judge(check: () => unknown): true | string {
  try {
    check();
    return true;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const said = error.details?.[0]?.message ?? error.message;
    return `${said.charAt(0).toUpperCase()}${said.slice(1)}.`;
  }
}
