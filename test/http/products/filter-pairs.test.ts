import { expect, test } from "bun:test";
import { ProductListQuery } from "../../../src/server/modules/catalogue/list/model.ts";
import { bounds } from "../../../src/server/pagination/list-query.ts";
import { onDatabase } from "../../support/suite.ts";

const time = "2000-01-31T12:00:00Z";
const range = (name: string, value: string) => bounds.map((bound) => [`${name}[${bound}]`, [value]] as const);
/** Values of each parameter of the list. Those of `option` and `tag` include names that every object inherits. */
const values: Record<string, readonly string[]> = {
  include_total: ["true"],
  fields: ["title,slug"],
  ids: ["prod_01h455vb4pex5vsknk084sn02q"],
  sort: ProductListQuery.properties.sort.anyOf.map((one) => one.const),
  q: ["shirt"],
  sku: ["T-1"],
  tag: ["summer", "toString", "__proto__"],
  category: ["clothing"],
  "option[size]": ["S"],
  "option[colour]": ["blue"],
  "option[toString]": ["S"],
  "option[__proto__]": ["S"],
  available: ["true", "false"],
  on_sale: ["true"],
  facets: ["tags,categories,options,price"],
  slug: ["tee"],
  status: ["published", "archived"],
  ...Object.fromEntries(range("price", "5")),
  ...Object.fromEntries(["created_at", "updated_at"].flatMap((name) => range(name, time))),
};
const parts = Object.entries(values).flatMap(([name, texts]) => texts.map((text) => [name, text] as const));
const pairs = parts
  .flatMap((one, at) => parts.slice(at + 1).map((two) => [one, two] as const))
  .filter(([[one], [two]]) => one !== two || one === "tag");

/** The code of `relevance` without a search, and of options that no product has. */
function expectedCode(asked: ReadonlyMap<string, string>): number | undefined {
  const isFitting = asked.get("sort") !== "relevance" || asked.has("q");
  return isFitting && !asked.has("option[toString]") && !asked.has("option[__proto__]") ? undefined : 5102;
}

onDatabase("file", (suite) => {
  test("any two filters of a list can be sent together, with any sort, and continued by a cursor", async () => {
    const named = Object.keys(values).map((name) => name.replace(/^option\[.*/, "option"));
    const known = Object.keys(ProductListQuery.properties).filter((name) => name !== "limit" && name !== "cursor");
    expect(new Set(named)).toEqual(new Set(known));
    const shop = await suite.shop();
    await shop.call("POST /categories/", { body: { title: "Clothing" } });
    const variants = [{ options: { size: "S", colour: "blue" }, stock: 3 }];
    const shirt = {
      title: "Shirt",
      tags: ["summer"],
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
    // Some two thousand calls, with a statement of its own for each pair.
  }, 90_000);
});
