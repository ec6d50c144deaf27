import { type SQL, sql } from "drizzle-orm";
import type { SystemCtx, Tenant } from "../../context.ts";
import { type CompiledStatement, param } from "../../db/statement.ts";

/** A stored value that differs from the records that it is computed from, as a check selects it. */
export interface Inconsistency {
  /** Null for values of no store. */
  tenant_id: string | null;
  /** Id of the row. */
  record: string;
  /** The row to fix, where it is another one than `record`. */
  target?: string;
  field: string;
  found: string | number | null;
  expected: string | number | null;
  /** 1 if it can be fixed, otherwise 0. */
  fixable: number;
}

/**
 * The parameters of the statements of a check: `tenantId` (null for all stores), `now`, `days` (JSON of the days that may
 * have dedup keys of views), and for a fix `ids` (JSON of the rows to fix).
 */
export type CheckParams = Record<"tenantId" | "ids", string | null> & Record<"now" | "days", string>;

/** A check of stored values. */
export interface RecordCheck {
  id: string;
  /** The statement that is true without findings. */
  about: string;
  /** The remedy for values that cannot be fixed. */
  remedy?: string;
  /** Finds inconsistencies. One statement, so that it is correct while a server writes. */
  select?: CompiledStatement<Inconsistency>;
  /** Counts facts of each store that need no action, and describes them. */
  notes?: { count: CompiledStatement<{ tenant_id: string; count: number }>; describe(count: number): string };
  /** Recompute the values, and change only what is still wrong. */
  updates?: readonly CompiledStatement<unknown>[];
  /** Fixes rows of a store after `updates`. Returns the number of fixed rows. */
  fix?(tx: SystemCtx & { tenant: Tenant }, params: CheckParams, ids: readonly string[]): Promise<number>;
}

/** SQL for the rows of an alias to check. Its parameter is `tenantId`, null for all stores. */
export function inScope(alias: string): SQL {
  return sql`(${param("tenantId")} is null or ${sql.raw(alias)}.tenant_id = ${param("tenantId")})`;
}

/** SQL for the rows of an alias to fix. Its parameters are `tenantId` and `ids`, a JSON array. */
export function isNamed(alias: string, column = "id"): SQL {
  return sql`${sql.raw(`${alias}.tenant_id`)} = ${param("tenantId")}
    and ${sql.raw(`${alias}.${column}`)} in (select value from json_each(${param("ids")}))`;
}

/**
 * SQL that selects an `Inconsistency` for each differing field in the rows of `compared`, a table with `tenant_id`,
 * `record`, `fixable`, and `<field>` and `right_<field>` for each field.
 */
export function differences(compared: string, fields: readonly string[], target = "record"): SQL {
  const ofField = (field: string) => `select tenant_id, record, ${target} as target, '${field}' as field,
    ${field} as found, right_${field} as expected, fixable from ${compared} where ${field} is not right_${field}`;
  return sql.raw(fields.map(ofField).join(" union all "));
}
