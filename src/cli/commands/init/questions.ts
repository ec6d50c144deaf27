import type { Console } from "../../terminal/console.ts";
import { info } from "../../terminal/output.ts";
import { ask, judgeAnswer, streams } from "../../terminal/prompt.ts";

interface TextQuestion {
  /** The answer when nothing is typed. */
  suggestion?: string | undefined;
  /** An empty answer is accepted. */
  optional?: boolean;
  /** Throws AppError for a wrong answer, so that the rule is the service's own. */
  check?: (text: string) => unknown;
}

/** Asks for a line of text until it is valid. */
export async function askText(message: string, question: TextQuestion = {}): Promise<string> {
  const { suggestion, optional = false, check } = question;
  const validate = (text: string) => {
    if (text.trim() === "") return optional || "A value is required.";
    return judgeAnswer(() => check?.(text.trim()));
  };
  const config = { message, validate, ...(suggestion !== undefined && suggestion !== "" && { default: suggestion }) };
  return (await ask(({ input }) => input(config, streams))).trim();
}

/** An answer to choose, and its text. */
export interface Choice<T> {
  value: T;
  name: string;
}

/** Asks to choose one of a few answers. The first is preselected unless another is suggested. */
export function askChoice<T>(message: string, choices: Choice<T>[], suggestion?: T): Promise<T> {
  const config = { message, choices, ...(suggestion !== undefined && { default: suggestion }) };
  return ask(({ select }) => select(config, streams)) as Promise<T>;
}

/** Asks to choose one of many answers by typing a part of it. The suggested one is listed first. */
export function askSearch(message: string, choices: Choice<string>[], suggestion: string): Promise<string> {
  const ordered = choices.toSorted((a, b) => Number(b.value === suggestion) - Number(a.value === suggestion));
  const source = (term = "") => {
    const wanted = term.trim().toLowerCase();
    const rank = ({ value, name }: Choice<string>) =>
      value.toLowerCase().startsWith(wanted) ? 0 : name.toLowerCase().includes(wanted) ? 1 : 2;
    return ordered.filter((choice) => rank(choice) < 2).toSorted((a, b) => rank(a) - rank(b));
  };
  return ask(({ search }) => search({ message, source, pageSize: 7 }, streams));
}

export function askYesNo(message: string, suggestion: boolean): Promise<boolean> {
  return ask(({ confirm }) => confirm({ message, default: suggestion }, streams));
}

/** Prints one sentence above the next questions. */
export async function introduce(console: Console, text: string): Promise<void> {
  await info(console, "");
  await info(console, text);
}
