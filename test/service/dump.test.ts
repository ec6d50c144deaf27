import { expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { dumpDatabase } from "../../src/server/backup/copy/dump.ts";
import { openAccount } from "../support/account.ts";
import { checkWholeness, inFolder } from "../support/copies.ts";
import type { Shop } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { actOn, makeOrder, unlimitedOrders } from "../support/orders.ts";
import { givePoints } from "../support/rewards.ts";
import { startSqld } from "../support/sqld.ts";
import { onDatabase } from "../support/suite.ts";
import { until } from "../support/until.ts";

const writers = 4;
/** Dumps are repeated until this many orders were written during a single dump. */
const minWritten = 4;
const maxDumps = 10;

/**
 * Starts writers that run until they are stopped: they write paid, refunded and cancelled orders, points and new
 * products.
 */
function startWriters(shop: Shop, productId: string, userId: string) {
  const orders: string[] = [];
  let isStopped = false;
  async function write(index: number): Promise<void> {
    for (let round = 0; !isStopped; round++) {
      const items = [{ product_id: productId, quantity: 1 + (round % 3) }];
      const order = await makeOrder(shop, items, { customer_id: userId });
      orders.push(order.id);
      if (round % 2 === 0) await actOn(shop, order, "pay");
      else await actOn(shop, order, "cancel");
      if (round % 4 === 0) await actOn(shop, order, "refund");
      await givePoints(shop, userId, 5);
      await shop.createProduct({ title: `Lamp ${index} ${round}`, sku: `S-${index}-${round}` });
    }
  }
  const done = Promise.all(Array.from({ length: writers }, (_, index) => write(index)));
  return {
    orders,
    async stop() {
      isStopped = true;
      await done;
    },
  };
}

onDatabase("server", (suite) => {
  const db = () => suite.app.db;

  test("a dump during four writers is a consistent snapshot with all acknowledged writes", async () => {
    const shop = await suite.shop({ tenant: unlimitedOrders });
    const lamp = await shop.createProduct({ title: "Lamp", price: 10, stock: 100_000 });
    const { id: userId } = await openAccount(shop);
    const load = startWriters(shop, lamp.id, userId);
    await until("the writers", () => load.orders.length >= writers);
    try {
      let written = 0;
      for (let count = 0; written < minWritten && count < maxDumps; count++) {
        await inFolder(async (dir) => {
          const before = [...load.orders];
          let rows = 0;
          const onProgress = (done: number) => {
            rows = done;
          };
          await dumpDatabase(db(), join(dir, "bodega.db"), { onProgress });
          written += load.orders.length - before.length;
          expect(rows).toBeGreaterThan(0);
          expect(readdirSync(dir)).toEqual(["bodega.db"]);
          expect(statSync(join(dir, "bodega.db")).mode & 0o777).toBe(0o600);
          await checkWholeness(dir);
          const copy = await openStoreDatabase({ dataDir: dir });
          const kept = new Set((await copy.execute("select id from orders")).rows.map((row) => String(row.id)));
          await copy.close();
          expect(before.filter((id) => !kept.has(id))).toEqual([]);
        });
      }
      expect(written).toBeGreaterThanOrEqual(minWritten);
    } finally {
      await load.stop();
    }
  }, 60_000);

  test("a dump reads rows that are too large for one answer of the server in smaller pages", async () => {
    const add = `insert into events (id, tenant_id, type, subject, data, created_at)
      select ?, id, 'test.large', 'x', printf('%.*c', 1500000, 'x'), 'a' from tenants limit 1`;
    await suite.shop();
    for (let index = 0; index < 12; index++) await db().execute({ sql: add, args: [`evt_large_${index}`] });
    await inFolder(async (dir) => {
      const path = join(dir, "bodega.db");
      const seen: number[] = [];
      await dumpDatabase(db(), path, { onProgress: (done, total) => seen.push(done, total) });
      expect(seen[1]).toBeGreaterThan(12);
      expect(seen.slice(-2)).toEqual([seen[1] as number, seen[1] as number]);
      expect(statSync(path).size).toBeGreaterThan(18_000_000);
    });
    await db().execute("delete from events where type = 'test.large'");
  });

  test("a dump that is stopped throws the signal's reason", async () => {
    await inFolder(async (dir) => {
      const path = join(dir, "bodega.db");
      const stop = new AbortController();
      const onProgress = (done: number) => done > 0 && stop.abort(new Error("enough"));
      const failure = await failureOf(dumpDatabase(db(), path, { onProgress, signal: stop.signal }));
      expect(String(failure)).toBe("Error: enough");
    });
  });

  test("a dump fails with 5001 if the server ends meanwhile", async () => {
    await inFolder(async (dir) => {
      const server = await startSqld();
      const remote = await openStoreDatabase({ dataDir: dir, url: server.url });
      await remote.migrate(["create table things (n integer primary key)", "insert into things values (1), (2)"]);
      let gone: Promise<void> | undefined;
      const onProgress = () => {
        gone ??= server.stop();
      };
      const path = join(dir, "copy.db");
      expect(await failureOf(dumpDatabase(remote, path, { onProgress }))).toMatchObject({ code: 5001 });
      await gone;
      await remote.close().catch(() => {});
    });
  });
});
