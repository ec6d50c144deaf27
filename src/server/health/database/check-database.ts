import { existsSync } from "node:fs";
import type { Config } from "../../config/config.ts";
import { databaseFile, refuseStandby } from "../../config/data-dir.ts";
import { type CommandLine, damageRemedy, nameDatabase } from "../../db/failure.ts";
import { describeKeptWals } from "../../db/local/kept-wal.ts";
import { notFound } from "../../errors.ts";
import { countOf, type Finding, finding } from "../finding.ts";
import { checkTexts } from "./check-texts.ts";
import { type DatabaseReader, describeDamage, findFileFault, openFileReader, openServerReader } from "./reader.ts";
import { checkSchema } from "./schema.ts";

const maxFaults = 100;

interface DatabaseCheckOptions {
  command: CommandLine;
  /** Skips the checks that read the whole database. */
  isQuick: boolean;
  step(check: string, run: () => Promise<Finding[]>): Promise<void>;
}

/**
 * Checks a database without changing it, and returns whether this program can use the schema. A server may be running.
 * Errors: notFound, unavailable.
 */
export async function checkDatabase(config: Config, options: DatabaseCheckOptions): Promise<boolean> {
  const reader = await (config.databaseUrl === undefined ? openFile(config, options) : openServerReader(config));
  if (reader === null) return false;
  try {
    return await checkContents(reader, nameDatabase(config), options);
  } finally {
    await reader.close();
  }
}

async function openFile({ dataDir }: Config, { step, command }: DatabaseCheckOptions): Promise<DatabaseReader | null> {
  const path = databaseFile(dataDir);
  if (!existsSync(path)) {
    refuseStandby(dataDir);
    const remedy = `Name its directory with --data-dir or BODEGA_DATA_DIR, or create a store: ${command("init")}`;
    throw notFound("database", undefined, { in: dataDir, remedy });
  }
  let reader: DatabaseReader | null = null;
  await step("file", async () => {
    const error = (message: string) => [finding("error", path, message, damageRemedy("file", command))];
    const fault = findFileFault(path);
    if (fault !== undefined) return error(fault);
    try {
      reader = await openFileReader(path);
      return describeKeptWals(path).map(({ kept, message, remedy }) => finding("error", kept, message, remedy));
    } catch (cause) {
      const damage = describeDamage(cause);
      if (damage === undefined) throw cause;
      return error(`${path} cannot be opened: ${damage}.`);
    }
  });
  return reader;
}

async function checkContents(reader: DatabaseReader, name: string, options: DatabaseCheckOptions): Promise<boolean> {
  const { step, command, isQuick } = options;
  const { query } = reader;
  const damaged = (message: string) => finding("error", name, message, damageRemedy(reader.kind, command));
  let isReadable = true;
  let isUsable = false;
  const checks = {
    async text() {
      const findings = await checkTexts(query, command);
      isReadable = findings.length === 0;
      return findings;
    },
    async integrity() {
      const rows = await query(`PRAGMA integrity_check(${maxFaults})`);
      const texts = rows.map((row) => String(row[0]).replace(/^\*\*\* in database main \*\*\*\s*/, ""));
      const faults = texts.filter((text) => text !== "ok");
      return faults.map((fault) => damaged(`The database is damaged: ${fault.replaceAll("\n", "; ")}.`));
    },
    references: () => checkReferences(query, command),
    async schema() {
      const result = await checkSchema(query, command);
      isUsable = result.isUsable;
      return result.findings;
    },
  };
  const run = (check: keyof typeof checks) =>
    step(check, () =>
      checks[check]().catch((error) => {
        const damage = describeDamage(error);
        if (damage === undefined) throw error;
        return [damaged(`The database cannot be read: ${damage}.`)];
      }),
    );
  const readAll = async () => {
    if (reader.kind === "file") await run("text");
    await run("integrity");
    await run("references");
  };
  if (!isQuick) await reader.holdSnapshot(readAll);
  if (isReadable) await run("schema");
  return isUsable;
}

async function checkReferences(query: DatabaseReader["query"], command: CommandLine): Promise<Finding[]> {
  const rows = await query(`SELECT "table", parent, count(*), min(rowid) FROM pragma_foreign_key_check
    GROUP BY "table", parent ORDER BY 1, 2`);
  return rows.map((row) => {
    const [table, parent, count, first] = [row[0], row[1], Number(row[2]), row[3]];
    const which = first === null ? "" : `, the first of them row ${first}`;
    const message = `${countOf(count, "row")} of ${table} ${count === 1 ? "refers" : "refer"} to missing rows of ${parent}${which}.`;
    const remedy = `Another program has changed the database. Restore the last backup with: ${command("db restore BACKUP")}`;
    return finding("error", String(table), message, remedy);
  });
}
