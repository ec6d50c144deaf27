import type { InStatement } from "@libsql/core/api";
import { type SQL, sql } from "drizzle-orm";
import { type Ctx, isCatalogOnly } from "../../context.ts";
import { bind, get, param, params, statement } from "../../db/statement.ts";
import { malformedRequest } from "../../errors.ts";
import type { ListPage, StreamPart } from "../../pagination/list-page.ts";
import { defaultLimit, parseFields, parseTime, pickFields } from "../../pagination/list-query.ts";
import { isId, newId, toTimestamp } from "../../values/stamps.ts";
import { Event, type EventListQuery, type EventType, eventTypes, matchTypes, parsePatterns } from "./model.ts";
import { events } from "./table.ts";

const next = sql`(select coalesce(max(sequence), 0) + 1 from ${events})`;

// Uses `values` with subqueries: for an `insert … select` from the same table, SQLite would first copy the rows.
const insertOf = (event: Record<"type" | "subject" | "data" | "isShown", SQL>) =>
  statement(sql`
  insert into ${events} (sequence, id, tenant_id, type, subject, data, created_at, is_shown)
  values (${next}, substr(${param("eventId")}, 1, 20) || printf('%010d', ${next}), ${param("tenantId")}, ${event.type},
    ${event.subject}, ${event.data}, ${param("now")}, ${event.isShown})`);

/**
 * Compiles a statement that records an event about a row. The sequence replaces the last ten characters of `eventId`.
 * @param event `data` is SQL for a JSON text. `from` is a table with a `where` that selects exactly one row.
 * `isShown` is SQL for whether the public sees the change; by default it does not.
 */
export function compileEvent(event: Record<"type" | "subject" | "data" | "from", SQL> & { isShown?: SQL }) {
  const ofRow = (value: SQL) => sql`(select ${value} from ${event.from})`;
  return insertOf({ ...event, data: ofRow(event.data), isShown: event.isShown ? ofRow(event.isShown) : sql`0` });
}

const insertEvent = insertOf(params("type", "subject", "data", "isShown"));

export function isEvent(id: string): SQL {
  return sql`tenant_id = ${param("tenantId")} and sequence = cast(substr(${param(id)}, 21) as integer) and id = ${param(id)}`;
}

/** An event to record. `subject` is the id of the record; `data` has no personal data and no secrets. */
interface NewEvent {
  type: EventType;
  subject: string;
  data: Record<string, unknown>;
  /** Whether the public sees the change. Default: true for products and categories. */
  isShown?: boolean;
}

/** Records an event for the feed and webhooks. Call it inside the transaction of the change. */
export async function recordEvent(ctx: Pick<Ctx, "db" | "tenant" | "now">, event: NewEvent): Promise<void> {
  await ctx.db.execute(bindEvent(ctx, event));
}

export function bindEvent(ctx: Pick<Ctx, "tenant" | "now">, event: NewEvent): InStatement {
  return bind(insertEvent, {
    ...event,
    eventId: newId("evt"),
    tenantId: ctx.tenant.id,
    data: JSON.stringify(event.data),
    now: toTimestamp(ctx.now()),
    isShown: (event.isShown ?? /^(product|category)\./.test(event.type)) ? 1 : 0,
  });
}

/** SQL for the id of the newest event. The public gets the newest event that it may see, so that it cannot count orders. */
export const newestEvents = {
  staff: sql`select id from ${events} where tenant_id = ${param("tenantId")} order by sequence desc limit 1`,
  public: sql`select id from ${events} indexed by events_shown where tenant_id = ${param("tenantId")} and is_shown
    order by sequence desc limit 1`,
};
const stateFrom = (newest: SQL) => statement((q) => q.select({ state: sql<string>`id` }).from(sql`(${newest})`));
const selectState = { staff: stateFrom(newestEvents.staff), public: stateFrom(newestEvents.public) };

