import { selectSchema, toSchemaObject } from "../../db/build-schema.ts";
import { compareSchema, isWithoutGaps, nameObject, type SchemaFault } from "../../db/compare-schema.ts";
import type { CommandLine } from "../../db/failure.ts";
import { restoreMarker, restoreMarkerMessage, restoreMarkerRemedy } from "../../db/local/restore-marker.ts";
import { compareMigrations, readApplied } from "../../db/migrate.ts";
import { countOf, type Finding, finding } from "../finding.ts";
import type { DatabaseReader } from "./reader.ts";

export async function checkSchema(query: DatabaseReader["query"], command: CommandLine) {
  const objects = (await query(selectSchema)).map((row) => toSchemaObject(Array.from(row)));
  const only = (subject: string, message: string, remedy: string) => {
    return { findings: [finding("error", subject, message, remedy)], isUsable: false };
  };
  if (objects.some(({ name }) => name === restoreMarker))
    return only(restoreMarker, restoreMarkerMessage, restoreMarkerRemedy);
  const rows = await readApplied(query);
  const applied = new Set(rows.keys());
  const state = compareMigrations(rows.values());
  const { pending, newer, altered } = state;
  if (applied.size === 0 && objects.length > 0) {
    const table = objects.find(({ type }) => type === "table")?.name ?? "unknown";
    const remedy = "Name the right directory with --data-dir, or the right database with --database-url.";
    return only(table, `The database belongs to another program: it has its tables, such as ${table}.`, remedy);
  }
  const findings = describeMigrations(state, applied.size === 0, command);
  if (newer.length === 0 && applied.size > 0 && isWithoutGaps(applied)) {
    findings.push(...(await compareSchema(objects, applied)).map((fault) => describeFault(fault, command)));
  }
  return { findings, isUsable: pending.length + newer.length + altered.length === 0 };
}

function describeMigrations(
  { pending, newer, altered }: ReturnType<typeof compareMigrations>,
  isEmpty: boolean,
  command: CommandLine,
): Finding[] {
  const restore = `with: ${command("db restore BACKUP")}`;
  const found = altered.map((name) => {
    const message = `Migration ${name} was applied to the database in another form than this program has.`;
    return finding("error", name, message, `Run the version that applied it, or restore a backup ${restore}`);
  });
  if (newer[0] !== undefined) {
    const message = `A newer version of this program migrated the database (${newer[0]}).`;
    const remedy = `Run that version, or restore a backup from before the migration ${restore}`;
    found.unshift(finding("error", newer[0], message, remedy));
  }
  const [first] = pending;
  if (first === undefined) return found;
  const many = `${countOf(pending.length, "migration")} must be applied to the database, from ${first.name} on. Until then, other commands fail.`;
  const message = isEmpty ? "The database is empty: it has no schema yet." : many;
  return [...found, finding("error", first.name, message, command("db migrate"))];
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
