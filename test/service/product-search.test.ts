import { expect, test } from "bun:test";
import type { Ctx } from "../../src/server/context.ts";
import { listProducts } from "../../src/server/modules/catalogue/list/list.ts";
import { indexTokens, searchWords, stemOf } from "../../src/server/modules/catalogue/list/search-words.ts";
import { createProduct, deleteProduct, patchProduct } from "../../src/server/modules/catalogue/products/service.ts";
import { deleteTenant } from "../../src/server/modules/tenants/service.ts";
import { tenantContext } from "../support/factories.ts";
import { onEachDatabase } from "../support/suite.ts";

onEachDatabase((suite) => {
  const { onFile } = suite;
  const open = async (): Promise<Ctx> => tenantContext(await suite.shop());
  const find = async (ctx: Ctx, q: string) => {
    const { json } = await listProducts(ctx, { q, limit: 100, include_total: true });
    return (JSON.parse(json) as { id: string }[]).map(({ id }) => id);
  };
  const make = async (ctx: Ctx, fields: object = {}) => {
    const { json } = await createProduct(ctx, { title: "Lamp", price: 1, ...fields });
    return (JSON.parse(json) as { id: string }).id;
  };
  const write = (sql: string, ...args: string[]) => suite.app.db.execute({ sql, args });
  const wordsOf = async (id: string) => {
    const sql =
      "select count(*) as found from product_search where rowid = (select row_number from products where id = ?)";
    return (await suite.app.db.execute({ sql, args: [id] })).rows[0]?.found;
  };
  test("products that are not in the index are indexed before the next commit, except deleted ones", async () => {
    const [ctx, other] = [await open(), await open()];
    const made = [];
    for (let n = 0; n < 120; n++) made.push(await make(ctx, { title: "Torch", description: "wide ".repeat(900) }));
    const gone = await make(ctx, { title: "Torch" });
    await deleteProduct(ctx, gone, null);
    const theirs = await make(other, { title: "Torch" });
    await suite.app.db.batch([
      { sql: "delete from product_search", args: [] },
      { sql: "insert into products_to_index select row_number from products", args: [] },
    ]);
    expect((await find(ctx, "torch")).length).toBe(100);
    expect(await find(other, "torch")).toEqual([theirs]);
    expect(await wordsOf(made[0] as string)).toBe(1);
    expect(await wordsOf(gone)).toBe(0);
  });

  onFile("a search finds only the store's products, even if two stores have the same prefix in the index", async () => {
    const [ctx, other] = [await open(), await open()];
    const [mine, theirs] = [await make(ctx), await make(other)];
    const row = "(select row_number from products where id = ?)";
    const words = indexTokens(ctx.tenant.id, ["Lamp"]);
    await write(`insert or replace into product_search (rowid, words) select ${row}, ?`, theirs, words);
    expect(await find(ctx, "lamp")).toEqual([mine]);
    const {
      page: { total },
    } = await listProducts(ctx, { q: "lamp", include_total: true });
    expect(total).toBe(1);
  });

  test("a misspelt word is looked up in several turns of the event loop, so that others do not wait for it", async () => {
    const ctx = await open();
    const lamp = await make(ctx, { title: "Lantern" });
    let turns = 0;
    let next = setImmediate(function count() {
      turns++;
      next = setImmediate(count);
    });
    const found = await find(ctx, "lantexn");
    clearImmediate(next);
    expect([found, turns > 4]).toEqual([[lamp], true]);
  });

  onFile("index entries are deleted with their product and store, and kept while other fields change", async () => {
    const shop = await suite.shop();
    const ctx = await tenantContext(shop);
    const [kept, gone] = [await make(ctx), await make(ctx)];
    await patchProduct(ctx, kept, { price: 2, stock: 3, status: "archived" }, { ifMatch: null });
    await deleteProduct(ctx, gone, null);
    expect([await find(ctx, "lamp"), await wordsOf(kept), await wordsOf(gone)]).toEqual([[kept], 1, 0]);
    const count = async () => Number((await write("select count(*) as n from product_search")).rows[0]?.n);
    const before = await count();
    await deleteTenant(suite.app.system, shop.namespace);
    expect(await count()).toBe(before - 1);
  });
});

