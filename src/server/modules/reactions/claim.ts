import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { bind, param, statement } from "../../db/statement.ts";
import { reactions } from "./table.ts";

const ofVisitor = sql`tenant_id = ${param("tenantId")} and actor = ${param("visitorId")}`;
// What the user has already stays behind. Nothing is counted anew by this; the counts follow what is removed.
const moveReactions = statement(sql`update or ignore ${reactions} set actor = ${param("userId")} where ${ofVisitor}`);
const removeDoubles = statement(sql`delete from ${reactions} where ${ofVisitor}`);

/**
 * Makes a visitor's likes and bookmarks those of a user, in the transaction in which the user is known to be there. What both
 * have is the user's as it was, and is counted once.
 */
export async function claimReactions(tx: Ctx, visitorId: string, userId: string): Promise<void> {
  const values = { tenantId: tx.tenant.id, visitorId, userId };
  await tx.db.batch([bind(moveReactions, values), bind(removeDoubles, values)]);
}
