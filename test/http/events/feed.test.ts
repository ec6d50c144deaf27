import { expect } from "bun:test";
import { inTransaction } from "../../../src/server/db/transaction.ts";
import type { EventType } from "../../../src/server/modules/events/model.ts";
import { recordEvent } from "../../../src/server/modules/events/service.ts";
import { purgeEvents } from "../../../src/server/modules/webhooks/deliveries.ts";
import { addWebhook } from "../../../src/server/modules/webhooks/service.ts";
import { createClock } from "../../support/clock.ts";
import { type Shop, tenantContext } from "../../support/factories.ts";
import { failureOf } from "../../support/failure.ts";
import { runScenarios, scenariosOf } from "../../support/scenarios.ts";
import { onEachDatabase } from "../../support/suite.ts";

interface FeedEvent {
  id: string;
  type: string;
  subject: string;
  data: Record<string, unknown>;
  created_at: string;
}

const dayMs = 86_400_000;
const unknownId = "evt_01k8z3v5x2f1rt9m6q7wbn4hcd";

const read = (shop: Shop, query: Record<string, string | number> = {}) =>
  shop.call<FeedEvent[]>("GET /events/", { query });

async function record(shop: Shop, type: EventType, subject = "prod_1"): Promise<void> {
  const ctx = await tenantContext(shop);
  await inTransaction(ctx, (tx) => recordEvent(tx, { type, subject, data: { version: 2 } }));
}

