import { sql } from "drizzle-orm";
import { list } from "isbot";
import type { Ctx } from "../../context.ts";
import { pick } from "../../db/selection.ts";
import { all, param, statement } from "../../db/statement.ts";
import { addressGroup } from "../../values/ip-prefix.ts";
import { LruCache } from "../../values/lru-cache.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { countPublicWrite } from "../rate-limits/public-writes.ts";
import {
  isShown,
  noSuchResource,
  ofResource,
  parseResource,
  parseResources,
  type Resource,
} from "../resources/registry.ts";
import { resourceCounts } from "../resources/table.ts";
import { findActor } from "../visitors/actor.ts";
import patterns from "./bots.json" with { type: "json" };
import { viewDays, viewDedupKeys } from "./table.ts";

const dayMs = 86_400_000;

const inRange = sql`${ofResource()} and day between ${param("first")} and ${param("last")}`;
const daily = pick(viewDays, "day", "views");
const selectDays = statement((q) => q.select(daily).from(viewDays).where(inRange));

export const usualDays = 30;

/** The resource and the viewer of a call. `subject`, the `user_id` of an app key, is refused. */
type ViewRequest = Record<"resource_type" | "resource_id", string> & Viewer;
type ManyViews = { resource_type: string; ids: readonly string[] } & Viewer;
type Viewer = { [Name in "visitor" | "subject"]?: string | undefined };

/**
 * Counts a view within a second, once for each viewer, resource and day (UTC). Views of bots do not count. Returns
 * whether the view counts, and the number of views in the database. Errors: validationFailed, tooManyRequests, notFound,
 * unavailable.
 */
export async function recordView(ctx: Ctx, input: ViewRequest) {
  const { tenant } = ctx;
  const resource = parseResource(input);
  const buffer = ctx.memory?.views;
  if (!buffer) throw new Error("Views are counted by a server.");
  const actorId = findActor(ctx, input.visitor);
  const [state] = await readStates(ctx, [resource], actorId);
  if (!state) throw noSuchResource(resource);
  const { day, dedupKey, active, count } = state;
  if (active || dedupKey === null) return { active, count };
  countPublicWrite(ctx, actorId);
  buffer.add({ tenantId: tenant.id, resourceType: resource.type, resourceId: resource.id, day, dedupKey });
  return { active: true, count };
}

const asked = sql.raw("asked.value ->> 0");
const ofAsked = ofResource(asked);
/** Selects resources. `asked` is a JSON array of pairs: the id of a resource, and the caller's dedup key. */
const selectStates = statement((q) =>
  q
    .select({
      id: sql<string>`${asked}`,
      views: sql<number>`coalesce((select views from ${resourceCounts} where ${ofAsked}), 0)`,
      isCounted: sql`exists (select 1 from ${viewDedupKeys}
        where day = ${param("day")} and ${ofAsked} and dedup_key = asked.value ->> 1)`.mapWith(Boolean),
    })
    .from(sql`json_each(${param("asked")}) as asked`)
    .where(isShown({ id: asked }))
    .orderBy(sql`asked.key`),
);

/** The views of resources that are public, and whether the caller's view counts today. Bots have no dedup key. */
async function readStates(ctx: Ctx, resources: readonly Resource[], actorId: string | null) {
  const [first] = resources;
  if (first === undefined) return [];
  const day = dayOf(ctx.now());
  const isCounting = !isBot(ctx.client?.userAgent ?? "");
  const keyOf = (resource: Resource) => (isCounting ? dedupKeyOf(ctx, resource, day, actorId) : null);
  const keys = new Map(resources.map((resource) => [resource.id, keyOf(resource)]));
  const values = { tenantId: ctx.tenant.id, type: first.type, day, asked: JSON.stringify([...keys]) };
  const states = await all(ctx.db, selectStates, values);
  return states.map(({ id, views: count, isCounted }) => {
    const dedupKey = keys.get(id) ?? null;
    const active = isCounted || ctx.memory?.views.isKnown(dedupKey ?? "") === true;
    return { id, day, dedupKey, active, count };
  });
}

export async function getManyViews(ctx: Ctx, { ids, visitor, ...call }: ManyViews) {
  const resources = parseResources(call, ids);
  const states = await readStates(ctx, resources, findActor(ctx, visitor));
  const [first] = resources;
  if (first && first.type !== "product" && states.length === 0) throw noSuchResource(first);
  return states.map(({ id, active, count }) => ({ resource_id: id, active, count }));
}

/** Returns the views of a resource, in total and by day (UTC, oldest first). Errors: validationFailed, notFound. */
export async function getViews(ctx: Ctx, input: ViewRequest & { days?: number | undefined }) {
  const resource = parseResource(input);
  const now = ctx.now();
  const days = Array.from({ length: input.days ?? usualDays }, (_, back) => dayOf(now - back * dayMs)).reverse();
  const { type, id: resourceId } = resource;
  const values = { tenantId: ctx.tenant.id, type, resourceId, first: days[0], last: days.at(-1) };
  const [[state], series] = await Promise.all([
    readStates(ctx, [resource], findActor(ctx, input.visitor)),
    all(ctx.db, selectDays, values),
  ]);
  if (!state) throw noSuchResource(resource);
  const byDay = new Map(series.map(({ day, views }) => [day, views]));
  const { active, count } = state;
  return { active, count, days: days.map((day) => ({ day, count: byDay.get(day) ?? 0 })) };
}

const maxRead = 512;
const minCached = 500;

/** User agents of programs that fetch pages for people, such as apps and shops that render on a server. */
const libraries = new RegExp(`^(?:${patterns.libraries.join("|")})(?:$|[ /_])`, "i");

/** Patterns of the bot list that we ignore: they match libraries, or every agent that is not a browser. */
export const notBots: ReadonlySet<string> = new Set(patterns.notBots);

let bots: RegExp | undefined;
const verdicts = new LruCache<boolean>(minCached);

/** Whether an agent is a crawler, link preview, headless browser or monitor. Libraries and apps count as people. */
export function isBot(agent: string): boolean {
  if (agent === "") return false;
  // User agents of crawlers often contain the URL of their description, so a URL matches too.
  bots ??= new RegExp(["https?:", ...list.filter((pattern) => !notBots.has(pattern))].join("|"), "i");
  const pattern = bots;
  return verdicts.getOrMake(agent.slice(0, maxRead), (text) => !libraries.test(text) && pattern.test(text));
}

const keyLength = 32;

export function dayOf(epochMs: number): string {
  return toTimestamp(epochMs).slice(0, 10);
}

/** Returns the dedup key of a view: a keyed hash of store, resource, day and viewer, the same for repeated views. */
function dedupKeyOf(ctx: Ctx, { type, id }: Resource, day: string, actorId: string | null): string {
  const { ip, userAgent } = ctx.client ?? {};
  const viewer = actorId ?? `${addressGroup(ip ?? "")}\n${userAgent?.slice(0, maxRead) ?? ""}`;
  return ctx.vault.mac("view", `${day}\n${ctx.tenant.id}\n${type}\n${id}\n${viewer}`).slice(0, keyLength);
}
