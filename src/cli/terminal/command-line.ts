import { dirname, relative } from "node:path";
import { isExecutable } from "../../server/config/own-command.ts";
import { quoteWord } from "../../server/values/shell-quote.ts";

const endsInCommand = /^(?<prose>[\s\S]*: )bodega (?<words>[^"]+)$/;

const namesDatabase = / --(?:data-dir|database-url)[ =]/;

/** Returns a function that completes a command in a remedy with the program's name and the given database flags. */
export function commandLine(args: Readonly<Record<string, unknown>>): (words: string) => string {
  const given = (["data-dir", "database-url"] as const).flatMap((name) => {
    const value = args[name];
    return typeof value === "string" ? [` --${name} '${value.replaceAll("'", "'\\''")}'`] : [];
  });
  return (words) => `${programName()} ${words}${namesDatabase.test(words) ? "" : given.join("")}`;
}

/** Splits a sentence into its prose and the command at its end. `complete` makes the command ready to paste. */
export function splitCommand(text: string, complete: (words: string) => string) {
  const { prose = text, words } = endsInCommand.exec(text)?.groups ?? {};
  return { prose, command: words === undefined ? undefined : complete(words) };
}

export function completeCommand(text: string, complete: (words: string) => string): string {
  const { prose, command } = splitCommand(text, complete);
  return prose + (command ?? "");
}

/** Returns how users start this program from the current directory: `bodega`, `./bodega`, or its full path. */
export function programName(): string {
  if (!isExecutable || Bun.which("bodega") === process.execPath) return "bodega";
  const below = relative(process.cwd(), process.execPath);
  return quoteWord(dirname(below) === "." ? `./${below}` : process.execPath);
}
