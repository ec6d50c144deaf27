import type { Ctx } from "../../context.ts";
import { forbidden } from "../../errors.ts";
import { noSuchUser } from "../users/guards.ts";

/** Whether the caller is a customer, who sees their own orders only. */
export function isCustomer({ actor }: Pick<Ctx, "actor">): boolean {
  return actor.kind === "visitor" || (actor.kind === "user" && actor.role === "customer");
}

/**
 * Whose orders the caller may see and cancel: a customer's own; null for everybody's. As a value of SQL it stands in
 * `user_id = coalesce(…, user_id)`-like guards.
 */
export function ownOnly({ actor }: Pick<Ctx, "actor">): string | null {
  return actor.kind === "user" && actor.role === "customer" ? actor.userId : null;
}

/** @throws forbidden for a customer: paying, fulfilling and refunding is told by the store's own systems and staff. */
export function requireStore(ctx: Pick<Ctx, "actor">): void {
  if (isCustomer(ctx)) throw forbidden("Only the store's staff and app keys may do this.");
}

/**
 * Whose orders a call is about: `customer_id`, else the `user_id` beside app credentials, else nobody in particular;
 * for a customer themselves.
 * @throws notFound for a customer who names somebody else.
 */
export function subjectOf(ctx: Pick<Ctx, "actor">, customerId: string | undefined, subject?: string): string | null {
  const own = ownOnly(ctx);
  const named = customerId ?? subject ?? null;
  if (own === null) return named;
  if (named !== null && named !== own) throw noSuchUser();
  return own;
}
