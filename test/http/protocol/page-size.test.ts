import { expect } from "bun:test";
import { createUser } from "../../../src/server/modules/users/service.ts";
import type { ApiReply } from "../../support/client.ts";
import { type ProductReply, type Shop, tenantContext } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";

const maxPageBytes = 1024 * 1024;
/** A text of 150 KB in UTF-8. */
const longText = "価".repeat(50_000);

type Query = Record<string, string | number>;
interface Listed {
  ids: string[];
  bytes: number[];
}

/** Reads all pages of a list. Returns the ids in order, and the bytes of each page. */
async function readAll(shop: Shop, request: string, query: Query, next = "cursor"): Promise<Listed> {
  const listed: Listed = { ids: [], bytes: [] };
  for (let cursor: string | null = ""; cursor !== null; ) {
    const reply: ApiReply<{ id: string }[]> = await shop.call(request, {
      query: { ...query, ...(cursor !== "" && { [next]: cursor }) },
    });
    if (reply.status !== 200) throw new Error(reply.text);
    expect(reply.page.limit).toBe(Number(query.limit));
    listed.ids.push(...reply.data.map(({ id }) => id));
    listed.bytes.push(Buffer.byteLength(reply.text));
    cursor = reply.page.has_more ? reply.page.next_cursor : null;
  }
  return listed;
}

onDatabase("file", (suite) => {
  const { test } = suite;
  test("a page of large products ends at about 1 MiB, and all pages together contain each product once, in order", async (shop) => {
    const created: ProductReply[] = [];
    for (let i = 0; i < 12; i++) {
      const description = i % 6 === 5 ? null : longText;
      created.push(await shop.createProduct({ title: `Lamp ${i}`, price: i, description }));
    }
    const newestFirst = created.map(({ id }) => id).reverse();
    const some = newestFirst.slice(0, -3);
    const lists: [Query, string[]][] = [
      [{}, newestFirst],
      [{ sort: "created_at" }, newestFirst.toReversed()],
      [{ sort: "title", lang: "de" }, newestFirst.toSorted((a, b) => titleOf(a).localeCompare(titleOf(b), "en"))],
      [{ "price[gte]": 3 }, some],
      [{ q: "lamp" }, newestFirst],
      [{ ids: some.join() }, some],
    ];
    function titleOf(id: string): string {
      return created.find((product) => product.id === id)?.title as string;
    }
    for (const [query, ids] of lists) {
      const listed = await readAll(shop, "GET /products/", { ...query, limit: 100 });
      expect([query, listed.ids]).toEqual([query, ids]);
      expect(Math.max(...listed.bytes)).toBeLessThan(maxPageBytes * 1.1);
      expect(listed.bytes.length).toBeLessThan(5);
    }
    const feed = await readAll(shop, "GET /events/", { limit: 100 }, "after");
    expect(feed.ids).toHaveLength(12);
    expect(Math.max(...feed.bytes)).toBeLessThan(maxPageBytes * 1.1);
  });

  test("a page of users with large metadata, or of orders with many long lines, ends at about 1 MiB", async (shop) => {
    const ctx = await tenantContext(shop);
    const metadata = { note: "n".repeat(16_000) };
    for (let i = 0; i < 80; i++) await createUser(ctx, { email: `user-${i}@example.com`, metadata });
    const users = await readAll(shop, "GET /users/", { limit: 100 });
    expect([users.ids.length, users.bytes.length]).toEqual([80, 2]);

    const texts = Array.from({ length: 10 }, (_, i) => [`${i}${"名".repeat(45)}`, "値".repeat(95)]);
    const { variants } = await shop.createProduct({ variants: [{ options: Object.fromEntries(texts), price: 1 }] });
    const items = Array.from({ length: 100 }, () => ({ variant_id: variants[0]?.id, quantity: 1 }));
    for (let i = 0; i < 4; i++) expect((await shop.call("POST /orders/", { body: { items } })).status).toBe(201);
    const orders = await readAll(shop, "GET /orders/", { limit: 100 });
    expect([orders.ids.length, orders.bytes.length]).toEqual([4, 2]);
  });
});
