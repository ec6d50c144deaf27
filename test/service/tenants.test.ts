import { beforeAll, expect, test } from "bun:test";
import type { SystemCtx } from "../../src/server/context.ts";
import { listKeys } from "../../src/server/modules/app-keys/service.ts";
import type { TenantInput } from "../../src/server/modules/tenants/input.ts";
import { createTenant, deleteTenant, getTenant, updateTenant } from "../../src/server/modules/tenants/service.ts";
import { openAccount } from "../support/account.ts";
import { newNamespace } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { onDatabase } from "../support/suite.ts";

/** Invalid inputs, each with the field that the error names. */
const refused: [field: string, input: TenantInput][] = [
  ["title", { title: "" }],
  ["title", { title: "a".repeat(201) }],
  ["currency", { currency: "EURO" }],
  ["currency_sign", { currencySign: "" }],
  ["currency_sign", { currencySign: "nine chars" }],
  ["language", { language: "en_US" }],
  ["token_lifetime", { tokenLifetime: 299 }],
  ["token_lifetime", { tokenLifetime: 400 * 86_400 + 1 }],
  ["token_lifetime", { tokenLifetime: Number.NaN }],
  ["points_rate", { pointsRate: -1 }],
  ["points_rate", { pointsRate: 1.0001 }],
  ["point_value", { pointValue: 0 }],
  ["point_value", { pointValue: 0.015 }],
  ["point_value", { pointValue: 10_000.01 }],
  ["point_value", { pointValue: 0.5, currency: "JPY" }],
  ["points_days", { pointsDays: 0 }],
  ["points_days", { pointsDays: 36_501 }],
  ["address_writes", { addressWrites: -1 }],
  ["address_writes", { addressWrites: 1_000_001 }],
  ["visitor_writes", { visitorWrites: Number.NaN }],
  ["pending_orders", { pendingOrders: -1 }],
  ["stock_share", { stockShare: 0 }],
  ["orders_per_minute", { ordersPerMinute: 1_000_001 }],
  ["domain", { domain: "https://shop.example" }],
  ["domain", { domain: "shop.example/path" }],
  ["domain", { domain: "user@shop.example" }],
  ["url", { url: "shop.example" }],
  ["url", { url: "javascript:alert(1)" }],
  ["logo", { logo: "data:image/png;base64,AA" }],
];

