import { quoteWord } from "../../server/values/shell-quote.ts";
import type { sharedArgs } from "../framework/args.ts";
import { programName } from "./program-name.ts";

/** What a command line was given of the flags of every command. */
type GivenFlags = Partial<Record<keyof typeof sharedArgs, unknown>>;

/** A sentence that ends in a command: `To see it: bodega key show app_…`. */
const endsInCommand = /^(?<prose>[\s\S]*: )bodega (?<words>[^"]+)$/;

const namesDatabase = / --(?:data-dir|database-url)[ =]/;

/** Command lines for remedies, with the flags that say which database is meant, unless these stand there already. */
export function commandLine(args: GivenFlags): (words: string) => string {
  const given = (["data-dir", "database-url"] as const).flatMap((name) => {
    const value = args[name];
    return typeof value === "string" ? [` --${name} '${value.replaceAll("'", "'\\''")}'`] : [];
  });
  return (words) => `${programName()} ${words}${namesDatabase.test(words) ? "" : given.join("")}`;
}

/** A sentence in two: its prose, and the command that it ends in, completed so that it works when it is pasted. */
export function splitCommand(
  text: string,
  complete: (words: string) => string,
): { prose: string; command: string | undefined } {
  const { prose = text, words } = endsInCommand.exec(text)?.groups ?? {};
  return { prose, command: words === undefined ? undefined : complete(words) };
}

/** The same in one piece. */
export function completeCommand(text: string, complete: (words: string) => string): string {
  const { prose, command } = splitCommand(text, complete);
  return prose + (command ?? "");
}

/** Words as arguments of a command line that is shown: what a shell would change is quoted. */
export function quoteWords(...words: readonly string[]): string {
  return words.map(quoteWord).join(" ");
}
