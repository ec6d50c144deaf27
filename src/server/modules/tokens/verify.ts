import { sql } from "drizzle-orm";
import type { WorkCtx } from "../../context.ts";
import { get, param, statement } from "../../db/statement.ts";
import { tokenExpired, tokenNotFound } from "../../errors.ts";
import { hashSecret } from "../../security/random-secret.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { users } from "../users/table.ts";
import { userTokens } from "./table.ts";

type TokenRow = Record<"id" | "tenant_id" | "user_id" | "expires_at", string> & {
  ended_at: string | null;
  /** Null when the user was deleted, as the status is then. */
  role: "customer" | "staff" | "owner" | null;
  status: string | null;
};

// Found by the hash of 256 random bits, so the time of an unsuccessful lookup reveals nothing about other tokens.
const selectToken = statement<TokenRow>(sql`
  select t.id, t.tenant_id, t.user_id, t.expires_at, t.ended_at, u.role, u.status
  from ${userTokens} t left join ${users} u on u.id = t.user_id and u.tenant_id = t.tenant_id
  where t.hash = ${param("hash")}`);

/**
 * Verifies user credentials in the database at each request (specification, section 5), so that a revoked token fails
 * at once. Errors: tokenNotFound for a token that was never issued, or to another user or store; tokenExpired for one
 * that was revoked or has expired, or whose user is disabled or deleted. Returns the user to whom the token belongs.
 */
export async function verifyToken(ctx: WorkCtx, sent: { tenantId: string; userId: string; token: string }) {
  const row = await get(ctx.db, selectToken, { hash: hashSecret(sent.token) });
  if (row?.tenant_id !== sent.tenantId || row.user_id !== sent.userId) throw tokenNotFound();
  const isValid = row.ended_at === null && row.expires_at > toTimestamp(ctx.now());
  if (!isValid || row.role === null || row.status !== "active") throw tokenExpired();
  return { userId: row.user_id, tokenId: row.id, role: row.role };
}
