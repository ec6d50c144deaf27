import { expect, test } from "bun:test";
import { inSavepoint, inTransaction } from "../../../src/server/db/transaction.ts";
import { createProduct } from "../../../src/server/modules/catalogue/products/service.ts";
import { importProducts } from "../../../src/server/modules/catalogue/transfer/import.ts";
import { decodeText, readNdjson } from "../../../src/server/modules/catalogue/transfer/import-item.ts";
import { beginBatch } from "../../../src/server/modules/catalogue/variants/variant-input.ts";
import { patchVariant } from "../../../src/server/modules/catalogue/variants/variants.ts";
import { createOrder, prepareOrder } from "../../../src/server/modules/orders/create.ts";
import { type ProductReply, type Shop, tenantContext } from "../../support/factories.ts";
import { failureOf } from "../../support/failure.ts";
import { actOn, makeOrder, unlimitedOrders } from "../../support/orders.ts";
import { findInconsistencies } from "../../support/record-check.ts";
import { onEachDatabase } from "../../support/suite.ts";

onEachDatabase((suite) => {
  const { onFile } = suite;
  const open = () => suite.shop({ tenant: unlimitedOrders });
  const variants = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ options: { size: String(index) }, stock: 10 }));
  const linesOf = ({ variants }: ProductReply, quantity = 1) =>
    variants.map(({ id }) => ({ variant_id: id, quantity }));
  const read = async ({ call }: Shop, { id }: { id: string }) =>
    (await call<ProductReply>(`GET /products/${id}/`)).data;

  /** Checks that the stored summary of every product matches its variants, and that no update is pending. */
  async function expectFresh() {
    expect((await findInconsistencies(suite.app.system)).inconsistencies).toEqual([]);
    expect((await suite.app.db.execute("select * from stale_summaries")).rows).toEqual([]);
  }

  /** Counts with a trigger how often `work` writes rows of products. Each row contains the JSON of all variants. */
  async function countWrites(work: () => Promise<unknown>): Promise<number> {
    const { db } = suite.app;
    await db.batch([
      "create table write_count (n)",
      "insert into write_count values (0)",
      "create trigger count_writes after update on products begin update write_count set n = n + 1; end",
    ]);
    try {
      await work();
      return Number((await db.execute("select n from write_count")).rows[0]?.n);
    } finally {
      await db.batch(["drop trigger count_writes", "drop table write_count"]);
    }
  }

  onFile("a change of many variants writes the row of each product at most twice", async () => {
    const shop = await open();
    const counts: Record<string, number> = {};
    const count = async (name: string, work: () => Promise<unknown>) => {
      counts[name] = await countWrites(work);
      await expectFresh();
    };
    let shirt = {} as ProductReply;
    await count("create", async () => {
      shirt = await shop.createProduct({ price: 5, variants: variants(20) });
    });
    const other = await shop.createProduct({ price: 5, variants: variants(2) });
    const items = [...linesOf(shirt), ...linesOf(other)];
    await shop.call("POST /orders/", { query: { dry_run: "true" }, body: { items } });
    expect((await read(shop, shirt)).available).toBe(200);
    const order = () => makeOrder(shop, items);
    let [first, second] = [] as Awaited<ReturnType<typeof order>>[];
    await count("order", async () => {
      first = await order();
    });
    expect(await read(shop, shirt)).toMatchObject({ stock: 200, available: 180, version: 1 });
    await count("cancel", () => actOn(shop, first as { id: string }, "cancel"));
    expect((await read(shop, shirt)).available).toBe(200);
    second = await order();
    await count("pay", () => actOn(shop, second as { id: string }, "pay"));
    expect(await read(shop, shirt)).toMatchObject({ stock: 180, available: 180, version: 2 });
    await count("refund", () => actOn(shop, second as { id: string }, "refund", { body: { restock: true } }));
    expect(await read(shop, shirt)).toMatchObject({ stock: 200, available: 200, version: 3 });
    await count("price", () => shop.call(`PATCH /products/${shirt.id}/`, { body: { price: 7 } }));
    expect((await read(shop, shirt)).variants.map(({ price }) => price)).toEqual(Array(20).fill(7));
    await count("unchanged price", () => shop.call(`PATCH /products/${shirt.id}/`, { body: { price: 7 } }));
    await count("delete", () => shop.call(`DELETE /products/${shirt.id}/`));
    // Each order has variants of two products. A change that increases the version writes each row twice.
    const ofOrders = { order: 2, cancel: 2, pay: 4, refund: 4 };
    expect(counts).toEqual({ create: 1, ...ofOrders, price: 2, "unchanged price": 1, delete: 2 });
  });

  onFile("a transaction that fails within a batch of variants changes nothing, and later ones work", async () => {
    const shop = await open();
    const ctx = await tenantContext(shop);
    const shirt = await shop.createProduct({ price: 5, variants: variants(3) });
    const [small, , large] = shirt.variants.map(({ id }) => id) as [string, string, string];
    const before = await read(shop, shirt);
    const items = [...linesOf(shirt).slice(0, 2), { variant_id: large, quantity: 11 }];
    expect((await shop.call("POST /orders/", { body: { items } })).code).toBe(5304);
    expect(await read(shop, shirt)).toEqual(before);
    await expectFresh();
    // One part of the transaction fails, but the transaction continues.
    await inTransaction(ctx, async (tx) => {
      const failing = inSavepoint(tx, async () => createOrder(tx, await prepareOrder(tx, { items })));
      expect(await failureOf(() => failing)).toMatchObject({ kind: "outOfStock" });
      await patchVariant(tx, { productId: shirt.id, variantId: small }, { stock: 7 }, null);
    });
    expect(await read(shop, shirt)).toMatchObject({ stock: 27, available: 27 });
    const repeated = [{ title: "A" }, { sku: "B", options: { size: "M" } }];
    await createProduct(ctx, { title: "Taken", price: 1, sku: "B" });
    const failure = await failureOf(() => createProduct(ctx, { title: "Lamp", price: 1, variants: repeated }));
    expect(failure).toMatchObject({ kind: "conflict" });
    await expectFresh();
  });

  test("a transaction with an unfinished batch of variants cannot be committed, and does not affect later writes", async () => {
    const shop = await open();
    const ctx = await tenantContext(shop);
    const shirt = await shop.createProduct({ price: 5, variants: variants(2) });
    const before = await read(shop, shirt);
    const ids = { productId: shirt.id, variantId: shirt.variants[0]?.id as string };
    const unended = inTransaction(ctx, async (tx) => {
      await tx.db.execute(beginBatch);
      await patchVariant(tx, ids, { stock: 3 }, null);
    });
    expect(await failureOf(() => unended)).toMatchObject({ kind: "unavailable" });
    expect(await read(shop, shirt)).toEqual(before);
    await expectFresh();
    await patchVariant(ctx, ids, { stock: 4 }, null);
    expect((await read(shop, shirt)).stock).toBe(14);
  });

  onFile("an imported product with many variants is rendered once, or not at all if a variant is refused", async () => {
    const shop = await open();
    const ctx = await tenantContext(shop);
    const shirt = await shop.createProduct({ title: "Shirt", price: 5, variants: variants(20) });
    const importAs = (title: string, stock: number) => {
      const changed = shirt.variants.map(({ id }, index) => ({
        id,
        title: `${title} ${index}`,
        stock: stock - index,
      }));
      const file = decodeText(new Blob([JSON.stringify({ id: shirt.id, variants: changed })]).stream());
      return importProducts(ctx, readNdjson(file), { onError: "skip", isDryRun: false });
    };
    const find = async (search: string) =>
      (await shop.call<unknown[]>("GET /products/", { query: { q: search } })).data;
    // Each imported variant increases the version.
    expect(await countWrites(() => importAs("Blue", 19))).toBe(shirt.variants.length + 1);
    const { stock, variants: imported } = await read(shop, shirt);
    expect([stock, imported.every(({ title }) => title.startsWith("Blue"))]).toEqual([190, true]);
    await expectFresh();
    expect([await find("blue"), await find("green")].map(({ length }) => length)).toEqual([1, 0]);
    const before = await read(shop, shirt);
    expect(await importAs("Green", 18)).toMatchObject({ updated: 0, failed: 1 });
    expect(await read(shop, shirt)).toEqual(before);
    expect([await find("blue"), await find("green")].map(({ length }) => length)).toEqual([1, 0]);
    await expectFresh();
  });

  test("after concurrent orders, edits and deletions of variants, every summary is current", async () => {
    const shop = await open();
    const shirts = await Promise.all([1, 2].map(() => shop.createProduct({ price: 5, variants: variants(4) })));
    const [shirt, other] = shirts as [ProductReply, ProductReply];
    const rounds = suite.kind === "file" ? 8 : 4;
    const path = (at: number) => `/products/${shirt.id}/variants/${shirt.variants[at]?.id}/`;
    const work = Array.from({ length: rounds }, (_, round) => [
      shop.call<{ id: string }>("POST /orders/", { body: { items: [...linesOf(shirt), ...linesOf(other)] } }),
      shop.call("POST /orders/", { body: { items: linesOf(other, 9) } }),
      shop.call(`PATCH ${path(0)}`, { body: { stock: 10 + round } }),
      shop.call(`PATCH /products/${shirt.id}/`, { body: { price: 5 + round } }),
      ...(round === rounds / 2 ? [shop.call(`DELETE ${path(3)}`)] : []),
    ]);
    const replies = (await Promise.all(work.flat())).filter(({ status }) => status === 201);
    expect(replies.length).toBeGreaterThan(0);
    await expectFresh();
    await Promise.all(replies.map(({ data }) => shop.call(`POST /orders/${(data as { id: string }).id}/cancel/`)));
    for (const product of shirts) {
      const { stock, available } = await read(shop, product);
      expect(available).toBe(stock as number);
    }
    await expectFresh();
  });
});
