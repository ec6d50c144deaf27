import type { ResultSet } from "@libsql/core/api";
import { BaseSQLiteDatabase, SQLiteAsyncDialect, type SQLiteSession } from "drizzle-orm/sqlite-core";

type NoSession = SQLiteSession<"async", ResultSet, Record<string, never>, Record<string, never>>;

/** Drizzle's query builder without a connection. It only writes SQL, which `statement()` compiles once. */
export const build = new BaseSQLiteDatabase<"async", ResultSet, Record<string, never>>(
  "async",
  new SQLiteAsyncDialect(),
  undefined as unknown as NoSession,
  undefined,
);
