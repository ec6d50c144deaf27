import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { param, run, statement } from "../../db/statement.ts";
import { passwordResetCodes } from "./table.ts";

const removeCode = statement(sql`
  delete from ${passwordResetCodes} where tenant_id = ${param("tenantId")} and email_key = ${param("emailKey")}`);

/**
 * Ends the reset code of an address, in the transaction of what makes it void: another password, another address, a user
 * who is disabled or gone. Whoever has the address next must not be reachable by it.
 */
export async function endResetCode(tx: Ctx, emailKey: string): Promise<void> {
  await run(tx.db, removeCode, { tenantId: tx.tenant.id, emailKey });
}
