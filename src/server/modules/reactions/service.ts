import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { keysetList } from "../../db/keyset-list.ts";
import { all, bind, get, param, rowsOf, statement } from "../../db/statement.ts";
import { notFound, wrongState } from "../../errors.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { countPublicWrite } from "../rate-limits/public-writes.ts";
import {
  hasRoom,
  isShown,
  noSuchResource,
  ofResource,
  parseResource,
  parseResources,
  type Resource,
  requireType,
  resourceOf,
} from "../resources/registry.ts";
import { resourceCounts } from "../resources/table.ts";
import { users } from "../users/table.ts";
import { findActor, refuseSubject, requireActor } from "../visitors/actor.ts";
import { reactions } from "./table.ts";

/** Maximum likes of one visitor or user, and maximum bookmarks, so that lists of them stay fast. */
const maxOfActor = 10_000;

export type ReactionKind = "like" | "bookmark";
type State = { active: boolean; count: number };

interface ReactionTarget {
  /** A type is required, although the schema of GET says that it is optional. */
  resource_type?: string | undefined;
  resource_id: string;
  visitor?: string | undefined;
  /** The `user_id` that an app key sent, which is refused. */
  subject?: string | undefined;
}

// The user may have been deleted since the token was verified, so the statement checks that the user exists.
const hasActor = sql`(${param("isUser")} = 0
  or exists (select 1 from ${users} where tenant_id = ${param("tenantId")} and id = ${param("actor")}))`;

const asked = sql.raw("asked.value");
const ofAsked = ofResource(asked);
const selectStates = statement((q) =>
  q
    .select({
      id: sql<string>`${asked}`,
      isShown: isShown({ id: asked }).mapWith(Boolean),
      hasRoom: hasRoom({ id: asked }).mapWith(Boolean),
      hasActor: hasActor.mapWith(Boolean),
      isActive: sql`exists (select 1 from ${reactions}
        where ${ofAsked} and kind = ${param("kind")} and actor = ${param("actor")})`.mapWith(Boolean),
      count: sql<number>`coalesce((select case ${param("kind")} when 'like' then likes else bookmarks end
        from ${resourceCounts} where ${ofAsked}), 0)`,
    })
    .from(sql`json_each(${param("ids")}) as asked`)
    .orderBy(sql`asked.key`),
);
// The statement also checks the resource, the user and the maximum, because they may change between statements.
const addReaction = statement(sql`
  insert into ${reactions} (tenant_id, kind, resource_type, resource_id, actor, created_at)
  select ${param("tenantId")}, ${param("kind")}, ${param("type")}, ${param("resourceId")}, ${param("actor")}, ${param("now")}
  where ${isShown()} and ${hasRoom()} and ${hasActor}
    and not exists (select 1 from ${reactions} where tenant_id = ${param("tenantId")}
      and actor = ${param("actor")} and kind = ${param("kind")} limit 1 offset ${sql.raw(String(maxOfActor - 1))})
  on conflict do nothing`);
const removeReaction = statement(sql`
  delete from ${reactions} where ${ofResource()} and kind = ${param("kind")} and actor = ${param("actor")}`);

/** Likes or bookmarks a resource. Errors: validationFailed, tooManyRequests, notFound, wrongState. */
export async function react(ctx: Ctx, kind: ReactionKind, input: ReactionTarget) {
  const resource = parseResource(input);
  const { id: actor, visitor } = requireActor(ctx, input.visitor);
  countPublicWrite(ctx, actor);
  const values = valuesOf(ctx, kind, resource, actor);
  const [, selected] = await ctx.db.batch([
    bind(addReaction, { ...values, now: toTimestamp(ctx.now()) }),
    bind(selectStates, values),
  ]);
  const [state] = rowsOf(selectStates, selected);
  if (!state?.isShown) throw noSuchResource(resource);
  if (!state.hasActor) throw notFound("user");
  if (!state.hasRoom) throw wrongState(`The store has too many resources of the type ${resource.type}.`);
  if (!state.isActive) throw wrongState(`You have ${maxOfActor} ${kind}s, the maximum.`);
  return visitor === undefined ? toReply(state) : { ...toReply(state), visitor };
}

