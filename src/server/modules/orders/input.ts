import ipaddr from "ipaddr.js";
import type { Ctx } from "../../context.ts";
import { forbidden, invalidField, notFound } from "../../errors.ts";
import { hasScope } from "../../security/scopes.ts";
import { parseEmail } from "../../values/email.ts";
import { checkNote, metadataText, requireWhole } from "../../values/fields.ts";
import { parseMoney } from "../../values/money.ts";
import { isId } from "../../values/stamps.ts";
import { notForSale } from "../catalogue/products/stock.ts";
import { currencyDigits, parseLanguage } from "../tenants/input.ts";
import { phoneNumber, postalAddress } from "../users/input.ts";
import type { OrderInput } from "./model.ts";

export function isCustomer({ actor }: Pick<Ctx, "actor">): boolean {
  return actor.kind === "visitor" || (actor.kind === "user" && actor.role === "customer");
}

/** Returns the customer to whose orders the caller is limited; null for a caller who may see all orders. */
export function ownOnly({ actor }: Pick<Ctx, "actor">): string | null {
  return actor.kind === "user" && actor.role === "customer" ? actor.userId : null;
}

export function requireStore(ctx: Pick<Ctx, "actor">): void {
  if (isCustomer(ctx)) throw forbidden("Only staff and app keys may do this.");
}

/** Returns the customer of an order: the signed-in user, or the user whom a key names. Errors: notFound. */
export function subjectOf(ctx: Pick<Ctx, "actor">, customerId: string | undefined, subject?: string): string | null {
  const own = ownOnly(ctx);
  const named = customerId ?? subject ?? null;
  if (own === null) return named;
  if (named !== null && named !== own) throw notFound("user", named);
  return own;
}

/** Whether the caller is an app key for web pages. Every visitor can read such a key, so it may not list orders. */
export function isPage({ actor }: Pick<Ctx, "actor">): boolean {
  return actor.kind === "app" && !hasScope(actor.scopes, "orders:write");
}

export type CheckedOrder = ReturnType<typeof checkOrder>;

const ofStoreOnly = ["shipping", "tax", "guest_ip", "expires_in"] as const;
const notOfPages = [...ofStoreOnly, "customer_id", "use_points"] as const;

function refuseFields(ctx: Ctx, input: OrderInput): void {
  const names = isPage(ctx) ? notOfPages : isCustomer(ctx) ? ofStoreOnly : [];
  const sent = names.find((name) => input[name] !== undefined);
  if (sent !== undefined) throw forbidden(`Only staff and keys of backends may set ${sent}.`);
}

const noEmail: Record<"email" | "emailKey", string | null> = { email: null, emailKey: null };

function contactOf({ email, phone, ...addresses }: OrderInput) {
  const { shipping_address: shipping = null, billing_address: billing = null } = addresses;
  return {
    ...(email == null ? noEmail : parseEmail("email", email)),
    phone: phone == null ? null : phoneNumber("phone", phone),
    destination: shipping && { country: shipping.country, postcode: shipping.postal_code ?? "" },
    shippingAddress: shipping && JSON.stringify(postalAddress("shipping_address", shipping)),
    billingAddress: billing && JSON.stringify(postalAddress("billing_address", billing)),
  };
}

export function checkOrder(ctx: Ctx, input: OrderInput & { lang?: string | undefined }) {
  refuseFields(ctx, input);
  const { shipping, tax, guest_ip: guestIp, expected_total: expected } = input;
  if (guestIp !== undefined) checkGuestIp(ctx, guestIp);
  const digits = currencyDigits(ctx.tenant.currency);
  return {
    lines: input.items.map(wantedLine),
    ...contactOf(input),
    note: checkNote("note", input.note ?? null, 2000),
    metadata: metadataText(input.metadata ?? {}),
    usePoints: requireWhole("use_points", input.use_points ?? 0, 0, Number.MAX_SAFE_INTEGER),
    givenShipping: shipping === undefined ? undefined : parseMoney("shipping", shipping, digits),
    givenTax: tax === undefined ? undefined : parseMoney("tax", tax, digits),
    rateId: input.shipping_rate ?? null,
    code: input.discount_code ?? null,
    paymentMethod: input.payment_method ?? null,
    expectedTotal: expected === undefined ? undefined : parseMoney("expected_total", expected, digits),
    holdSeconds: holdOf(ctx, input),
    guestIp: guestIp ?? null,
    digits,
    lang: input.lang === undefined ? ctx.tenant.language : parseLanguage("lang", input.lang),
  };
}

/** The longest time that an unpaid order can reserve stock, in seconds. */
export const maxHold = 30 * 86_400;

function holdOf({ tenant }: Ctx, { expires_in: given, payment_method: method }: OrderInput): number {
  if (given !== undefined) return requireWhole("expires_in", given, 60, maxHold);
  return method === "manual" ? tenant.transferHold : tenant.hold;
}

function checkGuestIp({ actor }: Ctx, guestIp: string): void {
  if (actor.kind === "app" && actor.isWeb) {
    throw forbidden("A key that web pages use may not set guest_ip. Limits use the IP address of the request instead.");
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
