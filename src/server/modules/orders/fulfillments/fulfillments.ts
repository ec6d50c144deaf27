import { and, sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { all, bind, byId, equals, get, ofStore, param, params, run, statement } from "../../../db/statement.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { fieldError, invalidField, notFound, wrongState } from "../../../errors.ts";
import { newId, toTimestamp } from "../../../values/stamps.ts";
import type { Rendered } from "../../catalogue/products/rendering.ts";
import type { FulfillmentInput, TrackingInput } from "../change-model.ts";
import { commitTransition } from "../commit-transition.ts";
import { requireStore } from "../input.ts";
import { requireRow } from "../read.ts";
import { sentOf } from "../refund-lines.ts";
import { bumpOrder, orderStateError } from "../statements.ts";
import { fulfillments, orderLines, orders } from "../table.ts";
import { trackingOf } from "./tracking.ts";

/** A parcel that was recorded by mistake can be deleted for this long. */
const deletableMs = 24 * 3_600_000;

const ofOrder = and(ofStore(orderLines), equals(orderLines.orderId, "id"));
const selectLines = statement((q) => q.select().from(orderLines).where(ofOrder).orderBy(orderLines.position));
const sendPieces = statement((q) =>
  q
    .update(orderLines)
    .set({ fulfilledQuantity: sql`fulfilled_quantity + ${param("quantity")}` })
    .where(and(ofOrder, equals(orderLines.id, "lineId"))),
);
const insertFulfillment = statement((q) =>
  q.insert(fulfillments).values({
    ...params("tenantId", "lines", "tracking"),
    ...{ id: param("fulfillmentId"), orderId: param("id"), createdAt: param("now") },
  }),
);
const isOne = and(ofStore(fulfillments), equals(fulfillments.id, "fulfillmentId"), equals(fulfillments.orderId, "id"));
const selectOne = statement((q) => q.select().from(fulfillments).where(isOne));
const setTracking = statement((q) =>
  q
    .update(fulfillments)
    .set({ tracking: param("tracking") })
    .where(isOne),
);
const deleteOne = statement((q) => q.delete(fulfillments).where(isOne));
const isOpen = sql`exists (select 1 from ${orderLines} where order_id = ${orders.id}
  and fulfilled_quantity + cancelled_quantity < quantity)`;
const isBegun = sql`exists (select 1 from ${orderLines} where order_id = ${orders.id} and fulfilled_quantity > 0)`;
const isDone = sql`(not ${isOpen} and ${isBegun})`;
/** Computes whether an order was sent from the pieces of its lines. A paid order is completed when nothing is left. */
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
 * Records a parcel of a paid order: these pieces, or all that are left.
 * @throws notFound, validationFailed; wrongState for an order that is not paid, and for more pieces than are left.
 */
export async function createFulfillment(
  ctx: Ctx,
  id: string,
  input: FulfillmentInput = {},
  ifMatch: number | null = null,
): Promise<Rendered> {
  requireStore(ctx);
  const tracking = input.tracking ? JSON.stringify(trackingOf(input.tracking)) : null;
  return inTransaction(ctx, async (tx) => {
    const { status } = await requireRow(tx, id, ifMatch);
    if (status !== "paid") throw orderStateError(id, status, "paid orders can be fulfilled");
    const values = { tenantId: tx.tenant.id, id, now: toTimestamp(tx.now()) };
    const pieces = piecesOf(await all(tx.db, selectLines, values), input.lines);
    if (pieces.length === 0) throw wrongState(`Nothing of order ${id} is left to fulfill.`);
    const lines = JSON.stringify(pieces);
    const isLast = await sendAll(tx, values, pieces);
    return commitTransition(tx, id, {
      event: isLast ? "order.fulfilled" : "order.shipped",
      first: [bind(insertFulfillment, { ...values, fulfillmentId: newId("ful"), lines, tracking })],
    });
  });
}

type Piece = { line_id: string; quantity: number };

async function sendAll(
  tx: Ctx,
  values: { tenantId: string; id: string; now: string },
  pieces: Piece[],
): Promise<boolean> {
  const sends = pieces.map(({ line_id: lineId, quantity }) => bind(sendPieces, { ...values, lineId, quantity }));
  await tx.db.batch([...sends, bind(computeFulfillment, values), bind(bumpOrder, values)]);
  return (await requireRow(tx, values.id)).fulfillmentStatus === "fulfilled";
}

type Line = typeof orderLines.$inferSelect;

export function remainingOf({ quantity, fulfilledQuantity, cancelledQuantity }: Line): number {
  return quantity - fulfilledQuantity - cancelledQuantity;
}

function piecesOf(lines: readonly Line[], asked: FulfillmentInput["lines"]): Piece[] {
  if (!asked) {
    const left = lines.map((line): Piece => ({ line_id: line.id, quantity: remainingOf(line) }));
    return left.filter(({ quantity }) => quantity > 0);
  }
  const seen = new Set<string>();
  return asked.map(({ line_id: lineId, quantity }, index) => {
    const line = lines.find(({ id }) => id === lineId);
    if (!line) throw invalidField(`lines.${index}.line_id`, "is not a line of this order");
    if (seen.has(lineId)) throw invalidField(`lines.${index}.line_id`, "is repeated");
    seen.add(lineId);
    const left = remainingOf(line);
    if (!Number.isInteger(quantity) || quantity < 1) {
      throw invalidField(`lines.${index}.quantity`, "must be a whole number of at least 1");
    }
    if (quantity > left) {
      const message = `is ${quantity}, but ${left} of ${line.sku ?? line.title} are left to fulfill`;
      throw fieldError(wrongState, `lines.${index}.quantity`, message);
    }
    return { line_id: lineId, quantity };
  });
}

interface Parcel {
  /** Of the order. */
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
  requireStore(ctx);
  return inTransaction(ctx, async (tx) => {
    const values = { tenantId: tx.tenant.id, id, fulfillmentId };
    await requireRow(tx, id, ifMatch);
    const text = tracking && JSON.stringify(trackingOf(tracking));
    if ((await run(tx.db, setTracking, { ...values, tracking: text })) === 0)
      throw notFound("fulfillment", fulfillmentId);
    await run(tx.db, bumpOrder, { ...values, now: toTimestamp(tx.now()) });
    return commitTransition(tx, id, { event: "order.updated" });
  });
}

/**
 * Deletes a parcel within a day; its pieces are left to fulfill again.
 * @throws notFound; wrongState later, and if its pieces were returned.
 */
export function deleteFulfillment(
  ctx: Ctx,
  { id, fulfillment_id: fulfillmentId }: Parcel,
  ifMatch: number | null = null,
): Promise<Rendered> {
  requireStore(ctx);
  return inTransaction(ctx, async (tx) => {
    const values = { tenantId: tx.tenant.id, id, fulfillmentId, now: toTimestamp(tx.now()) };
    await requireRow(tx, id, ifMatch);
    const found = await get(tx.db, selectOne, values);
    if (!found) throw notFound("fulfillment", fulfillmentId);
    if (Date.parse(found.createdAt) < tx.now() - deletableMs) {
      throw wrongState("A fulfillment can be deleted for 24 hours.");
    }
    const pieces = JSON.parse(found.lines) as Piece[];
    const lines = await all(tx.db, selectLines, values);
    const isKept = ({ line_id: lineId, quantity }: Piece) =>
      lines.every((line) => line.id !== lineId || sentOf(line) >= quantity);
    if (!pieces.every(isKept)) throw wrongState("Pieces of this fulfillment came back and were refunded.");
    const back = pieces.map(({ line_id: lineId, quantity }) =>
      bind(sendPieces, { ...values, lineId, quantity: -quantity }),
    );
    await tx.db.batch([...back, bind(deleteOne, values), bind(computeFulfillment, values), bind(bumpOrder, values)]);
    return commitTransition(tx, id, { event: "order.updated" });
  });
}