/** Removes a like or bookmark, even of a hidden resource. Errors: validationFailed, tooManyRequests, notFound. */
export async function unreact(ctx: Ctx, kind: ReactionKind, input: ReactionTarget): Promise<State> {
  const resource = parseResource(input);
  const { id: actor, visitor } = requireActor(ctx, input.visitor);
  // A visitor who was just created has no reactions, so nothing is removed or counted.
  if (visitor !== undefined) return readReaction(ctx, kind, resource, null);
  countPublicWrite(ctx, actor);
  const values = valuesOf(ctx, kind, resource, actor);
  const [removed, selected] = await ctx.db.batch([bind(removeReaction, values), bind(selectStates, values)]);
  const [state] = rowsOf(selectStates, selected);
  if (!state || (!state.isShown && removed?.rowsAffected === 0)) throw noSuchResource(resource);
  return toReply(state);
}

async function readReaction(ctx: Ctx, kind: ReactionKind, resource: Resource, actor: string | null): Promise<State> {
  const state = await get(ctx.db, selectStates, valuesOf(ctx, kind, resource, actor));
  if (!state?.isShown) throw noSuchResource(resource);
  return toReply(state);
}

/** Returns the state of one resource, or of the public ones among several. Errors: validationFailed, notFound. */
export async function getReactions(
  ctx: Ctx,
  kind: ReactionKind,
  { resource_id: ids, ...input }: Omit<ReactionTarget, "resource_id"> & { resource_id: string[] },
) {
  const actor = findActor(ctx, input.visitor);
  const [first = "", second] = ids;
  if (second === undefined) return readReaction(ctx, kind, parseResource({ ...input, resource_id: first }), actor);
  const resources = parseResources(input, ids);
  const [resource] = resources;
  if (resource === undefined) return [];
  const values = valuesOf(ctx, kind, resource, actor);
  const wanted = JSON.stringify(resources.map(({ id }) => id));
  const states = await all(ctx.db, selectStates, { ...values, ids: wanted });
  if (resource.type !== "product" && !states[0]?.isShown) throw noSuchResource(resource);
  return states.filter((state) => state.isShown).map((state) => ({ resource_id: state.id, ...toReply(state) }));
}

function valuesOf({ tenant, actor }: Ctx, kind: ReactionKind, resource: Resource, id: string | null) {
  const isUser = actor.kind === "user" ? 1 : 0;
  const of = { type: resource.type, resourceId: resource.id, ids: JSON.stringify([resource.id]) };
  return { tenantId: tenant.id, kind, ...of, actor: id, isUser };
}

function toReply({ isActive: active, count }: { isActive: boolean; count: number }): State {
  return { active, count };
}

// A batch takes a few milliseconds, because triggers update the counts. Other writes run between batches.
const ofVisitor = sql`tenant_id = ${param("tenantId")} and actor = ${param("visitorId")}`;
const ofBatch = sql`${ofVisitor} and (resource_type, resource_id, kind) in
  (select resource_type, resource_id, kind from ${reactions} where ${ofVisitor} limit 100)`;
const deleteDuplicates = statement(sql`
  delete from ${reactions} where ${ofBatch} and exists (select 1 from ${reactions} o
    where o.tenant_id = ${reactions}.tenant_id and o.resource_type = ${reactions}.resource_type
      and o.resource_id = ${reactions}.resource_id and o.kind = ${reactions}.kind and o.actor = ${param("actor")})`);
const moveBatch = statement(sql`update ${reactions} set actor = ${param("actor")} where ${ofBatch} and ${hasActor}`);

/** Moves a visitor's reactions to a user, in batches. After an interruption, the next login moves the rest. */
export async function transferReactions(ctx: Ctx, visitorId: string, userId: string): Promise<void> {
  const values = { tenantId: ctx.tenant.id, visitorId, actor: userId, isUser: 1 };
  for (let moved = 1; moved > 0; ) {
    const done = await ctx.db.batch([bind(deleteDuplicates, values), bind(moveBatch, values)]);
    moved = done.reduce((sum, { rowsAffected }) => sum + rowsAffected, 0);
  }
}

const readPage = keysetList({
  name: "reactions",
  json: sql`json_object('resource_type', resource_type, 'resource_id', resource_id, 'created_at', created_at)`,
  from: sql`from ${reactions} r`,
  base: sql`tenant_id = ${param("tenantId")} and ${isShown(resourceOf("r"))}`,
  sorts: { created_at: sql`created_at` },
  id: sql`resource_id`,
});

type ReactionsQuery = Parameters<typeof readPage>[1] & { [Name in "resource_type" | "visitor"]?: string | undefined };

export async function listReactions(ctx: Ctx, kind: ReactionKind, query: ReactionsQuery, subject?: string) {
  refuseSubject(subject);
  const { resource_type } = query;
  if (resource_type !== undefined) await requireType(ctx, resource_type);
  return readPage(ctx, query, { filters: { actor: findActor(ctx, query.visitor), kind, resource_type } });
}
