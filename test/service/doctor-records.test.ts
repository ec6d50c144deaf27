import { expect, test } from "bun:test";
import { Run } from "../../src/server/health/doctor.ts";
import type { ReportedFinding } from "../../src/server/health/finding.ts";
import { reservedStock } from "../../src/server/health/records/products.ts";
import { listAudit } from "../../src/server/modules/audit/list.ts";
import { expireDueOrders } from "../../src/server/modules/orders/expiry.ts";
import { requireTenant } from "../../src/server/modules/tenants/service.ts";
import { openAccount } from "../support/account.ts";
import type { ProductReply, Shop } from "../support/factories.ts";
import { actOn, makeOrder, type OrderReply, unlimitedOrders } from "../support/orders.ts";
import { reacting } from "../support/reactions.ts";
import { findInconsistencies } from "../support/record-check.ts";
import { givePoints } from "../support/rewards.ts";
import { onEachDatabase } from "../support/suite.ts";

onEachDatabase((suite) => {
  const { onFile } = suite;
  const doctor = (options: Parameters<typeof findInconsistencies>[1]) => findInconsistencies(suite.app.system, options);
  const execute = (...statements: string[]) => suite.app.db.batch(statements);
  const found = (inconsistencies: readonly ReportedFinding[]) =>
    inconsistencies.map(({ check, subject, field, is, should, fixable, fixed }) => {
      return [check, subject, field, is, should, fixed ? "fixed" : fixable ? "fixable" : "not"];
    });

  /** Opens a store with all kinds of records that the doctor checks. */
  async function openBusyShop() {
    const shop = await suite.shop({ tenant: unlimitedOrders });
    const { id: userId } = await openAccount(shop);
    const lamp = await shop.createProduct({ title: "Lamp", price: 10, stock: 20 });
    const shirt = await shop.createProduct({
      title: "Shirt",
      price: 5,
      variants: [
        { options: { size: "S" }, stock: 10 },
        { options: { size: "M" }, stock: 10 },
      ],
    });
    const gone = await shop.createProduct({ title: "Gone", stock: 1 });
    await shop.call(`DELETE /products/${gone.id}/`);
    const [small, medium] = shirt.variants.map(({ id }) => ({ variant_id: id }));
    await givePoints(shop, userId, 500);
    await givePoints(shop, userId, 100);
    const items = [
      { product_id: lamp.id, quantity: 2 },
      { ...small, quantity: 3 },
    ];
    const pending = await makeOrder(shop, items, { customer_id: userId, use_points: 550, shipping: 4, tax: 1.01 });
    const refunded = await makeOrder(shop, items, { customer_id: userId, use_points: 20 });
    await actOn(shop, refunded, "pay");
    const lines = [{ line_id: refunded.items[0]?.id, quantity: 1 }];
    await actOn(shop, refunded, "refund", { body: { lines, restock: true } });
    const parcel = { lines: [{ line_id: refunded.items[1]?.id, quantity: 1 }] };
    await shop.call(`POST /orders/${refunded.id}/fulfillments/`, { body: parcel });
    const { data: discount } = await shop.call("POST /discounts/", { body: { code: "POST", free_shipping: true } });
    const code = discount.id as string;
    const paid = await makeOrder(shop, [{ ...medium, quantity: 1 }], { discount_code: "post" });
    await actOn(shop, paid, "pay");
    await actOn(shop, await makeOrder(shop, items), "cancel");
    // This order is free: it has nothing to refund, but is not fully refunded.
    const flyer = await shop.createProduct({ title: "Flyer", price: 0 });
    const free = await makeOrder(shop, [{ product_id: flyer.id, quantity: 2 }]);
    const piece = [{ line_id: free.items[0]?.id, quantity: 1 }];
    await actOn(shop, free, "refund", { body: { lines: piece } });
    return { shop, userId, lamp, shirt, gone, pending, refunded, paid, code };
  }

  /** Reads the values that doctor can fix, except those that every write changes. */
  async function snapshot({ namespace }: Shop) {
    const own = `tenant_id = (select id from tenants where namespace = '${namespace}')`;
    const results = await suite.app.db.batch([
      `select id, stock, reserved, variants, has_variants, variants_stock, variants_available from products where ${own} order by id`,
      `select id, stock, reserved from product_variants where ${own} order by id`,
      `select id, status, payment_status, subtotal_minor, discount_minor, tax_minor, total_minor, refunded_minor from orders where ${own} order by id`,
      `select id, refunded_minor, refunded_quantity, restocked_quantity from order_lines where ${own} order by id`,
      `select user_id, balance from reward_balances where ${own}`,
      `select sequence, remaining from reward_lots where ${own} order by sequence`,
    ]);
    return results.map(({ rows }) => rows.map((row) => ({ ...row })));
  }

  const auditOf = async (shop: Shop) =>
    (await listAudit(suite.app.system, { event: "doctor.fixed", namespace: shop.namespace })).map((row) => row.details);

  test("a consistent store has no findings, and a value that changes between check and fix is not fixed", async () => {
    const { shop, lamp } = await openBusyShop();
    const { namespace } = shop;
    const { ok, checked, inconsistencies } = await doctor({ namespace });
    expect(found(inconsistencies)).toEqual([]);
    expect(ok).toBe(true);
    const checks =
      "states stock variants replies totals pieces discounts numbers rewards points resources counts pictures search";
    expect(checked).toEqual(checks.split(" "));

    await execute(`update products set reserved = 7 where id = '${lamp.id}'`);
    const run = new Run({ namespace, fix: true, deps: { timeoutMs: 1000, command: (words) => words } });
    const tenant = await requireTenant(suite.app.system, namespace);
    const subject = { ctx: suite.app.system, tenant, now: suite.app.system.now, command: (words: string) => words };
    await run.add("records", "stock", () => reservedStock(subject));
    await execute(`update products set reserved = 8 where id = '${lamp.id}'`);
    await run.applyFixes(suite.app.system);
    const [left] = run.report().findings;
    expect(left).toMatchObject({ fixed: false, message: expect.stringContaining("has changed the record meanwhile") });
    expect(found((await doctor({ namespace })).inconsistencies)).toEqual([
      ["stock", lamp.id, "reserved", 8, 2, "fixable"],
    ]);
  });

  onFile("doctor never reports a state that payments, parcels and refunds can produce", async () => {
    const shop = await suite.shop({ tenant: unlimitedOrders });
    const { id: product_id } = await shop.createProduct({ price: 10, stock: 100 });
    const place = () => makeOrder(shop, [{ product_id, quantity: 2 }], { shipping: 4, expires_in: 60 });
    const act = async (order: { id: string }, action: string, body: object) => {
      const { data, error } = await shop.call(`POST /orders/${order.id}/${action}/`, { body });
      expect(error).toBeUndefined();
      return data as unknown as OrderReply;
    };
    const ids = ({ items }: OrderReply, quantity: number) => [{ line_id: items[0]?.id, quantity }];
    const partly = await place();
    expect((await act(partly, "pay", { amount: 5 })).payment_status).toBe("partially_paid");
    const returned = await place();
    await act(returned, "pay", { amount: 5 });
    expect((await act(returned, "refund", { amount: 5 })).payment_status).toBe("refunded");
    const goods = await place();
    await act(goods, "pay", {});
    const kept = await act(goods, "refund", { lines: ids(goods, 2) });
    expect([kept.status, kept.payment_status]).toEqual(["cancelled", "partially_refunded"]);
    const rest = await place();
    await act(rest, "pay", { amount: 30 });
    await act(rest, "fulfillments", { lines: ids(rest, 1) });
    const sent = await act(rest, "refund", { lines: ids(rest, 1) });
    expect([sent.status, sent.fulfillment_status]).toEqual(["completed", "fulfilled"]);
    const late = await place();
    await act(late, "cancel", {});
    expect((await act(late, "pay", { amount: 24 })).needs_attention).toEqual(["late_payment"]);
    const gone = await place();
    suite.app.clock.advance(61_000);
    while ((await expireDueOrders(suite.app.system)) > 0);
    expect((await act(gone, "pay", { amount: 3 })).status).toBe("expired");
    const { ok, inconsistencies } = await doctor({ namespace: shop.namespace });
    expect({ ok, inconsistencies }).toEqual({ ok: true, inconsistencies: [] });
  });

  onFile("doctor reports cancelled items that do not follow from refunds and parcels", async () => {
    const shop = await suite.shop({ tenant: unlimitedOrders });
    const { id: product_id } = await shop.createProduct({ price: 10, stock: 100 });
    const place = async () => {
      const order = await makeOrder(shop, [{ product_id, quantity: 2 }]);
      await actOn(shop, order, "pay");
      return { order, lines: [{ line_id: order.items[0]?.id, quantity: 1 }] };
    };
    const unsent = await place();
    await actOn(shop, unsent.order, "refund", { body: { lines: unsent.lines } });
    const sent = await place();
    await shop.call(`POST /orders/${sent.order.id}/fulfillments/`, { body: { lines: sent.lines } });
    await actOn(shop, sent.order, "refund", { body: { lines: sent.lines } });
    const { namespace } = shop;
    expect((await doctor({ namespace })).inconsistencies).toEqual([]);
    const ids = [unsent, sent].map(({ lines: [line] }) => line?.line_id);
    await execute(`update order_lines set cancelled_quantity = 0 where id in ('${ids.join("','")}')`);
    const reported = [
      ...ids.map((id) => ["pieces", id, "cancelled_quantity", 0, 1, "not"]),
      ["totals", sent.order.id, "fulfillment_status", "fulfilled", "partially_fulfilled", "not"],
    ];
    expect(found((await doctor({ namespace, fix: true })).inconsistencies).sort()).toEqual(reported.sort() as never);
  });

  onFile("doctor reports each value that another program changed, and fixes counts and the search index", async () => {
    const busy = await openBusyShop();
    const { shop, userId, lamp, shirt, gone, pending, refunded, paid, code } = busy;
    const other = await openBusyShop();
    const [small] = shirt.variants.map(({ id }) => id);
    const [line, sent] = refunded.items.map(({ id }) => id);
    const variants = [40, 41].map((size) => ({ options: { size: String(size) }, stock: 3 }));
    const shoes = await shop.createProduct({ title: "Shoes", variants });
    await shop.call(`DELETE /products/${shoes.id}/variants/${shoes.variants[1]?.id}/`);
    const mug = await shop.createProduct({ title: "Mug", stock: 5 });
    const untouched = await snapshot(other.shop);
    await execute(
      `update products set reserved = 7 where id = '${lamp.id}'`,
      `update product_variants set reserved = 0 where id = '${small}'`,
      `update products set variants = '[]', has_variants = 0, variants_stock = 1, variants_available = null
        where id = '${shoes.id}'`,
      `update products set has_variants = 1, variants_stock = 4 where id = '${mug.id}'`,
      `update orders set subtotal_minor = 100, discount_minor = 0, tax_minor = 7, total_minor = 107 + shipping_minor,
        fulfillment_status = 'partially_fulfilled' where id = '${pending.id}'`,
      `update orders set refunded_minor = 0, payment_status = 'paid' where id = '${refunded.id}'`,
      `update order_lines set refunded_quantity = 0, cancelled_quantity = 0, refunded_minor = 1, restocked_quantity = 0
        where id = '${line}'`,
      `update order_lines set fulfilled_quantity = 2 where id = '${sent}'`,
      `update orders set received_minor = 501, credited_minor = 2 where id = '${paid.id}'`,
      `update discounts set uses = 4 where tenant_id = (select id from tenants where namespace = '${shop.namespace}')`,
      `update reward_balances set balance = 9 where user_id = '${userId}'`,
      `update reward_lots set remaining = 0 where user_id = '${userId}'`,
      `delete from product_search where rowid = (select row_number from products where id = '${shirt.id}')`,
      `insert into product_search (rowid, words) select row_number, 'x' from products where id = '${gone.id}'`,
      // This row belongs to another store, which is not checked.
      `update products set reserved = 9 where id = '${other.lamp.id}'`,
    );
    const kept = [
      ["totals", pending.id, "discount_minor", 0, 550, "not"],
      ["totals", pending.id, "fulfillment_status", "partially_fulfilled", "unfulfilled", "not"],
      ["totals", pending.id, "subtotal_minor", 100, 3500, "not"],
      ["totals", pending.id, "tax_minor", 7, 101, "not"],
      ["totals", pending.id, "total_minor", 507, 3451, "not"],
      ["pieces", line, "cancelled_quantity", 0, 1, "not"],
      ["pieces", line, "refunded_minor", 1, 994, "not"],
      ["pieces", line, "refunded_quantity", 0, 1, "not"],
      ["pieces", line, "restocked_quantity", 0, 1, "not"],
      ["totals", refunded.id, "payment_status", "paid", "partially_refunded", "not"],
      ["totals", refunded.id, "refunded_minor", 0, 994, "not"],
      ["totals", paid.id, "received_minor", 501, 500, "not"],
      ["totals", paid.id, "credited_minor", 2, 0, "not"],
      ["totals", paid.id, "payment_status", "paid", "partially_refunded", "not"],
      ["pieces", sent, "fulfilled_quantity", 2, 1, "not"],
      ["rewards", userId, "lots", 0, 60, "not"],
    ];
    const wrong = (state: string) =>
      [
        ...kept,
        ["stock", lamp.id, "reserved", 7, 2, state],
        ["stock", small, "reserved", 0, 3, state],
        ["variants", shoes.id, "variants", "out of date", "up to date", state],
        ["variants", mug.id, "variants", "out of date", "up to date", state],
        ["rewards", userId, "balance", 9, 60, state],
        ["discounts", code, "uses", 4, 1, state],
        ["search", gone.id, "words", "present", "missing", state],
        ["search", shirt.id, "words", "missing", "present", state],
      ].map((row) => JSON.stringify(row));
    const { namespace } = shop;
    const told = await doctor({ namespace });
    const texts = (rows: readonly ReportedFinding[]) => found(rows).map((row) => JSON.stringify(row));
    expect(texts(told.inconsistencies).sort()).toEqual(wrong("fixable").sort());
    expect(told.ok).toBe(false);
    expect(await auditOf(shop)).toEqual([]);

    const repaired = await doctor({ namespace, fix: true });
    expect(texts(repaired.inconsistencies).sort()).toEqual(wrong("fixed").sort());
    const remaining = kept.map((row) => JSON.stringify(row)).sort();
    expect(texts((await doctor({ namespace })).inconsistencies).sort()).toEqual(remaining);
    const audited = ["search", "search", "rewards", "discounts", "variants", "variants", "stock", "stock"];
    expect((await auditOf(shop)).map((details) => details?.check)).toEqual(audited);
    const hits = await shop.call<{ id: string }[]>("GET /products/", { query: { q: "shirt" } });
    expect(hits.data.map(({ id }) => id)).toEqual([shirt.id]);

    const others = await doctor({ namespace: other.shop.namespace, fix: true });
    expect(found(others.inconsistencies)).toEqual([["stock", other.lamp.id, "reserved", 9, 2, "fixed"]]);
    expect(await snapshot(other.shop)).toEqual(untouched);
  });

  onFile("doctor reports inconsistencies that only a person can resolve, with a remedy", async () => {
    const { shop, userId, paid, refunded } = await openBusyShop();
    const { namespace } = shop;
    const own = `tenant_id = (select id from tenants where namespace = '${namespace}')`;
    await execute(
      `update orders set subtotal_minor = subtotal_minor + 1, total_minor = total_minor + 1 where id = '${paid.id}'`,
      `update orders set points_earned = points_earned + 1 where id = '${refunded.id}'`,
      `update orders set number = 9 where ${own} and number = 2`,
      `delete from discount_uses where ${own}`,
      `insert into reward_entries (id, tenant_id, user_id, kind, points, balance, source, created_at)
      select 'rwd_' || user_id, tenant_id, user_id, 'adjust', -5000, 0, 'x', 'a' from reward_balances where ${own}`,
    );
    const wrong = [
      ["totals", paid.id, "subtotal_minor", 501, 500, "not"],
      ["totals", paid.id, "total_minor", 501, 500, "not"],
      ["discounts", paid.id, "discount_use", "missing", "present", "not"],
      ["numbers", "2", "number", "missing", "present", "not"],
      ["numbers", "6-8", "number", "missing", "present", "not"],
      ["rewards", userId, "balance", 60, -4940, "not"],
      ["rewards", userId, "lots", 60, -4940, "not"],
    ];
    for (const fix of [false, true]) {
      const { ok, inconsistencies } = await doctor({ namespace, fix });
      expect(ok).toBe(false);
      const shown = found(inconsistencies).filter(([check, , , , , state]) => state === "not" && check !== "points");
      for (const row of wrong) expect(shown).toContainEqual(row as never);
      expect(inconsistencies.filter(({ check }) => check === "points")).toMatchObject([
        { subject: refunded.id, field: "points_earned", fixable: false, fixed: false },
      ]);
      const stuck = inconsistencies.filter(({ fixable }) => !fixable);
      expect(stuck.filter(({ remedy }) => remedy === null)).toEqual([]);
    }
  });

  onFile("doctor reports orders with contradicting statuses, and fixes nothing from them", async () => {
    const { shop, shirt, paid, pending, refunded } = await openBusyShop();
    const { namespace } = shop;
    const before = await snapshot(shop);
    await execute(
      `update orders set status = 'pending', payment_status = 'partially_refunded' where id = '${paid.id}'`,
      `update orders set status = 'cancelled' where id = '${refunded.id}'`,
    );
    const asFound = await snapshot(shop);
    const { ok, inconsistencies } = await doctor({ namespace, fix: true });
    expect(ok).toBe(false);
    const together = "consistent statuses";
    expect(found(inconsistencies.filter(({ check }) => check === "states")).sort()).toEqual(
      [
        ["states", paid.id, "states", "pending, partially_refunded, unfulfilled, paid_at", together, "not"],
        [
          "states",
          refunded.id,
          "states",
          "cancelled, partially_refunded, partially_fulfilled, paid_at",
          together,
          "not",
        ],
      ].sort(),
    );
    expect(inconsistencies.filter(({ check, fixed }) => check === "stock" || fixed)).toEqual([]);
    expect(await snapshot(shop)).toEqual(asFound);
    expect(asFound).not.toEqual(before);
    // Whether the order reserves stock is unknown, so the reservation is kept.
    await execute(`update orders set payment_status = 'paid' where id = '${pending.id}'`);
    const [small] = shirt.variants.map(({ id }) => id);
    const again = await doctor({ namespace, fix: true });
    expect(found(again.inconsistencies)).toContainEqual(["stock", small, "reserved", 3, 0, "not"] as never);
  });

  onFile("doctor removes search words of a product that does not exist", async () => {
    await execute("insert into product_search (rowid, words) values (987654, 'x')");
    const wrong = ["search", "987654", "words", "present", "missing"];
    expect(found((await doctor({})).inconsistencies)).toContainEqual([...wrong, "fixable"]);
    expect(found((await doctor({ fix: true })).inconsistencies)).toContainEqual([...wrong, "fixed"]);
    expect((await doctor({})).inconsistencies.filter(({ check }) => check === "search")).toEqual([]);
  });
});

