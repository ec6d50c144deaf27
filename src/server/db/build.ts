import type { ResultSet } from "@libsql/core/api";
import { BaseSQLiteDatabase, SQLiteAsyncDialect, type SQLiteSession } from "drizzle-orm/sqlite-core";

type NoSession = SQLiteSession<"async", ResultSet, Record<string, never>, Record<string, never>>;

/**
 * Drizzle's query builder without a connection: it only writes SQL. What it builds goes through `statement()`, which
 * compiles it once; running it is the business of a `Session`.
 */
export const build = new BaseSQLiteDatabase<"async", ResultSet, Record<string, never>>(
  "async",
  new SQLiteAsyncDialect(),
  undefined as unknown as NoSession,
  undefined,
);
