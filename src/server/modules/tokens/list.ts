import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { all, param, statement } from "../../db/statement.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { users } from "../users/table.ts";
import { userTokens } from "./table.ts";

/** A token as the terminal shows it, without the secret. */
export interface TokenRecord {
  token_id: string;
  user_id: string;
  /** Null when the user was deleted. */
  email: string | null;
  state: "active" | "expired" | "rotated" | "replaced" | "revoked";
  created_at: string;
  expires_at: string;
  ended_at: string | null;
}

const selectTokens = statement<TokenRecord>(sql`
  select t.id as token_id, t.user_id, u.email,
    coalesce(t.ended_as, iif(t.expires_at > ${param("now")}, 'active', 'expired')) as state,
    t.created_at, t.expires_at, t.ended_at
  from ${userTokens} t left join ${users} u on u.id = t.user_id and u.tenant_id = t.tenant_id
  where t.tenant_id = ${param("tenantId")} and t.user_id = coalesce(${param("userId")}, t.user_id)
    and (${param("allStates")} or (t.ended_at is null and t.expires_at > ${param("now")}))
  order by t.created_at desc, t.id desc limit ${param("limit")}`);

/**
 * The tokens of a tenant, newest first: the valid ones, or with `allStates` also the ended ones.
 * @param filter.limit 1,000 unless given.
 */
export function listTokens(
  ctx: Ctx,
  filter: { userId?: string | undefined; allStates?: boolean | undefined; limit?: number | undefined } = {},
): Promise<TokenRecord[]> {
  return all(ctx.db, selectTokens, {
    tenantId: ctx.tenant.id,
    userId: filter.userId ?? null,
    allStates: filter.allStates ? 1 : 0,
    limit: filter.limit ?? 1000,
    now: toTimestamp(ctx.now()),
  });
}
