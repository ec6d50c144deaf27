import type { InStatement } from "@libsql/core/api";
import { sql } from "drizzle-orm";
import { bind, param } from "../../db/statement.ts";
import { newId } from "../../values/ids.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import type { EventType } from "../events/types.ts";
import { compileNotice } from "../notifications/messages/outbox.ts";
import { isToldEvent } from "../notifications/messages/texts.ts";
import { type OrderCtx, thisOrder } from "./statements.ts";
import { orders } from "./table.ts";

/** Who is told later than this has seen it otherwise. */
const usefulMs = 86_400_000;

// Nothing of this is personal: what a push service passes on stands on locked screens.
const insertNotice = compileNotice(sql`
  select tenant_id, user_id, json_object('type', ${param("type")}, 'order_id', id, 'number', number,
    'status', status) as content
  from ${orders} where ${thisOrder} and user_id is not null`);

/**
 * Tells the customer's devices what has become of an order, for the batch of the change; nothing for guests, and nothing
 * of an order that has just been made.
 */
export function orderNotice(tx: OrderCtx, id: string, type: EventType): InStatement[] {
  if (!isToldEvent(type)) return [];
  const values = { tenantId: tx.tenant.id, id, type, messageId: newId("msg") };
  return [bind(insertNotice, { ...values, now: toTimestamp(tx.now()), expiresAt: toTimestamp(tx.now() + usefulMs) })];
}
