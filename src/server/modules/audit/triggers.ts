import { sql } from "drizzle-orm";
import { migrations } from "../../db/migrations.ts";
import type { Executor } from "../../db/session.ts";
import { all, statement } from "../../db/statement.ts";

const selectSchema = statement<{ type: string; sql: string | null }>(sql`
  select type, sql from sqlite_schema where tbl_name = 'audit_log' and type in ('table', 'trigger')`);

const made = migrations.flatMap(({ sql }) => sql.match(/^CREATE TRIGGER `audit_log_.*$/gm) ?? []);

/**
 * What is wrong with the place in which the log is kept; undefined where the table is there, and the triggers that keep
 * its rows are there as they were made.
 */
export async function findSchemaFault(db: Executor): Promise<"no table" | "no triggers" | undefined> {
  const schema = await all(db, selectSchema, {});
  if (!schema.some(({ type }) => type === "table")) return "no table";
  const standing = new Set(schema.map((entry) => normalize(entry.sql ?? "")));
  return made.every((trigger) => standing.has(normalize(trigger))) ? undefined : "no triggers";
}

/** SQLite keeps the statement as it was written, save for its first words and its end. */
function normalize(text: string): string {
  return text.trim().replace(/;$/, "");
}
