import { expect, test } from "bun:test";
import { ProductListQuery } from "../../../src/server/modules/catalogue/list/model.ts";
import type { Call } from "../../support/client.ts";
import type { ProductReply, Shop } from "../../support/factories.ts";
import { readPages } from "../../support/read-pages.ts";
import { onDatabase, onEachDatabase, type Suite } from "../../support/suite.ts";

const request = "GET /products/";
type Query = Record<string, string | number>;

/** Reads all pages of a list. All but the last must be full. `between` runs after each page. */
const readAll = (call: Call, query: Query, between: (page: number) => unknown = () => {}) =>
  readPages<ProductReply>(call, request, query, (page, { data }) => {
    expect(data).toHaveLength(Number(query.limit));
    return between(page);
  });

/** Creates nine products, three of which have equal keys in each sort. One second passes after every three. */
async function stock(suite: Suite): Promise<Shop> {
  const shop = await suite.shop();
  for (let group = 0; group < 3; group++) {
    for (let n = 0; n < 3; n++) {
      await shop.createProduct({
        title: ["b", "a", "B"][n],
        price: [2, 1, 10][group],
        slug: `p-${group}-${n}`,
        status: n === 2 ? "draft" : "published",
      });
    }
    suite.app.clock.advance(1000);
  }
  return shop;
}

const sorts: Record<string, (product: ProductReply) => string | number> = {
  created_at: (product) => product.created_at,
  updated_at: (product) => product.updated_at,
  price: (product) => product.price,
  title: (product) => product.title,
};

/** Sorts products by the key, and equal ones by the id, in the same direction. */
function inOrder(products: ProductReply[], key: string, sign: 1 | -1): string[] {
  const value = sorts[key] as (product: ProductReply) => string | number;
  const compare = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0);
  return products.toSorted((a, b) => sign * (compare(value(a), value(b)) || compare(a.id, b.id))).map(({ id }) => id);
}

const ids = (products: ProductReply[]) => products.map(({ id }) => id);

onEachDatabase((suite) => {
  const { onFile } = suite;
  onFile("an empty store has one empty page", async ({ call }) => {
    const { data, page } = await call(request);
    expect([data, page]).toEqual([[], { next_cursor: null, has_more: false, limit: 20 }] as never);
  });

  onFile("a page has 20 products by default, newest first, with the same fields as a GET of the product", async () => {
    const { call, createProduct } = await suite.shop();
    await Promise.all(Array.from({ length: 21 }, (_, n) => createProduct({ slug: `p${n}` })));
    const first = await call<ProductReply[]>(request);
    expect([first.data.length, first.page.limit, first.page.has_more]).toEqual([20, 20, true]);
    expect(ids(first.data)).toEqual(inOrder(first.data, "created_at", -1));
    expect(first.data[3]).toEqual((await call<ProductReply>(`GET /products/${first.data[3]?.id}/`)).data);
    expect((await call<ProductReply[]>(request, { query: { limit: 100 } })).data).toHaveLength(21);
  });

  for (const key of Object.keys(sorts)) {
    onFile(`pages sorted by ${key} contain each product once and in order, even with equal keys`, async () => {
      const { call } = await stock(suite);
      const all = await readAll(call, { limit: 100 });
      for (const [sort, sign] of [
        [key, 1],
        [`-${key}`, -1],
      ] as const) {
        for (const limit of [1, 2, 3, 9]) {
          expect({ sort, limit, ids: ids(await readAll(call, { sort, limit })) }).toEqual({
            sort,
            limit,
            ids: inOrder(all, key, sign),
          });
        }
      }
    });
  }

  onFile("a page can end at a title of any length and in any script", async ({ call, createProduct }) => {
    for (const title of ["é".repeat(300), "灯".repeat(300), "\\\"'".repeat(100), "💡".repeat(150)]) {
      await createProduct({ title });
    }
    expect(await readAll(call, { sort: "title", limit: 1 })).toHaveLength(4);
  });

  onFile("a broken, forged or empty cursor is refused with 5100, never with 5000", async () => {
    const { call } = await stock(suite);
    const good = (await call(request, { query: { limit: 2 } })).page.next_cursor as string;
    const [bound] = JSON.parse(Buffer.from(good, "base64url").toString());
    const forge = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const broken = [
      "",
      "x",
      "%00",
      good.slice(0, -3),
      forge(null),
      forge({}),
      forge([bound]),
      forge([bound, null, "prod_1"]),
      forge([bound, { a: 1 }, "prod_1"]),
      forge([bound, 1.5, "prod_1"]),
      forge([bound, "2030", 7]),
      forge([bound, "2030", "prod_1", "more"]),
      forge(["x", "2030", "prod_1"]),
    ];
    for (const cursor of broken) {
      expect([cursor, (await call(request, { query: { limit: 2, cursor } })).code]).toEqual([cursor, 5100]);
    }
  });

  const refused: [name: string, query: Query, field: string][] = [
    ["a limit of 0", { limit: 0 }, "limit"],
    ["a limit of 101", { limit: 101 }, "limit"],
    ["a limit in exponent form", { limit: "1e1" }, "limit"],
    ["an unknown sort key", { sort: "stock" }, "sort"],
    ["a price that is not a number", { "price[gte]": "cheap" }, "price[gte]"],
    ["a price with more decimals than the currency", { "price[gte]": "0.001" }, "price[gte]"],
    ["a price that a number cannot hold exactly", { "price[lte]": "9007199254740993" }, "price[lte]"],
    ["an unknown operator", { "price[ne]": 1 }, "price[ne]"],
    ["an unknown parameter", { colour: "red" }, "colour"],
    ["a parameter named __proto__", { __proto__x: 1, ["__proto__"]: "1" }, "__proto__"],
    ["a parameter named constructor", { constructor: "1" } as never, "constructor"],
  ];
  onFile("invalid and unknown parameters are refused by name", async ({ call }) => {
    for (const [name, query, field] of refused) {
      const { code, fields } = await call(request, { query });
      expect([name, code, fields]).toEqual([name, 5102, expect.arrayContaining([field])]);
    }
  });
});

