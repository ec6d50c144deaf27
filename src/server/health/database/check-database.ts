import { isUtf8 } from "node:buffer";
import { statSync } from "node:fs";
import type { Config } from "../../config/config.ts";
import { databaseFile, refuseStandby } from "../../config/data-dir.ts";
import { selectSchema, toSchemaObject } from "../../db/build-schema.ts";
import { compareSchema, isWithoutGaps, nameObject, type SchemaFault } from "../../db/compare-schema.ts";
import { type CommandLine, damageRemedy, nameDatabase } from "../../db/db-errors.ts";
import { describeKeptWals } from "../../db/local/kept-wal.ts";
import { compareMigrations, readApplied, restoreMarker, restoreRunning } from "../../db/migrate.ts";
import { notFound } from "../../errors.ts";
import { countOf, type Finding, type Findings, finding } from "../finding.ts";
import { type DatabaseReader, describeDamage, openFileReader, openServerReader } from "./reader.ts";

const maxFaults = 100;
const pageRows = 500;

type Query = DatabaseReader["query"];

interface DatabaseCheckOptions {
  command: CommandLine;
  isQuick: boolean;
  step(check: string, work: () => Findings): Promise<Finding[]>;
}

/**
 * Checks a database without changing it, and returns whether this program can use its schema. A server may be running.
 * Errors: notFound, unavailable.
 */
export async function checkDatabase(config: Config, options: DatabaseCheckOptions): Promise<boolean> {
  const reader = await (config.databaseUrl === undefined ? openFile(config, options) : openServerReader(config));
  return reader !== null && checkContents(reader, nameDatabase(config), options).finally(reader.close);
}

async function openFile({ dataDir }: Config, { step, command }: DatabaseCheckOptions): Promise<DatabaseReader | null> {
  const path = databaseFile(dataDir);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) {
    refuseStandby(dataDir);
    const remedy = `Name its directory with --data-dir or BODEGA_DATA_DIR, or create a store: ${command("init")}`;
    throw notFound("database", undefined, { in: dataDir, remedy });
  }
  let reader: DatabaseReader | null = null;
  await step("file", async function* () {
    let fault = stats.isDirectory() ? "is a directory" : stats.size === 0 ? "is empty: 0 bytes" : null;
    try {
      if (fault === null) reader = await openFileReader(path);
    } catch (error) {
      fault = `cannot be opened: ${describeDamage(error)}`;
    }
    if (fault !== null) yield finding("error", path, `${path} ${fault}.`, damageRemedy("file", command));
    else yield* describeKeptWals(path).map(({ kept, message, remedy }) => finding("error", kept, message, remedy));
  });
  return reader;
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
        yield damaged(`The database cannot be read: ${describeDamage(error)}.`);
      }
    });
  if (!isQuick) {
    const texts = kind === "file" ? await check("text", () => checkTexts(query, command)) : [];
    const damages = await check("integrity", async function* () {
      for (const row of await query(`PRAGMA integrity_check(${maxFaults})`)) {
        const fault = String(row[0]).replace(/^\*\*\* in database main \*\*\*\s*/, "");
        if (fault !== "ok") yield damaged(`The database is damaged: ${fault.replaceAll("\n", "; ")}.`);
      }
    });
    await check("references", () => checkReferences(query, command));
    if (texts.length + damages.length > 0) return false;
  }
  let isUsable = false;
  await check("schema", async function* () {
    isUsable = yield* checkSchema(query, command);
  });
  return isUsable;
}

