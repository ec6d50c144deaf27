import { getTableName, type SQL, sql, type Table } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { SystemCtx } from "../../context.ts";
import { all, bind, param, type Statement, statement } from "../../db/statement.ts";
import { tenants } from "../../modules/tenants/table.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { type Finding, finding, type RecordSubject } from "../finding.ts";

const foreign = "Another program has changed the database. Compare the record with a backup.";

/** Returns SQL that is true for rows of the store `tenantId`, or for all rows if that parameter is null. */
export function inScope(of: string | SQLiteColumn): SQL {
  const column = typeof of === "string" ? sql.raw(`${of}.tenant_id`) : of;
  return sql`(${param("tenantId")} is null or ${column} = ${param("tenantId")})`;
}

/** Yields a finding for each row of a statement with these parameters: `tenantId`, `recent`, `overdue` and `late`. */
export async function* findInStores<Row extends { namespace: string }>(
  { ctx, tenant, now }: RecordSubject,
  rows: Statement<Row>,
  describe: (row: Row) => Finding | Finding[],
): AsyncGenerator<Finding> {
  const [recent, overdue, late] = [7 * 24, 1, 0.25].map((hours) => toTimestamp(now() - hours * 3_600_000));
  const params = { tenantId: tenant?.id ?? null, recent, overdue, late };
  for (const row of await all(ctx.db, rows, params)) {
    for (const found of [describe(row)].flat()) yield { ...found, namespace: row.namespace };
  }
}

export interface Inconsistency {
  tenant_id: string;
  namespace: string | null;
  record: string;
  field: string;
  found: string | number | null;
  expected: string | number | null;
  /** The row to fix, as `rowOf` selects it; null if the value cannot be fixed. */
  target: string | null;
}

interface Comparison {
  remedy?: string;
  /**
   * Selects an `Inconsistency`, except its namespace, for each wrong value. This is one statement, because a server may
   * write between two statements. The parameter `tenantId` is null for all stores.
   */
  select: SQL;
  /** Statements that compute the value again, in one transaction. By default, the expected value is set. */
  fix?: Statement<unknown>[];
}

export function recordCheck({ remedy = foreign, select, fix }: Comparison) {
  const rows = statement<Inconsistency>(sql`
    select w.*, t.namespace from (${select}) w left join ${tenants} t on t.id = w.tenant_id
    order by w.tenant_id, w.record, w.field`);
  return async function* ({ ctx, tenant, command }: RecordSubject): AsyncGenerator<Finding> {
    const fixCommand = command(`doctor${tenant === null ? "" : ` -n ${tenant.namespace}`} --fix`);
    for (const row of await all(ctx.db, rows, { tenantId: tenant?.id ?? null })) {
      const { record, namespace, field, found: is, expected: should, target } = row;
      const where = namespace === null ? "" : ` in store ${namespace}`;
      const message = `${field} of ${record}${where} is ${is ?? "null"} and should be ${should ?? "null"}.`;
      const values = { ...finding("error", record, message, remedy), namespace, field, is, should };
      const repair = () => (fix ? ctx.db.batch(fix.map((one) => bind(one, { target }))) : setValue(ctx, row));
      yield target === null ? values : { ...values, remedy: fixCommand, fix: repair };
    }
  };
}

/** Sets the expected value, and creates a missing row. Throws if the value has changed since the check. */
async function setValue(ctx: SystemCtx, { tenant_id, field, found, expected, target }: Inconsistency) {
  const [table, key]: [string, Record<string, string>] = JSON.parse(target ?? "");
  const names = ["tenant_id", ...Object.keys(key)];
  const values = [tenant_id, ...Object.values(key)];
  const isRow = names.map((name) => `${name} = ?`).join(" and ");
  const update = `update ${table} set ${field} = ? where ${isRow} and ${field} is ?`;
  const insert = `insert or ignore into ${table} (${field}, ${names}) values (?${", ?".repeat(names.length)})`;
  if ((await ctx.db.execute({ sql: update, args: [expected, ...values, found] })).rowsAffected > 0) return;
  if ((await ctx.db.execute({ sql: insert, args: [expected, ...values] })).rowsAffected > 0) return;
  throw new Error("another process has changed the record meanwhile");
}

/** Returns SQL for the `target` of a row that can be fixed. The columns identify the row in its store. */
export function rowOf(table: Table, ...columns: string[]): SQL {
  const key = columns.map((column) => `'${column.replace(/^\w+\./, "")}', ${column}`);
  return sql.raw(`json_array('${getTableName(table)}', json_object(${key}))`);
}

/** Returns SQL that selects an `Inconsistency` for each field of `compared` that differs from `right_<field>`. */
export function differences(compared: string, fields: readonly string[], target: SQL = sql`null`): SQL {
  const ofField = (field: string) =>
    sql`${sql.raw(`select tenant_id, record, '${field}' as field, ${field} as found,
    right_${field} as expected`)}, ${target} as target from ${sql.raw(`${compared} where ${field} is not right_${field}`)}`;
  return sql.join(fields.map(ofField), sql` union all `);
}

/** As `differences`, for a table. Each row is compared with the row of `right` with its id; without one, with zeros. */
export function differencesFrom(table: Table, fields: readonly string[], right: SQL, target?: SQL): SQL {
  const columns = fields.map((field) => `l.${field}, iif(r.id is null, 0, r.${field}) as right_${field}`);
  return sql`
    with compared as (
      select l.tenant_id, l.id, l.id as record, ${sql.raw(columns.join())}
      from ${table} l left join (${right}) r on r.tenant_id = l.tenant_id and r.id = l.id
      where ${inScope("l")})
    ${differences("compared", fields, target)}`;
}
