import { type SQL, sql } from "drizzle-orm";
import type { SystemCtx, Tenant } from "../../context.ts";
import { param } from "../../db/statement.ts";

/** A stored value that differs from the records that it is computed from, as a check selects it. */
export interface Inconsistency {
  /** Null for values of no store. */
  tenant_id: string | null;
  /** Id of the row. */
  record: string;
  /** The argument for `fix`, where it is another row than `record`. */
  target?: string;
  field: string;
  found: string | number | null;
  expected: string | number | null;
  /** 1 if it can be fixed, otherwise 0. */
  fixable: number;
}

/** A check of stored values. */
export interface RecordCheck {
  id: string;
  /** What to do about values that cannot be fixed. */
  remedy?: string;
  /**
   * Finds inconsistencies. Each statement is right by itself beside a running server.
   * @param tenantId the store to check; null for all.
   */
  find(ctx: SystemCtx, tenantId: string | null): Promise<Inconsistency[]>;
  /** Facts that need no action. */
  notes?(ctx: SystemCtx, tenantId: string | null): Promise<{ tenant_id: string; text: string }[]>;
  /**
   * Recomputes the values inside a transaction, with statements that change only what is still wrong.
   * @param tenant the store of the rows; null for rows of no store.
   * @returns the number of changed rows.
   */
  fix?(tx: SystemCtx, targets: readonly string[], tenant: Tenant | null): Promise<number>;
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
 * `record`, `target`, `fixable`, and `<field>` and `right_<field>` for each field.
 */
export function differences(compared: string, fields: readonly string[]): SQL {
  return sql.raw(
    fields
      .map(
        (field) => `select tenant_id, record, target, '${field}' as field, ${field} as found,
          right_${field} as expected, fixable from ${compared} where ${field} is not right_${field}`,
      )
      .join(" union all "),
  );
}
