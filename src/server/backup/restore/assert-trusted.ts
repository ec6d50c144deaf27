import { selectSchema, toSchemaObject } from "../../db/build-schema.ts";
import { compareSchema, isWithoutGaps, nameObject, type SchemaFault } from "../../db/compare-schema.ts";
import type { Connection } from "../../db/local/connection.ts";
import { hashMigration } from "../../db/migrate.ts";
import { migrations } from "../../db/migrations.ts";
import { type AppError, unavailable } from "../../errors.ts";
import { fingerprintOf } from "../../security/secret-key.ts";
import type { Manifest } from "../manifest.ts";
import type { Inspection } from "./inspect.ts";
import { unsound } from "./unsound.ts";

const maxNamed = 5;
const leastKeyCharacters = 32;
const words = { missing: "lacks the", altered: "has in another form the", foreign: "has a foreign" } as const;

/**
 * A schema that this program knows, in the form that it knows.
 * @throws unavailable for another, validationFailed for one that migrations cannot have made.
 */
export function assertKnownSchema({ schema }: Inspection): void {
  const known = new Map(migrations.map((step) => [step.name, hashMigration(step)]));
  for (const { name, hash } of schema) {
    const expected = known.get(name);
    if (expected === undefined) {
      throw unavailable(`The backup has the schema of a newer version (${name}). Restore it with that version.`);
    }
    if (expected !== hash) {
      throw unavailable(
        `The backup was migrated with another form of ${name}. Restore it with the version that made it.`,
      );
    }
  }
  if (!isWithoutGaps(namesOf(schema))) {
    throw unsound("The database in the backup is not sound: migrations before its last one are missing.");
  }
}

/**
 * Nothing but what the database's own migrations have made: a trigger that is missing guards nothing, and a foreign one
 * writes by itself.
 * @throws validationFailed that names what is missing, altered or foreign.
 */
export async function assertOwnSchema(connection: Connection, { schema }: Inspection): Promise<void> {
  const faults = await findFaults(connection, schema);
  if (faults.length === 0) return;
  throw unsound(`The database in the backup is not sound: it ${describeFaults(faults)}.`, {
    remedy: describeRemedy(faults),
  });
}

/** Why `assertOwnSchema` would refuse a database, as what follows "it"; undefined where it would not. */
export async function findUntrusted(connection: Connection, { schema }: Inspection): Promise<string | undefined> {
  const known = new Set(migrations.map(({ name }) => name));
  if (!isWithoutGaps(namesOf(schema)) || !schema.every(({ name }) => known.has(name))) return undefined;
  const faults = await findFaults(connection, schema);
  return faults.length === 0 ? undefined : describeFaults(faults);
}

function findFaults(connection: Connection, schema: Inspection["schema"]): Promise<SchemaFault[]> {
  return compareSchema(connection.values(selectSchema).map(toSchemaObject), namesOf(schema));
}

function describeFaults(faults: readonly SchemaFault[]): string {
  const named = faults.slice(0, maxNamed).map(({ kind, object }) => `${words[kind]} ${nameObject(object)}`);
  return named.join("; ") + (faults.length > maxNamed ? `, and ${faults.length - maxNamed} more` : "");
}

function describeRemedy(faults: readonly SchemaFault[]): string {
  if (faults.some(({ kind }) => kind !== "foreign")) return "Restore an older backup.";
  const drops = faults.map(({ object: { type, name } }) => `DROP ${type.toUpperCase()} ${name};`);
  const drop = drops.length === 1 && /^[\w ]+;$/.test(drops[0] as string) ? drops[0] : "DROP";
  return `Restore an older backup; or take bodega.db out of this one, remove what is foreign there (${drop}), and restore that file.`;
}

/**
 * A manifest that says of its database and its key what is so.
 * @throws validationFailed that names the first difference.
 */
export function assertManifestFits(manifest: Manifest, key: string | undefined, found: Inspection): void {
  const { schema, stores, database, key_fingerprint, key_included } = manifest;
  const pairs: [what: string, said: unknown, is: unknown][] = [
    ["migrations", schema.map(joinStep).toSorted().join(), found.schema.map(joinStep).toSorted().join()],
    ["stores", stores, found.contents.stores],
    ["time of its making", database.begun_at, found.begunAt],
    ["secret key", key_fingerprint, found.keyFingerprint],
  ];
  for (const [what, said, is] of pairs) {
    if (said !== is) throw misfit(`its manifest says another ${what} than its database`);
  }
  if (key_included !== (key !== undefined)) {
    throw misfit(
      key === undefined
        ? "the secret key that its manifest tells of is missing"
        : "it holds a secret key that its manifest does not tell of",
    );
  }
  if (key === undefined) return;
  if (key.length < leastKeyCharacters) throw misfit("the secret key in it is none");
  if (found.keyFingerprint !== null && fingerprintOf(key) !== found.keyFingerprint) {
    throw misfit("the secret key in it is not the one of its database");
  }
}

function namesOf(schema: Inspection["schema"]): ReadonlySet<string> {
  return new Set(schema.map(({ name }) => name));
}

function joinStep({ name, hash }: Inspection["schema"][number]): string {
  return `${name} ${hash}`;
}

function misfit(why: string): AppError {
  return unsound(`The backup is damaged or was altered: ${why}.`);
}
