import { expect } from "bun:test";
import { updateTenant } from "../../../src/server/modules/tenants/service.ts";
import type { Shop } from "../../support/factories.ts";
import type { ListedReaction, ReactionReply } from "../../support/reactions.ts";
import { onEachDatabase } from "../../support/suite.ts";
import type { ViewReply, ViewsReply } from "../../support/views.ts";

const article = (id: string) => ({ resource_type: "article", resource_id: id });
const change = ({ app, namespace }: Shop, declare: string[], remove: string[] = []) =>
  updateTenant(app.system, namespace, { types: { declare, remove } });

onEachDatabase((suite) => {
  const { test, onFile } = suite;
  const view = ({ callAnonymously }: Shop, id: string) =>
    callAnonymously<ViewReply>("POST /views/", { body: article(id) });
  const react = ({ callAnonymously }: Shop, path: string, id: string) =>
    callAnonymously<ReactionReply>(`POST ${path}`, { body: article(id) });
  const countRows = async (table: string, { tenant }: Shop) => {
    const sql = `select count(*) as n from ${table} where resource_type = 'article'
      and tenant_id = (select id from tenants where namespace = ?)`;
    return Number((await suite.app.db.execute({ sql, args: [tenant.namespace] })).rows[0]?.n);
  };
  const open = async () => {
    const shop = await suite.shop();
    await change(shop, ["article"]);
    return shop;
  };

  test("resources of a declared type are liked, bookmarked, viewed and listed, with any id of 1 to 128 characters", async () => {
    const shop = await open();
    for (const id of ["7", "2030/a b?c=d&e", "ä".repeat(128), "prod_0"]) {
      const { data } = await react(shop, "/likes/", id);
      expect([data.active, data.count]).toEqual([true, 1]);
      const by = { visitor: data.visitor as string };
      expect((await react(shop, "/bookmarks/", id)).data.count).toBe(1);
      const like = { query: { ...article(id), ...by } };
      expect((await shop.callAnonymously("GET /likes/", like)).data).toEqual({ active: true, count: 1 });
      const list = await shop.callAnonymously<ListedReaction[]>("GET /likes/", { query: by });
      expect(list.data).toMatchObject([article(id)]);
      expect((await view(shop, id)).data).toEqual({ active: true, count: 0 });
      await suite.app.memory.views.flush();
      const views = await shop.callAnonymously<ViewsReply>("GET /views/", { query: { ...article(id), days: 1 } });
      expect([views.data.count, views.data.days.map(({ count }) => count)]).toEqual([1, [1]]);
      const gone = await shop.callAnonymously("DELETE /likes/", like);
      expect(gone.data).toEqual({ active: false, count: 0 });
    }
  });

  const refused: [name: string, body: object, field: string][] = [
    ["an id of 129 characters", article("x".repeat(129)), "resource_id"],
    ["an empty id", article(""), "resource_id"],
    ["an id with a line break", article("a\nb"), "resource_id"],
    ["a type that is not declared", { resource_type: "page", resource_id: "1" }, "resource_type"],
    ["a malformed type", { resource_type: "Article", resource_id: "1" }, "resource_type"],
  ];
  onFile("invalid ids and types are refused", async () => {
    const shop = await open();
    for (const [name, body, field] of refused) {
      const query = body as Record<string, string>;
      for (const path of ["/likes/", "/bookmarks/", "/views/"]) {
        for (const reply of [
          await shop.callAnonymously(`POST ${path}`, { body }),
          await shop.callAnonymously(`GET ${path}`, { query }),
        ]) {
          expect([name, reply.code, reply.fields[0]?.replace(/\.0$/, "")]).toEqual([name, 5102, field]);
        }
      }
    }
  });

  onFile("a declared type is valid only in its store, and the type product accepts only ids of products", async () => {
    const [shop, other] = [await open(), await suite.shop()];
    const { id } = await shop.createProduct();
    await react(shop, "/likes/", id);
    const product = { query: { resource_type: "product", resource_id: id } };
    expect((await shop.callAnonymously("GET /likes/", product)).data).toEqual({ active: false, count: 0 });
    expect((await react(other, "/likes/", id)).code).toBe(5102);
    await change(other, ["article"]);
    expect((await other.callAnonymously("GET /likes/", { query: article(id) })).data).toMatchObject({ count: 0 });
  });

  onFile("a type can be removed only if its resources have no likes, bookmarks and views", async () => {
    const [shop, other] = [await open(), await open()];
    await react(other, "/likes/", "1");
    await expect(change(other, [], ["article"])).rejects.toMatchObject({ kind: "wrongState" });
    expect((await react(other, "/likes/", "1")).data.count).toBe(2);
    expect((await change(shop, ["page"], ["article"])).resource_types).toEqual(["page"]);
    expect((await react(shop, "/likes/", "1")).code).toBe(5102);
  });

  onFile("a store has at most 20 types, and removing an unknown type is an error", async (shop) => {
    const names = Array.from({ length: 20 }, (_, i) => `type-${i}`);
    expect((await change(shop, names)).resource_types).toEqual(names.toSorted());
    await change(shop, ["type-3"]);
    await expect(change(shop, ["one-more"])).rejects.toMatchObject({ kind: "wrongState" });
    await expect(change(shop, ["product"])).rejects.toMatchObject({ kind: "validationFailed" });
    await expect(change(shop, [], ["article"])).rejects.toMatchObject({ kind: "wrongState" });
  });

  onFile("at a type's maximum of resources, new resources are refused until another is unused", async () => {
    const shop = await open();
    const { data } = await react(shop, "/likes/", "1");
    const fill = (resources: number) =>
      suite.app.db.execute({
        sql: `update resource_types set resources = ? where tenant_id = (select id from tenants where namespace = ?)`,
        args: [resources, shop.namespace],
      });
    await fill(100_000);
    expect((await react(shop, "/likes/", "2")).code).toBe(5306);
    expect((await react(shop, "/likes/", "1")).data.count).toBe(2);
    await view(shop, "2");
    await suite.app.memory.views.flush();
    expect(await countRows("view_days", shop)).toBe(0);
    await view(shop, "1");
    await suite.app.memory.views.flush();
    expect(await countRows("view_days", shop)).toBe(1);
    await fill(1);
    await react(shop, "/likes/", "2");
    const { rows } = await suite.app.db.execute("select max(resources) as n from resource_types");
    expect(Number(rows[0]?.n)).toBeGreaterThanOrEqual(2);
    expect(data.count).toBe(1);
  });
});
