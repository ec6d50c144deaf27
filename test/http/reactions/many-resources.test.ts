import { expect } from "bun:test";
import { updateTenant } from "../../../src/server/modules/tenants/service.ts";
import { type ReactionPath, reacting } from "../../support/reactions.ts";
import { onEachDatabase } from "../../support/suite.ts";
import { viewProduct } from "../../support/views.ts";

/** The query of a call about several resources. */
const queryOf = (ids: readonly string[], type = "product", more = "") =>
  `resource_type=${type}${more}${ids.map((id) => `&resource_id=${encodeURIComponent(id)}`).join("")}`;
const absent = "prod_01h455vb4pex5vsknk084sn02q";

onEachDatabase((suite) => {
  const { test } = suite;
  for (const path of ["/likes/", "/bookmarks/"] satisfies ReactionPath[]) {
    test(`GET ${path} of several resources returns the state of each, in their order`, async (shop) => {
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
  }

  test("GET /views/ of several resources returns the total of each, and whether the caller's view counts", async (shop) => {
    const [a, b] = [await shop.createProduct(), await shop.createProduct()];
    await viewProduct(shop.callAnonymously, a.id);
    await viewProduct(shop.callAnonymously, b.id, { address: "192.0.2.1" });
    await suite.app.memory.views.flush();
    await viewProduct(shop.callAnonymously, b.id, { address: "192.0.2.2" });
    await suite.app.memory.views.flush();
    const { data } = await shop.callAnonymously<unknown>("GET /views/", { query: queryOf([b.id, absent, a.id, "x"]) });
    expect(data).toEqual([
      { resource_id: b.id, active: false, count: 2 },
      { resource_id: a.id, active: true, count: 1 },
    ]);
  });

  test("resources of a declared type are read together, up to a hundred", async (shop) => {
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
    ["a cursor, which only a list has,", queryOf([absent], "product", "&cursor=WyIx"), 5102],
    ["a repeated type", `${queryOf(["1"])}&resource_type=product`, 5100],
    ["a repeated visitor", queryOf(["1"], "product", "&visitor=a&visitor=b"), 5100],
  ];
  for (const [name, query, code] of refused) {
    suite.testOnFile(`${name} is refused`, async (shop) => {
      for (const path of ["/likes/", "/bookmarks/", "/views/"]) {
        expect([path, (await shop.callAnonymously(`GET ${path}`, { query })).code]).toEqual([path, code]);
      }
    });
  }
});
