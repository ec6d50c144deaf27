import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Ctx } from "../../../src/server/context.ts";
import { inTransaction } from "../../../src/server/db/transaction.ts";
import { AppError } from "../../../src/server/errors.ts";
import { createProduct } from "../../../src/server/modules/catalogue/products/service.ts";
import { cancelOrder } from "../../../src/server/modules/orders/cancel.ts";
import { createOrder, prepareOrder } from "../../../src/server/modules/orders/create.ts";
import { expireDueOrders } from "../../../src/server/modules/orders/expiry.ts";
import { createFulfillment } from "../../../src/server/modules/orders/fulfillments/fulfillments.ts";
import type { OrderInput } from "../../../src/server/modules/orders/model.ts";
import { payOrder } from "../../../src/server/modules/orders/payments.ts";
import { refundOrder } from "../../../src/server/modules/orders/refund.ts";
import { expireDuePoints, spendPoints } from "../../../src/server/modules/rewards/ledger.ts";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { openTestDatabase, type TestDatabase } from "../../support/backend.ts";
import { createShop, type Shop, tenantContext } from "../../support/factories.ts";
import { type OrderReply, stockOf } from "../../support/orders.ts";
import { uniform } from "../../support/random.ts";
import { findInconsistencies } from "../../support/record-check.ts";
import { checkAccount, givePoints } from "../../support/rewards.ts";
import { makeUser } from "../../support/users.ts";

const steps = Number(process.env.BODEGA_TEST_STEPS ?? 500);
const checkEvery = 250;
const minute = 60_000;
/** The seed of the walk. A failure prints it, and `BODEGA_TEST_SEED` repeats the walk. */
const seed = Number(process.env.BODEGA_TEST_SEED ?? Math.floor(Math.random() * 2 ** 32));

/** An item with its expected stock. */
interface Item {
  productId: string;
  variantId: string | null;
  initial: number | null;
  sold: number;
  restocked: number;
}

interface Walk {
  ctx: Ctx;
  shop: Shop;
  items: Item[];
  users: string[];
  orders: Map<string, OrderReply>;
  /** Returns a random whole number from 0 up to, but not including, `below`. */
  pick: (below: number) => number;
}

let database: TestDatabase;
let app: TestApp;
beforeEach(async () => {
  database = await openTestDatabase("file");
  app = startTestApp({ db: database.db });
});
afterEach(async () => {
  await app.stop();
  await database.close();
});

test(`${steps} steps of a random walk keep stock, points, money and numbers consistent`, async () => {
  const walk = await beginWalk();
  for (const userId of walk.users) await givePoints(walk.shop, userId, 500);
  let step = 0;
  try {
    for (; step < steps; step++) {
      await takeStep(walk, step);
      if (step % checkEvery === checkEvery - 1) await checkAll(walk);
    }
    await checkAll(walk);
    expect((await findInconsistencies(walk.ctx)).inconsistencies).toEqual([]);
  } catch (error) {
    throw new Error(`The walk with BODEGA_TEST_SEED=${seed} went wrong at step ${step}.`, { cause: error });
  }
}, 120_000);

test("after random acts, no points remain when all orders are cancelled or refunded", async () => {
  const walk = await beginWalk();
  walk.ctx = { ...walk.ctx, tenant: { ...walk.ctx.tenant, pointsDays: null, pointsRate: 5000 } };
  const { ctx, shop, orders, users, pick } = walk;
  try {
    const used = () => [...orders.values()].filter((one) => one.points_used > 0).length;
    for (let step = 0; step < 300 || used() < 20; step++) {
      const dice = pick(100);
      if (dice < 38) await order(walk);
      else if (dice < 42) await expire(walk);
      else await change(walk, dice, step);
    }
    const ids = [...orders.keys()].map((id) => ({ id, place: pick(1e6) })).sort((a, b) => a.place - b.place);
    for (const { id } of ids) {
      await attempt(cancelOrder(ctx, id));
      await attempt(refundOrder(ctx, id));
    }
    expect(await Promise.all(users.map((userId) => checkAccount(shop, userId)))).toEqual(users.map(() => 0));
    expect((await findInconsistencies(ctx)).inconsistencies).toEqual([]);
  } catch (error) {
    throw new Error(`The walk with BODEGA_TEST_SEED=${seed} went wrong.`, { cause: error });
  }
}, 120_000);

