import { dirname, relative } from "node:path";
import { quoteWord } from "../../server/values/shell-quote.ts";
import { isExecutable } from "./build-info.ts";

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
