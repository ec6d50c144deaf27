import { sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { ofStore, param, params, run, statement } from "../../../db/statement.ts";
import { wrongState } from "../../../errors.ts";
import { checkNote } from "../../../values/fields.ts";
import { newId, toTimestamp } from "../../../values/stamps.ts";
import { actorId } from "../../audit/service.ts";
import { mailStore } from "../../mail/store-mail.ts";
import type { AttentionInput } from "../change-model.ts";
import { changeOrder } from "../commit-transition.ts";
import { requireRow } from "../read.ts";
import type { OrderCtx } from "../statements.ts";
import type { attentionKinds } from "../states.ts";
import { orderAttention } from "./table.ts";

export type AttentionKind = (typeof attentionKinds)[number];

const open = statement((q) =>
  q
    .insert(orderAttention)
    .values({ ...params("id", "tenantId", "orderId", "kind"), createdAt: param("now") })
    .onConflictDoNothing(),
);
const end = statement(sql`
  update ${orderAttention} set ended_at = ${param("now")}, action = ${param("action")}, ended_by = ${param("endedBy")},
    note = ${param("note")}
  where ${ofStore(orderAttention)} and order_id = ${param("orderId")} and ended_at is null
    and kind in (select value from json_each(${param("kinds")}))`);

/** Asks staff to look at an order, also by mail. Does nothing if a question of this kind is open. */
export async function needAttention(tx: OrderCtx, orderId: string, kind: AttentionKind): Promise<void> {
  const id = newId("att");
  const values = { id, tenantId: tx.tenant.id, orderId, kind, now: toTimestamp(tx.now()) };
  if ((await run(tx.db, open, values)) === 0) return;
  const { number } = await requireRow(tx, orderId);
  const mail = { thread: orderId, values: { number: String(number), reason: kind } };
  await mailStore(tx, { ...mail, kind: "needs_attention", cause: id });
}

const reasonGone = { action: null, endedBy: null, note: null };

/** Ends open questions to staff, and returns their number. By default, records that the reason is gone. */
export function endAttention(
  tx: OrderCtx,
  orderId: string,
  kinds: readonly AttentionKind[],
  by: Record<keyof typeof reasonGone, string | null> = reasonGone,
): Promise<number> {
  const now = toTimestamp(tx.now());
  return run(tx.db, end, { ...by, tenantId: tx.tenant.id, orderId, kinds: JSON.stringify(kinds), now });
}

/** Records what staff decided about an order. Errors: notFound; wrongState if no question of this kind is open. */
export async function resolveAttention(ctx: Ctx, id: string, input: AttentionInput, ifMatch: number | null = null) {
  const { kind, action } = input;
  const note = checkNote("note", input.note ?? null, 2000);
  return changeOrder(ctx, id, ifMatch, async (tx) => {
    if ((await endAttention(tx, id, [kind], { action, endedBy: actorId(tx.actor), note })) === 0) {
      throw wrongState(`Order ${id} does not need attention for ${kind}.`);
    }
    return { event: "order.updated" };
  });
}
