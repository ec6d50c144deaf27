import { afterEach, expect, test } from "bun:test";
import type { Ctx } from "../../src/server/context.ts";
import { inTransaction } from "../../src/server/db/transaction.ts";
import {
  adjustPoints,
  earnPoints,
  expireDuePoints,
  pointsFor,
  returnPoints,
  reversePoints,
  spendPoints,
} from "../../src/server/modules/rewards/ledger.ts";
import { openAccount } from "../support/account.ts";
import { tenantContext } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { uniform } from "../support/random.ts";
import { checkAccount } from "../support/rewards.ts";
import { onDatabase } from "../support/suite.ts";

const days = 86_400_000;
const hours = 3_600_000;

test("earned points are rounded down, and exact for any amount", () => {
  const rate = (pointsRate: number) => ({ pointsRate });
  expect(pointsFor(99, rate(1000))).toBe(0);
  expect(pointsFor(100, rate(1000))).toBe(1);
  expect(pointsFor(199, rate(1500))).toBe(2);
  expect(pointsFor(1_000_000, rate(0))).toBe(0);
  expect(pointsFor(Number.MAX_SAFE_INTEGER, rate(1))).toBe(90_071_992_547);
  expect(pointsFor(Number.MAX_SAFE_INTEGER, rate(1_000_000))).toBe(1_000_000_000_000);
});

/** The source of the ledger entry for the points that order ord_test spends. */
const redeemed = "order:ord_test:redeem";

