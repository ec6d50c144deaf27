import { expect } from "bun:test";
import { openAccount } from "../../support/account.ts";
import type { ApiReply, Call } from "../../support/client.ts";
import type { Shop } from "../../support/factories.ts";
import { readPages } from "../../support/read-pages.ts";
import { onEachDatabase } from "../../support/suite.ts";

interface Category {
  id: string;
  parent_id: string | null;
  slug: string;
  title: string;
  description: string | null;
  translations: Record<string, unknown>;
  position: number;
  published: boolean;
  lang: string;
  version: number;
}

const absent = "cat_01h455vb4pex5vsknk084sn02q";

async function make({ call }: Shop, body: Record<string, unknown>): Promise<Category> {
  const { data, text } = await call<Category>("POST /categories/", { body });
  if (!data) throw new Error(text);
  return data;
}

const slugsOf = ({ data }: ApiReply<Category[]>) => data.map(({ slug }) => slug);

/** Creates the categories Clothing > Shirts > Polo, and Home. */
async function plant(shop: Shop) {
  const clothing = await make(shop, { title: "Clothing" });
  const shirts = await make(shop, { title: "Shirts", parent_id: clothing.id });
  const polo = await make(shop, { title: "Polo", parent_id: "shirts" });
  return { clothing, shirts, polo, home: await make(shop, { title: "Home" }) };
}

