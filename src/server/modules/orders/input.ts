import ipaddr from "ipaddr.js";
import type { Ctx } from "../../context.ts";
import { forbidden, invalidField, notFound } from "../../errors.ts";
import { checkNote, requireWhole } from "../../values/fields.ts";
import { parseMoney } from "../../values/money.ts";
import { isId } from "../../values/stamps.ts";
import { notForSale } from "../catalogue/products/stock.ts";
import { currencyDigits, parseLanguage } from "../tenants/input.ts";
import { postalAddress } from "../users/input.ts";
import type { OrderInput } from "./model.ts";

export function isCustomer({ actor }: Pick<Ctx, "actor">): boolean {
  return actor.kind === "visitor" || (actor.kind === "user" && actor.role === "customer");
}

/** The customer to whose orders the caller is limited; null for all orders. */
export function ownOnly({ actor }: Pick<Ctx, "actor">): string | null {
  return actor.kind === "user" && actor.role === "customer" ? actor.userId : null;
}

export function requireStore(ctx: Pick<Ctx, "actor">): void {
  if (isCustomer(ctx)) throw forbidden("Only staff and app keys may do this.");
}

/** The customer of an order: the signed-in user, or one whom an app key names. Errors: notFound for another user. */
export function subjectOf(ctx: Pick<Ctx, "actor">, customerId: string | undefined, subject?: string): string | null {
  const own = ownOnly(ctx);
  const named = customerId ?? subject ?? null;
  if (own === null) return named;
  if (named !== null && named !== own) throw notFound("user", named);
  return own;
}

export type CheckedOrder = ReturnType<typeof checkOrder>;

export function checkOrder(ctx: Ctx, input: OrderInput & { lang?: string | undefined }) {
  const { shipping, tax, guest_ip: guestIp } = input;
  if (isCustomer(ctx) && [shipping, tax, guestIp].some((value) => value !== undefined)) {
    throw forbidden("Only staff and app keys may set shipping, tax and guest_ip.");
  }
  if (guestIp !== undefined) checkGuestIp(ctx, guestIp);
  const digits = currencyDigits(ctx.tenant.currency);
  const address = input.shipping_address ?? null;
  return {
    lines: input.items.map(wantedLine),
    shippingAddress: address && JSON.stringify(postalAddress("shipping_address", address)),
    note: checkNote("note", input.note ?? null, 2000),
    usePoints: requireWhole("use_points", input.use_points ?? 0, 0, Number.MAX_SAFE_INTEGER),
    shipping: parseMoney("shipping", shipping ?? 0, digits),
    tax: parseMoney("tax", tax ?? 0, digits),
    guestIp: guestIp ?? null,
    digits,
    lang: input.lang === undefined ? ctx.tenant.language : parseLanguage("lang", input.lang),
  };
}

function checkGuestIp({ actor }: Ctx, guestIp: string): void {
  if (actor.kind === "app" && actor.isWeb) {
    throw forbidden("A key that web pages use may not set guest_ip. Its orders count for the address of the request.");
  }
  if (!ipaddr.isValid(guestIp)) throw invalidField("guest_ip", "must be an IP address");
}

function wantedLine(item: OrderInput["items"][number], index: number) {
  const { product_id: productId = null, variant_id: variantId = null } = item;
  const field = `items.${index}`;
  if (productId === null && variantId === null) {
    throw invalidField(`${field}.product_id`, "is required unless variant_id is sent");
  }
  if (productId !== null && !isId("prod", productId)) throw invalidField(`${field}.product_id`, notForSale.productId);
  if (variantId !== null && !isId("var", variantId)) throw invalidField(`${field}.variant_id`, notForSale.variant);
  return { productId, variantId, quantity: requireWhole(`${field}.quantity`, item.quantity, 1, 1_000_000) };
}
