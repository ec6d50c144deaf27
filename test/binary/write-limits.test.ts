import { expect, test } from "bun:test";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { newAddress } from "../support/client.ts";
import { ofProduct } from "../support/reactions.ts";
import { useServedShops } from "../support/served-shop.ts";

const { startServedShop } = useServedShops();
const limit = 200;
/** After so many refusals in a row, both workers must have refused a write. */
const manyRefusals = 30;

test("two workers share the write limit of an address, even after a restart; only writes of the last second may not be counted yet", async () => {
  const shop = await startServedShop({ workers: 2 });
  const { binary, namespace, clock } = shop;
  await binary.json("tenant", "update", namespace, "--address-writes", String(limit), "--visitor-writes", "0");
  const { data } = await shop.call<{ id: string }>("POST /products/", { body: { title: "Lamp", price: 10 } });
  const address = newAddress();
  // A new connection for each call, so that each worker can get it.
  const headers = { connection: "close", "content-type": "application/json", "x-forwarded-for": address };

  /** Sends likes one after another until they are refused. Returns how many were accepted. */
  async function likeUntilRefused(url: string): Promise<number> {
    let admitted = 0;
    for (let refusals = 0; refusals < manyRefusals; ) {
      const body = JSON.stringify({ namespace, ...ofProduct(data.id) });
      const reply = await fetch(`${url}/likes/`, { method: "POST", headers, body });
      // At most a hundred likes a second, because the workers exchange their counts twice a second.
      await Bun.sleep(10);
      refusals = reply.status === 429 ? refusals + 1 : 0;
      admitted += reply.ok ? 1 : 0;
      if (reply.status === 429) expect(reply.headers.get("retry-after")).toBe("60");
      else expect(reply.status).toBe(200);
    }
    return admitted;
  }

  const admitted = await likeUntilRefused(shop.server.url);
  expect(admitted).toBeGreaterThanOrEqual(limit);
  // Without exchanging counts, the two workers would together have accepted twice the limit.
  expect(admitted).toBeLessThan(2 * limit - 25);

  expect(await shop.server.end()).toBe(0);
  const db = await openStoreDatabase({ dataDir: shop.dataDir });
  const { rows } = await db.execute("select process, hits from public_hits");
  await db.close();
  expect(new Set(rows.map(({ process }) => process)).size).toBe(2);
  expect(rows.flatMap(({ hits }) => JSON.parse(String(hits)) as unknown[])).toHaveLength(admitted);
  expect(JSON.stringify(rows)).not.toContain(address);

  const again = await binary.serve("--workers", "2", "--trusted-proxy", "127.0.0.1/32");
  expect(await likeUntilRefused(again.url)).toBeLessThan(limit / 2);
  clock.advance(60_000);
  expect(await likeUntilRefused(again.url)).toBeGreaterThanOrEqual(limit);
}, 60_000);
