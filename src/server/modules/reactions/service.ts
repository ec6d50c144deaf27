import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { bind, get, param, statement } from "../../db/statement.ts";
import { wrongState } from "../../errors.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { countPublicWrite } from "../rate-limits/public-writes.ts";
import { forEachType, isShown, noSuchResource, parseResource, type Resource } from "../resources/registry.ts";
import { resourceCounts } from "../resources/table.ts";
import { noSuchUser } from "../users/guards.ts";
import { users } from "../users/table.ts";
import { findActor, refuseSubject, requireActor } from "../visitors/actor.ts";
import type { AddedReaction, ReactionKind, ReactionState } from "./model.ts";
import { reactions } from "./table.ts";

/** Most things that one visitor or user likes, and as many that they have bookmarked: more no list could look through. */
const maxOfActor = 10_000;

/** What a call is about, and who makes it, unless a user is signed in. */
export interface ReactionTarget {
  /** Missing only where a route's schema cannot ask for it. */
  resource_type?: string | undefined;
  resource_id: string;
  /** The token of a visitor. */
  visitor?: string | undefined;
  /** `user_id` beside app credentials, which is refused. */
  subject?: string | undefined;
}

const ofResource = sql`tenant_id = ${param("tenantId")} and resource_type = ${param("type")}
  and resource_id = ${param("resourceId")}`;
const own = sql`from ${reactions} where ${ofResource} and kind = ${param("kind")} and actor = ${param("actor")}`;
const ofActor = sql`from ${reactions} where tenant_id = ${param("tenantId")} and actor = ${param("actor")}
  and kind = ${param("kind")}`;

// A user may have been removed since their token was looked at.
const hasActor = sql`(${param("isUser")} = 0
  or exists (select 1 from ${users} where tenant_id = ${param("tenantId")} and id = ${param("actor")}))`;

/** How things stand for one actor; 1 and 0 as SQL gives them. */
interface Standing {
  isShown: number;
  isActive: number;
  hasActor: number;
  count: number;
}
const selectStanding = forEachType((type) =>
  statement<Standing>(sql`select ${isShown(type)} as isShown, exists (select 1 ${own}) as isActive,
    ${hasActor} as hasActor, coalesce((select case ${param("kind")} when 'like' then likes else bookmarks end
      from ${resourceCounts} where ${ofResource}), 0) as count`),
);
// What is not shown, who is not there any more and who has too many are left out by the statement that would write.
const addReaction = forEachType((type) =>
  statement(sql`insert into ${reactions} (tenant_id, kind, resource_type, resource_id, actor, created_at)
    select ${param("tenantId")}, ${param("kind")}, ${param("type")}, ${param("resourceId")}, ${param("actor")},
      ${param("now")}
    where ${isShown(type)} and ${hasActor}
      and not exists (select 1 ${ofActor} limit 1 offset ${sql.raw(String(maxOfActor - 1))})
    on conflict do nothing`),
);
const removeReaction = statement(sql`delete ${own}`);

/**
 * Likes or bookmarks something, once for each actor however often it is called.
 * @returns how it stands then, with the token of the visitor who was made for it, where nobody came along.
 * @throws validationFailed naming `resource_type` or `user_id`, tooManyRequests, notFound for what is not shown, wrongState for one too many.
 */
export async function react(ctx: Ctx, kind: ReactionKind, input: ReactionTarget): Promise<AddedReaction> {
  const resource = readTarget(input);
  const { id: actor, visitor } = requireActor(ctx, input.visitor);
  await countPublicWrite(ctx, actor);
  const values = valuesOf(ctx, kind, resource, actor);
  const [, selected] = await ctx.db.batch([
    bind(addReaction[resource.type], { ...values, now: toTimestamp(ctx.now()) }),
    bind(selectStanding[resource.type], values),
  ]);
  const standing = selected?.rows[0] as unknown as Standing;
  if (!standing.isShown) throw noSuchResource();
  if (!standing.hasActor) throw noSuchUser();
  if (!standing.isActive) throw wrongState(`You have ${maxOfActor} of these, and can have no more.`);
  return visitor === undefined ? toState(standing) : { ...toState(standing), visitor };
}

/**
 * Takes a like or bookmark back, also of what is not shown any more.
 * @returns how it stands then, also where there was none.
 * @throws validationFailed naming `resource_type` or `user_id`, tooManyRequests, notFound for what is not shown and was not theirs.
 */
export async function unreact(ctx: Ctx, kind: ReactionKind, input: ReactionTarget): Promise<ReactionState> {
  const resource = readTarget(input);
  const { id: actor, visitor } = requireActor(ctx, input.visitor);
  // Nobody has nothing that could be taken back.
  if (visitor !== undefined) return getReaction(ctx, kind, { ...input, visitor: undefined });
  await countPublicWrite(ctx, actor);
  const values = valuesOf(ctx, kind, resource, actor);
  const [removed, selected] = await ctx.db.batch([
    bind(removeReaction, values),
    bind(selectStanding[resource.type], values),
  ]);
  const standing = selected?.rows[0] as unknown as Standing;
  if (!standing.isShown && removed?.rowsAffected === 0) throw noSuchResource();
  return toState(standing);
}

/**
 * Whether the caller likes or has bookmarked something, and how many do.
 * @throws validationFailed naming `resource_type` or `user_id`, notFound for what is not shown.
 */
export async function getReaction(ctx: Ctx, kind: ReactionKind, input: ReactionTarget): Promise<ReactionState> {
  const resource = readTarget(input);
  const values = valuesOf(ctx, kind, resource, findActor(ctx, input.visitor));
  const standing = await get(ctx.db, selectStanding[resource.type], values);
  if (!standing?.isShown) throw noSuchResource();
  return toState(standing);
}

function readTarget(input: ReactionTarget): Resource {
  refuseSubject(input.subject);
  return parseResource(input.resource_type, input.resource_id);
}

function valuesOf({ tenant, actor }: Ctx, kind: ReactionKind, resource: Resource, id: string | null) {
  const isUser = actor.kind === "user" ? 1 : 0;
  return { tenantId: tenant.id, kind, type: resource.type, resourceId: resource.id, actor: id, isUser };
}

function toState({ isActive, count }: Standing): ReactionState {
  return { active: isActive === 1, count };
}
