import { isUtf8 } from "node:buffer";
import { type CommandLine, damageRemedy } from "../../db/failure.ts";
import { type Finding, finding } from "../finding.ts";
import type { DatabaseReader } from "./reader.ts";

const maxFaults = 100;
const pageRows = 500;
const quote = (name: unknown) => `"${String(name).replaceAll('"', '""')}"`;

/**
 * Finds rows with a text that is not UTF-8. They are read as bytes, because the engine ends the process when it returns
 * such a text. A fault in the schema is the only finding, because the others need its names.
 */
export async function checkTexts(query: DatabaseReader["query"], command: CommandLine): Promise<Finding[]> {
  const findings: Finding[] = [];
  const check = async (table: unknown, columns: string[], key = "rowid") => {
    const texts = columns.map((name) => `iif(typeof(${name}) = 'text', ${name}, '')`);
    const found = `SELECT cast(${key} AS BLOB), cast(concat_ws(char(10), ${texts}) AS BLOB) FROM ${quote(table)}`;
    for (let last = "-9223372036854775808"; ; ) {
      const before = last;
      const page = key === "rowid" ? ` WHERE rowid > ${last} ORDER BY rowid LIMIT ${pageRows}` : "";
      const rows = await query(found + page);
      for (const row of rows) {
        last = new TextDecoder().decode((row[0] as ArrayBuffer | null) ?? undefined);
        if (isUtf8(row[1] as ArrayBuffer)) continue;
        const message = `Row ${last} of ${table} has a text that is not UTF-8: the disk or another program has changed it. A server that reads it ends.`;
        findings.push(finding("error", String(table), message, damageRemedy("file", command)));
      }
      const isMore = key === "rowid" && rows.length === pageRows && findings.length < maxFaults;
      // In a damaged table the numbers may go back.
      if (!isMore || BigInt(last) <= BigInt(before)) break;
    }
  };
  await check("sqlite_schema", ["name", "tbl_name", "sql"]);
  if (findings.length > 0) return findings;
  const tables = await query(`SELECT t.name, t.wr, group_concat('"' || c.name || '"') FILTER (WHERE c.hidden <> 1),
    group_concat('"' || c.name || '"', ' || '', '' || ') FILTER (WHERE c.pk > 0)
    FROM pragma_table_list AS t, pragma_table_xinfo(t.name) AS c
    WHERE t.schema = 'main' AND t.type IN ('table', 'shadow') AND t.name NOT LIKE 'sqlite_schema' GROUP BY t.name`);
  for (const [table, isKeyed, columns, key] of tables.map((row) => Array.from(row))) {
    await check(table, String(columns).split(","), isKeyed ? String(key) : "rowid");
  }
  return findings;
}
