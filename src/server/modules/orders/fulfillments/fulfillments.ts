import type { InStatement } from "@libsql/core/api";
import { sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { all, bind, byId, get, type Params, param, params, run, statement } from "../../../db/statement.ts";
import { notFound, wrongState } from "../../../errors.ts";
import { sumOf } from "../../../values/money.ts";
import { newId } from "../../../values/stamps.ts";
import type { Rendered } from "../../catalogue/products/rendering.ts";
import type { FulfillmentInput, TrackingInput } from "../change-model.ts";
import { changeOrder } from "../commit-transition.ts";
import { ofOrder, selectLines } from "../read.ts";
import { requirePieces, sentOf, unsentOf } from "../refund-lines.ts";
import { orderStateError } from "../statements.ts";
import { fulfillments, orderLines, orders } from "../table.ts";
import { trackingOf } from "./tracking.ts";

/** How long a parcel can be deleted after it was recorded. */
const deletableMs = 24 * 3_600_000;

const sendPieces = statement(sql`
  update ${orderLines} set fulfilled_quantity = fulfilled_quantity + ${param("quantity")}
  where ${ofOrder} and id = ${param("lineId")}`);
const insertFulfillment = statement((q) =>
  q.insert(fulfillments).values({
    ...params("tenantId", "lines", "tracking"),
    ...{ id: param("fulfillmentId"), orderId: param("id"), createdAt: param("now") },
  }),
);
const isOne = sql`${ofOrder} and id = ${param("fulfillmentId")}`;
const selectOne = statement((q) => q.select().from(fulfillments).where(isOne));
const setTracking = statement(sql`update ${fulfillments} set tracking = ${param("tracking")} where ${isOne}`);
const deleteOne = statement((q) => q.delete(fulfillments).where(isOne));
const isOpen = sql`exists (select 1 from ${orderLines} where order_id = ${orders.id}
  and fulfilled_quantity + cancelled_quantity < quantity)`;
const isBegun = sql`exists (select 1 from ${orderLines} where order_id = ${orders.id} and fulfilled_quantity > 0)`;
const isDone = sql`(not ${isOpen} and ${isBegun})`;
/** Computes the fulfillment status of an order. A paid order is completed when no piece is left to send. */
export const computeFulfillment = statement((q) =>
  q
    .update(orders)
    .set({
      fulfillmentStatus: sql`case when ${isDone} then 'fulfilled' when ${isBegun} then 'partially_fulfilled' else 'unfulfilled' end`,
      fulfilledAt: sql`case when ${isDone} then coalesce(fulfilled_at, ${param("now")}) end`,
      status: sql`case when ${isDone} and status = 'paid' then 'completed' when not ${isDone} and status = 'completed' then 'paid' else status end`,
    })
    .where(byId(orders)),
);

/**
 * Records a parcel of a paid order with the given pieces, by default with all that were not sent.
 * @throws notFound, validationFailed; wrongState for an order that is not paid, and for pieces that were sent already.
 */
export function createFulfillment(
  ctx: Ctx,
  id: string,
  input: FulfillmentInput = {},
  ifMatch: number | null = null,
): Promise<Rendered> {
  const tracking = input.tracking ? JSON.stringify(trackingOf(input.tracking)) : null;
  return changeOrder(ctx, id, ifMatch, async (tx, { status }, values) => {
    if (status !== "paid") throw orderStateError(id, status, "paid orders can be fulfilled");
    const ordered = await all(tx.db, selectLines, values);
    const left = ordered.filter((line) => unsentOf(line) > 0);
    const pieces = input.lines ?? left.map((line): Piece => ({ line_id: line.id, quantity: unsentOf(line) }));
    requirePieces(ordered, pieces, (line) => [unsentOf(line), "are left to fulfill"]);
    if (pieces.length === 0) throw wrongState(`Nothing of order ${id} is left to fulfill.`);
    const isAll = sumOf(pieces, ({ quantity }) => quantity) === sumOf(left, unsentOf);
    const lines = JSON.stringify(pieces.map(({ line_id, quantity }) => ({ line_id, quantity })));
    const fulfillmentId = newId("ful");
    return {
      event: isAll ? "order.fulfilled" : "order.shipped",
      first: [...sendAll(values, pieces, 1), bind(insertFulfillment, { ...values, fulfillmentId, lines, tracking })],
      mail: ["order_shipped", fulfillmentId],
    };
  });
}

type Piece = { line_id: string; quantity: number };

/** Returns statements that record pieces as sent or, with the sign -1, as not sent. */
function sendAll(values: Params, pieces: readonly Piece[], sign: 1 | -1): InStatement[] {
  const sends = pieces.map((piece) =>
    bind(sendPieces, { ...values, lineId: piece.line_id, quantity: sign * piece.quantity }),
  );
  return [...sends, bind(computeFulfillment, values)];
}

interface Parcel {
  id: string;
  fulfillment_id: string;
}

/** Changes the tracking of a parcel. Errors: notFound, preconditionFailed, validationFailed. */
export function updateFulfillment(
  ctx: Ctx,
  { id, fulfillment_id: fulfillmentId }: Parcel,
  { tracking }: TrackingInput,
  ifMatch: number | null = null,
): Promise<Rendered> {
  return changeOrder(ctx, id, ifMatch, async (tx, _order, values) => {
    const text = tracking && JSON.stringify(trackingOf(tracking));
    const changed = await run(tx.db, setTracking, { ...values, fulfillmentId, tracking: text });
    if (changed === 0) throw notFound("fulfillment", fulfillmentId);
    return { event: "order.updated" };
  });
}

/**
 * Deletes a parcel that was recorded within the last day. Its pieces can be sent again.
 * @throws notFound; wrongState for an older parcel, and if pieces were returned.
 */
export function deleteFulfillment(
  ctx: Ctx,
  { id, fulfillment_id: fulfillmentId }: Parcel,
  ifMatch: number | null = null,
): Promise<Rendered> {
  return changeOrder(ctx, id, ifMatch, async (tx, _order, ofOrder) => {
    const values = { ...ofOrder, fulfillmentId };
    const found = await get(tx.db, selectOne, values);
    if (!found) throw notFound("fulfillment", fulfillmentId);
    if (Date.parse(found.createdAt) < tx.now() - deletableMs) {
      throw wrongState("A fulfillment can be deleted within 24 hours only.");
    }
    const pieces = JSON.parse(found.lines) as Piece[];
    const lines = await all(tx.db, selectLines, values);
    const isKept = ({ line_id: lineId, quantity }: Piece) =>
      lines.every((line) => line.id !== lineId || sentOf(line) >= quantity);
    if (!pieces.every(isKept)) throw wrongState("Pieces of this fulfillment were refunded.");
    return { event: "order.updated", first: [...sendAll(values, pieces, -1), bind(deleteOne, values)] };
  });
}
