import { breakWords } from "./wrap.ts";

/** A word of a command line, with what is quoted in it, and `\'` between two quotes. */
const word = /(?:\\.|[^\s'"\\]|'[^']*'|"[^"]*")+/g;
const ending = " \\";

/**
 * Breaks a command line between words so that it fits a terminal, and stays one line to the shell that it is pasted into.
 * @param indent what stands before each line but the first.
 */
export function wrapCommand(text: string, width: number, indent: string): string {
  return breakWords(text.match(word) ?? [], width - indent.length - ending.length).join(`${ending}\n${indent}`);
}