test("the search expression of any text contains only quoted letters, digits and emoji", () => {
  const bare = new Set<string>();
  for (let code = 0; code < 0x3000; code++) {
    const words = searchWords("tnt_abc123", `a${String.fromCharCode(code)}"b`);
    for (const expression of words.flatMap(({ anywhere, inTitle }) => [anywhere, inTitle])) {
      bare.add(expression.replaceAll(/"[·\p{L}\p{M}\p{N}\p{Extended_Pictographic}]+"/gu, "word"));
    }
  }
  expect(bare).toEqual(new Set(["word", "(word OR word)"]));
});

test("a search finds a word by its beginnings and by its other forms, such as the plural, and by nothing else", () => {
  const words =
    "bench benches berri berry berries taxi taxy taxis table tables tabl bureau bureaux wood wooden woode axe axes Ära".split(
      " ",
    );
  const folded = (word: string) => word.toLowerCase().replace("ä", "a");
  for (const q of words.flatMap((word) => Array.from(word, (_, end) => word.slice(0, end + 1)))) {
    const asked = searchWords("tnt_abc123", q).flatMap(({ anywhere }) => anywhere.match(/[^"() ]{2,}(?=")/g) ?? []);
    for (const word of words) {
      const tokens = indexTokens("tnt_abc123", [word]).split(" ");
      const isExpected = folded(word).startsWith(folded(q)) || stemOf(folded(word)) === stemOf(folded(q));
      expect([q, word, asked.some((token) => tokens.includes(token))]).toEqual([q, word, isExpected]);
    }
  }
});

test("SQLite's tokenizer keeps the tokens of the index unchanged", () => {
  // FTS5's tokenizer `ascii` splits at ASCII characters other than letters and digits, and folds ASCII capitals.
  const words = indexTokens("tnt_abc123", ["ÀB-c'd_e.f 1/2 ½ ﬁ ™ K İ ß 日本 กำ 🎉 \0 \ud800 x\u0301"]);
  for (const word of words.split(" ")) expect(word).toMatch(/^[a-z0-9\u0080-\u{10ffff}]+$/u);
});

test("texts are case-folded in pieces without splitting a word, and only up to 65,536 folded characters", () => {
  const indexOf = (...texts: string[]) => new Set(indexTokens("tnt_abc123", texts).split(" "));
  const words = ["Lampe", "t-shirt", "größer", "日本、", "ﷺ", "e\u0301te\u0301", "한국어", "🎉"];
  const text = Array.from({ length: 4000 }, (_, n) => words[n % words.length]).join(" ");
  expect(indexOf(text)).toEqual(indexOf(...words));
  // ﷺ is folded into eighteen characters.
  expect(indexOf("wide ".repeat(13_000), "lamp")).toContain("abc123lamp");
  expect(indexOf("ﷺ ".repeat(3000), "lamp")).toContain("abc123lamp");
  expect(indexOf("wide ".repeat(13_200), "lamp")).not.toContain("abc123lamp");
  // If folding makes a text longer, only its beginning, up to the original length, counts.
  expect(indexOf("ﷺ ".repeat(5000), "lamp")).toContain("abc123lamp");
});

test("of several combining marks in a row, only the first eight count, which is enough for any language", () => {
  const marks = (count: number) => `a${"\u0316\u0315".repeat(count)}`;
  // Thai marks are part of the word.
  for (const begin of ["a", "ก"]) {
    const [short, long] = [4, 100].map((count) => indexTokens("tnt_abc123", [begin + marks(count)]));
    expect(long).toBe(short as string);
  }
});
