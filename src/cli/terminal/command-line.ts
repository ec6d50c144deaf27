import { dirname, relative } from "node:path";
import { quoteWord } from "../../server/values/shell-quote.ts";
import { isExecutable } from "./build-info.ts";

/** The flags that name the database, as they were given. */
interface GivenFlags {
  "data-dir"?: unknown;
  "database-url"?: unknown;
}

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

let known: string | undefined;

/** How this program is called where the command was given, so that commands that are shown can be pasted. */
export function programName(): string {
  known ??= findName();
  return known;
}

function findName(): string {
  if (!isExecutable || Bun.which("bodega") === process.execPath) return "bodega";
  const below = relative(process.cwd(), process.execPath);
  return quoteWord(dirname(below) === "." ? `./${below}` : process.execPath);
}
