import { and, eq, isNull, type SQL } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { param } from "./statement.ts";

interface StoreTable {
  tenantId: SQLiteColumn;
  id: SQLiteColumn;
}

/** The row `id` of the store `tenantId`. */
export function byId(table: StoreTable): SQL {
  return and(eq(table.tenantId, param("tenantId")), eq(table.id, param("id"))) as SQL;
}

/** The row `id` of the store `tenantId`, unless it is deleted. */
export function notDeleted(table: StoreTable & { deletedAt: SQLiteColumn }): SQL {
  return and(byId(table), isNull(table.deletedAt)) as SQL;
}
