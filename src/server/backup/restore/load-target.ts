import { buildSchema } from "../../db/build-schema.ts";
import { loadMark } from "../../db/local/restore-marker.ts";
import { migrations } from "../../db/migrations.ts";
import type { Database } from "../../db/session.ts";
import { type AppError, conflict } from "../../errors.ts";
import { quote } from "../copy/table-plan.ts";

/** A libSQL server's database that may be filled from a file. */
export interface LoadTarget {
  /** Without tables; with the schema and no stores; or what a load that was cut short has left. */
  state: "empty" | "fresh" | "cut short";
  /** Statements that remove what stands in it. */
  clearing: string[];
  /** What servers that know the database have seen of `revision`, which must not stand there once more. */
  revision: number;
}

const selectTables = `SELECT l.name, l.type FROM pragma_table_list l WHERE l.schema = 'main'
  AND l.name NOT LIKE 'sqlite%' AND l.name NOT LIKE 'libsql%'`;
// A store that was removed has left its history, and that is worth something too.
const selectUse = `SELECT (SELECT count(*) FROM tenants) AS stores,
  (SELECT count(*) FROM (SELECT 1 FROM audit_log WHERE namespace IS NOT NULL LIMIT 1)) AS history,
  (SELECT value FROM revision WHERE id = 1) AS revision`;
const remedy = "Name a new, empty database with --database-url; what is in this one stays as it is.";

/**
 * Looks whether a libSQL server's database may be filled from a file.
 * @throws conflict when it holds a store or the tables of another program.
 */
export async function inspectTarget(db: Database): Promise<LoadTarget> {
  const { rows } = await db.execute(selectTables);
  const tables = rows.map(({ name, type }) => ({ name: String(name), type: String(type) }));
  const clearing = clearingOf(tables.filter(({ name }) => name !== loadMark));
  if (tables.length === 0) return { state: "empty", clearing, revision: 0 };
  if (tables.some(({ name }) => name === loadMark)) return { state: "cut short", clearing, revision: 0 };
  const known = new Set((await buildSchema(migrations)).map(({ name }) => name));
  const isOurs = ["__bodega_migrations", "tenants", "audit_log", "revision"].every((one) =>
    tables.some(({ name }) => name === one),
  );
  const foreign = tables.find(({ name }) => !known.has(name));
  if (foreign !== undefined || !isOurs) {
    throw refusal(`The database holds other tables than Bodega's${foreign ? ` (${foreign.name})` : ""}.`);
  }
  const use = (await db.execute(selectUse)).rows[0];
  if (Number(use?.stores) > 0) throw refusal(`The database holds stores (${use?.stores}).`);
  if (Number(use?.history) > 0) throw refusal("The database holds the history of removed stores.");
  return { state: "fresh", clearing, revision: Number(use?.revision ?? 0) };
}

/** The tables go with their indexes and triggers, and a virtual one with the tables in which its rows are. */
function clearingOf(tables: { name: string; type: string }[]): string[] {
  return tables
    .filter(({ type }) => type !== "shadow")
    .map(({ name, type }) => `DROP ${type === "view" ? "VIEW" : "TABLE"} ${quote(name)}`);
}

function refusal(message: string): AppError {
  return conflict(message, { remedy });
}
