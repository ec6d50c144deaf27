import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { bind, param, statement } from "../../db/statement.ts";
import { type AppError, notFound } from "../../errors.ts";
import { isId, newId } from "../../values/ids.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { compileEvent } from "../events/service.ts";
import type { EventType } from "../events/types.ts";
import { orderEventJson, orderJson, type RenderedOrder } from "./rendering.ts";
import { orders } from "./table.ts";

/** What a transaction on orders has to know; the sweep has no actor. */
export type OrderCtx = Pick<Ctx, "db" | "tenant" | "now">;

/** SQL: the order of that id in the tenant. */
export const thisOrder: SQL = sql`tenant_id = ${param("tenantId")} and id = ${param("id")}`;
/** SQL: where `own` names a customer, only theirs. */
export const visible: SQL = sql`(${param("own")} is null or user_id = ${param("own")})`;
/** SQL: what every write sets. */
export const touched: SQL = sql`version = version + 1, updated_at = ${param("now")}`;

/** One order as it is answered. */
export const selectOrder = statement<RenderedOrder>(sql`
  select ${orderJson} as json, version from ${orders} where ${thisOrder} and ${visible}`);
/** The states by which a refusal is explained. */
export const selectState = statement<OrderState>(sql`
  select status, payment_status, payment_reference, expires_at, version from ${orders} where ${thisOrder} and ${visible}`);

/** An order's states. */
export interface OrderState {
  status: string;
  payment_status: string;
  payment_reference: string | null;
  expires_at: string;
  version: number;
}

const recordOrderEvent = compileEvent({
  type: sql`${param("type")}`,
  subject: sql`id`,
  data: orderEventJson,
  from: sql`from ${orders} where ${thisOrder}`,
});

/** The event of what has just become of an order, for a batch. */
export function orderEvent(tx: OrderCtx, id: string, type: EventType) {
  const values = { tenantId: tx.tenant.id, id, type, eventId: newId("evt"), now: toTimestamp(tx.now()) };
  return bind(recordOrderEvent, values);
}

/** A read of the order, for the end of a batch. */
export function readOrder(tx: OrderCtx, id: string) {
  return bind(selectOrder, { tenantId: tx.tenant.id, id, own: null });
}

/** Spares the database what cannot be an id, and what it could not hold, such as NUL. */
export function requireOrderId(id: string): void {
  if (!isId("ord", id)) throw noSuchOrder();
}

export function noSuchOrder(): AppError {
  return notFound("order");
}