async function beginWalk(): Promise<Walk> {
  const shop = await createShop(app);
  const found = await tenantContext(shop);
  // With these settings, some points expire during the walk.
  const ctx = { ...found, tenant: { ...found.tenant, pointsDays: 1, pointValue: 3 } };
  const numbers = uniform(seed);
  const items: Item[] = [];
  const add = async (fields: Record<string, unknown>) => {
    const { json } = await createProduct(ctx, { title: "Thing", ...fields } as never);
    const product = JSON.parse(json) as { id: string; stock: number | null; variants: { id: string; stock: number }[] };
    const forms = product.variants.length > 0 ? product.variants : [{ id: null, stock: product.stock }];
    for (const { id, stock } of forms) {
      items.push({ productId: product.id, variantId: id, initial: stock, sold: 0, restocked: 0 });
    }
  };
  await add({ price: 19.99, stock: 400 });
  await add({ price: 0.01, stock: 3000 });
  await add({ price: 7.35 });
  await add({ price: 3.33, stock: 5, allow_backorder: true });
  await add({
    price: 12,
    variants: [
      { title: "S", options: { size: "S" }, stock: 500 },
      { title: "M", options: { size: "M" }, stock: 40, price: 12.5 },
    ],
  });
  const users: string[] = [];
  for (let i = 0; i < 4; i++) users.push((await makeUser(shop)).id);
  return {
    ctx,
    shop,
    items,
    users,
    orders: new Map(),
    pick: (below) => Math.floor(numbers.next().value * below),
  };
}

/** The error codes with which an act may be refused. */
const refusals = new Set([5102, 5107, 5304, 5305, 5306]);

async function attempt<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof AppError && refusals.has(error.code)) return undefined;
    throw error;
  }
}

async function takeStep(walk: Walk, step: number): Promise<void> {
  const { ctx, pick, users } = walk;
  const dice = pick(100);
  if (dice < 38) return order(walk);
  if (dice < 42) {
    const userId = users[pick(users.length)] as string;
    const points = 1 + pick(30);
    await attempt(inTransaction(ctx, (tx) => spendPoints(tx, { userId, points, source: `walk:${step}` })));
    return;
  }
  if (dice < 45) return expire(walk);
  await change(walk, dice, step);
}

/** Tries to pay, cancel, fulfil or refund one of the last orders. */
async function change(walk: Walk, dice: number, step: number): Promise<void> {
  const { ctx, pick, orders } = walk;
  const ids = [...orders.keys()];
  const before = orders.get(ids[Math.max(ids.length - 1 - pick(40), 0)] ?? "");
  if (!before) return;
  const { id } = before;
  const work =
    dice < 65
      ? payOrder(ctx, id, pick(2) ? { payment_reference: `walk-${step}` } : {})
      : dice < 73
        ? cancelOrder(ctx, id)
        : dice < 80
          ? createFulfillment(ctx, id)
          : refundOrder(ctx, id, refundInput(walk, before));
  const done = await attempt(work);
  if (done) note(walk, before, JSON.parse(done.json) as OrderReply);
}

async function order(walk: Walk): Promise<void> {
  const { ctx, items, users, pick } = walk;
  const lines = Array.from({ length: 1 + pick(4) }, () => {
    const { productId, variantId } = items[pick(items.length)] as Item;
    const quantity = 1 + pick(5);
    return variantId === null ? { product_id: productId, quantity } : { variant_id: variantId, quantity };
  });
  const userId = pick(4) ? (users[pick(users.length)] as string) : undefined;
  const given = { items: lines, ...(pick(3) === 0 && { use_points: pick(60) }) };
  const input: OrderInput = {
    ...given,
    ...(userId !== undefined && { customer_id: userId }),
    ...(pick(3) === 0 && { shipping: pick(1000) / 100 }),
    ...(pick(3) === 0 && { tax: pick(1000) / 100 }),
  };
  const made = await attempt(prepareOrder(ctx, input).then((prepared) => createOrder(ctx, prepared)));
  if (!made) return;
  const reply = JSON.parse(made.json) as OrderReply;
  // Points may pay for the whole order at once.
  note(walk, { ...reply, paid_at: null }, reply);
}

/** Some time later, expires due orders and points in two processes at once. Each must expire only once. */
async function expire(walk: Walk): Promise<void> {
  app.clock.advance((1 + walk.pick(30)) * minute);
  const due = [...walk.orders.values()].filter(
    ({ status, expires_at }) => status === "pending" && Date.parse(expires_at) <= app.clock.now(),
  );
  const expireAll = async () => {
    let count = 0;
    for (let more = -1; more !== 0; count += more) more = await expireDueOrders(walk.ctx);
    return count;
  };
  const expired = await Promise.all([expireAll(), expireAll()]);
  expect(expired[0] + expired[1]).toBe(due.length);
  for (const one of due) one.status = "expired";
  await Promise.all([expireDuePoints(walk.ctx), expireDuePoints(walk.ctx)]);
}

function refundInput({ pick }: Walk, { items }: OrderReply): Parameters<typeof refundOrder>[2] {
  const restock = pick(2) === 0;
  if (pick(4) === 0) return { restock };
  const chosen = items.filter(() => pick(2) === 0).slice(0, 3);
  const lines = (chosen.length > 0 ? chosen : items.slice(0, 1)).map((line) => ({
    line_id: line.id,
    quantity: 1 + pick(line.quantity),
  }));
  return { lines, restock };
}

