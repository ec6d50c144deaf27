import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { get, param, statement } from "../../db/statement.ts";
import { malformedRequest } from "../../errors.ts";
import { type ListPage, type MeasuredRow, readWithinBytes } from "../../pagination/list-page.ts";
import { defaultLimit, parseFields, pickFields } from "../../pagination/list-query.ts";
import { isId } from "../../values/ids.ts";
import { Event, type EventListQuery } from "./model.ts";
import { sequenceOf } from "./service.ts";
import { events } from "./table.ts";
import { eventTypes, matchTypes, parsePatterns } from "./types.ts";

/** SQL for an event as JSON text, in the feed and in webhooks. */
const eventJson = sql`json_object('id', id, 'type', type, 'subject', subject, 'data', json(data),
  'created_at', created_at)`;

const ofTenant = sql`tenant_id = ${param("tenantId")}`;
const start = sql`(case when ${param("after")} = '' then 0
  else (${sequenceOf("after")}) end)`;
const matching = sql`from ${events} where ${ofTenant} and sequence > ${start}
  and type in (select value from json_each(${param("types")})) order by sequence`;
// One statement, and so one snapshot: a concurrent commit is either complete on the page or after it.
const selectPage = statement<PageRow>(sql`select
  ${start} as start,
  page.*,
  exists(select 1 ${matching} limit 1 offset ${param("limit")}) as has_more,
  (select id ${matching} limit 1 offset ${param("lastIndex")}) as last,
  (select id from ${events} where ${ofTenant} order by sequence desc limit 1) as newest
  from (select group_concat(rendered) as json, sum(size) as bytes, max(size) > ${param("maxBytes")} as is_cut from
    (select case when octet_length(data) <= ${param("maxBytes")} then ${eventJson} end as rendered,
      octet_length(data) as size ${matching} limit ${param("limit")})) as page`);

interface PageRow extends MeasuredRow {
  /** Null if `after` is not an event of the store. */
  start: number | null;
  json: string | null;
  has_more: number;
  last: string | null;
  newest: string | null;
}

/** The events of the store after an event, in the order of commits. Errors: malformedRequest for an unknown `after`. */
export async function listEvents(ctx: Ctx, query: EventListQuery): Promise<ListPage> {
  const limit = query.limit ?? defaultLimit;
  const { after = "" } = query;
  const fields = parseFields(query.fields, Object.keys(Event.properties));
  const types = query.types === undefined ? eventTypes : matchTypes(parsePatterns("types", query.types.split(",")));
  const isKnown = query.after === undefined || isId("evt", after);
  const values = { tenantId: ctx.tenant.id, after, types: JSON.stringify(types) };
  const row = isKnown
    ? await readWithinBytes(limit, (bounds) => get(ctx.db, selectPage, { ...values, ...bounds }))
    : undefined;
  if (!row || row.start === null) {
    throw malformedRequest("`after` is not an event of this store, or was purged. Start again without `after`.");
  }
  const hasMore = row.has_more === 1;
  // On the last page it is the newest event of any type, so that the next call skips events that the filter excluded.
  const page = { next_cursor: hasMore ? row.last : row.newest, has_more: hasMore, limit };
  return { json: pickFields(`[${row.json ?? ""}]`, fields), page };
}
