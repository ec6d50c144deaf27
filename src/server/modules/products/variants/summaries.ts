import type { InStatement } from "@libsql/core/api";
import { sql } from "drizzle-orm";
import { bind, statement } from "../../../db/statement.ts";
import { staleSummaries } from "../table.ts";

/** From this statement to `endBatch`, in one transaction, products do not show changes of their variants. */
export const beginBatch = bind(statement(sql`insert or ignore into ${staleSummaries} values ('', '')`));

/** Updates each product whose variants have changed since `beginBatch`, once. Without it, the transaction cannot commit. */
export const endBatch = bind(statement(sql`delete from ${staleSummaries}`));

/** The statements as a batch for one transaction: their products' summaries are computed once, after the last. */
export function summarizedOnce(statements: InStatement[]): InStatement[] {
  return [beginBatch, ...statements, endBatch];
}
