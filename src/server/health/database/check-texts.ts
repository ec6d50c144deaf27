import { isUtf8 } from "node:buffer";
import { type CommandLine, damageRemedy } from "../../db/failure.ts";
import { type Finding, finding } from "../finding.ts";
import type { DatabaseReader } from "./reader.ts";

const maxFaults = 100;
const pageRows = 500;
const quote = (name: unknown) => `"${String(name).replaceAll('"', '""')}"`;

/**
 * Finds rows with a text that is not UTF-8. They are read as bytes, because the engine ends the process when it returns
 * such a text. A fault in the schema is the only finding, because the other checks need its names.
 */
export async function checkTexts(query: DatabaseReader["query"], command: CommandLine): Promise<Finding[]> {
  const findings: Finding[] = [];
  const check = async (table: unknown, columns: string[], key: string | null) => {
    for await (const { id, texts } of readTexts(query, { table, columns, key })) {
      if (findings.length >= maxFaults) return;
      if (isUtf8(texts)) continue;
      const message = `Row ${id} of ${table} has a text that is not UTF-8: the disk or another program has changed it. A server that reads it ends.`;
      findings.push(finding("error", String(table), message, damageRemedy("file", command)));
    }
  };
  await check("sqlite_schema", ["name", "tbl_name", "sql"], null);
  if (findings.length > 0) return findings;
  const tables = await query(`SELECT t.name, t.wr, group_concat('"' || c.name || '"') FILTER (WHERE c.hidden <> 1),
    group_concat('"' || c.name || '"', ' || '', '' || ') FILTER (WHERE c.pk > 0)
    FROM pragma_table_list AS t, pragma_table_xinfo(t.name) AS c
    WHERE t.schema = 'main' AND t.type IN ('table', 'shadow') AND t.name NOT LIKE 'sqlite_schema' GROUP BY t.name`);
  for (const [table, isKeyed, columns, key] of tables.map((row) => Array.from(row))) {
    await check(table, String(columns).split(","), isKeyed ? String(key) : null);
  }
  return findings;
}

/** Yields the texts of each row as bytes, in pages. Tables without row numbers are read at once, by `key`. */
async function* readTexts(
  query: DatabaseReader["query"],
  { table, columns, key }: { table: unknown; columns: string[]; key: string | null },
) {
  const texts = columns.map((name) => `iif(typeof(${name}) = 'text', ${name}, '')`);
  const select = `SELECT cast(${key ?? "rowid"} AS BLOB), cast(concat_ws(char(10), ${texts}) AS BLOB) FROM ${quote(table)}`;
  let last = "-9223372036854775808";
  for (let isMore = true; isMore; ) {
    const page = key === null ? ` WHERE rowid > ${last} ORDER BY rowid LIMIT ${pageRows}` : "";
    const rows = await query(select + page);
    const before = last;
    for (const row of rows) {
      last = new TextDecoder().decode((row[0] as ArrayBuffer | null) ?? undefined);
      yield { id: last, texts: row[1] as ArrayBuffer };
    }
    // In a damaged table, row numbers may decrease.
    isMore = key === null && rows.length === pageRows && BigInt(last) > BigInt(before);
  }
}
