import { selectSchema, toSchemaObject } from "../../db/build-schema.ts";
import { compareSchema, isWithoutGaps, nameObject } from "../../db/compare-schema.ts";
import { isDamaged } from "../../db/db-errors.ts";
import { Connection } from "../../db/local/connection.ts";
import { loadLibsql } from "../../db/local/load-libsql.ts";
import { compareMigrations, migrations } from "../../db/migrate.ts";
import { unavailable } from "../../errors.ts";
import { damaged, type Manifest } from "../manifest.ts";

export type Inspection = ReturnType<typeof inspectCopy>;

export async function withCopy<T>(path: string, work: (connection: Connection) => T | Promise<T>): Promise<T> {
  const connection = new Connection(await loadLibsql(), path, { readOnly: true, keepFormat: true });
  try {
    return await work(connection);
  } finally {
    connection.close();
  }
}

/**
 * Checks all pages and references of a database file, and returns its contents and the faults of its schema.
 * @param what names the file in errors.
 * @throws validationFailed for a damaged file.
 */
export async function inspectIntact(path: string, what: string) {
  try {
    return await withCopy(path, async (connection) => {
      const found = inspectCopy(connection);
      if (found.schema.length > 0) {
        const fault = connection.run("PRAGMA integrity_check(1)").rows[0]?.[0];
        if (fault !== "ok") throw damaged(`${what} is damaged: ${String(fault).split("\n").at(-1)}`);
        const row = connection.run("PRAGMA foreign_key_check").rows[0];
        if (row) throw damaged(`${what} is damaged: rows of ${row[0]} refer to missing rows of ${row[2]}.`);
      }
      return { found, faults: await findSchemaFaults(connection, found.schema) };
    });
  } catch (error) {
    throw isDamaged(error) ? damaged(`${what} is damaged.`, { cause: error }) : error;
  }
}

/** Counts the contents of a database. Tables that an earlier schema lacks count as empty. */
export function inspectCopy(connection: Connection) {
  const selectTables = "SELECT name FROM sqlite_schema WHERE type = 'table'";
  const tables = new Set(connection.values(selectTables).map(([name]) => name));
  const first = (table: string, expression: string): unknown =>
    tables.has(table) ? (connection.values(`SELECT ${expression} FROM ${table}`)[0]?.[0] ?? null) : null;
  const count = (table: string, rows = "*") => Number(first(table, `count(${rows})`) ?? 0);
  const store = "json_object('id', id, 'namespace', namespace, 'title', title)";
  const stores = String(first("tenants", `json_group_array(${store} ORDER BY namespace)`) ?? "[]");
  const migrations = tables.has("__bodega_migrations")
    ? connection.values("SELECT name, hash FROM __bodega_migrations ORDER BY name")
    : [];
  return {
    schema: migrations.map(([name, hash]) => ({ name: String(name), hash: String(hash) })),
    /** When the database was created, RFC 3339. This identifies the database. */
    begunAt: first("__bodega_migrations", "min(applied_at)") as string | null,
    keyFingerprint: first("secret_fingerprint", "max(value)") as string | null,
    tenants: JSON.parse(stores) as { id: string; namespace: string; title: string }[],
    contents: {
      stores: count("tenants"),
      users: count("users"),
      products: count("products", "iif(deleted_at IS NULL, 1, NULL)"),
      orders: count("orders"),
      last_act_at: first("audit_log", "max(at)") as string | null,
    },
  };
}

const maxNamed = 5;
const words = { missing: "lacks the", altered: "has an altered", foreign: "has a foreign" } as const;

/**
 * Verifies that the schema is exactly that of its migrations: without a trigger, data would be unprotected, and a
 * trigger that no migration created could change data.
 * @param faults as `inspectIntact` returns them.
 * @throws unavailable for a newer schema; validationFailed, which names the faults.
 */
export function verifySchema(schema: Manifest["schema"], faults: string | undefined): void {
  if (schema.length === 0) throw damaged("The backup contains the database of another program, or an empty one.");
  const { newer, altered } = compareMigrations(schema);
  if (newer[0] !== undefined) {
    throw unavailable(`A newer version made the backup (migration ${newer[0]}). Restore it with that version.`);
  }
  if (altered[0] !== undefined) {
    throw unavailable(`Migration ${altered[0]} differs from the backup's. Use the version that made the backup.`);
  }
  if (faults === undefined) return;
  throw damaged(`The database in the backup is damaged: it ${faults}.`, { remedy: "Restore an older backup." });
}

/** Describes faults as the rest of a sentence after "The database … is damaged: it". Undefined if there are none. */
async function findSchemaFaults(connection: Connection, schema: Manifest["schema"]) {
  const applied = new Set(schema.map(({ name }) => name));
  if (!migrations.some(({ name }) => applied.has(name))) return undefined;
  if (!isWithoutGaps(applied)) return "lacks a migration that comes before its last one";
  const faults = await compareSchema(connection.values(selectSchema).map(toSchemaObject), applied);
  if (faults.length === 0) return undefined;
  const named = faults.slice(0, maxNamed).map(({ kind, object }) => `${words[kind]} ${nameObject(object)}`);
  return named.join("; ") + (faults.length > maxNamed ? `, and ${faults.length - maxNamed} more` : "");
}
