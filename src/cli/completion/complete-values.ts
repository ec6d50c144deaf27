import { existsSync } from "node:fs";
import type { OfferedName } from "../../server/admin/complete-names.ts";
import { withDatabase } from "../context/context.ts";
import { readCliConfig } from "../context/read-config.ts";
import { leadingArgs, type SharedValues } from "../framework/args.ts";
import { tokenize } from "../framework/parse-args.ts";
import { type Console, createConsole } from "../terminal/console.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Who presses Tab waits no longer. */
const timeoutMs = 3000;

/**
 * Prints what a shell can offer for the word that is being typed: a name a line, a tab, and what has it. It makes no
 * database, asks nothing, and says nothing of whatever goes wrong.
 * @param argv the kind of name, the word as far as it is typed, and the words before it on the line.
 */
export async function completeValues([kind = "", prefix = "", ...line]: string[], terminal: Terminal): Promise<void> {
  const console = createConsole(terminal, {});
  const { namespace = console.env.BODEGA_NAMESPACE || undefined, ...flags } = readLine(line, console.env.HOME);
  const offer = async () => {
    const names = await findNames(flags, console, { kind, prefix, namespace });
    await console.write(names.map(({ value, description }) => `${flatten(value)}\t${flatten(description)}\n`).join(""));
  };
  await Promise.race([offer().catch(() => {}), Bun.sleep(timeoutMs)]);
}

/**
 * The names of a kind in the database that the flags name; none where there is no database, and none is made.
 * @throws what opening a database throws.
 */
export async function findNames(
  flags: Pick<SharedValues, "data-dir" | "database-url">,
  console: Console,
  wanted: { kind: string; prefix: string; namespace: string | undefined },
): Promise<OfferedName[]> {
  const { databaseUrl, dataDir } = readCliConfig(flags, console);
  const { databaseFile } = await import("../../server/config/data-dir.ts");
  if (databaseUrl === undefined && !existsSync(databaseFile(dataDir))) return [];
  return withDatabase(flags, console, async (db) => {
    const { completeNames } = await import("../../server/admin/complete-names.ts");
    return completeNames(db, wanted);
  });
}

/** The flags of a line that say where to look; whatever else stands there is passed over. */
function readLine(line: string[], home = "~") {
  const { tokens } = tokenize(line, leadingArgs);
  const given = (name: string) =>
    tokens
      .flatMap((token) => (token.kind === "option" && token.name === name && token.value ? [token.value] : []))
      .at(-1);
  // The shell has not expanded anything yet.
  const dataDir = given("data-dir")?.replace(/^~(?=\/|$)/, () => home);
  return { namespace: given("namespace"), "data-dir": dataDir, "database-url": given("database-url") };
}

/** One line without a tab, whatever the name holds. */
function flatten(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, " ");
}