async function* checkReferences(query: Query, command: CommandLine): AsyncGenerator<Finding> {
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

/**
 * Finds tables with a text that is not UTF-8. If the schema has such a text, no other table is read, because the names
 * of tables and columns are in the schema.
 */
async function* checkTexts(query: Query, command: CommandLine): AsyncGenerator<Finding> {
  const describe = (table: string) => {
    const message = `Table ${table} has a text that is not UTF-8: the disk or another program has changed it. A server ends when it reads this text.`;
    return finding("error", table, message, damageRemedy("file", command));
  };
  if (await hasBadText(query, "sqlite_schema", "name,tbl_name,sql", true)) return yield describe("sqlite_schema");
  const tables = await query(`SELECT t.name, t.wr, group_concat('"' || c.name || '"') FILTER (WHERE c.hidden <> 1)
    FROM pragma_table_list AS t, pragma_table_xinfo(t.name) AS c
    WHERE t.schema = 'main' AND t.type IN ('table', 'shadow') AND t.name NOT LIKE 'sqlite_schema' GROUP BY t.name`);
  for (const [name, isKeyed, columns] of tables.map((row) => Array.from(row))) {
    if (await hasBadText(query, String(name), String(columns), !isKeyed)) yield describe(String(name));
  }
}

/**
 * Returns whether a table has a text that is not UTF-8. Texts are read as bytes, because the engine ends the process if
 * it must return such a text. A table with row numbers is read in pages, other tables with one query.
 */
async function hasBadText(query: Query, table: string, columns: string, hasRowid: boolean): Promise<boolean> {
  const texts = columns.split(",").map((name) => `iif(typeof(${name}) = 'text', ${name}, '')`);
  const select = `SELECT cast(concat_ws(char(10), ${texts}) AS BLOB)${hasRowid ? ", cast(rowid AS REAL)" : ""}
    FROM "${table.replaceAll('"', '""')}"`;
  for (let last = Number.MIN_SAFE_INTEGER; ; ) {
    const page = hasRowid ? ` WHERE rowid > ${last} ORDER BY rowid LIMIT ${pageRows}` : "";
    const rows = await query(select + page);
    if (rows.some((row) => !isUtf8(row[0] as ArrayBuffer))) return true;
    const next = Number(rows.at(-1)?.[1]);
    // In a damaged table, row numbers may decrease. Without this check, the loop would not end.
    if (rows.length < pageRows || !(next > last)) return false;
    last = next;
  }
}

async function* checkSchema(query: Query, command: CommandLine): AsyncGenerator<Finding, boolean> {
  const objects = (await query(selectSchema)).map((row) => toSchemaObject(Array.from(row)));
  if (objects.some(({ name }) => name === restoreMarker)) {
    const { message, remedy = "" } = restoreRunning();
    yield finding("error", restoreMarker, message, remedy);
    return false;
  }
  const rows = await readApplied(query);
  const applied = new Set(rows.keys());
  const { pending, newer, altered } = compareMigrations(rows.values());
  if (applied.size === 0 && objects.length > 0) {
    const table = objects.find(({ type }) => type === "table")?.name ?? "unknown";
    const message = `The database belongs to another program: it has its tables, such as ${table}.`;
    const remedy = "Name the right directory with --data-dir, or the right database with --database-url.";
    yield finding("error", table, message, remedy);
    return false;
  }
  const restore = command("db restore BACKUP");
  for (const name of [...newer.slice(0, 1), ...altered]) {
    const message = `Another version of this program migrated the database (${name}).`;
    yield finding("error", name, message, `Run that version, or restore a backup with: ${restore}`);
  }
  for (const { name } of pending.slice(0, 1)) {
    const many = `${countOf(pending.length, "migration")} must be applied to the database, from ${name} on. Until then, other commands fail.`;
    const message = applied.size === 0 ? "The database is empty: it has no schema yet." : many;
    yield finding("error", name, message, command("db migrate"));
  }
  if (newer.length === 0 && applied.size > 0 && isWithoutGaps(applied)) {
    yield* (await compareSchema(objects, applied)).map((fault) => describeFault(fault, restore));
  }
  return pending.length + newer.length + altered.length === 0;
}

const faults = {
  missing: "is missing",
  altered: "differs from the migrations",
  foreign: "was not created by a migration",
};

function describeFault({ kind, object }: SchemaFault, restore: string): Finding {
  const { type, name } = object;
  const message = `The ${nameObject(object)} ${faults[kind]}.`;
  if (kind !== "foreign") return finding("error", name, message, `Restore the last backup with: ${restore}`);
  const remedy = `Remove it with DROP ${type.toUpperCase()}, because a backup that contains it cannot be restored.`;
  // A foreign trigger is an error, because triggers can change data. Other foreign objects are only a warning.
  return finding(type === "trigger" ? "error" : "warning", name, message, remedy);
}
