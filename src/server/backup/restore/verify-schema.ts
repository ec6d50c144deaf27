import { selectSchema, toSchemaObject } from "../../db/build-schema.ts";
import { compareSchema, isWithoutGaps, nameObject } from "../../db/compare-schema.ts";
import type { Connection } from "../../db/local/connection.ts";
import { compareMigrations } from "../../db/migrate.ts";
import { migrations } from "../../db/migrations.ts";
import { unavailable } from "../../errors.ts";
import { damaged, type Manifest } from "../manifest.ts";

const maxNamed = 5;
const words = { missing: "lacks the", altered: "has an altered", foreign: "has a foreign" } as const;

/**
 * Verifies that this version knows the schema, and that it has exactly the tables, indexes and triggers of its
 * migrations: a missing trigger protects nothing, and a foreign one writes by itself.
 * @throws unavailable for a newer schema, validationFailed that names what differs.
 */
export async function verifySchema(connection: Connection, schema: Manifest["schema"]): Promise<void> {
  const { newer, altered } = compareMigrations(schema);
  if (newer[0] !== undefined) {
    throw unavailable(`A newer version made the backup (migration ${newer[0]}). Restore it with that version.`);
  }
  if (altered[0] !== undefined) {
    throw unavailable(`The backup has a different migration ${altered[0]}. Restore it with the version that made it.`);
  }
  const faults = await findSchemaFaults(connection, schema);
  if (faults === undefined) return;
  throw damaged(`The database in the backup is damaged: it ${faults}.`, { remedy: "Restore an older backup." });
}

/** Describes how a schema differs from its migrations, as the predicate of "it"; undefined when it does not. */
export async function findSchemaFaults(connection: Connection, schema: Manifest["schema"]) {
  const applied = new Set(schema.map(({ name }) => name));
  if (!migrations.some(({ name }) => applied.has(name))) return undefined;
  if (!isWithoutGaps(applied)) return "lacks a migration that comes before its last one";
  const faults = await compareSchema(connection.values(selectSchema).map(toSchemaObject), applied);
  if (faults.length === 0) return undefined;
  const named = faults.slice(0, maxNamed).map(({ kind, object }) => `${words[kind]} ${nameObject(object)}`);
  return named.join("; ") + (faults.length > maxNamed ? `, and ${faults.length - maxNamed} more` : "");
}
