import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import type { Report } from "../../src/server/health/run.ts";
import type { ProductReply } from "../support/factories.ts";
import { uniform } from "../support/random.ts";
import { becomeVisitor, ofProduct, type ReactionReply } from "../support/reactions.ts";
import { type ServedShop, useServedShops } from "../support/served-shop.ts";

const { startServedShop } = useServedShops();
/** More for a thorough run: BODEGA_TEST_CALLS=20000 bun test test/binary/reaction-races.test.ts */
const calls = Number(process.env.BODEGA_TEST_CALLS ?? 1500);
const seed = Number(process.env.BODEGA_TEST_SEED ?? Math.floor(Math.random() * 2 ** 32));
const visitors = 200;
const connections = 64;

/** Distributes the numbers from 0 over all connections; each gets the next one when it is done. */
async function spread(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const connection = async () => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: connections }, connection));
}

describe.each([1, 2])("with %d worker(s)", (workers) => {
  let shop: ServedShop;
  let id: string;
  beforeAll(async () => {
    shop = await startServedShop({ workers, fakeClock: false });
    await shop.binary.json("tenant", "update", shop.namespace, "--address-writes", "0", "--visitor-writes", "0");
  });
  beforeEach(async () => {
    const body = { title: "Lamp", price: 10 };
    id = (await shop.call<ProductReply>("POST /products/", { body })).data.id;
  });

  /** One call without the usual checks of replies, so that the load is on the server. */
  async function react(visitor: string, isAdded: boolean): Promise<[status: number, reply: ReactionReply]> {
    const query = new URLSearchParams({ namespace: shop.namespace, visitor, ...(!isAdded && ofProduct(id)) });
    const init = isAdded ? { method: "POST", body: JSON.stringify(ofProduct(id)) } : { method: "DELETE" };
    const headers = { "content-type": "application/json" };
    const reply = await fetch(`${shop.server.url}/likes/?${query}`, { ...init, ...(isAdded && { headers }) });
    return [reply.status, ((await reply.json()) as { data: ReactionReply }).data];
  }

  test(`after ${calls} likes and unlikes of ${visitors} visitors at ${connections} connections, count, rows and product agree`, async () => {
    const tokens: string[] = [];
    await spread(visitors, async (index) => {
      tokens[index] = await becomeVisitor(shop.callAnonymously, "/likes/", id);
    });
    const random = uniform(seed);
    const wrong: unknown[] = [];
    // Each visitor makes one call at a time, so that the last one determines the expected state.
    const queues = tokens.map(() => Promise.resolve());
    const stands = tokens.map(() => true);
    await spread(calls, async () => {
      const index = Math.floor(random.next().value * visitors);
      const isAdded = random.next().value < 0.5;
      const act = async () => {
        const [status, reply] = await react(tokens[index] as string, isAdded);
        stands[index] = isAdded;
        if (status !== 200 || reply.active !== isAdded || reply.count > visitors) wrong.push([status, isAdded, reply]);
      };
      queues[index] = (queues[index] as Promise<void>).then(act);
      await queues[index];
    });
    expect([seed, wrong]).toEqual([seed, []]);

    const count = stands.filter(Boolean).length;
    const told = await shop.callAnonymously<ReactionReply>("GET /likes/", { query: ofProduct(id) });
    const { data: product } = await shop.call<ProductReply>(`GET /products/${id}/`);
    expect([seed, told.data.count, product.likes_count, product.version]).toEqual([seed, count, count, 1]);
    const db = await openStoreDatabase({ dataDir: shop.dataDir });
    const { rows } = await db.execute({ sql: "select count(*) as n from reactions where resource_id = ?", args: [id] });
    await db.close();
    expect([seed, rows[0]?.n]).toEqual([seed, count]);
    const { findings } = await shop.binary.json<Report>("doctor");
    expect(findings.filter(({ group }) => group === "records")).toEqual([]);
  }, 120_000);

  test("concurrent likes of one visitor in different workers count once", async () => {
    const visitor = await becomeVisitor(shop.callAnonymously, "/bookmarks/", id);
    const before = (await shop.callAnonymously<ReactionReply>("GET /likes/", { query: ofProduct(id) })).data.count;
    const many = await Promise.all(Array.from({ length: 100 }, () => react(visitor, true)));
    expect(many).toEqual(many.map(() => [200, { active: true, count: before + 1 }]));
  });
});
