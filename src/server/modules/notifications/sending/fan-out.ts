import { sql } from "drizzle-orm";
import type { WorkCtx } from "../../../context.ts";
import { all, bind, get, param, statement } from "../../../db/statement.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { newId } from "../../../values/ids.ts";
import { toTimestamp } from "../../../values/timestamp.ts";
import { tenants } from "../../tenants/table.ts";
import { pageRecipients, type Recipient, type Recipients } from "../messages/recipients.ts";
import { pushDeliveries, pushMessages } from "../table.ts";

const batchSize = 500;
/** How many messages are read at once; those about orders come first. */
const maxMessages = 100;

/** Registrations that never received anything come last: strangers may register endpoints that never answer. */
export const priorities = { order: 0, message: 1, newOrder: 2, newMessage: 3 } as const;
/** Each priority has a pool of permits, so that a lower one cannot use those of a higher one. */
export const pools = Object.values(priorities);
export const isUnproven = (pool: number): boolean => pool >= priorities.newOrder;

const selectUnfinished = statement<{ id: string }>(sql`
  select m.id from ${pushMessages} m join ${tenants} t on t.id = m.tenant_id
  where m.position is not null and t.status = 'active' order by m.kind = 'order' desc, m.id limit ${param("max")}`);
const selectMessage = statement<UnfinishedMessage>(sql`
  select tenant_id as tenantId, kind, topic, user_id as userId, lang, position, expires_at as expiresAt
  from ${pushMessages} where id = ${param("id")} and position is not null`);
const insertDeliveries = statement(sql`
  insert into ${pushDeliveries} (id, tenant_id, message_id, registration_id, platform, priority, status,
    next_attempt_at, created_at)
  select json_extract(value, '$[0]'), ${param("tenantId")}, ${param("id")}, json_extract(value, '$[1]'),
    json_extract(value, '$[2]'), json_extract(value, '$[3]'), 'waiting', ${param("now")}, ${param("now")}
  from json_each(${param("rows")}) where true
  on conflict (message_id, registration_id) do nothing`);
const movePosition = statement(sql`
  update ${pushMessages} set position = ${param("position")} where id = ${param("id")}`);

type UnfinishedMessage = Recipients &
  Record<"tenantId" | "position" | "expiresAt", string> & { kind: "order" | "message" };

/**
 * Makes the deliveries of the messages in the outbox: a batch of each, in the transaction that moves its position, so
 * that several processes neither skip a device nor send to it twice.
 * @returns whether there are more to make.
 */
export async function fanOut(ctx: WorkCtx, isStopping = () => false): Promise<boolean> {
  const unfinished = await all(ctx.db, selectUnfinished, { max: maxMessages });
  let isMore = unfinished.length === maxMessages;
  for (const { id } of unfinished) {
    // One batch of each at a time: a message to very many devices must not delay the others.
    if (isStopping()) return false;
    if (!(await fanOutMessage(ctx, id))) isMore = true;
  }
  return isMore;
}

/** Returns whether all deliveries of the message are made. */
function fanOutMessage(ctx: WorkCtx, id: string): Promise<boolean> {
  return inTransaction(ctx, async ({ db }) => {
    const message = await get(db, selectMessage, { id });
    if (!message) return true;
    const { tenantId, topic, userId, lang, position } = message;
    const now = toTimestamp(ctx.now());
    const page =
      message.expiresAt <= now
        ? []
        : await pageRecipients(db, tenantId, { topic, userId, lang }, { after: position, limit: batchSize });
    const next = page.length === batchSize ? (page.at(-1)?.id ?? null) : null;
    const rows = page.filter(({ is_meant }) => is_meant === 1).map((recipient) => toRow(message, recipient));
    await db.batch([
      ...(rows.length > 0 ? [bind(insertDeliveries, { tenantId, id, rows: JSON.stringify(rows), now })] : []),
      bind(movePosition, { id, position: next }),
    ]);
    return next === null;
  });
}

function toRow({ kind }: UnfinishedMessage, { id, platform, is_proven }: Recipient) {
  const [proven, unproven] =
    kind === "order" ? [priorities.order, priorities.newOrder] : [priorities.message, priorities.newMessage];
  return [newId("psh"), id, platform, is_proven === 1 ? proven : unproven];
}
