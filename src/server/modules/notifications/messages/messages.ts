import { sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { keysetList } from "../../../db/keyset-list.ts";
import { all, get, param, statement } from "../../../db/statement.ts";
import { notFound } from "../../../errors.ts";
import type { ListPage } from "../../../pagination/list-page.ts";
import type { ListQuery } from "../../../pagination/list-query.ts";
import { isId } from "../../../values/ids.ts";
import { requireWhole } from "../../../values/whole-number.ts";
import { pushDeliveries, pushMessages } from "../table.ts";
import { Message, type MessageWithDeliveries } from "./message-model.ts";

const messageParts = sql`'id', id, 'title', content ->> '$.title', 'body', content ->> '$.body', 'url', content ->> '$.url',
  'data', json(coalesce(content -> '$.data', '{}')), 'topic', topic, 'user_id', user_id, 'lang', lang,
  'created_at', created_at, 'expires_at', expires_at`;
/** Notifications about orders are not messages that somebody sent. */
const ofTenant = sql`tenant_id = ${param("tenantId")} and kind = 'message'`;

const countOf = (status: string) => sql`count(*) filter (where status = ${sql.raw(`'${status}'`)})`;
const deliveries = sql`(select json_object('waiting', ${countOf("waiting")}, 'sent', ${countOf("sent")},
  'failed', ${countOf("failed")}, 'dropped', ${countOf("dropped")}, 'expired', ${countOf("expired")})
  from ${pushDeliveries} where message_id = ${pushMessages.id})`;
const withDeliveries = sql`json_object(${messageParts}, 'is_complete', json(iif(position is null, 'true', 'false')),
  'deliveries', ${deliveries})`;
const selectMessage = statement<{ json: string }>(sql`
  select ${withDeliveries} as json from ${pushMessages} where ${ofTenant} and id = ${param("id")}`);
const selectRecords = statement<{ json: string }>(sql`
  select ${withDeliveries} as json from ${pushMessages} where ${ofTenant}
    and (${param("topic")} is null or topic = ${param("topic")})
    and (${param("userId")} is null or user_id = ${param("userId")})
    and (${param("since")} is null or created_at >= ${param("since")})
  order by id desc limit ${param("limit")}`);
const maxRecords = 1000;

const readPage = keysetList({
  name: "notifications",
  fields: Object.keys(Message.properties),
  json: sql`json_object(${messageParts})`,
  from: sql`from ${pushMessages}`,
  base: ofTenant,
  sorts: { id: sql`id` },
  tie: null,
});

/** A message with the states of its deliveries, as JSON text. It is kept for thirty days. @throws notFound. */
export async function getMessage(ctx: Ctx, id: string): Promise<{ json: string }> {
  const row = isId("msg", id) ? await get(ctx.db, selectMessage, { tenantId: ctx.tenant.id, id }) : undefined;
  if (!row) throw notFound("message", id);
  return row;
}

/**
 * A page of the messages of the store, newest first, without notifications about orders.
 * @throws malformedRequest for a cursor that is broken or belongs to another list, validationFailed for fields.
 */
export function listMessages(ctx: Ctx, query: ListQuery): Promise<ListPage> {
  return readPage(ctx, query, { filters: {} });
}

/**
 * The newest messages that match, with the states of their deliveries, as the terminal prints them.
 * @param limit from 1 to 1000.
 * @throws validationFailed for a limit out of range.
 */
export async function listMessageRecords(
  ctx: Ctx,
  limit: number,
  filter: { topic?: string | undefined; userId?: string | undefined; since?: string | undefined } = {},
): Promise<MessageWithDeliveries[]> {
  const { topic = null, userId = null, since = null } = filter;
  requireWhole("limit", limit, 1, maxRecords);
  const rows = await all(ctx.db, selectRecords, { tenantId: ctx.tenant.id, topic, userId, since, limit });
  return rows.map(({ json }) => JSON.parse(json) as MessageWithDeliveries);
}
