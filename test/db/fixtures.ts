import type { InStatement } from "@libsql/core/api";
import type { Migration } from "../../src/server/db/migrate.ts";

/** The table that most tests of the data layer write to. */
export const createTable =
  "CREATE TABLE IF NOT EXISTS things (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, size INTEGER CHECK (size > 0))";

/** Returns the statement that inserts a row with this name. */
export function insertRow(name: string): InStatement {
  return { sql: "INSERT INTO things (name) VALUES (?)", args: [name] };
}

/** Two migrations, with a trigger whose body contains semicolons. */
export const testMigrations: Migration[] = [
  {
    name: "0000_first",
    sql: `CREATE TABLE write_groups (writer TEXT PRIMARY KEY, last_group INTEGER NOT NULL);
--> statement-breakpoint
CREATE TABLE parents (id INTEGER PRIMARY KEY, name TEXT);
--> statement-breakpoint
CREATE TABLE children (id INTEGER PRIMARY KEY, parent INTEGER NOT NULL REFERENCES parents(id));
--> statement-breakpoint
CREATE TABLE log (entry TEXT);`,
  },
  {
    name: "0001_second",
    sql: `CREATE TRIGGER noted AFTER INSERT ON parents BEGIN
  INSERT INTO log VALUES ('a;' || NEW.name);
  INSERT INTO log VALUES ('b');
END;
--> statement-breakpoint
CREATE INDEX parents_by_name ON parents (name);`,
  },
];
