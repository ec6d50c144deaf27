import { selectSchema, toSchemaObject } from "../../db/build-schema.ts";
import { compareSchema, isWithoutGaps, nameObject, type SchemaFault } from "../../db/compare-schema.ts";
import type { CommandLine } from "../../db/db-errors.ts";

import { compareMigrations, readApplied, restoreMarker, restoreRunning } from "../../db/migrate.ts";
import { countOf, type Finding, finding } from "../finding.ts";
import type { DatabaseReader } from "./reader.ts";

/** Yields the faults of the schema, and returns whether this program can use it. */
export async function* checkSchema(
  query: DatabaseReader["query"],
  command: CommandLine,
): AsyncGenerator<Finding, boolean> {
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
  const restore = `with: ${command("db restore BACKUP")}`;
  if (newer[0] !== undefined) {
    const message = `A newer version of this program migrated the database (${newer[0]}).`;
    const remedy = `Run that version, or restore a backup from before the migration ${restore}`;
    yield finding("error", newer[0], message, remedy);
  }
  for (const name of altered) {
    const message = `Migration ${name} was applied to the database in another form than this program has.`;
    yield finding("error", name, message, `Run the version that applied it, or restore a backup ${restore}`);
  }
  if (pending[0] !== undefined) {
    const first = pending[0].name;
    const many = `${countOf(pending.length, "migration")} must be applied to the database, from ${first} on. Until then, other commands fail.`;
    const message = applied.size === 0 ? "The database is empty: it has no schema yet." : many;
    yield finding("error", first, message, command("db migrate"));
  }
  if (newer.length === 0 && applied.size > 0 && isWithoutGaps(applied)) {
    for (const fault of await compareSchema(objects, applied)) yield describeFault(fault, command);
  }
  return pending.length + newer.length + altered.length === 0;
}

const faults = {
  missing: "is missing",
  altered: "differs from the migrations",
  foreign: "was not created by a migration",
};

function describeFault({ kind, object }: SchemaFault, command: CommandLine): Finding {
  const { type, name } = object;
  // A foreign trigger can change data.
  const severity = kind === "foreign" && type !== "trigger" ? "warning" : "error";
  const remedy =
    kind === "foreign"
      ? `Remove it with DROP ${type.toUpperCase()}: a backup with it cannot be restored.`
      : `Restore the last backup with: ${command("db restore BACKUP")}`;
  return finding(severity, name, `The ${nameObject(object)} ${faults[kind]}.`, remedy);
}
