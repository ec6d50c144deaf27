import { type SQL, sql } from "drizzle-orm";
import type { SystemCtx, Tenant } from "../../context.ts";
import { param } from "../../db/statement.ts";

/** A value that is kept beside what it follows from, and does not follow from it any more. */
export interface Finding {
  /** Null for what belongs to no store. */
  tenant_id: string | null;
  /** Id of the row in question. */
  record: string;
  /** What `mend` is to be called with, where that is another row than `record`. */
  target?: string;
  field: string;
  found: string | number | null;
  expected: string | number | null;
  /** Whether it can be mended; 1 and 0 as SQL gives them. */
  fixable: number;
}

/** One thing that `bodega doctor` looks at. */
export interface Check {
  name: string;
  /** What to do about findings that cannot be mended. */
  remedy?: string;
  /** Whether it looks at the whole database, and so not at a store alone. */
  isGlobal?: boolean;
  /**
   * Reads the truth, in statements that are each right by themselves beside a server at work.
   * @param tenantId the store to look at; null for all.
   */
  find(ctx: SystemCtx, tenantId: string | null): Promise<Finding[]>;
  /** What else there is to know, and nothing to do about. */
  notes?(ctx: SystemCtx, tenantId: string | null): Promise<{ tenant_id: string; text: string }[]>;
  /**
   * Computes the values again, inside a transaction, by statements that touch only what is still wrong then.
   * @param tenant whose rows they are; null for those of no store.
   * @returns how many rows were changed.
   */
  mend?(tx: SystemCtx, targets: readonly string[], tenant: Tenant | null): Promise<number>;
}

/** SQL: the rows under an alias that a check looks at. Its placeholder is `tenantId`, null for all stores. */
export function inScope(alias: string): SQL {
  return sql`(${param("tenantId")} is null or ${sql.raw(alias)}.tenant_id = ${param("tenantId")})`;
}

/** SQL: the rows under an alias that are to be mended. Its placeholders are `tenantId` and `ids`, a JSON array. */
export function isNamed(alias: string, column = "id"): SQL {
  return sql`${sql.raw(`${alias}.tenant_id`)} = ${param("tenantId")}
    and ${sql.raw(`${alias}.${column}`)} in (select value from json_each(${param("ids")}))`;
}

/**
 * SQL that makes one finding of each field that differs in the rows of `compared`, a table that has `tenant_id`,
 * `record`, `target`, `fixable`, and for each field `<field>` and `right_<field>`.
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
