import { expect } from "bun:test";
import type { Call } from "../../support/client.ts";
import type { ProductReply, Shop } from "../../support/factories.ts";
import { onEachDatabase } from "../../support/suite.ts";

const request = "GET /products/";

/** Returns the slugs of the products that a search finds, newest first. */
async function find(call: Call, q: string): Promise<string[]> {
  const reply = await call<ProductReply[]>(request, { query: { q } });
  expect([q, reply.status]).toEqual([q, 200]);
  return reply.data.map(({ slug }) => slug);
}

const shelf: Record<string, Record<string, unknown>> = {
  dessert: { title: "Crème brûlée", description: "Mit Vanille und Straßenzucker", tags: ["süß & mild"] },
  shirt: { title: "Blue T-shirts", sku: "TS-0042/B", description: "100% cotton" },
  japanese: { title: "夏の長袖シャツ", description: "東京都で作られた綿のシャツです。" },
  chinese: { title: "纯棉短袖衬衫", translations: { fr: { title: "Maillot de corps", description: "doux" } } },
  thai: { title: "กางเกงยีนส์ผู้ชาย" },
  korean: { title: "여름 셔츠" },
  greek: { title: "ΟΔΥΣΣΕΥΣ Ψωμί" },
  russian: { title: "Зелёный ЧАЙ" },
  arabic: { title: "قَمِيص قطني" },
  hindi: { title: "हिन्दी किताब" },
  party: { title: "Party hat 🎉", metadata: { hidden: "metadataword" } },
  variants: {
    title: "Mug",
    variants: [
      { title: "Large", sku: "MUG-XL-77", options: { colour: "Petrol" }, price: 5 },
      { title: "Small", options: { colour: "Ochre" }, price: 4 },
    ],
  },
};

async function stock(shop: Shop): Promise<void> {
  await Promise.all(Object.entries(shelf).map(([slug, fields]) => shop.createProduct({ slug, ...fields })));
}

const found: [what: string, q: string, slugs: string[]][] = [
  ["without accents", "creme", ["dessert"]],
  ["with other accents and case", "CRÈME BRULEE", ["dessert"]],
  ["decomposed", "cre\u0300me", ["dessert"]],
  ["sharp s as ss", "strassenzucker", ["dessert"]],
  ["a tag", "suss", ["dessert"]],
  ["a word of the description", "vanil", ["dessert"]],
  ["the beginning of a word", "shir", ["shirt"]],
  ["joined parts", "tshirt", ["shirt"]],
  ["hyphenated", "t-shirt", ["shirt"]],
  ["digits", "100", ["shirt"]],
  ["not the middle of a word", "hirts", []],
  ["all words, in any order", "cotton blue", ["shirt"]],
  ["not with one additional unknown word", "cotton blue vanilla", []],
  ["a SKU", "ts-0042/b", ["shirt"]],
  ["the number in a SKU", "0042", ["shirt"]],
  ["a variant's SKU", "MUG-XL", ["variants"]],
  ["a variant's title", "large", ["variants"]],
  ["a variant's option", "petrol", ["variants"]],
  ["Japanese inside a longer text", "東京", ["japanese"]],
  ["a Japanese suffix", "長袖シャツ", ["japanese"]],
  ["one character", "綿", ["japanese"]],
  ["half-width Japanese", "ｼｬﾂ", ["japanese"]],
  ["Chinese inside a longer text", "短袖", ["chinese"]],
  ["Chinese in another order", "袖短", []],
  ["a translated title", "maillot", ["chinese"]],
  ["a translated description", "doux", ["chinese"]],
  ["Thai inside a longer text", "ยีนส์", ["thai"]],
  ["Korean", "셔츠", ["korean"]],
  ["Greek without accents, final sigma", "οδυσσευς ψωμι", ["greek"]],
  ["Russian ё as е", "зеленый", ["russian"]],
  ["Arabic without vowels", "قميص", ["arabic"]],
  ["Hindi", "किताब", ["hindi"]],
  ["a picture", "🎉", ["party"]],
  ["words that FTS5 would interpret as operators", 'shirt*" (-blue)', ["shirt"]],
  ["metadata is not searched", "metadataword", []],
];

/** Searches that must find nothing and cause no error. */
const hostile = [
  '"',
  "'",
  "''; drop table product_search",
  "*",
  "NEAR(",
  "NEAR(shirt blue, 5)zzz",
  "words:zzz",
  "{words} : zzz",
  "^zzz",
  "- + ( ) [ ]",
  "zzz AND",
  "NOT zzz",
  "zzz OR shirt",
  "!!!",
  "\\",
  "%",
  "_",
  "\0",
  "shirt\0zzz",
  "\u{10ffff}",
  "\u200d\u200b",
  " ",
  "́",
  "💩".repeat(100),
  "a ".repeat(99),
  "z".repeat(200),
  "語".repeat(200),
];

onEachDatabase((suite) => {
  const { test, onFile } = suite;
  onFile("a search finds words in every text of a product, ignoring case and accents, in any script", async (shop) => {
    await stock(shop);
    const answers = await Promise.all(found.map(async ([what, q]) => [what, q, await find(shop.call, q)]));
    expect(answers).toEqual(found);
  });

  onFile("a search with any text returns a list, and never all products of the store", async (shop) => {
    await stock(shop);
    const answers = await Promise.all(hostile.map(async (q) => [q, await find(shop.call, q)]));
    expect(answers).toEqual(hostile.map((q) => [q, []]));
  });

  onFile("a search with more than 200 characters, or none, is refused with 5102", async ({ call }) => {
    for (const q of ["a".repeat(201), ""]) {
      const { code, fields } = await call(request, { query: { q } });
      expect([code, fields]).toEqual([5102, ["q"]]);
    }
    expect((await call(request, { query: "q=%ff" })).code).toBe(5100);
  });

  test("a search finds a product by its current words, and does not find a deleted product", async ({
    call,
    createProduct,
  }) => {
    const product = await createProduct({ slug: "x", title: "Ancient lamp", description: "brass" });
    const path = `/products/${product.id}/`;
    await call(`PATCH ${path}`, { body: { title: "Modern lamp" } });
    expect([await find(call, "ancient"), await find(call, "modern"), await find(call, "brass")]).toEqual([
      [],
      ["x"],
      ["x"],
    ]);
    await call(`PATCH ${path}`, { body: { stock: 7 } });
    expect(await find(call, "modern lamp")).toEqual(["x"]);
    await call(`PUT ${path}`, { body: { title: "Torch", price: 1 } });
    expect([await find(call, "brass"), await find(call, "torch")]).toEqual([[], ["x"]]);
    const added = await call<{ id: string }>(`POST ${path}variants/`, {
      body: { title: "Tiny", options: { size: "quarter" }, price: 1 },
    });
    expect([added.status, await find(call, "quart")]).toEqual([201, ["x"]]);
    await call(`PATCH ${path}variants/${added.data.id}/`, { body: { options: { size: "half" } } });
    expect([await find(call, "quart"), await find(call, "half")]).toEqual([[], ["x"]]);
    await call(`DELETE ${path}`);
    expect(await find(call, "torch")).toEqual([]);
  });
});
