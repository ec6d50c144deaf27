import { sql } from "drizzle-orm";
import type { WorkCtx } from "../../context.ts";
import { all, get, param, run, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { newId } from "../../values/ids.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { events } from "../events/table.ts";
import { matchTypes } from "../events/types.ts";
import { tenants } from "../tenants/table.ts";
import { webhookDeliveries, webhooks } from "./table.ts";

const batchSize = 500;
/** Waiting deliveries of one webhook; further deliveries are made once some have ended. */
export const maxWaiting = 10_000;

const selectBehind = statement<{ id: string }>(sql`
  select w.id from ${webhooks} w join ${tenants} t on t.id = w.tenant_id
  where t.status = 'active'
    and exists(select 1 from ${events} e where e.tenant_id = w.tenant_id and e.sequence > w.position)
    and (select count(*) from (select 1 from ${webhookDeliveries} d
      where d.webhook_id = w.id and d.status = 'waiting' limit ${param("max")})) < ${param("max")}
  order by w.id`);
const selectWebhook = statement<{ tenant_id: string; types: string; position: number }>(sql`
  select tenant_id, types, position from ${webhooks} where id = ${param("id")}`);
const selectNew = statement<{ sequence: number; type: string }>(sql`
  select sequence, type from ${events} where tenant_id = ${param("tenantId")} and sequence > ${param("position")}
  order by sequence limit ${param("limit")}`);
/** SQL that makes deliveries of `rows`, JSON arrays of an id and an event's sequence, up to the action of the conflict. */
export const insertRows = sql`
  insert into ${webhookDeliveries} (id, tenant_id, webhook_id, event, status, next_attempt_at, created_at)
  select json_extract(value, '$[0]'), ${param("tenantId")}, ${param("webhookId")}, json_extract(value, '$[1]'),
    'waiting', ${param("now")}, ${param("now")}
  from json_each(${param("rows")}) where true
  on conflict (webhook_id, event)`;
const insertDeliveries = statement(sql`${insertRows} do nothing`);
const movePosition = statement(sql`
  update ${webhooks} set position = ${param("position")} where id = ${param("id")}`);

/** Makes the deliveries of new events in the transaction that moves the position: none is skipped, or made twice. */
export async function fanOut(ctx: WorkCtx, isStopping = () => false): Promise<boolean> {
  for (const { id } of await all(ctx.db, selectBehind, { max: maxWaiting })) {
    // One batch for each at a time: a store with many events must not delay the others.
    if (isStopping()) break;
    await fanOutTo(ctx, id);
  }
  return false;
}

async function fanOutTo(ctx: WorkCtx, id: string): Promise<void> {
  await inTransaction(ctx, async ({ db }) => {
    const webhook = await get(db, selectWebhook, { id });
    if (!webhook) return;
    const { tenant_id: tenantId, position } = webhook;
    const fresh = await all(db, selectNew, { tenantId, position, limit: batchSize });
    const last = fresh.at(-1);
    if (!last) return;
    const types = new Set<string>(matchTypes(JSON.parse(webhook.types) as string[]));
    const rows = fresh.filter(({ type }) => types.has(type)).map(({ sequence }) => [newId("dlv"), sequence]);
    if (rows.length > 0) {
      const now = toTimestamp(ctx.now());
      await run(db, insertDeliveries, { tenantId, webhookId: id, rows: JSON.stringify(rows), now });
    }
    await run(db, movePosition, { id, position: last.sequence });
  });
}
