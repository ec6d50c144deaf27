import type { Ctx } from "../../context.ts";
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
export function findActor({ actor, vault, tenant }: Ctx, visitor: string | undefined): string | null {
  if (actor.kind === "user") return actor.userId;
  return visitor === undefined ? null : readVisitor(vault, tenant.id, visitor);
}

/** Who writes: as `findActor`, and a new visitor where that is nobody. */
export function requireActor(ctx: Ctx, visitor: string | undefined): ContentActor {
  const id = findActor(ctx, visitor);
  if (id !== null) return { id };
  const made = mintVisitor(ctx.vault, ctx.tenant.id);
  return { id: made.id, visitor: made.token };
}
