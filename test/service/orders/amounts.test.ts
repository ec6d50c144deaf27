import { expect, test } from "bun:test";
import { splitReduction } from "../../../src/server/modules/discounts/calculate.ts";
import { addUp, discountGoods, shareOf, subtotalsOf } from "../../../src/server/modules/orders/amounts.ts";
import { type PaidLine, planLines } from "../../../src/server/modules/orders/refund-lines.ts";
import { largestMinor } from "../../../src/server/values/money.ts";
import { failureOf } from "../../support/failure.ts";
import { uniform } from "../../support/random.ts";

const seed = Number(process.env.BODEGA_TEST_SEED ?? 4871);
const rounds = Number(process.env.BODEGA_TEST_ROUNDS ?? 100_000);
const add = (numbers: number[]) => numbers.reduce((sum, one) => sum + one, 0);
const noPoints = { count: 0, value: 1 };
const free = { amount: 0, taxClass: null };

function sumOf(
  prices: { priceMinor: number; quantity: number; taxClass?: string }[],
  order: Partial<Parameters<typeof addUp>[1]> & { byCode?: number[]; points?: { count: number; value: number } } = {},
) {
  const { digits = 2, byCode = [], points = noPoints } = order;
  return addUp(discountGoods(subtotalsOf(prices, digits), byCode, points), {
    taxClasses: prices.map(({ taxClass = "standard" }) => taxClass),
    ...{ shipping: free, taxation: { rates: undefined }, pricesIncludeTax: false, digits },
    ...order,
  });
}

test("discount and a backend's tax are split over the lines by the largest remainder, the tax in proportion to the discounted amounts", () => {
  const items = [
    { priceMinor: 100, quantity: 1 },
    { priceMinor: 50, quantity: 4 },
    { priceMinor: 0, quantity: 1 },
  ];
  const order = { points: { count: 100, value: 1 }, taxation: { tax: 10 }, shipping: { amount: 7, taxClass: null } };
  expect(sumOf(items, order)).toEqual({
    ...{ subtotal: 300, discount: 100, shipping: 7, shippingTax: 0, tax: 10, total: 217, taxLines: [] },
    lines: [
      { subtotal: 100, discount: 33, tax: 3, total: 70 },
      { subtotal: 200, discount: 67, tax: 7, total: 140 },
      { subtotal: 0, discount: 0, tax: 0, total: 0 },
    ],
  });
});

test("if a discount code makes all goods free, shipping is taxed by the amounts of the goods before the discount, in any order of lines", () => {
  const rates = new Map([
    ["standard", 19_000],
    ["zero", 0],
  ]);
  const items = [
    { priceMinor: 3000, quantity: 1, taxClass: "zero" },
    { priceMinor: 1000, quantity: 1 },
  ];
  const order = { shipping: { amount: 490, taxClass: null }, taxation: { rates }, pricesIncludeTax: false };
  // A quarter of 4.90 is taxed. 1.22 × 19 % is 0.2318, and 1.23 × 19 % is 0.2337.
  for (const goods of [items, items.toReversed()]) {
    const byCode = goods.map(({ priceMinor }) => priceMinor);
    expect(sumOf(goods, { ...order, byCode })).toMatchObject({ shippingTax: 23, total: 513 });
  }
});

test("a percentage discount is rounded once, half away from zero, and reduces only eligible lines", () => {
  expect(splitReduction([333, 333, 500], [true, true, false], { percent: 7500 })).toEqual([25, 25, 0]);
  expect(splitReduction([5, 5], [true, true], { percent: 50_000 })).toEqual([3, 2]);
  expect(splitReduction([100, 50], [false, true], { amount: 80 })).toEqual([0, 50]);
  expect(splitReduction([0, 0], [true, true], { amount: 80 })).toEqual([0, 0]);
});

test("points can pay the whole amount of the goods after the discount, and more points are refused", async () => {
  const items = [{ priceMinor: 100, quantity: 3 }];
  expect(sumOf(items, { points: { count: 100, value: 3 }, taxation: { tax: 5 } }).total).toBe(5);
  for (const order of [
    { points: { count: 101, value: 3 } },
    { points: { count: 91, value: 3 }, byCode: [30] },
    { points: { count: Number.MAX_SAFE_INTEGER, value: 1000 } },
  ]) {
    const fault = await failureOf(() => sumOf(items, order));
    expect(fault).toMatchObject({ code: 5102, details: [{ field: "use_points" }] });
  }
});

test("the sums of an order are exact up to the maximum, and refused above it", async () => {
  for (const digits of [0, 2, 3]) {
    const most = largestMinor(digits);
    const item = { priceMinor: most - 1, quantity: 1 };
    expect(sumOf([item], { digits, taxation: { tax: 1 } }).total).toBe(most);
    for (const work of [
      () => sumOf([item], { digits, shipping: { amount: 2, taxClass: null } }),
      () => sumOf([item, item], { digits }),
      () => sumOf([{ priceMinor: most, quantity: 1_000_000 }], { digits }),
    ]) {
      expect(await failureOf(work)).toMatchObject({ code: 5102 });
    }
  }
});

