import { expect, test } from "bun:test";
import { takesKey } from "../../../src/server/api/answers.ts";
import { routes } from "../../../src/server/api/routes.ts";
import type { Database, Session } from "../../../src/server/db/session.ts";
import { startTestApp } from "../../support/app.ts";
import { createShop } from "../../support/factories.ts";
import { makeCall, openWorld, type RouteCall, routeCalls, type World } from "../../support/route-calls.ts";
import { onDatabase } from "../../support/suite.ts";

/**
 * Watches the transactions of a database. On a file every statement completes synchronously, so a transaction that lets
 * the event loop turn waits for something else, and blocks every writer.
 */
function watchTurns(db: Database): { db: Database; transactions: () => number; turned: () => number } {
  let transactions = 0;
  let turned = 0;
  async function watched<T>(work: (tx: Session) => Promise<T>, tx: Session): Promise<T> {
    transactions += 1;
    let isOver = false;
    setImmediate(() => {
      if (!isOver) turned += 1;
    });
    try {
      return await work(tx);
    } finally {
      isOver = true;
    }
  }
  const proxy = new Proxy(db, {
    get(target, name) {
      if (name === "transaction") {
        return <T>(work: (tx: Session) => Promise<T>) => target.transaction((tx) => watched(work, tx));
      }
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { db: proxy, transactions: () => transactions, turned: () => turned };
}

onDatabase("file", (suite) => {
  for (const route of routes.filter(takesKey)) {
    test(`${route.method} ${route.path} waits for nothing but the database inside its transaction`, async () => {
      const watch = watchTurns(suite.database.db);
      const app = startTestApp({ db: watch.db, clock: suite.app.clock });
      const world = await openWorld(await createShop(app));
      const call = await (routeCalls[route.id] as (world: World) => Promise<RouteCall>)(world);
      const body = route.id === "createUser" ? { ...call.body, password: "Vermilion-Kettle-4871" } : call.body;
      const before = { transactions: watch.transactions(), turned: watch.turned() };
      const headers = { "idempotency-key": `waiting-${route.id}` };
      const reply = await makeCall(world, { ...call, ...(body && { body }) }, { headers });
      expect(reply.error).toBeUndefined();
      expect(watch.transactions()).toBe(before.transactions + 1);
      expect(watch.turned()).toBe(before.turned);
      await app.stop();
    });
  }
});
