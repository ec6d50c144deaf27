import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { bind, param, statement } from "../../db/statement.ts";
import { AppError } from "../../errors.ts";
import { countPublicWrite } from "../rate-limits/public-writes.ts";
import { noSuchResource, parseResource, type Resource } from "../resources/registry.ts";
import { findActor, refuseSubject } from "../visitors/actor.ts";
import { isBot } from "./bots.ts";
import type { ViewGatherer } from "./gatherer.ts";
import { bindCount } from "./kept-counts.ts";
import { usualDays, type ViewState, type Views } from "./model.ts";
import { viewDays, viewDedupKeys } from "./table.ts";
import { dayOf, markView } from "./viewer.ts";
import type { NotedView } from "./waiting.ts";

const dayMs = 86_400_000;

const ofResource = sql`tenant_id = ${param("tenantId")} and resource_type = ${param("type")}
  and resource_id = ${param("resourceId")}`;
const selectDays = statement(sql`
  select day, views from ${viewDays}
  where ${ofResource} and day between ${param("first")} and ${param("last")}`);
const selectMark = statement(sql`
  select 1 from ${viewDedupKeys} where day = ${param("last")} and ${ofResource} and dedup_key = ${param("mark")}`);

/** What a call names. */
export interface ViewInput {
  resource_type: string;
  resource_id: string;
  visitor?: string | undefined;
  /** `user_id` beside app credentials, which is refused. */
  subject?: string | undefined;
}

/**
 * Counts a view, once for each viewer, resource and day (UTC). It is written down within a second; those of bots are not.
 * @returns whether it counts, and how many are written down.
 * @throws validationFailed naming `resource_type` or `user_id`, tooManyRequests, notFound for what is not shown, unavailable when too many wait.
 */
export async function noteView(ctx: Ctx, input: ViewInput): Promise<ViewState> {
  const { tenant } = ctx;
  const resource = readInput(input);
  const gatherer = requireGatherer(ctx);
  const found = gatherer.count(tenant.id, resource);
  // What is remembered is there at once.
  const count = found instanceof Promise ? await found : found;
  if (count === undefined) throw noSuchResource();
  if (isBot(ctx.userAgent ?? "")) return { active: false, count };
  const day = dayOf(ctx.now());
  const actorId = findActor(ctx, input.visitor);
  const mark = markView(ctx, resource, day, actorId);
  const view: NotedView = { tenantId: tenant.id, resourceType: resource.type, resourceId: resource.id, day, mark };
  if (!gatherer.knows(view)) {
    const counted = countPublicWrite(ctx, actorId);
    if (counted) await counted;
    gatherer.note(view);
  }
  return { active: true, count };
}

/**
 * How often something was viewed: in all, and on each of the last days (UTC), the oldest first.
 * @param input `days` is how many, today included; 30 unless it says otherwise.
 * @returns these, and whether the caller's view counts today.
 * @throws validationFailed naming `resource_type` or `user_id`, notFound for what is not shown.
 */
export async function getViews(ctx: Ctx, input: ViewInput & { days?: number | undefined }): Promise<Views> {
  const resource = readInput(input);
  const now = ctx.now();
  const days = Array.from({ length: input.days ?? usualDays }, (_, back) => dayOf(now - back * dayMs)).reverse();
  const last = dayOf(now);
  const mark = findMark(ctx, resource, last, input.visitor);
  const values = { ...valuesOf(ctx, resource), first: days[0], last, mark: mark ?? "" };
  const statements = [bindCount(ctx.tenant.id, resource), bind(selectDays, values), bind(selectMark, values)];
  const [counts, series, marks] = await ctx.db.batch(statements, "read");
  const found = counts?.rows[0];
  if (!found) throw noSuchResource();
  const byDay = new Map((series?.rows ?? []).map(({ day, views }) => [day, Number(views)]));
  return {
    active: mark !== null && (marks?.rows.length === 1 || isNoted(ctx, resource, last, mark)),
    count: Number(found.views),
    days: days.map((day) => ({ day, count: byDay.get(day) ?? 0 })),
  };
}

function readInput({ resource_type, resource_id, subject }: ViewInput): Resource {
  refuseSubject(subject);
  return parseResource(resource_type, resource_id);
}

function valuesOf({ tenant }: Ctx, { type, id }: Resource) {
  return { tenantId: tenant.id, type, resourceId: id };
}

/** The caller's mark; null for a bot, and at a server without the database's key, which counts nothing. */
function findMark(ctx: Ctx, resource: Resource, day: string, visitor: string | undefined): string | null {
  if (isBot(ctx.userAgent ?? "")) return null;
  try {
    return markView(ctx, resource, day, findActor(ctx, visitor));
  } catch (error) {
    if (error instanceof AppError && error.kind === "unavailable") return null;
    throw error;
  }
}

function isNoted(ctx: Ctx, { type, id }: Resource, day: string, mark: string): boolean {
  const view = { tenantId: ctx.tenant.id, resourceType: type, resourceId: id, day, mark };
  return ctx.memory?.views.knows(view) ?? false;
}

function requireGatherer({ memory }: Ctx): ViewGatherer {
  if (!memory) throw new Error("Views are counted by a server.");
  return memory.views;
}