onEachDatabase((suite) => {
  const { test, onFile } = suite;
  runScenarios(suite, [
    ...scenariosOf("GET /events/", [
      ["an empty feed has no cursor", undefined, 200, { has: ['"next_cursor":null'] }],
      ["an unknown `after` is refused with 5100", { query: { after: unknownId } }, 5100],
      ["an empty `after` is refused with 5100", { query: { after: "" } }, 5100],
      ["a malformed `after` is refused with 5100", { query: { after: "' or 1 --" } }, 5100, { has: ["Start again"] }],
      ["unknown types are refused with 5102", { query: { types: "order.*,lamp.lit" } }, 5102, "types"],
      ["a limit of 101 is refused with 5102", { query: { limit: 101 } }, 5102, "limit"],
      ["an unknown name in fields is refused with 5102", { query: { fields: "id,secret" } }, 5102, "fields"],
    ]),
  ]);

  test("the feed contains the store's committed changes, oldest first", async (shop) => {
    const other = await suite.shop();
    const { id } = await shop.createProduct();
    await other.createProduct();
    await shop.call(`PATCH /products/${id}/`, { body: { title: "Lantern" } });
    const ctx = await tenantContext(shop);
    await failureOf(
      inTransaction(ctx, async (tx) => {
        await recordEvent(tx, { type: "order.paid", subject: "ord_1", data: {} });
        throw new Error("it did not happen");
      }),
    );
    const { data, page } = await read(shop);
    expect(data.map(({ type, subject }) => [type, subject])).toEqual([
      ["product.created", id],
      ["product.updated", id],
    ]);
    expect(page).toEqual({ next_cursor: data[1]?.id as string, has_more: false, limit: 20 });
    const { id: theirs } = (await read(other)).data[0] as FeedEvent;
    expect((await read(shop, { after: theirs })).code).toBe(5100);
  });

  onFile("the last cursor finds later events, and skips events of other types", async (shop) => {
    for (const type of ["order.paid", "product.updated", "order.created", "stock.changed"] as const) {
      await record(shop, type);
    }
    const all = (await read(shop)).data.map(({ id }) => id);
    const first = await read(shop, { types: "order.*", limit: 1 });
    expect(first.page).toEqual({ next_cursor: all[0] as string, has_more: true, limit: 1 });
    const second = await read(shop, { types: "order.*", limit: 1, after: first.page.next_cursor as string });
    expect(second.data.map(({ type }) => type)).toEqual(["order.created"]);
    expect(second.page).toEqual({ next_cursor: all[3] as string, has_more: false, limit: 1 });
    const after = second.page.next_cursor as string;
    const third = await read(shop, { types: "order.*", after });
    expect({ data: third.data, page: third.page }).toEqual({
      data: [],
      page: { next_cursor: after, has_more: false, limit: 20 },
    });
    await record(shop, "user.created");
    await record(shop, "order.expired");
    expect((await read(shop, { types: "order.expired,product.*", after })).data.map(({ type }) => type)).toEqual([
      "order.expired",
    ]);
  });

  test("paging during concurrent writes returns every change once, in the order of commits", async (shop) => {
    const ctx = await tenantContext(shop);
    const again = await suite.database.openAgain();
    const writers = 4;
    const each = 12;
    let writing = writers;
    const write = async (writer: number) => {
      const db = writer % 2 === 0 ? suite.app.db : again;
      for (let i = 0; i < each; i++) {
        await inTransaction({ ...ctx, db }, async (tx) => {
          await recordEvent(tx, { type: "stock.changed", subject: `${writer}`, data: { i } });
          if (i % 3 === 2) throw new Error("undone");
        }).catch((error) => expect(error.message).toBe("undone"));
      }
      writing -= 1;
    };
    const seen: FeedEvent[] = [];
    const poll = async () => {
      for (let after: string | null = null, isLast = false; !isLast; ) {
        isLast = writing === 0;
        let hasMore = true;
        while (hasMore) {
          const { data, page }: Awaited<ReturnType<typeof read>> = await read(shop, {
            limit: 5,
            ...(after !== null && { after }),
          });
          seen.push(...data);
          after = page.next_cursor;
          hasMore = page.has_more;
        }
      }
    };
    await Promise.all([poll(), ...Array.from({ length: writers }, (_, writer) => write(writer))]);
    const told = seen.map(({ subject, data }) => `${subject} ${data.i}`);
    expect(new Set(told).size).toBe(told.length);
    for (let writer = 0; writer < writers; writer++) {
      const own = told.filter((text) => text.startsWith(`${writer} `));
      const wanted = Array.from({ length: each }, (_, i) => i).filter((i) => i % 3 !== 2);
      expect(own).toEqual(wanted.map((i) => `${writer} ${i}`));
    }
  });

  onFile("events are kept for thirty days, or longer if a webhook needs them", async () => {
    await suite.app.db.execute("delete from events");
    const clock = createClock();
    const shops = [await suite.shop(), await suite.shop()] as const;
    const contexts = [];
    for (const shop of shops) contexts.push({ ...(await tenantContext(shop)), now: clock.now });
    const [plain, hooked] = contexts as [(typeof contexts)[0], (typeof contexts)[0]];
    await addWebhook(hooked, { url: "http://127.0.0.1:9/", allowPrivate: true });
    for (const ctx of contexts) {
      for (const subject of ["a", "b", "c"]) {
        await inTransaction(ctx, (tx) => recordEvent(tx, { type: "order.paid", subject, data: {} }));
      }
    }
    const kept = async () => {
      const subjects = [];
      for (const shop of shops) subjects.push((await read(shop)).data.map(({ subject }) => subject).join(""));
      return subjects;
    };
    const [first] = (await read(shops[0])).data;
    clock.advance(30 * dayMs - 1);
    expect(await purgeEvents(plain)).toBe(0);
    clock.advance(1);
    expect(await purgeEvents(plain)).toBe(2);
    expect(await kept()).toEqual(["c", "abc"]);
    expect((await read(shops[0], { after: first?.id as string })).code).toBe(5100);
    clock.advance(30 * dayMs);
    await purgeEvents(plain);
    expect(await kept()).toEqual(["c", "c"]);
    await suite.app.db.execute("delete from webhooks");
  });

  onFile("old events are purged a thousand at a time, oldest first", async (shop) => {
    const ctx = await tenantContext(shop);
    const sql = `with recursive n(i) as (select 1 union all select i + 1 from n where i < 1500)
      insert into events (sequence, id, tenant_id, type, subject, data, created_at)
      select (select max(sequence) from events) + i, 'evt_' || i, ?, 'order.paid', i, '{}', '2020-01-01T00:00:00.000Z' from n`;
    await record(shop, "order.paid");
    await suite.app.db.execute({
      sql: "update events set created_at = '2019' where tenant_id = ?",
      args: [ctx.tenant.id],
    });
    await suite.app.db.execute({ sql, args: [ctx.tenant.id] });
    expect(await purgeEvents(ctx)).toBe(1000);
    expect((await read(shop, { limit: 1 })).data[0]?.subject).toBe("1000");
    expect(await purgeEvents(ctx)).toBe(500);
    expect((await read(shop)).data.map(({ subject }) => subject)).toEqual(["1500"]);
  });
});