onDatabase("file", (suite) => {
  let ctx: SystemCtx;
  beforeAll(() => {
    ctx = suite.app.system;
  });

  test("every given field of a tenant is stored in its canonical form", async () => {
    const namespace = newNamespace();
    const input = {
      title: "Été 灯 & Söhne",
      domain: "shop.example.com",
      url: "https://shop.example.com/start",
      currency: "jpy",
      currencySign: "円",
      logo: "https://shop.example.com/logo.png",
      language: "PT-br",
    };
    await createTenant(ctx, { namespace, ...input });
    const { currencySign, ...rest } = input;
    const expected = { ...rest, currency: "JPY", currency_sign: currencySign, language: "pt-BR" };
    expect(await getTenant(ctx, namespace)).toMatchObject(expected);
  });

  test("the currency of a store cannot be changed while it has products", async () => {
    const shop = await suite.shop();
    const { id } = await shop.createProduct({});
    expect(await failureOf(updateTenant(ctx, shop.namespace, { currency: "JPY" }))).toMatchObject({ code: 5306 });
    expect(await updateTenant(ctx, shop.namespace, { currency: "EUR", title: "T" })).toMatchObject({ title: "T" });
    await shop.call(`DELETE /products/${id}/`);
    expect(await updateTenant(ctx, shop.namespace, { currency: "JPY" })).toMatchObject({ currency: "JPY" });
  });

  test("of ten concurrent creates of a tenant with one namespace, only one succeeds", async () => {
    const namespace = newNamespace();
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => createTenant(ctx, { namespace })));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: 5302 });
    }
  });

  test("an invalid field of a tenant is refused by name, on create and update, and nothing changes", async () => {
    const namespace = newNamespace();
    await createTenant(ctx, { namespace });
    const before = await getTenant(ctx, namespace);
    const seen: unknown[] = [];
    const codeOf = (error: { code?: number; details?: { field: string }[] }) => [error.code, error.details?.[0]?.field];
    for (const [, input] of refused) {
      const name = newNamespace();
      const created = await createTenant(ctx, { namespace: name, ...input }).then(() => "created", codeOf);
      const updated = await updateTenant(ctx, namespace, input).then(() => "updated", codeOf);
      seen.push({ input, created, updated });
    }
    expect(seen).toEqual(refused.map(([field, input]) => ({ input, created: [5102, field], updated: [5102, field] })));
    expect(await getTenant(ctx, namespace)).toEqual(before);
  });

  test("an update of a tenant changes the given fields, null clears a field, and a new currency also changes the currency sign", async () => {
    const namespace = newNamespace();
    await createTenant(ctx, { namespace, title: "Shop", domain: "a.example", url: "https://a.example" });
    const before = await getTenant(ctx, namespace);
    suite.app.clock.advance(1000);
    await updateTenant(ctx, namespace, { title: "Store", domain: null });
    const updated_at = new Date(ctx.now()).toISOString();
    expect(await getTenant(ctx, namespace)).toEqual({ ...before, title: "Store", domain: null, updated_at });
    await updateTenant(ctx, namespace, { currency: "usd" });
    expect(await getTenant(ctx, namespace)).toMatchObject({ currency: "USD", currency_sign: "$", title: "Store" });
    await updateTenant(ctx, namespace, { currency: "CHF", currencySign: "Fr." });
    expect(await getTenant(ctx, namespace)).toMatchObject({ currency: "CHF", currency_sign: "Fr." });
  });

  test("a new points rate or point value applies to the next request", async () => {
    const shop = await suite.shop({ tenant: { pointsRate: 0.333, pointValue: 0.07, pointsDays: 30 } });
    const eve = await openAccount(shop);
    const { id } = await shop.createProduct({ price: 1000 });
    const rewards = async () => {
      const items = [{ product_id: id, quantity: 1 }];
      const { data } = await shop.call("POST /orders/", { body: { items, customer_id: eve.id } });
      await shop.call(`POST /orders/${data.id}/pay/`, { body: {} });
      const { balance, value, expiring } = (await eve.call("GET /rewards/")).data;
      return { balance, value, expiring: expiring !== null };
    };
    expect(await rewards()).toEqual({ balance: 333, value: 23.31, expiring: true });
    await updateTenant(ctx, shop.namespace, { pointsRate: 1.001, pointValue: 0.29 });
    expect(await rewards()).toEqual({ balance: 1334, value: 386.86, expiring: true });
    await updateTenant(ctx, shop.namespace, { pointsRate: 0, pointsDays: null });
    expect(await rewards()).toEqual({ balance: 1334, value: 386.86, expiring: true });
    const stored = { points_rate: 0, point_value: 0.29, points_days: null };
    expect(await getTenant(ctx, shop.namespace)).toMatchObject(stored);
  });

  test("after a change of the currency, a point is worth the smallest unit, unless a value is set", async () => {
    const namespace = newNamespace();
    await createTenant(ctx, { namespace, currency: "KWD", pointValue: 0.005 });
    await updateTenant(ctx, namespace, { currency: "KWD" });
    expect(await getTenant(ctx, namespace)).toMatchObject({ point_value: 0.005 });
    await updateTenant(ctx, namespace, { currency: "JPY" });
    expect(await getTenant(ctx, namespace)).toMatchObject({ point_value: 1 });
    await updateTenant(ctx, namespace, { currency: "EUR", pointValue: 0.5 });
    expect(await getTenant(ctx, namespace)).toMatchObject({ point_value: 0.5 });
  });

  test("a deleted tenant leaves no rows, and other tenants keep their rows", async () => {
    const [doomed, other] = [await suite.shop(), await suite.shop()];
    for (const shop of [doomed, other]) await shop.createProduct();
    expect(await deleteTenant(ctx, doomed.namespace)).toMatchObject({ namespace: doomed.namespace });
    const count = async (table: string, where: string) =>
      (await ctx.db.execute(`select count(*) as n from ${table} where ${where}`)).rows[0]?.n;
    for (const table of ["products", "app_keys", "app_key_secrets", "app_key_origins"]) {
      expect([table, await count(table, "tenant_id not in (select id from tenants)")]).toEqual([table, 0]);
    }
    expect(await listKeys(ctx, { namespace: other.namespace })).toHaveLength(1);
    expect((await other.call<unknown[]>("GET /products/")).data).toHaveLength(1);
    expect(await failureOf(deleteTenant(ctx, doomed.namespace))).toMatchObject({ code: 5301 });
  });
});
