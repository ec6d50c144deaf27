import { Connection } from "../../db/local/connection.ts";
import { loadLibsql } from "../../db/local/load-libsql.ts";
import type { AppliedStep } from "../manifest.ts";
import { unsound } from "./unsound.ts";

/** How much a database holds, for people to compare. */
export interface Contents {
  stores: number;
  users: number;
  products: number;
  orders: number;
  /** When something was last written into the audit log, RFC 3339. */
  last_act_at: string | null;
}

/** What a database file says of itself. */
export interface Inspection {
  schema: AppliedStep[];
  begunAt: string | null;
  keyFingerprint: string | null;
  contents: Contents;
}

type Ask = (sql: string) => Promise<readonly Record<string, unknown>[]>;

const counted = { stores: "tenants", users: "users", products: "products", orders: "orders" } as const;

/** Opens a database file that nobody else uses, without changing it, and closes it whatever happens. */
export async function withCopy<T>(path: string, work: (connection: Connection) => T | Promise<T>): Promise<T> {
  const connection = new Connection(await loadLibsql(), path, { readOnly: true, keepFormat: true });
  try {
    return await work(connection);
  } finally {
    connection.close();
  }
}

/**
 * Looks through the whole file, which takes as long as reading it twice.
 * @throws validationFailed that names the first fault.
 */
export function assertSound(connection: Connection, what: string): void {
  const found = connection.run("PRAGMA integrity_check(1)").rows[0]?.[0];
  if (found !== "ok") throw unsound(`${what} is damaged: ${String(found).split("\n").at(-1)}`);
  const row = connection.run("PRAGMA foreign_key_check").rows[0];
  if (row !== undefined) {
    throw unsound(`${what} has rows that refer to missing ones: in ${row[0]}, to ${row[2]}.`);
  }
}

/** What a database file holds; `ask` runs one query. A database of an earlier schema lacks tables, and counts as empty there. */
export async function inspectDatabase(ask: Ask): Promise<Inspection> {
  const tables = new Set((await ask("SELECT name FROM sqlite_schema WHERE type = 'table'")).map(({ name }) => name));
  const first = async <T>(table: string, sql: string) =>
    (tables.has(table) ? (await ask(sql))[0]?.value : undefined) as T | undefined;
  const contents = {
    last_act_at: (await first<string>("audit_log", "SELECT max(at) AS value FROM audit_log")) ?? null,
  };
  const counts = {} as Record<keyof typeof counted, number>;
  for (const [name, table] of Object.entries(counted)) {
    counts[name as keyof typeof counted] = Number(
      (await first<number>(table, `SELECT count(*) AS value FROM ${table}`)) ?? 0,
    );
  }
  const steps = tables.has("__bodega_migrations")
    ? await ask("SELECT name, hash FROM __bodega_migrations ORDER BY name")
    : [];
  return {
    schema: steps.map(({ name, hash }) => ({ name: String(name), hash: String(hash) })),
    begunAt: steps.length === 0 ? null : await readBeginning(ask),
    keyFingerprint:
      (await first<string>("secret_fingerprint", "SELECT value FROM secret_fingerprint WHERE id = 1")) ?? null,
    contents: { ...counts, ...contents },
  };
}

/** When a database was made, which tells it from others: RFC 3339, of its first migration. */
export async function readBeginning(ask: Ask): Promise<string | null> {
  return (await ask("SELECT min(applied_at) AS value FROM __bodega_migrations"))[0]?.value as string | null;
}

/** The same of a file that is open. */
export function inspectCopy(connection: Connection): Promise<Inspection> {
  return inspectDatabase(async (sql) => connection.run(sql).rows as unknown as Record<string, unknown>[]);
}