test(`${rounds} random orders with tax, code, points and shipping add up, and refunds return the complete amounts (seed ${seed})`, () => {
  const numbers = uniform(seed);
  const pick = (below: number) => Math.floor(numbers.next().value * below);
  const classes = ["standard", "reduced", "zero", "own"];
  const pickClass = () => classes[pick(4)] as string;
  // Two orders of the same goods: one at prices with tax, one at prices without tax.
  for (let round = 0; round < rounds; round += 2) {
    const items = Array.from({ length: 1 + pick(1 + pick(5)) }, () => ({
      priceMinor: pick(5000),
      quantity: 1 + pick(5),
    }));
    const subtotals = subtotalsOf(items, 2);
    const eligible = items.map(() => pick(3) > 0);
    const reduction = pick(2) ? { percent: 1 + pick(100_000) } : { amount: pick(9000) };
    const byCode = splitReduction(subtotals, eligible, reduction);
    const points = { count: pick(add(subtotals) - add(byCode) + 1), value: 1 };
    const goods = discountGoods(subtotals, byCode, points);
    const taxClasses = items.map(pickClass);
    const taxation = { rates: new Map(classes.map((name) => [name, pick(30_000)])) };
    const shipping = { amount: pick(900), taxClass: pick(2) ? null : pickClass() };
    for (const pricesIncludeTax of [false, true]) {
      const order = addUp(goods, { taxClasses, shipping, taxation, pricesIncludeTax, digits: 2 });
      if (!isWhole(order, pricesIncludeTax)) {
        throw new Error(`round ${round} does not add up: ${JSON.stringify({ items, order })}`);
      }
      if (round % 20 === 0 && pricesIncludeTax === (round % 40 === 0)) refundInParts(items, order, pick);
    }
  }
  expect(rounds).toBeGreaterThan(0);
}, 120_000);

function isWhole({ lines, taxLines, ...order }: ReturnType<typeof addUp>, pricesIncludeTax: boolean): boolean {
  const sum = { total: 0, tax: 0, discount: 0, subtotal: 0 };
  for (const { total, tax, discount, subtotal } of lines) {
    if (discount > subtotal || tax < 0 || total < 0) return false;
    sum.total += total;
    sum.tax += tax;
    sum.discount += discount;
    sum.subtotal += subtotal;
  }
  const net = order.subtotal - order.discount + order.shipping;
  const taxed = add(taxLines.map(({ base, tax }) => base + (pricesIncludeTax ? tax : 0)));
  return (
    sum.total + order.shipping + (pricesIncludeTax ? 0 : order.shippingTax) === order.total &&
    sum.tax + order.shippingTax === order.tax &&
    sum.discount === order.discount &&
    sum.subtotal === order.subtotal &&
    add(taxLines.map(({ tax }) => tax)) === order.tax &&
    taxed === net &&
    order.total === net + (pricesIncludeTax ? 0 : order.tax)
  );
}

function refundInParts(
  items: { quantity: number }[],
  order: ReturnType<typeof addUp>,
  pick: (below: number) => number,
): void {
  const paid = order.lines.map(
    (line, index): PaidLine => ({
      ...{ id: `line_${index}`, title: `Line ${index}`, sku: null, productId: "prod", variantId: null },
      ...{ quantity: items[index]?.quantity as number, isCounted: true },
      ...{ subtotalMinor: line.subtotal, totalMinor: line.total },
      ...{ refundedQuantity: 0, refundedMinor: 0, fulfilledQuantity: 0, cancelledQuantity: 0 },
    }),
  );
  const give = (input: Parameters<typeof planLines>[1], isAll: boolean) => {
    const plan = planLines(paid, input, isAll);
    for (const one of plan.lines) {
      const line = paid.find(({ id }) => id === one.lineId) as PaidLine;
      if (one.amount < 0) throw new Error(`A refund of ${one.amount}`);
      line.refundedQuantity += one.quantity;
      line.cancelledQuantity += one.cancelled;
      line.refundedMinor += one.amount;
    }
    return plan;
  };
  for (let part = pick(8); part > 0; part--) {
    const open = paid.filter((line) => line.refundedQuantity < line.quantity);
    const line = open[pick(open.length)];
    if (!line) break;
    give({ lines: [{ line_id: line.id, quantity: 1 + pick(line.quantity - line.refundedQuantity) }] }, false);
  }
  const isWhole = (line: PaidLine) => line.refundedMinor === line.totalMinor && line.refundedQuantity === line.quantity;
  if (!give({}, true).isWhole || !paid.every(isWhole)) throw new Error(`Not all was refunded: ${JSON.stringify(paid)}`);
}

test("a share of an amount is rounded down", () => {
  expect([1, 2, 3].map((part) => shareOf(100, part, 3))).toEqual([33, 66, 100]);
  const huge = Number.MAX_SAFE_INTEGER;
  expect(shareOf(huge, huge - 1, huge)).toBe(huge - 1);
  expect(shareOf(5, 0, 0)).toBe(0);
});