const time = "2000-01-31T12:00:00Z";
const range = (name: string, value: string) => ["gte", "lt"].map((bound) => [`${name}[${bound}]`, [value]] as const);
/** Values of each parameter. A range has two of its four bounds, and a sort one direction. */
const values: Record<string, readonly string[]> = {
  include_total: ["true"],
  fields: ["title,slug"],
  ids: ["prod_01h455vb4pex5vsknk084sn02q"],
  sort: ["-created_at", "updated_at", "-price", "title", "-views_count", "popular", "relevance"],
  q: ["shirt"],
  sku: ["T-1"],
  tag: ["summer", "cotton"],
  category: ["clothing"],
  "option[size]": ["S"],
  "option[colour]": ["blue"],
  available: ["true", "false"],
  on_sale: ["true"],
  facets: ["tags,categories,options,price"],
  slug: ["tee"],
  status: ["published"],
  ...Object.fromEntries(range("price", "5")),
  ...Object.fromEntries(["created_at", "updated_at"].flatMap((name) => range(name, time))),
};
const parts = Object.entries(values).flatMap(([name, texts]) => texts.map((text) => [name, text] as const));
const pairs = parts
  .flatMap((one, at) => parts.slice(at + 1).map((two) => [one, two] as const))
  .filter(([[one], [two]]) => one !== two || one === "tag");

/** Returns the error code of `relevance` without a search. */
function expectedCode(asked: ReadonlyMap<string, string>): number | undefined {
  return asked.get("sort") !== "relevance" || asked.has("q") ? undefined : 5102;
}

onDatabase("file", (suite) => {
  test("any two filters of a list can be combined, with any sort and with a cursor", async () => {
    const named = Object.keys(values).map((name) => name.replace(/^option\[.*/, "option"));
    const known = Object.keys(ProductListQuery.properties).filter((name) => name !== "limit" && name !== "cursor");
    const others = ["price", "created_at", "updated_at"].flatMap((name) => [`${name}[gt]`, `${name}[lte]`]);
    expect(new Set([...named, ...others])).toEqual(new Set(known));
    const shop = await suite.shop();
    await shop.call("POST /categories/", { body: { title: "Clothing" } });
    const variants = [{ options: { size: "S", colour: "blue", toString: "S" }, stock: 3 }];
    const shirt = {
      title: "Shirt",
      tags: ["summer", "cotton", "__proto__"],
      category_ids: ["clothing"],
      price: 5,
      compare_at_price: 9,
      variants,
    };
    for (const slug of ["tee", "polo"]) await shop.createProduct({ ...shirt, slug });
    const wrong: unknown[] = [];
    let continued = 0;
    for (const pair of pairs) {
      const query = new URLSearchParams([
        ...pair.map(([name, text]): [string, string] => [name, text]),
        ["limit", "1"],
      ]);
      const reply = await shop.call("GET /products/", { query: `${query}` });
      if (reply.code !== expectedCode(new Map(pair))) wrong.push([`${query}`, reply.code]);
      const cursor = reply.page?.next_cursor;
      if (cursor == null) continue;
      const next = await shop.call("GET /products/", { query: `${query}&cursor=${encodeURIComponent(cursor)}` });
      if (next.status !== 200) wrong.push([`${query} continued`, next.code]);
      continued++;
    }
    expect(wrong).toEqual([]);
    expect(continued).toBeGreaterThan(0);
    // Every JavaScript object inherits these names.
    const query = "tag=__proto__&tag=cotton&option[toString]=S&option[size]=S&limit=1";
    const { page } = await shop.call("GET /products/", { query });
    const next = await shop.call("GET /products/", { query: `${query}&cursor=${page.next_cursor}` });
    expect([next.status, next.data]).toMatchObject([200, [{ title: "Shirt" }]]);
  }, 90_000);
});
