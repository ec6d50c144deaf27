import { beforeAll, expect, test } from "bun:test";
import { completeNames } from "../../src/server/admin/complete-names.ts";
import type { Ctx } from "../../src/server/context.ts";
import { issueKey, revokeKey } from "../../src/server/modules/app-keys/service.ts";
import { createProduct } from "../../src/server/modules/catalogue/products/service.ts";
import { createOrder, prepareOrder } from "../../src/server/modules/orders/create.ts";
import { createUser } from "../../src/server/modules/users/service.ts";
import { addWebhook } from "../../src/server/modules/webhooks/service.ts";
import { tenantContext } from "../support/factories.ts";
import { onDatabase } from "../support/suite.ts";

onDatabase("file", (suite) => {
  let here: Ctx;
  let there: Ctx;
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    [here, there] = await Promise.all([tenantContext(await suite.shop()), tenantContext(await suite.shop())]);
    const { namespace } = here.tenant;
    const idOf = ({ json }: { json: string }) => (JSON.parse(json) as { id: string }).id;
    ids.app = (await issueKey(here, { namespace, name: "storefront" })).app_id;
    await revokeKey(here, (await issueKey(here, { namespace, name: "stored" })).app_id);
    for (const name of ["$(reboot)", "twin", "twin"]) await issueKey(here, { namespace, name });
    ids.user = (await createUser(here, { email: "Ada@example.com", name: "Ada" })).id;
    await createUser(here, { email: "a'da@example.com" });
    ids.product = idOf(await createProduct(here, { title: "Desk lamp", price: 1, sku: "LAMP-1", stock: 5 }));
    await createProduct(here, { title: "Shirt", price: 1, variants: [{ title: "M", sku: "SHIRT-M" }] });
    ids.order = idOf(
      await createOrder(here, await prepareOrder(here, { items: [{ product_id: ids.product, quantity: 1 }] })),
    );
    ids.webhook = (await addWebhook(here, { url: "https://hooks.example.com/in", allowPrivate: true })).webhook_id;
    await addWebhook(here, { url: "https://hooks.example.com/?a=1&b=2", allowPrivate: true });
  });

  const offer = async (ctx: Ctx, kind: string, prefix: string, namespace: string | undefined = ctx.tenant.namespace) =>
    (await completeNames(suite.app.db, { kind, prefix, namespace })).map(({ value }) => value);

  test("completion offers names and ids only from the chosen store", async () => {
    const cases: [string, string, string[]][] = [
      ["key", "store", ["storefront"]],
      ["key", ids.app as string, [ids.app as string]],
      ["user", "ADA", ["ada@example.com"]],
      ["user", ids.user as string, [ids.user as string]],
      ["order", "1", ["1"]],
      ["order", ids.order as string, [ids.order as string]],
      ["product", "desk", ["desk-lamp"]],
      ["product", "LAMP", ["LAMP-1"]],
      ["product", "SHIRT", ["SHIRT-M"]],
      ["product", ids.product as string, [ids.product as string]],
      ["webhook", "https", ["https://hooks.example.com/in"]],
      ["webhook", ids.webhook as string, [ids.webhook as string]],
    ];
    for (const [kind, prefix, offered] of cases) {
      expect([kind, prefix, await offer(here, kind, prefix)]).toEqual([kind, prefix, offered]);
      expect([kind, prefix, await offer(there, kind, prefix)]).toEqual([kind, prefix, []]);
      expect([kind, prefix, await offer(here, kind, prefix, "nobody")]).toEqual([kind, prefix, []]);
    }
  });

  test("if a shell could run a record's name as a command, completion offers the record's id", async () => {
    for (const kind of ["key", "user", "webhook"]) {
      for (const value of await offer(here, kind, "")) expect(value).toMatch(/^[\w.@+:/-]+$/);
    }
    const keys = await offer(here, "key", "");
    expect(keys).toContain("storefront");
    expect(keys).not.toContain("twin");
    // These are at least the store's own key, two keys with the same name, and one whose name is a command.
    expect(keys.filter((value) => value.startsWith("app_")).length).toBeGreaterThanOrEqual(3);
  });

  test("without a store, completion offers only namespaces and ids of keys", async () => {
    const none = (kind: string, prefix: string) =>
      completeNames(suite.app.db, { kind, prefix, namespace: undefined }).then((names) =>
        names.map(({ value }) => value),
      );
    expect(await none("namespace", here.tenant.namespace)).toEqual([here.tenant.namespace]);
    expect(await none("key", ids.app as string)).toEqual([ids.app as string]);
    for (const kind of ["user", "order", "product", "webhook"]) expect(await none(kind, "")).toEqual([]);
    expect(await none("scope", "products:")).toEqual(["products:read", "products:write"]);
    expect(await none("event", "origins.")).toEqual(["origins.changed"]);
  });
});