onEachDatabase((suite) => {
  const doctor = (shop: Shop, fix = false) => findInconsistencies(suite.app.system, { namespace: shop.namespace, fix });
  const read = async (shop: Shop, id: string) => (await shop.call<ProductReply>(`GET /products/${id}/`)).data;
  const countsOf = async (shop: Shop, id: string) => {
    const sql = "select likes, bookmarks from resource_counts where resource_id = ?";
    const { rows } = await suite.app.db.execute({ sql, args: [id] });
    return [rows[0]?.likes, rows[0]?.bookmarks, (await read(shop, id)).likes_count];
  };

  test("doctor fixes wrong counts of likes and bookmarks, and wrong copies of these counts in products", async () => {
    const shop = await suite.shop();
    const [lamp, table, chair, stool] = await Promise.all(
      [1, 2, 3, 4].map(async () => (await shop.createProduct()).id),
    );
    for (const [count, id] of [lamp, table, chair].entries()) {
      for (let n = 0; n <= count; n++) await reacting(shop.callAnonymously, "/likes/", {}).add(id as string);
      await reacting(shop.callAnonymously, "/bookmarks/", {}).add(id as string);
    }
    expect((await doctor(shop)).inconsistencies).toEqual([]);
    const before = await read(shop, lamp as string);

    await suite.app.db.batch([
      `update resource_counts set likes = 9, bookmarks = 0 where resource_id = '${lamp}'`,
      `delete from resource_counts where resource_id = '${table}'`,
      `update products set likes_count = 7, views_count = 4 where id = '${chair}'`,
      `insert into resource_counts (tenant_id, resource_type, resource_id, likes)
        select tenant_id, 'product', id, 5 from products where id = '${stool}'`,
    ]);
    const told = await doctor(shop);
    const rows = told.inconsistencies.map(({ check, subject, field, is, should, fixable }) => {
      return [check, subject, field, is, should, fixable];
    });
    expect(rows.sort()).toEqual(
      [
        ["resources", lamp, "likes", 9, 1, true],
        ["resources", lamp, "bookmarks", 0, 1, true],
        ["resources", table, "likes", 0, 2, true],
        ["resources", table, "bookmarks", 0, 1, true],
        ["resources", stool, "likes", 5, 0, true],
        ["counts", table, "likes_count", 2, 0, true],
        ["counts", chair, "likes_count", 7, 3, true],
        ["counts", chair, "views_count", 4, 0, true],
      ].sort() as never,
    );
    const { ok, inconsistencies } = await doctor(shop, true);
    expect([ok, inconsistencies.every(({ fixed }) => fixed)]).toEqual([true, true]);
    expect((await doctor(shop)).inconsistencies).toEqual([]);
    const after = [lamp, table, chair, stool].map((id) => countsOf(shop, id as string));
    expect(await Promise.all(after)).toEqual([
      [1, 1, 1],
      [2, 1, 2],
      [3, 1, 3],
      [0, 0, 0],
    ]);
    // The fix does not change the version of the product.
    expect(await read(shop, lamp as string)).toEqual(before);
  });
});
