import type { Ctx } from "../../context.ts";
import { AppError, invalidField } from "../../errors.ts";
import { mintVisitor, readVisitor } from "./token.ts";

/** The user or visitor who likes, bookmarks or views. */
export interface ContentActor {
  id: string;
  /** The token of a visitor created by this call, answered once. */
  visitor?: string;
}

/**
 * The caller of a read: the authenticated user, else the visitor of a valid token, else null. An invalid token is
 * treated like none.
 */
export function findActor(ctx: Ctx, visitor: string | undefined): string | null {
  if (ctx.actor.kind === "user") return ctx.actor.userId;
  return visitor === undefined ? null : findVisitor(ctx, visitor);
}

/** The visitor of a valid token, else null; also null on a server without the database's key. */
export function findVisitor({ vault, tenant }: Ctx, token: string): string | null {
  try {
    return readVisitor(vault, tenant.id, token);
  } catch (error) {
    if (error instanceof AppError && error.kind === "unavailable") return null;
    throw error;
  }
}

/**
 * The caller of a write: as `findActor`, with a new visitor instead of null.
 * @throws unavailable on a server without the database's key.
 */
export function requireActor({ actor, vault, tenant }: Ctx, visitor: string | undefined): ContentActor {
  if (actor.kind === "user") return { id: actor.userId };
  const id = visitor === undefined ? null : readVisitor(vault, tenant.id, visitor);
  if (id !== null) return { id };
  const made = mintVisitor(vault, tenant.id);
  return { id: made.id, visitor: made.token };
}

/**
 * Refuses `user_id` beside app credentials: acting in a user's name takes their token.
 * @throws validationFailed.
 */
export function refuseSubject(subject: string | undefined): void {
  if (subject !== undefined) throw invalidField("user_id", "needs the token of that user");
}
