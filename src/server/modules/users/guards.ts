import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { get, param, statement } from "../../db/statement.ts";
import { type AppError, notFound, preconditionFailed, wrongState } from "../../errors.ts";
import { isId } from "../../values/ids.ts";
import type { Role, UserStatus } from "./model.ts";
import { manageableRoles, requireManageable } from "./permission.ts";
import { users } from "./table.ts";

/** The condition for one user of one tenant. */
export const oneUser = sql`tenant_id = ${param("tenantId")} and id = ${param("id")}`;

// Conditions of the writing statements themselves: between a read and a write, another write could come.
const isManageable = sql`role in (select value from json_each(${param("roles")}))`;
const hasVersion = sql`version = coalesce(${param("ifMatch")}, version)`;
const ownerRemains = sql`(${param("endsOwner")} = 0 or role <> 'owner' or status <> 'active' or exists (
  select 1 from ${users} o where o.tenant_id = ${param("tenantId")} and o.role = 'owner' and o.status = 'active'
    and o.id <> ${param("id")}))`;

/** The condition of every statement that changes or deletes a user; its values come from `guardValues`. */
export const guardedUser = sql`${oneUser} and ${isManageable} and ${hasVersion} and ${ownerRemains}`;

/** The values of `guardedUser`. `endsOwner`: whether the change ends an active owner. */
export function guardValues(ctx: Ctx, id: string, ifMatch: number | null, endsOwner: boolean) {
  return {
    tenantId: ctx.tenant.id,
    id,
    roles: JSON.stringify(manageableRoles(ctx.actor)),
    ifMatch,
    // From the terminal another owner can be created; over the network nobody could.
    endsOwner: endsOwner && ctx.actor.kind !== "terminal" ? 1 : 0,
  };
}

/** A user as stored before a change. */
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
 * A stored user, for an actor who may manage them; in the transaction of the change.
 * @throws notFound, forbidden.
 */
export async function requireStoredUser(tx: Ctx, id: string): Promise<StoredUser> {
  requireUserId(id);
  const stored = await get(tx.db, selectStanding, { tenantId: tx.tenant.id, id });
  if (!stored) throw noSuchUser();
  requireManageable(tx, stored.role);
  return stored;
}

/** The reason why a guarded statement changed nothing: preconditionFailed, else wrongState. */
export function explainRefusal(stored: StoredUser, ifMatch: number | null): AppError {
  if (ifMatch !== null && ifMatch !== stored.version) return preconditionFailed();
  return wrongState("The store must keep one active owner.");
}

/** Refuses texts that cannot be an id, such as one with NUL, before they reach the database. */
export function requireUserId(id: string): void {
  if (!isId("usr", id)) throw noSuchUser();
}

/** The error about an unknown user. */
export function noSuchUser(): AppError {
  return notFound("user");
}
