import type { Static } from "@sinclair/typebox";
import { sql } from "drizzle-orm";
import type { Ctx, WorkCtx } from "../../context.ts";
import { pick } from "../../db/selection.ts";
import type { Session } from "../../db/session.ts";
import { all, bind, param, run, statement } from "../../db/statement.ts";
import { AppError } from "../../errors.ts";
import { countPublicWrite } from "../rate-limits/public-writes.ts";
import {
  forEachKind,
  hasRoom,
  isRowShown,
  isShown,
  noSuchResource,
  parseResource,
  parseResources,
  type Resource,
} from "../resources/registry.ts";
import { resourceCounts } from "../resources/table.ts";
import { findActor, refuseSubject } from "../visitors/actor.ts";
import { isBot } from "./bots.ts";
import { dayOf, dedupKeyOf } from "./dedup-key.ts";
import { usualDays, type ViewInput, type ViewState, type Views } from "./model.ts";
import { viewDays, viewDedupKeys } from "./table.ts";

const ofResource = sql`tenant_id = ${param("tenantId")} and resource_type = ${param("type")}
  and resource_id = ${param("resourceId")}`;

const keyColumns = sql`day, tenant_id, resource_type, resource_id, dedup_key`;
const rows = sql`(select value ->> 0 as day, value ->> 1 as tenant_id, value ->> 2 as resource_type,
  value ->> 3 as resource_id, value ->> 4 as dedup_key from json_each(${param("rows")})) r`;
// Omits resources that were hidden or deleted meanwhile, and those beyond the maximum. Sorted, so that each page of a
// large table is written once.
const addKeys = statement<Record<"day" | "tenant_id" | "resource_type" | "resource_id" | "dedup_key", string>>(sql`
  insert into ${viewDedupKeys} (${keyColumns})
  select ${keyColumns} from ${rows} where ${isRowShown("r")} and ${isRowShown("r", hasRoom)} order by ${keyColumns}
  on conflict do nothing returning ${keyColumns}`);
const addDays = statement(sql`
  insert into ${viewDays} (tenant_id, resource_type, resource_id, day, views)
  select tenant_id, resource_type, resource_id, day, count(*) from ${rows} where true group by 1, 2, 3, 4
  on conflict (tenant_id, resource_type, resource_id, day) do update set views = views + excluded.views`);
const addCounts = statement(sql`
  insert into ${resourceCounts} (tenant_id, resource_type, resource_id, views)
  select tenant_id, resource_type, resource_id, count(*) from ${rows} where true group by 1, 2, 3
  on conflict (tenant_id, resource_type, resource_id) do update set views = views + excluded.views`);
const removeOld = statement(sql`
  delete from ${viewDedupKeys} where (${keyColumns}) in (
    select ${keyColumns} from ${viewDedupKeys} where day < ${param("before")} limit 1000)`);

/** A view of a resource on a day in UTC, `2026-03-01`. */
export type View = Record<"day" | "tenantId" | "resourceType" | "resourceId" | "dedupKey", string>;

/**
 * Writes views and their counts in one transaction. A view counts only if its dedup key is new, so none counts twice,
 * even in several processes. Views of resources that are hidden by now do not count.
 */
export function writeViews(db: Session, views: readonly View[]): Promise<void> {
  return db.transaction(async (tx) => {
    const given = views.map((view) => [view.day, view.tenantId, view.resourceType, view.resourceId, view.dedupKey]);
    const added = await all(tx, addKeys, { rows: JSON.stringify(given) });
    const values = { rows: JSON.stringify(added.map((row) => Object.values(row))) };
    await tx.batch([bind(addDays, values), bind(addCounts, values)]);
  });
}

/**
 * Removes dedup keys, at most a thousand per call. Yesterday's are kept, because its last views are written today,
 * `doctor` compares counts with them, and a clock may be an hour behind.
 */
export function purgeViewDedupKeys(ctx: WorkCtx): Promise<number> {
  return run(ctx.db, removeOld, { before: dayOf(ctx.now() - 25 * 3_600_000) });
}

const dayMs = 86_400_000;

const selectDays = statement((q) =>
  q
    .select(pick(viewDays, "day", "views"))
    .from(viewDays)
    .where(sql`${ofResource} and day between ${param("first")} and ${param("last")}`),
);

/** The resource and the viewer of a call. The `user_id` of an app key is refused. */
type ViewRequest = Static<typeof ViewInput> & { subject?: string | undefined };

/**
 * Counts a view, once for each viewer, resource and day (UTC), within a second; views of bots do not count. Returns
 * whether it counts, and the number in the database. Errors: validationFailed, tooManyRequests, notFound, unavailable.
 */
