import type { Ctx } from "../../context.ts";
import { AppError, invalidField } from "../../errors.ts";
import { mintVisitor, readVisitor } from "./token.ts";

/** Who likes, bookmarks or views: the id of a user or a visitor. */
export interface ContentActor {
  id: string;
  /** The token of a visitor who was made for this call, to be answered once. */
  visitor?: string;
}

/**
 * Who reads: the signed-in user, else the visitor of a valid token; null for anyone else. A token that is not valid is
 * that of nobody, and is not told apart from none.
 */
export function findActor(ctx: Ctx, visitor: string | undefined): string | null {
  if (ctx.actor.kind === "user") return ctx.actor.userId;
  return visitor === undefined ? null : findVisitor(ctx, visitor);
}

/** The visitor of a valid token, else null; also at a server without the database's key, which cannot tell. */
export function findVisitor({ vault, tenant }: Ctx, token: string): string | null {
  try {
    return readVisitor(vault, tenant.id, token);
  } catch (error) {
    if (error instanceof AppError && error.kind === "unavailable") return null;
    throw error;
  }
}

/**
 * Who writes: as `findActor`, and a new visitor where that is nobody.
 * @throws unavailable at a server without the database's key.
 */
export function requireActor({ actor, vault, tenant }: Ctx, visitor: string | undefined): ContentActor {
  if (actor.kind === "user") return { id: actor.userId };
  const id = visitor === undefined ? null : readVisitor(vault, tenant.id, visitor);
  if (id !== null) return { id };
  const made = mintVisitor(vault, tenant.id);
  return { id: made.id, visitor: made.token };
}

/**
 * Refuses `user_id` beside app credentials: in a user's name acts only who has their token.
 * @throws validationFailed.
 */
export function refuseSubject(subject: string | undefined): void {
  if (subject !== undefined) throw invalidField("user_id", "acts only with that user's token");
}
