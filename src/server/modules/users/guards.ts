import { sql } from "drizzle-orm";
import type { Actor, Ctx } from "../../context.ts";
import { byId, get, isVersion, param, statement } from "../../db/statement.ts";
import {
  type AppError,
  forbidden,
  invalidField,
  notFound,
  preconditionFailed,
  tokenExpired,
  wrongState,
} from "../../errors.ts";
import { isId } from "../../values/stamps.ts";
import { findSignInUserById, type SignInUser } from "./credentials.ts";
import type { Role } from "./model.ts";
import { users } from "./table.ts";

// The update or delete itself checks that an active owner remains. An earlier check could be out of date.
const ownerRemains = sql`(${param("endsOwner")} = 0 or role <> 'owner' or status <> 'active' or exists (
  select 1 from ${users} o where o.tenant_id = ${param("tenantId")} and o.role = 'owner' and o.status = 'active'
    and o.id <> ${param("id")}))`;

export const guardedUser = sql`${byId(users)} and role in (select value from json_each(${param("roles")}))
  and ${isVersion(users)} and ${ownerRemains}`;

/** Returns the parameters of `guardedUser`. `endsOwner`: after the change, the user is no active owner. */
export function guardValues(ctx: Ctx, id: string, ifMatch: number | null, endsOwner: boolean) {
  return {
    tenantId: ctx.tenant.id,
    id,
    roles: JSON.stringify(manageableRoles(ctx.actor)),
    ifMatch,
    endsOwner: endsOwner ? 1 : 0,
  };
}

/** Returns a user whom the actor may manage. Errors: notFound; forbidden for a user whom the actor may not manage. */
export async function requireStoredUser(tx: Ctx, id: string): Promise<SignInUser> {
  requireUserId(id);
  const stored = await findSignInUserById(tx.db, tx.tenant.id, id);
  if (!stored) throw notFound("user", id);
  requireManageable(tx, stored.role);
  return stored;
}

export function explainRefusal(stored: SignInUser, ifMatch: number | null): AppError {
  if (ifMatch !== null && ifMatch !== stored.version) return preconditionFailed();
  const remedy = "Make another user an owner first.";
  return wrongState("This user is the last active owner. A store must have one.", { remedy });
}

/** Throws notFound for a text that cannot be an id, such as one with NUL, before the database reads it. */
function requireUserId(id: string): void {
  if (!isId("usr", id)) throw notFound("user", id);
}

const everyone: readonly Role[] = ["customer", "staff", "owner"];
const customers: readonly Role[] = ["customer"];

/** Returns the roles of users whom the actor may manage. A key without the scope `*` manages customers only. */
function manageableRoles(actor: Actor): readonly Role[] {
  switch (actor.kind) {
    case "terminal":
      return everyone;
    case "app":
      return actor.scopes.has("*") ? everyone : customers;
    case "user":
      if (actor.role === "owner") return everyone;
      return actor.role === "staff" ? customers : [];
    case "visitor":
    case "server":
      return [];
  }
}

export function requireManageable(ctx: Pick<Ctx, "actor">, role: Role): void {
  if (manageableRoles(ctx.actor).includes(role)) return;
  const who = ctx.actor.kind === "app" ? "A key without the scope * can manage" : "Staff can manage";
  throw forbidden(`${who} customers only.`);
}

export function isSelf(ctx: Ctx, userId: string): boolean {
  return ctx.actor.kind === "user" && ctx.actor.userId === userId;
}

export function ownIdOf({ actor }: Pick<Ctx, "actor">): string {
  if (actor.kind !== "user") throw forbidden();
  return actor.userId;
}

/** Returns the calling user. Errors: forbidden for other callers; tokenExpired for a disabled or deleted user. */
export async function requireSignedIn(ctx: Ctx): Promise<SignInUser> {
  const user = await findSignInUserById(ctx.db, ctx.tenant.id, ownIdOf(ctx));
  if (user?.status !== "active") throw tokenExpired();
  return user;
}

export const selectId = statement((q) => q.select({ id: users.id }).from(users).where(byId(users)));

/**
 * Returns the id of the user for whom a call acts: `customerId`, `subject` (an app key's `user_id`), or the caller.
 * Customers can only name themselves. Errors: validationFailed for no user or two users, notFound.
 */
export async function requireSubject(ctx: Ctx, customerId: string | undefined, subject: string | undefined) {
  const { actor } = ctx;
  const own = actor.kind === "user" ? actor.userId : undefined;
  if (customerId !== undefined && subject !== undefined && customerId !== subject) {
    throw invalidField("customer_id", "must be the same user as user_id");
  }
  const named = customerId ?? subject ?? own;
  if (named === undefined) throw invalidField("user_id", "is required: the id of the user for whom the call acts");
  if (named === own) return named;
  // Customers must not learn whether another user exists.
  if (actor.kind === "user" && actor.role === "customer") throw notFound("user", named);
  requireUserId(named);
  const user = await get(ctx.db, selectId, { tenantId: ctx.tenant.id, id: named });
  if (!user) throw notFound("user", named);
  return user.id;
}
