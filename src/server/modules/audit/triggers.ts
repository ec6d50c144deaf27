import { sql } from "drizzle-orm";
import { migrations } from "../../db/migrations.ts";
import type { Executor } from "../../db/session.ts";
import { all, statement } from "../../db/statement.ts";

const selectSchema = statement<{ type: string; sql: string | null }>(sql`
  select type, sql from sqlite_schema where tbl_name = 'audit_log' and type in ('table', 'trigger')`);

const made = migrations.flatMap(({ sql }) => sql.match(/^CREATE TRIGGER `audit_log_.*$/gm) ?? []);

/** The problem with the table of the log or its triggers; undefined when both are as created. */
export async function findSchemaFault(db: Executor): Promise<"no table" | "no triggers" | undefined> {
  const schema = await all(db, selectSchema, {});
  if (!schema.some(({ type }) => type === "table")) return "no table";
  const standing = new Set(schema.map((entry) => normalize(entry.sql ?? "")));
  return made.every((trigger) => standing.has(normalize(trigger))) ? undefined : "no triggers";
}

/** SQLite stores the statement as written, except for its first words and its end. */
function normalize(text: string): string {
  return text.trim().replace(/;$/, "");
}