/** Updates the expected stock after an order has changed its state. */
function note({ items, orders }: Walk, before: OrderReply, after: OrderReply): void {
  expect(after.version).toBeGreaterThanOrEqual(before.version);
  for (const [index, line] of after.items.entries()) {
    const item = items.find((one) => one.productId === line.product_id && one.variantId === line.variant_id) as Item;
    if (before.paid_at === null && after.paid_at !== null) item.sold += line.quantity;
    item.restocked += line.restocked_quantity - (before.items[index]?.restocked_quantity ?? 0);
  }
  orders.set(after.id, after);
}

/**
 * Checks orders that have returned all their points: after its return, each point must have the lifetime that it had
 * when it was spent. Counts in started hours.
 */
async function checkReturnedLots({ ctx, orders }: Walk): Promise<void> {
  const { rows } = await ctx.db.execute({
    sql: `select e.order_id, e.kind, e.lots, e.created_at, e.points, l.expires_at from reward_entries e
      left join reward_lots l on l.sequence = e.sequence
      where e.tenant_id = ? and e.order_id is not null and (e.kind = 'redeem' or e.kind = 'reverse' and e.points > 0)`,
    args: [ctx.tenant.id],
  });
  const spent = new Map<string, number>();
  const returned = new Map<string, number>();
  const add = (sums: Map<string, number>, name: string, points: number) =>
    sums.set(name, (sums.get(name) ?? 0) + points);
  for (const { order_id, kind, lots, created_at, points, expires_at } of rows) {
    const { status, payment_status } = orders.get(String(order_id)) as OrderReply;
    if (!["cancelled", "expired"].includes(status) && payment_status !== "refunded") continue;
    const name = (at: unknown) =>
      `${order_id} ${Math.ceil((Date.parse(String(at)) - Date.parse(String(created_at))) / (60 * minute))}`;
    if (kind === "reverse") add(returned, name(expires_at), Number(points));
    else for (const [count, at] of JSON.parse(String(lots))) add(spent, name(at), count);
  }
  expect(spent.size).toBeGreaterThan(0);
  expect(Object.fromEntries(returned)).toEqual(Object.fromEntries(spent));
}

async function checkAll(walk: Walk): Promise<void> {
  const { ctx, shop, items, orders, users } = walk;
  const { rows } = await ctx.db.execute({
    sql: `select o.id, o.number, o.status, o.total_minor as total, o.shipping_minor as shipping,
        o.received_minor as received, o.refunded_minor as refunded,
        (select coalesce(sum(total_minor), 0) from order_lines l where l.order_id = o.id) as lines,
        (select coalesce(sum(refunded_minor), 0) from order_lines l where l.order_id = o.id) as line_refunds,
        (select coalesce(sum(amount_minor), 0) from order_refunds r where r.order_id = o.id) as refunds
      from orders o where tenant_id = ? order by number`,
    args: [ctx.tenant.id],
  });
  expect(rows.map((row) => Number(row.number))).toEqual(rows.map((_, index) => index + 1));
  for (const row of rows) {
    expect([row.id, row.status]).toEqual([row.id, orders.get(String(row.id))?.status as string]);
    expect(Number(row.lines) + Number(row.shipping)).toBe(Number(row.total));
    expect(row.refunds).toBe(row.refunded as number);
    expect(Number(row.refunded)).toBeLessThanOrEqual(Number(row.received));
    expect(Number(row.line_refunds)).toBeLessThanOrEqual(Number(row.refunded));
  }
  const pending = [...orders.values()].filter(({ status }) => status === "pending").flatMap((one) => one.items);
  for (const { productId, variantId, initial, sold, restocked } of items) {
    const held = pending.filter((line) => line.product_id === productId && line.variant_id === variantId);
    expect(await stockOf(shop, variantId ?? productId)).toEqual({
      stock: initial === null ? null : initial - sold + restocked,
      reserved: initial === null ? 0 : held.reduce((sum, { quantity }) => sum + quantity, 0),
    });
  }
  for (const { items: lines, payment_status, subtotal_minor, ...points } of orders.values()) {
    const { points_used, points_returned, points_earned, points_reversed } = points;
    const shares = lines.map((line) => (line.subtotal_minor / line.quantity) * line.refunded_quantity);
    const goods = shares.reduce((sum, share) => sum + share, 0);
    expect(points_returned).toBe(Math.floor((points_used * goods) / Math.max(subtotal_minor, 1)));
    // If the order had returned its points before a payment came, the payment's refund returns none.
    if (payment_status === "refunded" && points.paid_at !== null) expect(points_returned).toBe(points_used);
    expect(points_reversed).toBeLessThanOrEqual(points_earned);
  }
  await checkReturnedLots(walk);
  for (const userId of users) expect(await checkAccount(shop, userId)).toBeGreaterThanOrEqual(0);
}