export async function recordView(ctx: Ctx, input: ViewRequest): Promise<ViewState> {
  const { tenant } = ctx;
  const resource = readInput(input);
  const buffer = ctx.memory?.views;
  if (!buffer) throw new Error("Views are counted by a server.");
  const [state] = await readStates(ctx, [resource], input.visitor);
  if (!state) throw noSuchResource(resource);
  const { active, count } = state;
  if (active || isBot(ctx.client?.userAgent ?? "")) return { active, count };
  const day = dayOf(ctx.now());
  const actorId = findActor(ctx, input.visitor);
  const dedupKey = dedupKeyOf(ctx, resource, day, actorId);
  await countPublicWrite(ctx, actorId);
  buffer.add({ tenantId: tenant.id, resourceType: resource.type, resourceId: resource.id, day, dedupKey });
  return { active: true, count };
}

const asked = sql.raw("asked.value ->> 0");
const ofAsked = sql`tenant_id = ${param("tenantId")} and resource_type = ${param("type")} and resource_id = ${asked}`;
/** The resources in the JSON array `asked` of pairs: the id, and the caller's dedup key. */
const selectStates = forEachKind((kind) =>
  statement((q) =>
    q
      .select({
        id: sql<string>`${asked}`,
        views: sql<number>`coalesce((select views from ${resourceCounts} where ${ofAsked}), 0)`,
        isCounted: sql`exists (select 1 from ${viewDedupKeys}
          where day = ${param("day")} and ${ofAsked} and dedup_key = asked.value ->> 1)`.mapWith(Boolean),
      })
      .from(sql`json_each(${param("asked")}) as asked`)
      .where(isShown(kind, { id: asked }))
      .orderBy(sql`asked.key`),
  ),
);

/** The views of resources that are public, and whether the caller's view counts today. */
async function readStates(ctx: Ctx, resources: readonly Resource[], visitor: string | undefined) {
  const [first] = resources;
  if (first === undefined) return [];
  const day = dayOf(ctx.now());
  const keys = new Map(resources.map((resource) => [resource.id, findKey(ctx, resource, day, visitor)]));
  const values = { tenantId: ctx.tenant.id, type: first.type, day, asked: JSON.stringify([...keys]) };
  const isKnown = (id: string) => ctx.memory?.views.isKnown(keys.get(id) ?? "") === true;
  const states = await all(ctx.db, selectStates[first.kind], values);
  return states.map(({ id, views: count, isCounted }) => {
    return { resource_id: id, active: isCounted || isKnown(id), count };
  });
}

export async function getManyViews(ctx: Ctx, { resource_type, ids, subject, visitor }: ManyViews) {
  refuseSubject(subject);
  const resources = parseResources(resource_type, ids);
  const states = await readStates(ctx, resources, visitor);
  const [first] = resources;
  if (first?.kind === "declared" && states.length === 0) throw noSuchResource(first);
  return states;
}

/**
 * Returns the views of a resource: in total, on each of the last days (UTC, oldest first, including today), and whether
 * the caller's view counts today. Errors: validationFailed, notFound for a hidden resource.
 */
export async function getViews(ctx: Ctx, input: ViewRequest & { days?: number | undefined }): Promise<Views> {
  const resource = readInput(input);
  const now = ctx.now();
  const days = Array.from({ length: input.days ?? usualDays }, (_, back) => dayOf(now - back * dayMs)).reverse();
  const { type, id: resourceId } = resource;
  const values = { tenantId: ctx.tenant.id, type, resourceId, first: days[0], last: days.at(-1) };
  const [[state], series] = await Promise.all([
    readStates(ctx, [resource], input.visitor),
    all(ctx.db, selectDays, values),
  ]);
  if (!state) throw noSuchResource(resource);
  const byDay = new Map(series.map(({ day, views }) => [day, views]));
  const { active, count } = state;
  return { active, count, days: days.map((day) => ({ day, count: byDay.get(day) ?? 0 })) };
}

type ManyViews = Omit<ViewRequest, "resource_id"> & { ids: readonly string[] };

function readInput({ resource_type, resource_id, subject }: ViewRequest): Resource {
  refuseSubject(subject);
  return parseResource(resource_type, resource_id);
}

/** Returns the caller's dedup key; null for a bot, and on a server without the database's key, which counts nothing. */
function findKey(ctx: Ctx, resource: Resource, day: string, visitor: string | undefined): string | null {
  if (isBot(ctx.client?.userAgent ?? "")) return null;
  try {
    return dedupKeyOf(ctx, resource, day, findActor(ctx, visitor));
  } catch (error) {
    if (error instanceof AppError && error.kind === "unavailable") return null;
    throw error;
  }
}
