import { expect, test } from "bun:test";
import type { Ctx } from "../../src/server/context.ts";
import { inTransaction } from "../../src/server/db/transaction.ts";
import { expireDuePoints } from "../../src/server/modules/rewards/due-lots.ts";
import {
  adjustPoints,
  clawBackPoints,
  earnPoints,
  givePointsBack,
  pointsFor,
  spendPoints,
} from "../../src/server/modules/rewards/ledger.ts";
import { openAccount } from "../support/account.ts";
import { tenantContext } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { checkAccount } from "../support/rewards.ts";
import { onEachDatabase } from "../support/suite.ts";

const days = 86_400_000;

test("points are earned for whole shares only, and exactly for any amount", () => {
  const rate = (pointsRate: number) => ({ pointsRate });
  expect(pointsFor(99, rate(1000))).toBe(0);
  expect(pointsFor(100, rate(1000))).toBe(1);
  expect(pointsFor(199, rate(1500))).toBe(2);
  expect(pointsFor(1_000_000, rate(0))).toBe(0);
  expect(pointsFor(Number.MAX_SAFE_INTEGER, rate(1000))).toBe(90_071_992_547_409);
  expect(pointsFor(Number.MAX_SAFE_INTEGER, rate(1_000_000))).toBe(Number.MAX_SAFE_INTEGER);
});

onEachDatabase((suite) => {
  async function openLedger(pointsDays: number | null = null) {
    const shop = await suite.shop();
    const { id: userId } = await openAccount(shop);
    const found = await tenantContext(shop);
    const ctx: Ctx = { ...found, tenant: { ...found.tenant, pointsDays } };
    const booked = <T>(act: (tx: Ctx) => Promise<T>) => inTransaction(ctx, act);
    const check = () => checkAccount(shop, userId);
    return { userId, booked, check };
  }

  test("spending goes through as many lots as it needs, the oldest first", async () => {
    const { userId, booked, check } = await openLedger();
    for (const [index, points] of [5, 7, 11, 2].entries()) {
      await booked((tx) => earnPoints(tx, { userId, points, source: `earn-${index}` }));
    }
    expect(await booked((tx) => spendPoints(tx, { userId, points: 13, source: "spend" }))).toBe(13);
    expect(await check()).toBe(12);
    const { rows } = await suite.app.db.primary.execute({
      sql: "select remaining from reward_lots where user_id = ? order by sequence",
      args: [userId],
    });
    expect(rows.map(({ remaining }) => remaining)).toEqual([0, 0, 10, 2]);
    expect(await failureOf(booked((tx) => spendPoints(tx, { userId, points: 13, source: "more" })))).toMatchObject({
      code: 5305,
    });
    expect(await booked((tx) => spendPoints(tx, { userId, points: 12, source: "rest" }))).toBe(12);
    expect(await check()).toBe(0);
  });

  test("a source is booked once, whatever else it is called with", async () => {
    const { userId, booked, check } = await openLedger();
    expect(await booked((tx) => earnPoints(tx, { userId, points: 5, source: "a" }))).toBe(5);
    expect(await booked((tx) => earnPoints(tx, { userId, points: 9, source: "a" }))).toBe(0);
    expect(await booked((tx) => spendPoints(tx, { userId, points: 3, source: "a" }))).toBe(0);
    expect(await check()).toBe(5);
  });

  test("what was spent meanwhile is not taken back", async () => {
    const { userId, booked, check } = await openLedger();
    await booked((tx) => earnPoints(tx, { userId, points: 10, source: "earn" }));
    await booked((tx) => spendPoints(tx, { userId, points: 8, source: "spend" }));
    expect(await booked((tx) => clawBackPoints(tx, { userId, points: 10, source: "refund" }))).toBe(2);
    expect(await check()).toBe(0);
    expect(await booked((tx) => clawBackPoints(tx, { userId, points: 10, source: "again" }))).toBe(0);
  });

  test("of spending and taking back at once, neither takes what the other took", async () => {
    const { userId, booked, check } = await openLedger();
    await booked((tx) => earnPoints(tx, { userId, points: 100, source: "earn" }));
    const acts = Array.from({ length: 20 }, (_, index) =>
      booked((tx) =>
        index % 2 === 0
          ? spendPoints(tx, { userId, points: 9, source: `spend-${index}` }).catch(() => 0)
          : clawBackPoints(tx, { userId, points: 9, source: `claw-${index}` }),
      ),
    );
    const taken = (await Promise.all(acts)).reduce((sum, points) => sum + points, 0);
    expect(await check()).toBe(100 - taken);
  });

  test("points that come back last as long as new ones", async () => {
    const { userId, booked, check } = await openLedger(10);
    await booked((tx) => earnPoints(tx, { userId, points: 10, source: "earn" }));
    await booked((tx) => spendPoints(tx, { userId, points: 10, source: "spend" }));
    suite.app.clock.advance(11 * days);
    await booked((tx) => givePointsBack(tx, { userId, points: 10, source: "cancel" }));
    await expireDuePoints(suite.app.system);
    expect(await check()).toBe(10);
    suite.app.clock.advance(10 * days);
    await expireDuePoints(suite.app.system);
    expect(await check()).toBe(0);
  });

  test("several sweeps at once expire each lot once", async () => {
    const { userId, booked, check } = await openLedger(1);
    for (let lot = 0; lot < 5; lot++) {
      await booked((tx) => adjustPoints(tx, { userId, points: 3, source: `lot-${lot}` }));
    }
    suite.app.clock.advance(days);
    await Promise.all([1, 2, 3].map(() => expireDuePoints(suite.app.system)));
    expect(await check()).toBe(0);
    const { rows } = await suite.app.db.primary.execute({
      sql: "select count(*) as n from reward_entries where user_id = ? and kind = 'expire'",
      args: [userId],
    });
    expect(rows[0]?.n).toBe(5);
    expect(await expireDuePoints(suite.app.system)).toBe(0);
  });
});
