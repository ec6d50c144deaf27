import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { param } from "./statement.ts";

interface StoreTable {
  tenantId: SQLiteColumn;
}

/** A parameter for each name: values of an insert or an update whose columns and parameters have the same names. */
export function params<Name extends string>(...names: Name[]): Record<Name, SQL> {
  return Object.fromEntries(names.map((name) => [name, param(name)])) as Record<Name, SQL>;
}

/** The column has the value of the parameter `name`. */
export function equals(column: SQLiteColumn, name: string): SQL {
  return eq(column, param(name));
}

/** The rows of the store `tenantId`. */
export function ofStore(table: StoreTable): SQL {
  return eq(table.tenantId, param("tenantId"));
}

/** The rows of the store `tenantId` that are not deleted. */
export function ofStoreNotDeleted(table: StoreTable & { deletedAt: SQLiteColumn }): SQL {
  return and(ofStore(table), isNull(table.deletedAt)) as SQL;
}

/** The row `id` of the store `tenantId`. */
export function byId(table: StoreTable & { id: SQLiteColumn }): SQL {
  return and(ofStore(table), eq(table.id, param("id"))) as SQL;
}

/** With `ifMatch`, only rows of this version. */
export function isVersion({ version }: { version: SQLiteColumn }): SQL {
  return sql`${version} = coalesce(${param("ifMatch")}, ${version})`;
}

/** The rows of the user `userId` in the store `tenantId`. */
export function ofUser(table: StoreTable & { userId: SQLiteColumn }): SQL {
  return and(ofStore(table), eq(table.userId, param("userId"))) as SQL;
}

/** The row `id` of the store `tenantId`, unless it is deleted. */
export function notDeleted(table: StoreTable & { id: SQLiteColumn; deletedAt: SQLiteColumn }): SQL {
  return and(byId(table), isNull(table.deletedAt)) as SQL;
}

/** Compares the column with the parameter `name`; null does not filter. */
export function matches(column: SQLiteColumn, name: string): SQL {
  return sql`(${param(name)} is null or ${column} = ${param(name)})`;
}
