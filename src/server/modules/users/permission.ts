import type { Actor, Ctx } from "../../context.ts";
import { forbidden } from "../../errors.ts";
import type { Role } from "./model.ts";

const everyone: readonly Role[] = ["customer", "staff", "owner"];
const customers: readonly Role[] = ["customer"];

/** The roles that an actor may create, change and delete: a key needs the scope `*` for more than customers. */
export function manageableRoles(actor: Actor): readonly Role[] {
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

/** @throws forbidden for a role that the actor may not manage. */
export function requireManageable(ctx: Pick<Ctx, "actor">, role: Role): void {
  if (manageableRoles(ctx.actor).includes(role)) return;
  const who = ctx.actor.kind === "app" ? "A key without the scope * manages" : "Staff manage";
  throw forbidden(`${who} customers only.`);
}

/** Whether the actor is this user. */
export function isSelf(ctx: Ctx, userId: string): boolean {
  return ctx.actor.kind === "user" && ctx.actor.userId === userId;
}
