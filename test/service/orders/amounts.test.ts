import { expect, test } from "bun:test";
import { orderAmounts, shareOf } from "../../../src/server/modules/orders/amounts.ts";
import { type PaidLine, planRefund } from "../../../src/server/modules/orders/refund.ts";
import { largestMinor } from "../../../src/server/values/money.ts";
import { failureOf } from "../../support/failure.ts";
import { uniform } from "../../support/random.ts";

const seed = Number(process.env.BODEGA_TEST_SEED ?? 4871);
const add = (numbers: number[]) => numbers.reduce((sum, one) => sum + one, 0);

function given(more: Partial<{ shipping: number; tax: number; points: number; value: number; digits: number }> = {}) {
  const { shipping = 0, tax = 0, points = 0, value = 1, digits = 2 } = more;
  return { shipping, tax, digits, points: { count: points, value } };
}

test("discount and tax are split by the largest remainder, the tax in proportion to the discounted lines", () => {
  const items = [
    { priceMinor: 100, quantity: 1 },
    { priceMinor: 50, quantity: 4 },
    { priceMinor: 0, quantity: 1 },
  ];
  expect(orderAmounts(items, given({ points: 100, tax: 10, shipping: 7 }))).toEqual({
    subtotal: 300,
    discount: 100,
    shipping: 7,
    tax: 10,
    total: 217,
    lines: [
      { subtotal: 100, discount: 33, tax: 3, total: 70 },
      { subtotal: 200, discount: 67, tax: 7, total: 140 },
      { subtotal: 0, discount: 0, tax: 0, total: 0 },
    ],
  });
});

test("points may pay for all goods, but not for more", async () => {
  const items = [{ priceMinor: 100, quantity: 3 }];
  expect(orderAmounts(items, given({ points: 100, value: 3, tax: 5 })).total).toBe(5);
  const fault = await failureOf(() => orderAmounts(items, given({ points: 101, value: 3, shipping: 500 })));
  expect(fault).toMatchObject({ code: 5102, details: [{ field: "use_points" }] });
});

test("sums are exact up to the maximum, and refused above it", async () => {
  for (const digits of [0, 2, 3]) {
    const most = largestMinor(digits);
    const item = { priceMinor: most - 1, quantity: 1 };
    expect(orderAmounts([item], given({ digits, tax: 1 })).total).toBe(most);
    for (const work of [
      () => orderAmounts([item], given({ digits, shipping: 2 })),
      () => orderAmounts([item, item], given({ digits })),
      () => orderAmounts([{ priceMinor: most, quantity: 1_000_000 }], given({ digits })),
      () => orderAmounts([item], given({ digits, points: Number.MAX_SAFE_INTEGER, value: 1000 })),
    ]) {
      expect(await failureOf(work)).toMatchObject({ code: 5102 });
    }
  }
});

test(`lines of random orders add up to the order, and any refunds of them to what was paid (seed ${seed})`, () => {
  const numbers = uniform(seed);
  const pick = (below: number) => Math.floor(numbers.next().value * below);
  for (let round = 0; round < 1000; round++) {
    const items = Array.from({ length: 1 + pick(6) }, () => ({ priceMinor: pick(5000), quantity: 1 + pick(7) }));
    const subtotal = add(items.map(({ priceMinor, quantity }) => priceMinor * quantity));
    const amounts = orderAmounts(items, given({ points: pick(subtotal + 1), tax: pick(700), shipping: pick(900) }));
    const { lines } = amounts;
    expect(add(lines.map(({ discount }) => discount))).toBe(amounts.discount);
    expect(add(lines.map(({ tax }) => tax))).toBe(amounts.tax);
    expect(add(lines.map(({ total }) => total)) + amounts.shipping).toBe(amounts.total);
    for (const line of lines) expect(line.discount).toBeLessThanOrEqual(line.subtotal);

    const paid: PaidLine[] = lines.map((line, index) => ({
      id: `line_${index}`,
      title: `Line ${index}`,
      sku: null,
      productId: "prod",
      variantId: null,
      quantity: items[index]?.quantity as number,
      isCounted: true,
      subtotalMinor: line.subtotal,
      totalMinor: line.total,
      refundedQuantity: 0,
      refundedMinor: 0,
    }));
    let left = amounts.total;
    const give = (plan: ReturnType<typeof planRefund>) => {
      left -= plan.amount;
      for (const one of plan.lines) {
        const line = paid.find(({ id }) => id === one.lineId) as PaidLine;
        expect(one.amount).toBeGreaterThanOrEqual(0);
        line.refundedQuantity += one.quantity;
        line.refundedMinor += one.amount;
      }
    };
    for (let part = pick(8); part > 0; part--) {
      const open = paid.filter((line) => line.refundedQuantity < line.quantity);
      const line = open[pick(open.length)];
      if (!line) break;
      const quantity = 1 + pick(line.quantity - line.refundedQuantity);
      give(planRefund(paid, left, { lines: [{ line_id: line.id, quantity }] }));
    }
    const last = planRefund(paid, left, {});
    expect(last.isFull).toBe(true);
    give(last);
    expect(left).toBe(0);
    for (const line of paid)
      expect([line.refundedMinor, line.refundedQuantity]).toEqual([line.totalMinor, line.quantity]);
  }
});

test("a share is rounded down", () => {
  expect([1, 2, 3].map((part) => shareOf(100, part, 3))).toEqual([33, 66, 100]);
  const huge = Number.MAX_SAFE_INTEGER;
  expect(shareOf(huge, huge - 1, huge)).toBe(huge - 1);
  expect(shareOf(5, 0, 0)).toBe(0);
});
