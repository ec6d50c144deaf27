import type { Ctx } from "../../context.ts";
import { conflict, fieldError, invalidField, notDelivered } from "../../errors.ts";
import { formatMinor } from "../../values/money.ts";
import type { OrderedItem } from "../catalogue/products/stock.ts";
import { applyDiscount, type UsableDiscount } from "../discounts/use.ts";
import { nameIn, type Offer, offersFor, type StoredRate, showOffer } from "../shipping/service.ts";
import { lacksPostcode } from "../shipping/zones.ts";
import { addUp, discountGoods, type Goods, subtotalsOf } from "./amounts.ts";
import type { CheckedOrder } from "./input.ts";

/** The data for an order's price, besides its items. */
export interface Pricing {
  /** The shipping rates of the store; empty if shipping is free. */
  rates: readonly StoredRate[];
  /** The tax rates of the destination by class; undefined if nothing is taxed. */
  taxRates: ReadonlyMap<string, number> | undefined;
  discount: UsableDiscount | undefined;
  isDryRun: boolean;
}

/**
 * Calculates the price of an order: first the discount code, then points, shipping and tax.
 * @throws validationFailed, discountRefused, notDelivered; conflict if the total is not the expected one.
 */
export async function priceOrder(tx: Ctx, order: CheckedOrder, items: readonly OrderedItem[], pricing: Pricing) {
  const { digits, usePoints, givenShipping, givenTax, expectedTotal } = order;
  const { currency, pointValue } = tx.tenant;
  const { discount } = pricing;
  const subtotals = subtotalsOf(items, digits);
  const lines = items.map(({ productId }, index) => ({ productId, subtotal: subtotals[index] as number }));
  const show = (minor: number) => `${formatMinor(minor, digits)} ${currency}`;
  const byCode = discount ? await applyDiscount(tx, discount, lines, show) : [];
  const goods = discountGoods(subtotals, byCode, { count: usePoints, value: pointValue });
  const shipping =
    givenShipping === undefined
      ? shippingOf(tx, order, { items, goods }, pricing)
      : { amount: givenShipping, taxClass: null, rate: null, offers: undefined };
  const pricesIncludeTax = givenTax === undefined && tx.tenant.pricesIncludeTax === "yes";
  const sums = addUp(goods, {
    taxClasses: items.map(({ taxClass }) => taxClass),
    shipping,
    taxation: givenTax === undefined ? { rates: pricing.taxRates } : { tax: givenTax },
    ...{ pricesIncludeTax, digits },
  });
  if (expectedTotal !== undefined && expectedTotal !== sums.total) {
    throw fieldError(conflict, "expected_total", `The total is ${show(sums.total)}.`);
  }
  return { ...sums, pricesIncludeTax, rate: shipping.rate, offers: shipping.offers };
}

/** Chooses the shipping rate. If a dry run names none, lists the rates that apply. */
function shippingOf(
  tx: Ctx,
  { rateId, destination, lang }: CheckedOrder,
  { items, goods }: { items: readonly OrderedItem[]; goods: Goods },
  { rates, discount, isDryRun }: Pricing,
) {
  const shipped = items.filter(({ requiresShipping }) => requiresShipping);
  const free = { amount: 0, taxClass: null, rate: null, offers: undefined };
  const refused = () => invalidField("shipping_rate", "does not apply to this address and these goods");
  if (rates.length === 0 || shipped.length === 0) {
    if (rateId !== null) throw refused();
    return free;
  }
  if (destination === null) {
    if (isDryRun && rateId === null) return { ...free, offers: [] };
    throw invalidField("shipping_address", "is required, because the goods are shipped");
  }
  if (rateId !== null && lacksPostcode(rates, destination.country, destination.postcode)) {
    throw invalidField(
      "shipping_address.postal_code",
      "must be a postcode of the country, because shipping depends on it",
    );
  }
  const weight = shipped.reduce((sum, item) => sum + (item.weight ?? 0) * item.quantity, 0);
  const offers = offersFor(rates, destination, { value: goods.value, weight }).map(
    (offer): Offer => (discount?.freeShipping ? { ...offer, priceMinor: 0 } : offer),
  );
  if (offers.length === 0) throw notDelivered();
  if (rateId === null) {
    if (isDryRun) return { ...free, offers: offers.map((offer) => showOffer(tx, offer, lang)) };
    throw invalidField("shipping_rate", "is required. GET /shipping/rates/ lists the rates that apply");
  }
  const chosen = offers.find(({ rate }) => rate.id === rateId);
  if (!chosen) throw refused();
  const rate = { id: rateId, name: nameIn(tx, chosen.rate, lang) };
  return { amount: chosen.priceMinor, taxClass: chosen.rate.taxClass, rate, offers: undefined };
}