onEachDatabase((suite) => {
  const { test, onFile } = suite;
  onFile("a category needs only a title, and the error for an invalid field names the field", async (shop) => {
    const { data, headers } = await shop.call("POST /categories/", { body: { title: "Täglich Brot" } });
    expect(headers.get("ETag")).toBe('"1"');
    expect(data).toMatchObject({ slug: "taglich-brot", title: "Täglich Brot", description: null, translations: {} });
    expect(data).toMatchObject({ parent_id: null, position: 0, published: true, lang: "en", version: 1 });
    const title = "Shirts";
    for (const [body, code, field] of [
      [{}, 5102, "title"],
      [{ title, parent_id: absent }, 5102, "parent_id"],
      [{ title, slug: "Shirts" }, 5102, "slug"],
      [{ title, slug: "taglich-brot" }, 5302, "slug"],
      [{ title, translations: { en: { title } } }, 5102, "translations.en"],
    ] as const) {
      const reply = await shop.call("POST /categories/", { body });
      expect([body, reply.code, reply.fields]).toEqual([body, code, [field]]);
    }
    expect((await shop.call(`GET /categories/${absent}/`)).code).toBe(5301);
  });

  test("a list of categories contains all categories or those of one level, by position", async (shop) => {
    const { clothing, shirts } = await plant(shop);
    await make(shop, { title: "Trousers", parent_id: clothing.id });
    const list = async (query: Record<string, string>) => slugsOf(await shop.call("GET /categories/", { query }));
    expect(await list({ parent_id: "none" })).toEqual(["clothing", "home"]);
    expect(await list({ parent_id: clothing.id })).toEqual(["shirts", "trousers"]);
    await shop.call(`PATCH /categories/${shirts.id}/`, { body: { position: 9 } });
    expect(await list({ parent_id: clothing.id })).toEqual(["trousers", "shirts"]);
    const pages = (await readPages<Category>(shop.call, "GET /categories/", { limit: 2 })).map(({ slug }) => slug);
    expect(pages.toSorted()).toEqual(["clothing", "home", "polo", "shirts", "trousers"]);
  });

  onFile("a category cannot be moved below itself, below eight levels, or into another store", async (shop) => {
    const { clothing, polo, home } = await plant(shop);
    const move = (id: string, parent: string | null) =>
      shop.call(`PATCH /categories/${id}/`, { body: { parent_id: parent } });
    for (const below of [clothing.id, "shirts", polo.id]) {
      const { code, fields } = await move(clothing.id, below);
      expect([below, code, fields]).toEqual([below, 5102, ["parent_id"]]);
    }
    const other = await make(await suite.shop(), { title: "Theirs" });
    expect((await move(home.id, other.id)).code).toBe(5102);
    let deepest = polo.id;
    for (let level = 4; level <= 8; level++)
      deepest = (await make(shop, { title: `Level ${level}`, parent_id: deepest })).id;
    const ninth = await shop.call("POST /categories/", { body: { title: "Level 9", parent_id: deepest } });
    expect([ninth.code, ninth.fields]).toEqual([5102, ["parent_id"]]);
    expect((await move(clothing.id, home.id)).code).toBe(5102);
    expect((await move("shirts", null)).status).toBe(200);
    expect((await move("shirts", home.id)).status).toBe(200);
  });

  onFile("two concurrent moves of categories do not create a cycle", async (shop) => {
    const [a, b] = [await make(shop, { title: "A" }), await make(shop, { title: "B" })];
    const move = ({ id }: Category, to: Category) =>
      shop.call(`PATCH /categories/${id}/`, { body: { parent_id: to.id } });
    const codes = (await Promise.all([move(a, b), move(b, a)])).map(({ code }) => code);
    expect(codes.filter((code) => code === undefined)).toHaveLength(1);
    expect(codes).toContain(5102);
  });

  onFile("a category with products or subcategories cannot be deleted; a deleted slug can be reused", async (shop) => {
    const { clothing, polo } = await plant(shop);
    const product = await shop.createProduct({ category_ids: [polo.id] });
    const remove = (id: string) => shop.call(`DELETE /categories/${id}/`);
    expect((await remove(clothing.id)).code).toBe(5306);
    expect((await remove("polo")).code).toBe(5306);
    await shop.call(`PATCH /products/${product.id}/`, { body: { category_ids: [] } });
    expect((await remove("polo")).data).toEqual({ id: polo.id, deleted: true });
    expect((await shop.call(`GET /categories/${polo.id}/`)).code).toBe(5301);
    expect((await shop.call(`PATCH /products/${product.id}/`, { body: { category_ids: [polo.id] } })).code).toBe(5102);
    expect((await make(shop, { title: "Polo" })).slug).toBe("polo");
  });

  onFile("categories are in the requested language, and a PATCH with lang changes only that language", async (shop) => {
    const { home } = await plant(shop);
    const path = `/categories/${home.id}/`;
    await shop.call(`PATCH ${path}`, {
      query: { lang: "de" },
      body: { title: "Haus", description: "Alles fürs Haus" },
    });
    const read = async (query: Record<string, string>) => {
      const { data, headers } = await shop.call<Category>(`GET ${path}`, { query });
      return [data.title, data.description, headers.get("Content-Language")];
    };
    expect(await read({ lang: "de-AT" })).toEqual(["Haus", "Alles fürs Haus", "de"]);
    expect(await read({ lang: "fr" })).toEqual(["Home", null, "en"]);
    const list = await shop.call<Category[]>("GET /categories/", { query: { lang: "de" } });
    expect(list.data.map(({ title }) => title)).toContain("Haus");
  });

  onFile("customers see only published categories whose parents are published, too", async (shop) => {
    const { clothing } = await plant(shop);
    await shop.call(`PATCH /categories/${clothing.id}/`, { body: { published: false } });
    const { id, token } = await openAccount(shop);
    const asCustomer: Call = (request, send = {}) =>
      shop.callAnonymously(request, { ...send, query: { ...(send.query as object), user_id: id, token } });
    expect(slugsOf(await asCustomer("GET /categories/"))).toEqual(["home"]);
    for (const slug of ["clothing", "shirts", "polo"]) {
      expect((await asCustomer(`GET /categories/${slug}/`)).code).toBe(5301);
    }
  });

  onFile("each change of a category is recorded as an event", async (shop) => {
    const { id } = await make(shop, { title: "Home" });
    await shop.call(`PATCH /categories/${id}/`, { body: { title: "House" } });
    await shop.call(`DELETE /categories/${id}/`);
    const { data } = await shop.call<{ type: string; subject: string; data: object }[]>("GET /events/");
    expect(data.map(({ type, subject, data }) => [type, subject, data])).toEqual([
      ["category.created", id, { version: 1 }],
      ["category.updated", id, { version: 2, fields: ["title"] }],
      ["category.deleted", id, { version: 2 }],
    ]);
  });
});
