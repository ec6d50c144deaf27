import type { Stripe } from "stripe";
import { sumOf } from "../../../values/money.ts";
import { type OrderRow, titleOf } from "../../orders/read.ts";
import type { orderLines } from "../../orders/table.ts";
import type { NewPage } from "../provider.ts";
import { toStripe } from "./units.ts";

type Line = typeof orderLines.$inferSelect;
type LineItem = Stripe.Checkout.SessionCreateParams.LineItem;

/** Stripe accepts a hundred lines. Ten of them are reserved for shipping and tax. */
const maxLines = 90;
const maxName = 250;

const locales =
  "bg cs da de el en en-GB es es-419 et fi fil fr fr-CA hr hu id it ja ko lt lv ms mt nb nl pl pt pt-BR ro ru sk sl sv th " +
  "tr vi zh zh-HK zh-TW";

function localeOf(lang: string): string {
  const known = locales.split(" ");
  return [lang, lang.split("-")[0] as string].find((one) => known.includes(one)) ?? "auto";
}

/** Returns the parameters of a page for the amount due. Errors: wrongState if Stripe does not charge the currency. */
export function sessionParams(
  order: OrderRow,
  lines: readonly Line[],
  { id, due, methods, expiresAt, ...urls }: NewPage,
): Stripe.Checkout.SessionCreateParams {
  const metadata = { checkout: id, order: order.id };
  return {
    mode: "payment",
    client_reference_id: id,
    metadata,
    payment_intent_data: { metadata, description: `Order ${order.number}` },
    payment_method_types: methods as Stripe.Checkout.SessionCreateParams.PaymentMethodType[],
    adaptive_pricing: { enabled: false },
    line_items: lineItems(order, lines, due),
    ...(order.email !== null && { customer_email: order.email }),
    locale: localeOf(order.lang) as Stripe.Checkout.SessionCreateParams.Locale,
    expires_at: Math.floor(expiresAt / 1000),
    ...urls,
  };
}

function lineItems(order: OrderRow, lines: readonly Line[], due: number): LineItem[] {
  const { currency, pricesIncludeTax, shippingMinor, taxMinor, shippingRate } = order;
  const item = (name: string, unit: number, quantity = 1): LineItem => ({
    quantity,
    price_data: {
      currency: currency.toLowerCase(),
      unit_amount: toStripe(unit, currency),
      product_data: { name: name.slice(0, maxName) },
    },
  });
  const goods = lines.map(({ quantity, priceMinor, subtotalMinor, discountMinor, ...line }) => {
    const amount = subtotalMinor - discountMinor;
    if (priceMinor * quantity === amount) return item(titleOf(line), priceMinor, quantity);
    return item(quantity === 1 ? titleOf(line) : `${quantity} × ${titleOf(line)}`, amount);
  });
  const rate = shippingRate === null ? "Shipping" : (JSON.parse(shippingRate) as { name: string }).name;
  const addedTax = pricesIncludeTax ? 0 : taxMinor;
  const all = [
    ...goods,
    ...(shippingMinor > 0 ? [item(rate, shippingMinor)] : []),
    ...(addedTax > 0 ? [item("Tax", addedTax)] : []),
  ];
  // If part of the order was paid before, the lines add up to more than is due, so the page shows a single line.
  const charged = sumOf(all, ({ quantity = 1, price_data: price }) => quantity * (price?.unit_amount ?? 0));
  if (lines.length > maxLines || charged !== toStripe(due, currency)) return [item(`Order ${order.number}`, due)];
  return all;
}
