import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { keysetList } from "../../db/keyset-list.ts";
import { param } from "../../db/statement.ts";
import { invalidField } from "../../errors.ts";
import type { ListPage } from "../../pagination/list-page.ts";
import { isResourceType, isRowShown, resourceTypes } from "../resources/registry.ts";
import { findActor, refuseSubject } from "../visitors/actor.ts";
import type { ReactionKind, ReactionsQuery } from "./model.ts";
import { reactions } from "./table.ts";

const readPage = keysetList({
  name: "reactions",
  json: sql`json_object('resource_type', resource_type, 'resource_id', resource_id, 'created_at', created_at)`,
  from: sql`from ${reactions} r`,
  base: sql`tenant_id = ${param("tenantId")} and ${isRowShown("r")}`,
  sorts: { created_at: sql`created_at` },
  id: sql`resource_id`,
});

/**
 * A page of the public resources that the caller likes or has bookmarked, newest first; empty for a new visitor.
 * @throws malformedRequest, validationFailed naming `resource_type` or `user_id`.
 */
export async function listReactions(
  ctx: Ctx,
  kind: ReactionKind,
  query: ReactionsQuery,
  subject?: string,
): Promise<ListPage> {
  refuseSubject(subject);
  const { resource_type } = query;
  if (resource_type !== undefined && !isResourceType(resource_type)) {
    throw invalidField("resource_type", `must be one of ${resourceTypes.join(", ")}`);
  }
  return readPage(ctx, query, { filters: { actor: findActor(ctx, query.visitor), kind, resource_type } });
}
