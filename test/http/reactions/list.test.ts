import { expect, test } from "bun:test";
import { updateTenant } from "../../../src/server/modules/tenants/service.ts";
import type { Shop } from "../../support/factories.ts";
import { becomeVisitor, type ListedReaction, type ReactionPath, reacting } from "../../support/reactions.ts";
import { onEachDatabase } from "../../support/suite.ts";
import { usualAddress, viewProduct } from "../../support/views.ts";

/** Returns the query of a call about several resources. */
const queryOf = (ids: readonly string[], type = "product", more = "") =>
  `resource_type=${type}${more}${ids.map((id) => `&resource_id=${encodeURIComponent(id)}`).join("")}`;
const absent = "prod_01h455vb4pex5vsknk084sn02q";

onEachDatabase((suite) => {
  const { onFile } = suite;
  async function open(count: number, path: ReactionPath = "/bookmarks/") {
    const shop = await suite.shop();
    const ids: string[] = [];
    for (let n = 0; n < count; n++) ids.push((await shop.createProduct()).id);
    const visitor = await becomeVisitor(shop.callAnonymously, path, ids[0] as string);
    return { shop, ids, visitor, me: reacting(shop.callAnonymously, path, { visitor }) };
  }
  const idsOf = (data: ListedReaction[]) => data.map((one) => one.resource_id);

  /** Inserts likes of products that do not exist. */
  async function fill({ namespace }: Shop, actor: string, count: number) {
    await suite.app.db.execute({
      sql: `with recursive n (i) as (select 1 union all select i + 1 from n where i < ?)
        insert into reactions (tenant_id, kind, resource_type, resource_id, actor, created_at)
        select t.id, 'bookmark', 'product', 'filler-' || i, ?, '2026-01-01T00:00:00.000Z' from n, tenants t
        where t.namespace = ?`,
      args: [count, actor, namespace],
    });
  }

  test("a list of likes has each resource once, newest first, even with equal times and concurrent likes", async () => {
    const { shop, ids, me } = await open(7);
    const at = new Date(suite.app.clock.now()).toISOString();
    for (const id of ids.slice(1, 6)) await me.add(id);
    suite.app.clock.advance(1000);
    await me.add(ids[6] as string);
    const first = await me.list({ limit: "3", include_total: "true" });
    expect(first.page).toEqual({ next_cursor: expect.any(String) as never, has_more: true, limit: 3, total: 7 });
    expect(first.data[0]).toEqual({
      resource_type: "product",
      resource_id: ids[6] as string,
      created_at: new Date(suite.app.clock.now()).toISOString(),
    });
    expect(first.data[1]?.created_at).toBe(at);
    const seen = idsOf(first.data);
    for (let cursor = first.page.next_cursor; cursor !== null; ) {
      await me.add((await shop.createProduct()).id);
      const { data, page } = await me.list({ limit: "2", cursor });
      seen.push(...idsOf(data));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(ids.toSorted().toReversed());
  });

  onFile("a list of likes has only public resources of the type, and its cursor fits only this list", async () => {
    const { shop, ids, me } = await open(4);
    const [gone, draft, archived, left] = ids as [string, string, string, string];
    for (const id of ids) await me.add(id);
    const { next_cursor: cursor } = (await me.list({ limit: "1" })).page;
    await shop.call(`DELETE /products/${gone}/`);
    await shop.call(`PATCH /products/${draft}/`, { body: { status: "draft" } });
    await shop.call(`PATCH /products/${archived}/`, { body: { status: "archived" } });
    for (const query of [{}, { resource_type: "product" }] as Record<string, string>[]) {
      const { data, page } = await me.list({ ...query, include_total: "true", limit: "1" });
      expect([idsOf(data), page]).toEqual([[left], { next_cursor: null, has_more: false, limit: 1, total: 1 }]);
    }
    const likes = reacting(shop.callAnonymously, "/likes/", {
      visitor: await becomeVisitor(shop.callAnonymously, "/likes/", left),
    });
    const nobody = reacting(shop.callAnonymously, "/bookmarks/", {});
    for (const wrong of [
      me.list({ resource_type: "product", cursor: cursor as string }),
      likes.list({ cursor: cursor as string }),
      nobody.list({ cursor: cursor as string }),
      me.list({ cursor: "x" }),
    ]) {
      expect((await wrong).code).toBe(5100);
    }
    await shop.call(`PATCH /products/${draft}/`, { body: { status: "published" } });
    expect(idsOf((await me.list()).data)).toEqual([left, draft].toSorted().toReversed());
    expect((await nobody.list({ include_total: "true" })).page).toEqual({
      next_cursor: null,
      has_more: false,
      limit: 20,
      total: 0,
    });
  });

  onFile("a visitor has at most ten thousand likes, and can then remove one and add it again", async () => {
    const { shop, ids, visitor, me } = await open(3);
    await fill(shop, visitor.split("-")[0] as string, 9998);
    const [first, second, third] = ids as [string, string, string];
    expect((await me.add(second)).data.active).toBe(true);
    const { code, status } = await me.add(third);
    expect([code, status]).toEqual([5306, 409]);
    expect((await me.add(first)).data).toEqual({ active: true, count: 1 });
    expect((await me.get(third)).data).toEqual({ active: false, count: 0 });
    // Likes and bookmarks have separate limits.
    expect((await reacting(shop.callAnonymously, "/likes/", { visitor }).add(third)).data.active).toBe(true);
    expect((await me.list({ include_total: "true" })).page.total).toBe(2);
    await me.remove(second);
    expect((await me.add(third)).data).toEqual({ active: true, count: 1 });
  });

  onFile("a GET of several resources returns the state of each, in the order of the request", async (shop) => {
    const path = "/bookmarks/";
    const [a, b, draft] = [
      await shop.createProduct(),
      await shop.createProduct(),
      await shop.createProduct({ status: "draft" }),
    ];
    const visitor = (await reacting(shop.callAnonymously, path, {}).add(a.id)).data.visitor as string;
    await reacting(shop.callAnonymously, path, {}).add(b.id);
    await reacting(shop.callAnonymously, path, { visitor }).add(b.id);
    const ids = [b.id, absent, a.id, draft.id, "x", b.id];
    const read = async (more?: string) =>
      (await shop.callAnonymously(`GET ${path}`, { query: queryOf(ids, "product", more) })).data;
    expect(await read()).toEqual([
      { resource_id: b.id, active: false, count: 2 },
      { resource_id: a.id, active: false, count: 1 },
    ] as never);
    expect(await read(`&visitor=${visitor}`)).toMatchObject([{ active: true }, { active: true }]);
    const none = await shop.callAnonymously<unknown>(`GET ${path}`, { query: queryOf([absent, "x"]) });
    expect(none.data).toEqual([]);
  });

  onFile("GET /views/ of several resources returns each total, and whether the caller's view counts", async (shop) => {
    const [a, b] = [await shop.createProduct(), await shop.createProduct()];
    await viewProduct(shop.callAnonymously, a.id);
    await viewProduct(shop.callAnonymously, b.id, { address: "192.0.2.1" });
    await suite.app.memory.views.flush();
    await viewProduct(shop.callAnonymously, b.id, { address: "192.0.2.2" });
    await suite.app.memory.views.flush();
    const query = queryOf([b.id, absent, a.id, "x"]);
    const { data } = await shop.callAnonymously<unknown>("GET /views/", { query, address: usualAddress });
    expect(data).toEqual([
      { resource_id: b.id, active: false, count: 2 },
      { resource_id: a.id, active: true, count: 1 },
    ]);
  });

  onFile("up to a hundred resources of a declared type can be read together", async (shop) => {
    await updateTenant(suite.app.system, shop.namespace, { types: { declare: ["article"], remove: [] } });
    await shop.callAnonymously("POST /likes/", { body: { resource_type: "article", resource_id: "7" } });
    const ids = Array.from({ length: 100 }, (_, i) => String(i));
    for (const path of ["/likes/", "/views/"]) {
      const { data } = await shop.callAnonymously<object[]>(`GET ${path}`, { query: queryOf(ids, "article") });
      expect(data).toHaveLength(100);
      expect(data[7]).toEqual({ resource_id: "7", active: false, count: path === "/likes/" ? 1 : 0 });
    }
  });

  const refused: [name: string, query: string, code: number][] = [
    ["101 resources", queryOf(Array(101).fill(absent)), 5102],
    ["several resources without a type", "resource_id=1&resource_id=2", 5102],
    ["several resources of an undeclared type", queryOf(["1", "2"], "article"), 5102],
    ["an empty id of a declared type", queryOf(["1", ""], "article"), 5102],
    ["a cursor, which is only for lists,", queryOf([absent], "product", "&cursor=WyIx"), 5102],
    ["a repeated type", `${queryOf(["1"])}&resource_type=product`, 5100],
    ["a repeated visitor", queryOf(["1"], "product", "&visitor=a&visitor=b"), 5100],
  ];
  onFile("invalid calls about several resources are refused", async (shop) => {
    for (const [name, query, code] of refused) {
      for (const path of ["/likes/", "/bookmarks/", "/views/"]) {
        expect([name, path, (await shop.callAnonymously(`GET ${path}`, { query })).code]).toEqual([name, path, code]);
      }
    }
  });
});
