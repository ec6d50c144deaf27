import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { get, param, statement } from "../../db/statement.ts";
import { invalidField } from "../../errors.ts";
import { decodeCursor } from "../../pagination/cursor.ts";
import { type ListPage, type PageRow, toListPage } from "../../pagination/list-page.ts";
import { defaultLimit } from "../../pagination/list-query.ts";
import { isResourceType, isRowShown, resourceTypes } from "../resources/registry.ts";
import { findActor, refuseSubject } from "../visitors/actor.ts";
import type { ReactionKind, ReactionsQuery } from "./model.ts";
import { reactions } from "./table.ts";

/** Sorts after every time and every id. */
const end = "~";

const matching = sql`from ${reactions} r where r.tenant_id = ${param("tenantId")} and r.actor = ${param("actor")}
  and r.kind = ${param("kind")} and r.resource_type = coalesce(${param("type")}, r.resource_type) and ${isRowShown("r")}`;
const page = sql`${matching} and (r.created_at, r.resource_id) < (${param("createdAt")}, ${param("id")})
  order by r.created_at desc, r.resource_id desc`;
const item = sql`json_object('resource_type', r.resource_type, 'resource_id', r.resource_id, 'created_at', r.created_at)`;
const selectPage = statement<PageRow>(sql`select
  (select group_concat(item) from (select ${item} as item ${page} limit ${param("limit")})) as json,
  (select json_array(r.created_at, r.resource_id) ${page} limit 1 offset ${param("lastIndex")}) as last,
  exists (select 1 ${page} limit 1 offset ${param("limit")}) as has_more,
  case when ${param("isCounted")} = 1 then (select count(*) ${matching}) end as total`);

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
  const { limit = defaultLimit, resource_type: type = null } = query;
  if (type !== null && !isResourceType(type)) {
    throw invalidField("resource_type", `must be one of ${resourceTypes.join(", ")}`);
  }
  const actor = findActor(ctx, query.visitor);
  const asked = [ctx.tenant.id, kind, actor, type];
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, asked);
  const row = await get(ctx.db, selectPage, {
    tenantId: ctx.tenant.id,
    actor,
    kind,
    type,
    createdAt: after?.value ?? end,
    id: after?.id ?? end,
    limit,
    lastIndex: limit - 1,
    isCounted: query.include_total ? 1 : 0,
  });
  return toListPage(row, { asked, limit, fields: undefined });
}