/** Returns the catalogue's state for lists: the id of the newest event. Views and likes do not change it. */
export async function readCatalogueState(ctx: Ctx): Promise<{ state: string }> {
  const select = selectState[isCatalogOnly(ctx) ? "public" : "staff"];
  return (await get(ctx.db, select, { tenantId: ctx.tenant.id })) ?? { state: "" };
}

const ofTenant = sql`tenant_id = ${param("tenantId")}`;
const feedStart = "0";
/** How often a stream reads the feed, to find the events that any process has written. */
const pollMs = 500;

const eventJson = sql`json_object('id', id, 'type', type, 'subject', subject, 'data', json(data),
  'created_at', created_at)`;
// The sequence after which a page begins. Null if `after` is not an event of the store.
const start = sql<number | null>`(case when ${param("after")} = '' then coalesce((select sequence from ${events}
    where ${ofTenant} and created_at < ${param("since")} order by sequence desc limit 1), 0)
  else (select sequence from ${events} where ${isEvent("after")}) end)`;
const matching = sql`from ${events} where ${ofTenant} and sequence > ${start}
  and type in (select value from json_each(${param("types")})) order by sequence`;
const rendered = sql`(select group_concat(rendered) as json from
  (select ${eventJson} as rendered ${matching} limit ${param("limit")}))`;
const pageColumns = {
  start,
  json: sql<string | null>`json`,
  hasMore: sql`exists(select 1 ${matching} limit 1 offset ${param("limit")})`.mapWith(Boolean),
  last: sql<string | null>`(select id ${matching} limit 1 offset ${param("lastIndex")})`,
  newest: sql<string | null>`(select id from ${events} where ${ofTenant} order by sequence desc limit 1)`,
};
// One statement reads one snapshot, so the page never contains only some events of a transaction that commits now.
const selectPage = statement((q) => q.select(pageColumns).from(rendered));

export async function listEvents(ctx: Ctx, query: EventListQuery): Promise<ListPage> {
  const limit = query.limit ?? defaultLimit;
  const after = query.after === undefined || query.after === feedStart ? "" : query.after;
  const fields = parseFields(query.fields, Object.keys(Event.properties));
  const types = query.types === undefined ? eventTypes : matchTypes(parsePatterns("types", query.types.split(",")));
  const isKnown = (query.after ?? feedStart) === feedStart || isId("evt", after);
  const since = query.after === undefined && query.since !== undefined ? parseTime("since", query.since) : "";
  const values = { tenantId: ctx.tenant.id, after, since, types: JSON.stringify(types), limit, lastIndex: limit - 1 };
  const row = isKnown ? await get(ctx.db, selectPage, values) : undefined;
  if (!row || row.start === null) {
    throw malformedRequest("`after` is not an event of this store, or was purged. Start again without `after`.");
  }
  const { hasMore } = row;
  // On the last page, the cursor is the newest event of any type, so that the next call skips the excluded types.
  const page = { next_cursor: hasMore ? row.last : row.newest, has_more: hasMore, limit };
  return { json: pickFields(`[${row.json ?? ""}]`, fields), page };
}

/**
 * Yields the events of a store as they are written, at most a hundred at once, and an empty part if there are none. The
 * stream begins after the event `after` or at the time `since`, by default with new events. Errors: those of `listEvents`.
 */
export async function* followEvents(ctx: Ctx, query: EventListQuery): AsyncGenerator<StreamPart<Event>> {
  let { after } = query;
  if (after === undefined && query.since === undefined) {
    after = (await get(ctx.db, selectState.staff, { tenantId: ctx.tenant.id }))?.state ?? feedStart;
  }
  for (;;) {
    const { json, page } = await listEvents(ctx, { ...query, limit: 100, ...(after !== undefined && { after }) });
    after = page.next_cursor ?? after ?? feedStart;
    yield { records: JSON.parse(json), after, isLast: !page.has_more };
    if (!page.has_more) await Bun.sleep(pollMs);
  }
}
