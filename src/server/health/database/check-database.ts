import { isUtf8 } from "node:buffer";
import { existsSync } from "node:fs";
import type { Config } from "../../config/config.ts";
import { databaseFile, refuseStandby } from "../../config/data-dir.ts";
import { type CommandLine, damageRemedy, nameDatabase } from "../../db/db-errors.ts";
import { describeKeptWals } from "../../db/local/kept-wal.ts";
import { notFound } from "../../errors.ts";
import { countOf, type Finding, type Findings, finding } from "../finding.ts";
import { type DatabaseReader, describeDamage, findFileFault, openFileReader, openServerReader } from "./reader.ts";
import { checkSchema } from "./schema.ts";

const maxFaults = 100;
const pageRows = 500;
const firstRow = "-9223372036854775808";

interface DatabaseCheckOptions {
  command: CommandLine;
  /** Skips the checks that read the whole database. */
  isQuick: boolean;
  step(check: string, work: () => Findings): Promise<void>;
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
  await step("file", async function* () {
    let fault = findFileFault(path);
    try {
      if (fault === undefined) reader = await openFileReader(path);
    } catch (error) {
      fault = `${path} cannot be opened: ${damageOf(error)}.`;
    }
    if (fault !== undefined) yield finding("error", path, fault, damageRemedy("file", command));
    else yield* describeKeptWals(path).map(({ kept, message, remedy }) => finding("error", kept, message, remedy));
  });
  return reader;
}

/** Throws errors that do not show damage again. */
function damageOf(error: unknown): string {
  const damage = describeDamage(error);
  if (damage === undefined) throw error;
  return damage;
}

async function checkContents(reader: DatabaseReader, name: string, options: DatabaseCheckOptions): Promise<boolean> {
  const { step, command, isQuick } = options;
  const { query, kind } = reader;
  const damaged = (message: string) => finding("error", name, message, damageRemedy(kind, command));
  const check = (id: string, work: () => Findings) =>
    step(id, async function* () {
      try {
        yield* work();
      } catch (error) {
        yield damaged(`The database cannot be read: ${damageOf(error)}.`);
      }
    });
  let isReadable = true;
  let isUsable = false;
  if (!isQuick && kind === "file") {
    await check("text", async function* () {
      for await (const fault of checkTexts(query, command)) {
        isReadable = false;
        yield fault;
      }
    });
  }
  if (!isQuick) {
    await check("integrity", async function* () {
      for (const [text] of (await query(`PRAGMA integrity_check(${maxFaults})`)).map((row) => Array.from(row))) {
        const fault = String(text).replace(/^\*\*\* in database main \*\*\*\s*/, "");
        if (fault !== "ok") yield damaged(`The database is damaged: ${fault.replaceAll("\n", "; ")}.`);
      }
    });
    await check("references", () => checkReferences(query, command));
  }
  if (!isReadable) return false;
  await check("schema", async function* () {
    isUsable = yield* checkSchema(query, command);
  });
  return isUsable;
}

async function* checkReferences(query: DatabaseReader["query"], command: CommandLine): AsyncGenerator<Finding> {
  const rows = await query(`SELECT "table", parent, count(*), min(rowid) FROM pragma_foreign_key_check
    GROUP BY "table", parent ORDER BY 1, 2`);
  for (const [table, parent, found, first] of rows.map((row) => Array.from(row))) {
    const count = Number(found);
    const which = first === null ? "" : `, the first of them row ${first}`;
    const message = `${countOf(count, "row")} of ${table} ${count === 1 ? "refers" : "refer"} to missing rows of ${parent}${which}.`;
    const remedy = `Another program has changed the database. Restore the last backup with: ${command("db restore BACKUP")}`;
    yield finding("error", String(table), message, remedy);
  }
}

/** Finds rows with a text that is not UTF-8. A fault in the schema is the only finding, because the other checks need its names. */
async function* checkTexts(query: DatabaseReader["query"], command: CommandLine): AsyncGenerator<Finding> {
  let faults = 0;
  async function* check(table: string, columns: string[], key: string | null) {
    for await (const row of findBadRows(query, { table, columns, key })) {
      if (++faults > maxFaults) return;
      const message = `Row ${row} of ${table} has a text that is not UTF-8: the disk or another program has changed it. A server that reads it ends.`;
      yield finding("error", table, message, damageRemedy("file", command));
    }
  }
  yield* check("sqlite_schema", ["name", "tbl_name", "sql"], null);
  if (faults > 0) return;
  const tables = await query(`SELECT t.name, t.wr, group_concat('"' || c.name || '"') FILTER (WHERE c.hidden <> 1),
    group_concat('"' || c.name || '"', ' || '', '' || ') FILTER (WHERE c.pk > 0)
    FROM pragma_table_list AS t, pragma_table_xinfo(t.name) AS c
    WHERE t.schema = 'main' AND t.type IN ('table', 'shadow') AND t.name NOT LIKE 'sqlite_schema' GROUP BY t.name`);
  for (const [table, isKeyed, columns, key] of tables.map((row) => Array.from(row))) {
    yield* check(String(table), String(columns).split(","), isKeyed ? String(key) : null);
  }
}

/**
 * Reads texts as bytes, because the engine ends the process when it returns one that is not UTF-8. Reads pages; a table
 * without row numbers is read at once, by `key`.
 */
async function* findBadRows(
  query: DatabaseReader["query"],
  { table, columns, key }: { table: string; columns: string[]; key: string | null },
) {
  const texts = columns.map((name) => `iif(typeof(${name}) = 'text', ${name}, '')`);
  const select = `SELECT cast(${key ?? "rowid"} AS BLOB), cast(concat_ws(char(10), ${texts}) AS BLOB)
    FROM "${table.replaceAll('"', '""')}"`;
  let last = firstRow;
  for (let isMore = true; isMore; ) {
    const page = key === null ? ` WHERE rowid > ${last} ORDER BY rowid LIMIT ${pageRows}` : "";
    const rows = await query(select + page);
    const before = last;
    for (const row of rows) {
      last = new TextDecoder().decode((row[0] as ArrayBuffer | null) ?? undefined);
      if (!isUtf8(row[1] as ArrayBuffer)) yield last;
    }
    // In a damaged table, row numbers may decrease.
    isMore = key === null && rows.length === pageRows && BigInt(last) > BigInt(before);
  }
}