onDatabase("file", (suite) => {
  async function openLedger(pointsDays: number | null = null) {
    const shop = await suite.shop();
    const { id: userId } = await openAccount(shop);
    const found = await tenantContext(shop);
    // Moves the clock to the end of a day, when points expire.
    suite.app.clock.advance(days - (suite.app.clock.now() % days));
    const ctx: Ctx = { ...found, tenant: { ...found.tenant, pointsDays } };
    const booked = <T>(act: (tx: Ctx) => Promise<T>) => inTransaction(ctx, act);
    const check = () => checkAccount(shop, userId);
    /** Returns the remaining points by expiry, one lot each. */
    const remaining = async () => {
      const { rows } = await ctx.db.execute({
        sql: `select expires_at, remaining as points from reward_lots where user_id = ? and remaining > 0
          order by expires_at is null, expires_at`,
        args: [userId],
      });
      return rows.map((row) => [row.expires_at, row.points] as [string | null, number]);
    };
    return { userId, booked, check, remaining, ctx };
  }

  /** Points that a test leaves would expire in another one. */
  afterEach(async () => {
    suite.app.clock.advance(1000 * days);
    while ((await expireDuePoints(suite.app.system)) > 0);
  });

  test("points of different lots in one order are returned with their own lifetimes, the newest first", async () => {
    const { userId, booked, check } = await openLedger(10);
    const orderId = "ord_test";
    await booked((tx) => earnPoints(tx, { userId, points: 100, source: "old" }));
    suite.app.clock.advance(9 * days);
    await booked((tx) => earnPoints(tx, { userId, points: 1, source: "young" }));
    await booked((tx) => spendPoints(tx, { userId, points: 101, source: redeemed, orderId }));
    const back = (points: number, source: string, earlier: number) =>
      booked((tx) => returnPoints(tx, { userId, points, source, orderId }, earlier));
    expect(await back(11, "part", 0)).toBe(11);
    expect(await back(90, "rest", 11)).toBe(90);
    expect(await back(90, "rest", 11)).toBe(0);
    const { rows } = await suite.app.db.execute({
      sql: `select e.source, e.balance, e.points, l.expires_at from reward_entries e
      join reward_lots l on l.sequence = e.sequence where e.user_id = ? and e.kind = 'reverse' order by e.sequence`,
      args: [userId],
    });
    const at = suite.app.clock.now();
    const [tomorrow, later] = [at + days, at + 10 * days].map((ms) => new Date(ms).toISOString()) as [string, string];
    expect(rows.map((row) => Object.values({ ...row }))).toEqual([
      ["part", 10, 10, tomorrow],
      ["part:2", 11, 1, later],
      ["rest", 101, 90, tomorrow],
    ]);
    suite.app.clock.advance(days);
    await expireDuePoints(suite.app.system);
    expect(await check()).toBe(1);
    suite.app.clock.advance(9 * days);
    await expireDuePoints(suite.app.system);
    expect(await check()).toBe(0);
  });

  test("when earned points are reversed, points that expire earlier are kept", async () => {
    const { userId, booked, remaining } = await openLedger(10);
    await booked((tx) => earnPoints(tx, { userId, points: 100, source: "old" }));
    const lots = await remaining();
    suite.app.clock.advance(days);
    const booking = { userId, points: 100, orderId: "ord_test" };
    await booked((tx) => earnPoints(tx, { ...booking, source: "order:ord_test:earn" }));
    await booked((tx) => reversePoints(tx, { ...booking, source: "order:ord_test:refund" }));
    expect(await remaining()).toEqual(lots);
  });

  test("the points that expire first are spent first, after any earlier bookings", async () => {
    const seed = Number(process.env.BODEGA_TEST_SEED ?? Math.floor(Math.random() * 2 ** 32));
    const numbers = uniform(seed);
    const pick = (below: number) => Math.floor(numbers.next().value * below);
    const { userId, booked, remaining, check, ctx } = await openLedger();
    /** The expected points by expiry. An order remembers those that it spent. */
    let lots = new Map<string | null, number>();
    const orders: { id: string; at: number; spent: (readonly [string | null, number])[]; points: number }[] = [];
    const inOrder = () =>
      [...lots].filter(([, points]) => points > 0).toSorted(([a], [b]) => ((a ?? "z") < (b ?? "z") ? -1 : 1));
    const add = (at: string | null, points: number) => void lots.set(at, (lots.get(at) ?? 0) + points);
    for (let step = 0; step < 150; step++) {
      suite.app.clock.advance(pick(days));
      const now = suite.app.clock.now();
      const source = `step-${step}`;
      const points = 1 + pick(50);
      lots = new Map([...lots].filter(([at]) => at === null || Date.parse(at) > now));
      await expireDuePoints(suite.app.system);
      const act = pick(4);
      if (act === 0) {
        ctx.tenant.pointsDays = pick(5) === 0 ? null : 1 + pick(20);
        await booked((tx) => earnPoints(tx, { userId, points, source }));
        const { pointsDays } = ctx.tenant;
        add(pointsDays === null ? null : new Date((Math.ceil(now / days) + pointsDays) * days).toISOString(), points);
      } else if (act === 3 && orders.length > 0) {
        const [{ id, at, spent, points }] = orders.splice(pick(orders.length), 1) as [(typeof orders)[0]];
        await booked((tx) => returnPoints(tx, { userId, points, source, orderId: id }));
        const held = (Math.floor(now / hours) - Math.floor(at / hours)) * hours;
        for (const [until, count] of spent) add(until && new Date(Date.parse(until) + held).toISOString(), count);
      } else {
        const id = `ord_${step}`;
        const booking = { userId, points, source, ...(act === 1 && { source: `order:${id}:redeem`, orderId: id }) };
        const spending = booked((tx) => spendPoints(tx, booking));
        if ([...lots.values()].reduce((sum, more) => sum + more, 0) < points) {
          expect(await failureOf(spending)).toMatchObject({ code: 5305 });
          continue;
        }
        await spending;
        const spent: [string | null, number][] = [];
        for (let left = points; left > 0; ) {
          const [at, most] = inOrder()[0] as [string | null, number];
          const taken = Math.min(most, left);
          spent.push([at, taken]);
          add(at, -taken);
          left -= taken;
        }
        if (act === 1) orders.push({ id, at: now, spent, points });
      }
      expect([seed, step, await remaining()]).toEqual([seed, step, inOrder()]);
      expect(await check()).toBe(inOrder().reduce((sum, [, more]) => sum + more, 0));
    }
  });

  test("spending, returning, reversing and expiring points changes no more rows after many bookings than after one", async () => {
    const { userId, booked, check } = await openLedger(1);
    const earned = { userId, points: 1, source: "order:ord_paid:earn", orderId: "ord_paid" };
    await booked((tx) => earnPoints(tx, earned));
    for (let i = 0; i < 100; i++) await booked((tx) => adjustPoints(tx, { userId, points: 5, source: `many-${i}` }));
    const { db } = suite.app;
    await db.batch([
      "create table lot_changes (sequence integer)",
      "create trigger lot_added after insert on reward_lots begin insert into lot_changes values (new.sequence); end",
      "create trigger lot_changed after update on reward_lots begin insert into lot_changes values (new.sequence); end",
    ]);
    const orderId = "ord_test";
    const booking = { userId, points: 400, orderId };
    const acts: [changed: number, act: (tx: Ctx) => Promise<unknown>][] = [
      [1, (tx) => spendPoints(tx, { ...booking, source: redeemed })],
      // The lot of the booking is added. The rest of the earlier lot joins it.
      [3, (tx) => returnPoints(tx, { ...booking, source: "cancel" })],
      [1, (tx) => reversePoints(tx, { ...earned, source: "order:ord_paid:refund" })],
      [1, (tx) => spendPoints(tx, { userId, points: 300, source: "redeem" })],
      [3, (tx) => adjustPoints(tx, { userId, points: 9, source: "one more" })],
      [1, (tx) => adjustPoints(tx, { userId, points: -9, source: "one less" })],
    ];
    try {
      for (const [changed, act] of acts) {
        await booked(act);
        expect((await db.execute("delete from lot_changes")).rowsAffected).toBe(changed);
      }
      expect(await check()).toBe(200);
      suite.app.clock.advance(2 * days);
      expect(await expireDuePoints(suite.app.system)).toBe(1);
      expect((await db.execute("delete from lot_changes")).rowsAffected).toBe(1);
    } finally {
      await db.batch(["drop trigger lot_added", "drop trigger lot_changed", "drop table lot_changes"]);
    }
    expect(await check()).toBe(0);
    const { rows } = await db.execute({
      sql: `select count(*) as entries, sum(kind = 'expire') as expired from reward_entries where user_id = ?`,
      args: [userId],
    });
    expect({ ...rows[0] }).toEqual({ entries: 108, expired: 1 });
  });

  test("a corrupt points account does not block the expiry of others, and its points expire once it is fixed", async () => {
    const broken = await openLedger(1);
    const sound = await openLedger(1);
    for (const { userId, booked } of [broken, sound]) {
      await booked((tx) => adjustPoints(tx, { userId, points: 3, source: "lot" }));
    }
    const setBalance = (balance: number) =>
      suite.app.db.execute({
        sql: "update reward_balances set balance = ? where user_id = ?",
        args: [balance, broken.userId],
      });
    await setBalance(1);
    suite.app.clock.advance(days);
    expect(await expireDuePoints(suite.app.system)).toBe(1);
    expect(await sound.check()).toBe(0);
    // If nothing else is due, the failure of the job is reported.
    expect(await failureOf(expireDuePoints(suite.app.system))).toBeInstanceOf(Error);
    await setBalance(3);
    expect(await expireDuePoints(suite.app.system)).toBe(1);
    expect(await broken.check()).toBe(0);
  });
});
