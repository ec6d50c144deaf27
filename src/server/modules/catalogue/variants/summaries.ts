import type { InStatement } from "@libsql/core/api";
import { sql } from "drizzle-orm";
import { bind, statement } from "../../../db/statement.ts";
import { staleSummaries } from "../products/table.ts";

/** From this statement to `endBatch`, in one transaction, products do not show changes of their variants. */
export const beginBatch = bind(statement(sql`insert or ignore into ${staleSummaries} values ('', '')`));

/** Updates each product whose variants have changed since `beginBatch`. The transaction cannot commit without it. */
export const endBatch = bind(statement(sql`delete from ${staleSummaries}`));

/** For one transaction: the products' summaries are computed once, after the last statement. */
export function withDeferredSummaries(statements: InStatement[]): InStatement[] {
  return [beginBatch, ...statements, endBatch];
}
