import { expect, test } from "bun:test";
import { keptMs } from "../../src/server/modules/idempotency/service.ts";
import { purgeAll } from "../../src/server/runtime/background-jobs.ts";
import { createClockWatch } from "../../src/server/runtime/clock-watch.ts";
import { createClock } from "../support/clock.ts";
import { makeOrder, type OrderReply } from "../support/orders.ts";
import { givePoints } from "../support/rewards.ts";
import { onDatabase } from "../support/suite.ts";
import { makeUser } from "../support/users.ts";

const minute = 60_000;

function openWatch() {
  const wall = createClock();
  const passing = createClock(0);
  const pass = (ms: number) => {
    wall.advance(ms);
    passing.advance(ms);
  };
  const notices: string[] = [];
  const notice = (level: string, message: string) => notices.push(`${level} ${message}`);
  return { wall, pass, notices, isSteady: createClockWatch(wall.now, passing.now, notice) };
}

for (const [way, jump, length] of [
  ["ahead", 40 * 24 * 60 * minute, "40 days"],
  ["back", -2 * 60 * minute, "2 hours"],
] as const) {
  test(`a clock that jumps ${way} is not steady until ten minutes have passed, and the log says so`, () => {
    const { wall, notices, isSteady, pass } = openWatch();
    pass(minute);
    expect([isSteady(), notices]).toEqual([true, []]);
    wall.advance(jump);
    expect(isSteady()).toBe(false);
    for (let minutes = 1; minutes < 10; minutes++) {
      pass(minute);
      expect(isSteady()).toBe(false);
    }
    pass(minute);
    expect([isSteady(), isSteady()]).toEqual([true, true]);
    expect(notices).toEqual([
      `warn the clock jumped ${way} by ${length}; nothing expires and no old rows are deleted until it has been steady for ten minutes`,
    ]);
  });
}

test("another jump begins the ten minutes again, and smaller changes are no jumps", () => {
  const { wall, notices, isSteady, pass } = openWatch();
  for (let i = 0; i < 10; i++) {
    pass(minute);
    wall.advance(minute);
    expect(isSteady()).toBe(true);
  }
  expect(notices).toEqual([]);
  wall.advance(minute + 1);
  expect(isSteady()).toBe(false);
  pass(9 * minute);
  wall.advance(-minute - 1);
  expect(isSteady()).toBe(false);
  pass(9 * minute);
  expect(isSteady()).toBe(false);
  pass(minute);
  expect(isSteady()).toBe(true);
  expect(notices).toHaveLength(2);
});

onDatabase("file", (suite) => {
  test("while the clock is not steady, nothing expires and nothing is purged", async () => {
    const { app } = suite;
    const shop = await suite.shop({ tenant: { pointsDays: 1 } });
    const { id } = await shop.createProduct({ stock: 5 });
    const { id: eve } = await makeUser(shop);
    await givePoints(shop, eve, 5);
    const order = await makeOrder(shop, [{ product_id: id }]);
    const keyed = { headers: { "idempotency-key": "cart-1" }, body: { items: [{ product_id: id, quantity: 1 }] } };
    const first = await shop.call<OrderReply>("POST /orders/", keyed);
    await app.db.execute("insert into rate_limits (key, hits, expires_at) values ('old', '[]', 0)");
    app.clock.advance(2 * keptMs);
    const run = async (isSteady: boolean) => {
      await purgeAll(app.db, {
        now: app.clock.now,
        isStopping: () => false,
        isSteady: () => isSteady,
        keepAddressesMs: 365 * 86_400_000,
      });
      const { rows } = await app.db.execute(`select (select count(*) from orders where status = 'pending') as pending,
        (select sum(remaining) from reward_lots) as points, (select count(*) from idempotency_keys) as keys,
        (select count(*) from rate_limits where key = 'old') as limits`);
      return Object.values({ ...rows[0] });
    };
    expect(await run(false)).toEqual([2, 5, 1, 1]);
    expect((await shop.call<OrderReply>("POST /orders/", keyed)).data).toEqual(first.data);
    expect((await shop.call<OrderReply>(`POST /orders/${order.id}/pay/`)).data.status).toBe("paid");
    expect(await run(true)).toEqual([0, 0, 0, 0]);
  });
});
