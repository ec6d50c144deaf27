import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { get, param, statement } from "../../db/statement.ts";
import { type AppError, notFound, preconditionFailed, wrongState } from "../../errors.ts";
import { isId } from "../../values/ids.ts";
import type { Role, UserStatus } from "./model.ts";
import { manageableRoles, requireManageable } from "./permission.ts";
import { users } from "./table.ts";

/** One user of one tenant. */
export const oneUser = sql`tenant_id = ${param("tenantId")} and id = ${param("id")}`;

// These stand in the statements that write: between a read and a write there would be room for another.
const isManageable = sql`role in (select value from json_each(${param("roles")}))`;
const hasVersion = sql`version = coalesce(${param("ifMatch")}, version)`;
const ownerRemains = sql`(${param("endsOwner")} = 0 or role <> 'owner' or status <> 'active' or exists (
  select 1 from ${users} o where o.tenant_id = ${param("tenantId")} and o.role = 'owner' and o.status = 'active'
    and o.id <> ${param("id")}))`;

/** The condition of every statement that changes or removes a user; its values come from `guardValues`. */
export const guardedUser = sql`${oneUser} and ${isManageable} and ${hasVersion} and ${ownerRemains}`;

/** The values of `guardedUser`. `endsOwner`: the user will be an active owner no more, if they are one. */
export function guardValues(ctx: Ctx, id: string, ifMatch: number | null, endsOwner: boolean) {
  return {
    tenantId: ctx.tenant.id,
    id,
    roles: JSON.stringify(manageableRoles(ctx.actor)),
    ifMatch,
    // Whoever has the machine can make another owner; over the network nobody could.
    endsOwner: endsOwner && ctx.actor.kind !== "terminal" ? 1 : 0,
  };
}

/** What stands of a user before a change. */
export interface StoredUser {
  email: string;
  emailKey: string;
  role: Role;
  status: UserStatus;
  version: number;
}

const selectStanding = statement<StoredUser>(sql`
  select email, email_key as emailKey, role, status, version from ${users} where ${oneUser}`);

/**
 * A user as they stand, for an actor who may manage them; in the transaction of the change.
 * @throws notFound, forbidden.
 */
export async function requireStoredUser(tx: Ctx, id: string): Promise<StoredUser> {
  requireUserId(id);
  const stored = await get(tx.db, selectStanding, { tenantId: tx.tenant.id, id });
  if (!stored) throw noSuchUser();
  requireManageable(tx, stored.role);
  return stored;
}

/** Why a guarded statement found nothing to change in a user who stood there: preconditionFailed, else wrongState. */
export function explainRefusal(stored: StoredUser, ifMatch: number | null): AppError {
  if (ifMatch !== null && ifMatch !== stored.version) return preconditionFailed();
  return wrongState("The store must keep one active owner.");
}

/** Spares the database what cannot be an id, and what it could not hold, such as NUL. */
export function requireUserId(id: string): void {
  if (!isId("usr", id)) throw noSuchUser();
}

/** The notFound of users. */
export function noSuchUser(): AppError {
  return notFound("user");
}
