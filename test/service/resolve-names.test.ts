import { beforeAll, expect, test } from "bun:test";
import type { Ctx } from "../../src/server/context.ts";
import { resolveKeyId } from "../../src/server/modules/app-keys/resolve.ts";
import { issueKey, revokeKey } from "../../src/server/modules/app-keys/service.ts";
import { resolveProductId } from "../../src/server/modules/catalogue/products/resolve.ts";
import { createProduct, deleteProduct } from "../../src/server/modules/catalogue/products/service.ts";
import { createOrder, prepareOrder } from "../../src/server/modules/orders/create.ts";
import { resolveOrderId } from "../../src/server/modules/orders/views.ts";
import { createTenant, getTenant } from "../../src/server/modules/tenants/service.ts";
import { resolveUserId } from "../../src/server/modules/users/list.ts";
import { createUser } from "../../src/server/modules/users/service.ts";
import { addWebhook, resolveWebhookId } from "../../src/server/modules/webhooks/service.ts";
import { newNamespace, tenantContext } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { onDatabase } from "../support/suite.ts";

onDatabase("file", (suite) => {
  let here: Ctx;
  let there: Ctx;
  beforeAll(async () => {
    [here, there] = await Promise.all([tenantContext(await suite.shop()), tenantContext(await suite.shop())]);
  });
  const idOf = ({ json }: { json: string }) => (JSON.parse(json) as { id: string }).id;
  const issue = async (ctx: Ctx, name: string) =>
    (await issueKey(ctx, { namespace: ctx.tenant.namespace, name })).app_id;

  test("a key can be given by id, or by its name within its store", async () => {
    const id = await issue(here, "Backend (EU)");
    const { namespace } = here.tenant;
    expect(await resolveKeyId(here, id, undefined)).toBe(id);
    expect(await resolveKeyId(here, id, namespace)).toBe(id);
    expect(await resolveKeyId(here, "Backend (EU)", namespace)).toBe(id);
    for (const [named, store] of [
      [id, there.tenant.namespace],
      ["Backend (EU)", there.tenant.namespace],
      ["Backend (EU)", undefined],
      [id, "nobody"],
    ] as const) {
      expect(await failureOf(resolveKeyId(here, named, store))).toMatchObject({ code: 5301 });
    }
  });

  test("a name of two keys is refused with their ids, until one of them is revoked", async () => {
    const { namespace } = here.tenant;
    const ids = [await issue(here, "twin"), await issue(here, "twin")] as const;
    const failure = await failureOf(resolveKeyId(here, "twin", namespace));
    expect(failure).toMatchObject({ code: 5302, remedy: `Name one by its id: ${ids.join(", ")}` });
    await revokeKey(here, ids[0]);
    expect(await resolveKeyId(here, "twin", namespace)).toBe(ids[1]);
    await revokeKey(here, ids[1]);
    expect(await failureOf(resolveKeyId(here, "twin", namespace))).toMatchObject({ code: 5302 });
  });

  test("a misspelt name gets a suggestion from the same store, and never from another", async () => {
    await issue(here, "storefront");
    await createUser(here, { email: "ada.lovelace@example.com" });
    await createProduct(here, { title: "Desk lamp", price: 10, sku: "LAMP-17" });
    await addWebhook(here, { url: "https://hooks.example.com/orders", allowPrivate: true });
    const slips: [string, (ctx: Ctx) => Promise<unknown>][] = [
      ["storefront", (ctx) => resolveKeyId(ctx, "storefrnt", ctx.tenant.namespace)],
      ["ada.lovelace@example.com", (ctx) => resolveUserId(ctx, "ada.lovelace@exmaple.com")],
      ["desk-lamp", (ctx) => resolveProductId(ctx, "desk-lmap")],
      ["LAMP-17", (ctx) => resolveProductId(ctx, "LAMP-71")],
      ["https://hooks.example.com/orders", (ctx) => resolveWebhookId(ctx, "https://hooks.example.com/order")],
    ];
    for (const [meant, slip] of slips) {
      expect(await failureOf(slip(here))).toMatchObject({
        code: 5301,
        remedy: expect.stringContaining(`Did you mean ${meant}? List them all: bodega `),
      });
      const elsewhere = (await failureOf(slip(there))) as { code: number; remedy: string };
      expect(elsewhere.code).toBe(5301);
      expect(elsewhere.remedy).not.toContain("Did you mean");
    }
  });

  test("a product can be given by id, slug, SKU or a variant's SKU; a deleted one cannot", async () => {
    const plain = idOf(await createProduct(here, { title: "Plain chair", price: 1, sku: "CHAIR" }));
    const formed = idOf(
      await createProduct(here, {
        title: "Table",
        price: 1,
        variants: [{ title: "Oak", sku: "TABLE-OAK", options: { wood: "oak" } }],
      }),
    );
    for (const name of [plain, "plain-chair", "CHAIR"]) expect(await resolveProductId(here, name)).toBe(plain);
    for (const name of [formed, "TABLE-OAK"]) expect(await resolveProductId(here, name)).toBe(formed);
    const clash = idOf(await createProduct(here, { title: "Clash", price: 1, sku: "plain-chair" }));
    const failure = (await failureOf(resolveProductId(here, "plain-chair"))) as { code: number; remedy: string };
    expect(failure.code).toBe(5302);
    for (const id of [plain, clash]) expect(failure.remedy).toContain(id);
    await deleteProduct(here, plain, null);
    for (const name of [plain, "CHAIR"]) {
      expect(await failureOf(resolveProductId(here, name))).toMatchObject({ code: 5301 });
    }
    for (const name of [formed, "TABLE-OAK"]) {
      expect(await failureOf(resolveProductId(there, name))).toMatchObject({ code: 5301 });
    }
  });

  test("an order can be given by id or number, and each store has its own numbers", async () => {
    const product = idOf(await createProduct(here, { title: "Cup", price: 1, stock: 10 }));
    const order = idOf(
      await createOrder(here, await prepareOrder(here, { items: [{ product_id: product, quantity: 1 }] })),
    );
    for (const name of [order, "1", "#1"]) expect(await resolveOrderId(here, name)).toBe(order);
    expect(await failureOf(resolveOrderId(here, "2"))).toMatchObject({
      code: 5301,
      remedy: expect.stringContaining("List orders: bodega order list -n"),
    });
    for (const name of [order, "1", "nonsense"]) {
      expect(await failureOf(resolveOrderId(there, name))).toMatchObject({
        code: 5301,
        remedy: expect.stringContaining("List orders"),
      });
    }
  });

  test("a webhook can be given by id or by its whole address, unless several have it", async () => {
    const url = "https://twice.example.com/in";
    const { webhook_id: first } = await addWebhook(here, { url, allowPrivate: true });
    for (const name of [first, url, "https://TWICE.example.com/in"]) {
      expect(await resolveWebhookId(here, name)).toBe(first);
    }
    for (const name of [first, url]) {
      expect(await failureOf(resolveWebhookId(there, name))).toMatchObject({ code: 5301 });
    }
    const { webhook_id: second } = await addWebhook(here, { url, allowPrivate: true });
    expect(await failureOf(resolveWebhookId(here, url))).toMatchObject({
      code: 5302,
      remedy: `Name one by its id: ${first}, ${second}`,
    });
    expect(await resolveWebhookId(here, second)).toBe(second);
  });

  test("a very long name gets its error at once", async () => {
    const failure = (await failureOf(resolveUserId(here, `${"a".repeat(1_000_000)}@example.com`))) as { code: number };
    expect(failure.code).toBe(5301);
  });

  test("an unknown store gets the most similar namespace as a suggestion", async () => {
    const namespace = `${newNamespace()}-shop`;
    await createTenant(suite.app.system, { namespace });
    expect(await failureOf(getTenant(suite.app.system, namespace.replace("shop", "shpo")))).toMatchObject({
      code: 5301,
      remedy: `Did you mean ${namespace}? List them all: bodega tenant list`,
    });
  });
});
