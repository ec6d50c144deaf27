import { Connection } from "./local/connection.ts";
import { loadLibsql } from "./local/load-libsql.ts";
import { createMigrationsTable, type Migration, splitMigration } from "./migrate.ts";

/** A table, index, trigger or view, and the SQL that created it. An index or trigger belongs to `table`. */
export type SchemaObject = ReturnType<typeof toSchemaObject>;

/** Selects all objects of a database except those that SQLite creates itself. SQLite creates no triggers or views. */
export const selectSchema = `SELECT type, name, tbl_name, sql FROM sqlite_schema
  WHERE sql IS NOT NULL AND (type IN ('trigger', 'view')
    OR name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'libsql\\_%' ESCAPE '\\') ORDER BY type, name`;

/** Runs these migrations in a database in memory, and returns the schema that they create. */
export async function buildSchema(steps: readonly Migration[]): Promise<SchemaObject[]> {
  const connection = new Connection(await loadLibsql(), ":memory:", { keepFormat: true });
  try {
    connection.script("PRAGMA foreign_keys = OFF");
    connection.script(createMigrationsTable);
    for (const statement of steps.flatMap(({ sql }) => splitMigration(sql))) connection.script(statement);
    return connection.values(selectSchema).map(toSchemaObject);
  } finally {
    connection.close();
  }
}

export function toSchemaObject([type, name, table, sql]: readonly unknown[]) {
  return { type: String(type), name: String(name), table: String(table), sql: String(sql) };
}
