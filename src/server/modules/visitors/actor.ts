import { timingSafeEqual } from "node:crypto";
import { Type } from "@sinclair/typebox";
import type { Ctx } from "../../context.ts";
import { invalidField } from "../../errors.ts";
import type { Vault } from "../../security/vault.ts";
import { closed, input, textUpTo } from "../../values/schema.ts";
import { newId } from "../../values/stamps.ts";

/** Returns the caller of a read: the authenticated user, else the visitor of a valid token, else null. */
export function findActor(ctx: Ctx, visitor: string | undefined): string | null {
  if (ctx.actor.kind === "user") return ctx.actor.userId;
  return visitor === undefined ? null : readVisitor(ctx.vault, ctx.tenant.id, visitor);
}

/** Returns the caller of a write. Creates a visitor if there is neither a user nor a valid visitor token. */
export function requireActor(ctx: Ctx, visitor: string | undefined): { id: string; visitor?: string } {
  const id = findActor(ctx, visitor);
  return id === null ? issueVisitorToken(ctx.vault, ctx.tenant.id) : { id };
}

/** Refuses the `user_id` of an app key: acting for a user requires the user's token. Errors: validationFailed. */
export function refuseSubject(subject: string | undefined): void {
  if (subject !== undefined) throw invalidField("user_id", "requires the token of that user");
}

// The separator is not a dot: with a dot, an id that ends in "v2" would look like a user's token.
const form = /^vis_[0-7][0-9a-hjkmnp-tv-z]{25}-[0-9a-f]{64}$/;
const idLength = 30;

export function issueVisitorToken(vault: Vault, tenantId: string) {
  const id = newId("vis");
  return { id, visitor: `${id}-${sign(vault, tenantId, id)}` };
}

export function readVisitor(vault: Vault, tenantId: string, token: string): string | null {
  if (!form.test(token)) return null;
  const id = token.slice(0, idLength);
  const right = Buffer.from(sign(vault, tenantId, id), "latin1");
  return timingSafeEqual(right, Buffer.from(token.slice(idLength + 1), "latin1")) ? id : null;
}

function sign(vault: Vault, tenantId: string, id: string): string {
  return vault.mac("visitor", `${tenantId}:${id}`);
}

/** The parameter with the visitor's token, for calls without a user. An invalid token is ignored. */
export const visitorPart = {
  visitor: Type.Optional(textUpTo(1000, "Token from the reply to the visitor's first write, `vis_…`. Keep it secret.")),
};

export const VisitorQuery = closed(visitorPart);
export const VisitorInput = input("VisitorInput", visitorPart);

export const newVisitor = Type.Optional(Type.String({ description: "Token of a new visitor, returned only once." }));
