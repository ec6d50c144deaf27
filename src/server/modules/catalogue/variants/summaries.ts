import type { InStatement } from "@libsql/core/api";
import { sql } from "drizzle-orm";
import { bind, statement } from "../../../db/statement.ts";
import { staleSummaries } from "../products/table.ts";

/** From this statement until `endBatch`, in one transaction, products do not show changes of their variants. */
export const beginBatch = bind(statement(sql`insert or ignore into ${staleSummaries} values ('', '')`));

/** Updates each product whose variants have changed since `beginBatch`. Without it, the transaction cannot commit. */
export const endBatch = bind(statement(sql`delete from ${staleSummaries}`));

/** Wraps statements of one transaction, so that the variants' copies in products are computed once, at the end. */
export function withDeferredSummaries(statements: InStatement[]): InStatement[] {
  return [beginBatch, ...statements, endBatch];
}
