import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { bind, byId, params, statement } from "../../db/statement.ts";
import { wrongState } from "../../errors.ts";
import { parseEmail } from "../../values/email.ts";
import { checkNote, metadataText } from "../../values/fields.ts";
import type { Rendered } from "../catalogue/products/rendering.ts";
import { readShippingRates } from "../shipping/service.ts";
import { zoneOf } from "../shipping/zones.ts";
import { phoneNumber, postalAddress } from "../users/input.ts";
import type { OrderPatch } from "./change-model.ts";
import { changeOrder } from "./commit-transition.ts";
import type { OrderRow } from "./read.ts";
import { orders } from "./table.ts";

const persons = {
  ...params("email", "emailKey", "phone", "shippingAddress", "billingAddress"),
  ...params("note", "staffNote", "metadata", "accessVersion"),
};
const setPersons = statement((q) => q.update(orders).set(persons).where(byId(orders)));
const raiseAccessVersion = statement(sql`
  update ${orders} set access_version = access_version + 1 where ${byId(orders)}`);

type Address = NonNullable<OrderPatch["shipping_address"]>;

/**
 * Changes contact, addresses and notes of an order, but no amounts. A new email ends the order's access tokens.
 * @throws notFound, preconditionFailed, validationFailed; wrongState for another country or shipping zone, and, once
 * all pieces were sent, for all fields except `staff_note` and `metadata`.
 */
export function correctOrder(
  ctx: Ctx,
  id: string,
  patch: OrderPatch,
  ifMatch: number | null = null,
): Promise<Rendered> {
  return changeOrder(ctx, id, ifMatch, async (tx, order, values) => {
    const isNoteOnly = Object.keys(patch).every((name) => name === "staff_note" || name === "metadata");
    if (order.fulfillmentStatus === "fulfilled" && !isNoteOnly) throw wrongState(`Order ${id} was sent already.`);
    const columns = { ...order, ...(await patchColumns(tx, order, patch)) };
    const accessVersion = order.accessVersion + (columns.emailKey === order.emailKey ? 0 : 1);
    return { event: "order.updated", first: [bind(setPersons, { ...columns, ...values, accessVersion })] };
  });
}

/** Ends all access tokens of an order. Errors: notFound. */
export function revokeAccess(ctx: Ctx, id: string): Promise<Rendered> {
  return changeOrder(ctx, id, null, async (_tx, _order, values) => {
    return { event: "order.updated", first: [bind(raiseAccessVersion, values)] };
  });
}

async function patchColumns(tx: Ctx, order: OrderRow, patch: OrderPatch): Promise<Partial<OrderRow>> {
  const { email, phone, shipping_address: shipping, billing_address: billing, note, staff_note: staffNote } = patch;
  if (shipping !== undefined) await requireSameZone(tx, order, shipping);
  const address = (field: string, given: Address | null) => given && JSON.stringify(postalAddress(field, given));
  return {
    ...(email !== undefined && (email === null ? { email: null, emailKey: null } : parseEmail("email", email))),
    ...(phone !== undefined && { phone: phone === null ? null : phoneNumber("phone", phone) }),
    ...(shipping !== undefined && { shippingAddress: address("shipping_address", shipping) }),
    ...(billing !== undefined && { billingAddress: address("billing_address", billing) }),
    ...(note !== undefined && { note: checkNote("note", note, 2000) }),
    ...(staffNote !== undefined && { staffNote: checkNote("staff_note", staffNote, 2000) }),
    ...(patch.metadata !== undefined && { metadata: metadataText(patch.metadata) }),
  };
}

/** Requires an address in the same country and zone. Otherwise shipping and tax would change, and both are fixed. */
async function requireSameZone(tx: Ctx, order: OrderRow, given: Address | null): Promise<void> {
  const before = order.shippingAddress === null ? null : (JSON.parse(order.shippingAddress) as Address);
  const rates = await readShippingRates(tx);
  const zone = (address: Address | null) => address && zoneOf(rates, address.country, address.postal_code ?? "");
  const isSame = before?.country === given?.country && (order.shippingRate === null || zone(before) === zone(given));
  if (!isSame && !(before === null && order.shippingRate === null && order.taxLines === "[]")) {
    throw wrongState(
      "The new address is in another country or shipping zone, which would change what the order costs.",
    );
  }
}
