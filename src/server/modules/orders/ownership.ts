import type { Ctx } from "../../context.ts";
import { forbidden, notFound } from "../../errors.ts";

export function isCustomer({ actor }: Pick<Ctx, "actor">): boolean {
  return actor.kind === "visitor" || (actor.kind === "user" && actor.role === "customer");
}

/** The customer whose orders the caller may see and cancel; null for all orders. */
export function ownOnly({ actor }: Pick<Ctx, "actor">): string | null {
  return actor.kind === "user" && actor.role === "customer" ? actor.userId : null;
}

export function requireStore(ctx: Pick<Ctx, "actor">): void {
  if (isCustomer(ctx)) throw forbidden("Only staff and app keys may do this.");
}

/** The customer of an order: a signed-in customer, or whom an app key names. Errors: notFound for another user. */
export function subjectOf(ctx: Pick<Ctx, "actor">, customerId: string | undefined, subject?: string): string | null {
  const own = ownOnly(ctx);
  const named = customerId ?? subject ?? null;
  if (own === null) return named;
  if (named !== null && named !== own) throw notFound("user", named);
  return own;
}
