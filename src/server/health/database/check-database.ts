import { isUtf8 } from "node:buffer";
import { existsSync } from "node:fs";
import type { Row } from "@libsql/core/api";
import { withTimeout } from "../../concurrency/with-timeout.ts";
import type { Config } from "../../config/config.ts";
import { databaseFile, refuseStandby } from "../../config/data-dir.ts";
import { type CommandLine, damageRemedy, nameDatabase } from "../../db/failure.ts";
import { describeKeptWals } from "../../db/local/kept-wal.ts";
import type { Session } from "../../db/session.ts";
import { notFound } from "../../errors.ts";
import { countOf, type Finding, finding } from "../finding.ts";
import { describeDamage, findFileFault } from "./file.ts";
import { type DatabaseReader, openFileReader, openServerReader, unknownSize } from "./reader.ts";
import { checkSchema } from "./schema.ts";

const maxFaults = 100;

interface DatabaseCheckOptions {
  command: CommandLine;
  /** Skips the checks that read the whole database. */
  isQuick: boolean;
  /** Time limit for the first answer of a database server in milliseconds. */
  timeoutMs: number;
  step(check: string, run: () => Promise<Finding[]>): Promise<void>;
  /** Continues in the session that is open for reading, if this program can work with the schema. */
  onUsable?(session: Session): Promise<void>;
}

/**
 * Checks a database without changing it. A server may be running. `size` is null where it cannot be opened, and
 * `isUsable` says whether this program can work with the schema. Errors: notFound, unavailable.
 */
export async function checkDatabase(config: Config, options: DatabaseCheckOptions) {
  const reader = config.databaseUrl === undefined ? await openFile(config, options) : await openServerReader(config);
  if (reader === null) return { size: null, isUsable: false };
  const { kind, session } = reader;
  try {
    // An unreachable server is not a fault of its database.
    if (kind === "server") await withTimeout(session.execute("SELECT 1"), options.timeoutMs);
    const isUsable = await checkContents(reader, nameDatabase(config), options);
    if (isUsable) await options.onUsable?.(session);
    return { size: { kind, ...unknownSize, ...(await reader.readSize().catch(() => null)) }, isUsable };
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
    const fault = findFileFault(path);
    const error = (message: string) => [finding("error", path, message, damageRemedy("file", command))];
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
  const damaged = (message: string) => finding("error", name, message, damageRemedy(reader.kind, command));
  const check = (id: string, run: () => Promise<Finding[]>) =>
    step(id, async () => {
      try {
        return await run();
      } catch (error) {
        const damage = describeDamage(error);
        if (damage === undefined) throw error;
        return [damaged(`The database cannot be read: ${damage}.`)];
      }
    });
  let isReadable = true;
  const checkAll = async () => {
    if (reader.kind === "file") {
      await check("text", async () => {
        const findings = await checkTexts(reader, command);
        isReadable = findings.length === 0;
        return findings;
      });
    }
    await check("integrity", async () => {
      const { rows } = await reader.query(`PRAGMA integrity_check(${maxFaults})`);
      const texts = rows.map((row) => String(row[0]).replace(/^\*\*\* in database main \*\*\*\s*/, ""));
      const faults = texts.filter((text) => text !== "ok");
      return faults.map((fault) => damaged(`The database is damaged: ${fault.replaceAll("\n", "; ")}.`));
    });
    await check("references", () => checkReferences(reader, command));
  };
  if (!isQuick) await reader.holdSnapshot(checkAll);
  if (!isReadable) return false;
  let isUsable = false;
  await check("schema", async () => {
    const result = await checkSchema(reader.session, command);
    isUsable = result.isUsable;
    return result.findings;
  });
  return isUsable;
}

async function checkReferences({ query }: DatabaseReader, command: CommandLine): Promise<Finding[]> {
  const { rows } = await query(`SELECT "table", parent, count(*), min(rowid) FROM pragma_foreign_key_check
    GROUP BY "table", parent ORDER BY 1, 2`);
  return rows.map((row) => {
    const [table, parent, count, first] = [row[0], row[1], Number(row[2]), row[3]];
    const which = first === null ? "" : `, the first of them row ${first}`;
    const message = `${countOf(count, "row")} of ${table} ${count === 1 ? "refers" : "refer"} to missing rows of ${parent}${which}.`;
    const remedy = `Another program has changed the database. Restore the last backup with: ${command("db restore BACKUP")}`;
    return finding("error", String(table), message, remedy);
  });
}

const pageRows = 500;
const quote = (name: unknown) => `"${String(name).replaceAll('"', '""')}"`;

/**
 * Finds rows with a text that is not UTF-8. They are read as bytes, because the engine ends the process when it returns
 * such a text. A fault in the schema is the only finding, because the others need its names.
 */
export async function checkTexts({ query }: DatabaseReader, command: CommandLine): Promise<Finding[]> {
  const findings: Finding[] = [];
  const check = async (table: unknown, columns: string[], key = "rowid") => {
    const texts = columns.map((name) => `iif(typeof(${name}) = 'text', ${name}, '')`);
    const found = `SELECT cast(${key} AS BLOB), cast(concat_ws(char(10), ${texts}) AS BLOB) FROM ${quote(table)}`;
    let [before, last, rows] = ["", "-9223372036854775808", [] as Row[]];
    do {
      before = last;
      const page = key === "rowid" ? ` WHERE rowid > ${last} ORDER BY rowid LIMIT ${pageRows}` : "";
      rows = (await query(found + page)).rows;
      for (const row of rows) {
        last = new TextDecoder().decode((row[0] as ArrayBuffer | null) ?? undefined);
        if (isUtf8(row[1] as ArrayBuffer)) continue;
        const message = `Row ${last} of ${table} has a text that is not UTF-8: the disk or another program has changed it. A server that reads it ends.`;
        findings.push(finding("error", String(table), message, damageRemedy("file", command)));
      }
      // In a damaged table the numbers may go back.
    } while (
      findings.length < maxFaults &&
      key === "rowid" &&
      rows.length === pageRows &&
      BigInt(last) > BigInt(before)
    );
  };
  await check("sqlite_schema", ["name", "tbl_name", "sql"]);
  if (findings.length > 0) return findings;
  const { rows } = await query(`SELECT t.name, t.wr, group_concat('"' || c.name || '"') FILTER (WHERE c.hidden <> 1),
    group_concat('"' || c.name || '"', ' || '', '' || ') FILTER (WHERE c.pk > 0)
    FROM pragma_table_list AS t, pragma_table_xinfo(t.name) AS c
    WHERE t.schema = 'main' AND t.type IN ('table', 'shadow') AND t.name NOT LIKE 'sqlite_schema' GROUP BY t.name`);
  for (const [table, isKeyed, columns, key] of rows.map((row) => Array.from(row))) {
    await check(table, String(columns).split(","), isKeyed ? String(key) : "rowid");
  }
  return findings;
}
