import { expect } from "bun:test";
import { openAccount } from "../../support/account.ts";
import type { ApiReply, Call } from "../../support/client.ts";
import type { ProductReply, Shop } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";

type Reply = ApiReply<ProductReply[]>;
const list = (call: Call, query = ""): Promise<Reply> => call(`GET /products/`, { query });

/** Returns the slugs of all products that a query finds, in pages of `limit`. */
async function find(call: Call, query: string, limit = 2): Promise<string[]> {
  const slugs: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const reply: Reply = await list(
      call,
      `${query}&limit=${limit}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    if (reply.status !== 200) throw new Error(`${query}: ${reply.text}`);
    slugs.push(...reply.data.map(({ slug }) => slug));
    cursor = reply.page.next_cursor;
  }
  return slugs;
}

/** Fills a shop with the categories Clothing > Shirts and Home, and these products, oldest first. */
async function plant(shop: Shop): Promise<Record<string, string>> {
  const category = async (title: string, parent?: string) => {
    const body = { title, ...(parent && { parent_id: parent }) };
    return (await shop.call<{ id: string }>("POST /categories/", { body })).data.id;
  };
  const clothing = await category("Clothing");
  const shirts = await category("Shirts", clothing);
  const home = await category("Home");
  const variants = [
    { options: { colour: "blue", size: "S" }, stock: 0, sku: "POLO-S" },
    { options: { colour: "red", size: "M" }, stock: 3, sku: "Größe/M" },
  ];
  for (const product of [
    { slug: "polo", title: "Polo", tags: ["summer", "süß & mild"], category_ids: [shirts], price: 30, variants },
    {
      slug: "tee",
      title: "T-shirt",
      tags: ["summer", "cotton"],
      category_ids: ["shirts", "home"],
      price: 10,
      compare_at_price: 15,
    },
    { slug: "coat", title: "Coat", tags: ["winter"], category_ids: [clothing], price: 200, stock: 0, sku: "C 1" },
    {
      slug: "mug",
      title: "Enamel mug",
      tags: ["summer"],
      category_ids: [home],
      price: 5,
      compare_at_price: 5,
      stock: 0,
      allow_backorder: true,
    },
    { slug: "draft", title: "Secret shirt", tags: ["summer"], category_ids: [shirts], price: 10, status: "draft" },
    { slug: "glasses", title: "Glasses", description: "For a shirt pocket", tags: ["a,b"], price: 12, stock: 4 },
  ]) {
    await shop.createProduct(product);
  }
  return { clothing, shirts, home };
}

const found: [query: string, slugs: string][] = [
  ["tag=summer", "draft mug tee polo"],
  ["tag=summer&tag=cotton", "tee"],
  ["tag=s%C3%BC%C3%9F%20%26%20mild", "polo"],
  ["tag=Summer", ""],
  ["tag=summ", ""],
  ["tag=summer,cotton", "5102"],
  ["tag=a,b", "glasses"],
  ["tag=a,b&tag=summer", ""],
  ["category=clothing", "draft coat tee polo"],
  ["category=shirts", "draft tee polo"],
  ["category=home&category=home", "5100"],
  ["category=none", "5102"],
  ["tag=summer&category=home", "mug tee"],
  ["available=true", "glasses draft mug tee polo"],
  ["available=false&tag=winter", "coat"],
  ["on_sale=true", "tee"],
  ["on_sale=true&tag=winter", ""],
  ["option[colour]=blue", "polo"],
  ["option[colour]=blue&option[size]=S", "polo"],
  ["option[colour]=blue&option[size]=M", ""],
  ["option[blue]=colour", ""],
  ["option[colour]=green", ""],
  ["option[colour]=green&option[size]=S&tag=winter", ""],
  ["option=%7B%22colour%22%3A%22blue%22,%22size%22%3A%22S%22%7D", "polo"],
  ["option=%7B%22colour%22%3A%22blue%22%7D&option[size]=M", ""],
  ["option[size]=M&option=%7B%22colour%22%3A%22blue%22%7D", ""],
  ["option=%7B%22__proto__%22%3A%22blue%22%7D", ""],
  ["tag=summer&sort=price", "mug tee draft polo"],
  ["category=clothing&sort=-price", "coat polo draft tee"],
  ["category=clothing&sort=title", "coat polo draft tee"],
  ["tag=summer&sort=created_at", "polo tee mug draft"],
  ["tag=summer&price[gte]=10&status=published", "tee polo"],
  ["q=shirt&tag=summer", "draft tee"],
  ["q=shirt&category=clothing&on_sale=true", "tee"],
  ["q=shirt&sort=relevance", "draft tee glasses"],
  ["q=shirt%20pocket&sort=relevance", "glasses"],
  ["q=shirts", "glasses draft tee"],
  ["q=glass", "glasses"],
  ["q=enamle", "mug"],
  ["q=enammel", "mug"],
  ["q=enmel%20mug", "mug"],
  ["q=inamel", ""],
  ["q=xnamelx", ""],
  ["q=pollo", "polo"],
  ["q=coot&slug=coat", "coat"],
  ["q=shirt&slug=tee", "tee"],
  ["q=polo&slug=tee", ""],
  ["q=shirt&sort=price", "tee draft glasses"],
  ["q=shirt&sort=-price", "glasses draft tee"],
  ["q=shirt&sort=-price&tag=summer&status=published", "tee"],
  ["q=shirt&sort=title", "glasses draft tee"],
  ["sku=C%201", "coat"],
  ["sku=c%201", "coat"],
  ["sku=%20C%201%20&tag=winter&sort=price", "coat"],
  ["sku=C", ""],
  ["sku=polo-s", "polo"],
  ["sku=GR%C3%B6%C3%9Fe/m", "polo"],
  ["sku=polo-s&option[size]=M", "polo"],
  ["sku=polo-s&q=coat", ""],
  ["sku=polo-s&q=polo&sort=relevance", "polo"],
];

onDatabase("file", (suite) => {
  const { test } = suite;
  test("filters and searches find exactly the products that match all of them, in order, page by page", async (shop) => {
    await plant(shop);
    for (const [query, expected] of found) {
      const isCode = /^\d/.test(expected);
      const slugs = isCode ? [String((await list(shop.call, query)).code)] : await find(shop.call, query);
      expect([query, slugs.join(" ")]).toEqual([query, expected]);
    }
  });

  test("customers find no drafts with any filter, and a word that occurs only in drafts is corrected in a search", async (shop) => {
    await plant(shop);
    const variants = [{ options: { mood: "dark" } }];
    await shop.createProduct({ title: "Enamle", status: "draft", variants });
    const { id, token } = await openAccount(shop);
    const asCustomer: Call = (request, send) =>
      shop.callAnonymously(request, { query: `${send?.query}&user_id=${id}&token=${token}` });
    expect(await find(asCustomer, "tag=summer")).toEqual(["mug", "tee", "polo"]);
    expect(await find(asCustomer, "category=shirts")).toEqual(["tee", "polo"]);
    expect(await find(asCustomer, "q=secret")).toEqual([]);
    expect(await find(asCustomer, "q=enamle")).toEqual(["mug"]);
    expect(await find(shop.call, "q=enamle")).toEqual(["enamle"]);
    await shop.call("PATCH /categories/clothing/", { body: { published: false } });
    const faults = await Promise.all(
      ["category=shirts", "category=none"].map(async (query) => {
        const { code, message } = (await list(asCustomer, query)).error ?? {};
        return [code, message];
      }),
    );
    expect(faults[0]).toEqual([5102, "category: is not a category of this store"]);
    expect(faults[1]).toEqual(faults[0]);
    for (const value of ["dark", "none"]) expect(await find(asCustomer, `option[mood]=${value}`)).toEqual([]);
  });

  test("a change of a product, a variant or a category applies to filters at once", async (shop) => {
    const { home } = await plant(shop);
    const change = (slug: string, body: object) => shop.call(`PATCH /products/${slug}/`, { body });
    await change("coat", { tags: ["summer"], category_ids: [home], compare_at_price: 250 });
    await change("tee", { price: 15, status: "archived" });
    await change("polo", { category_ids: [] });
    const polo = (await list(shop.call, "slug=polo")).data[0]?.variants as { id: string }[];
    await shop.call(`PATCH /products/polo/variants/${polo[0]?.id}/`, {
      body: { price: 20, compare_at_price: 25, options: { colour: "green" } },
    });
    const state = async () =>
      Promise.all(
        [
          "tag=winter",
          "tag=summer",
          "category=home",
          "category=clothing",
          "on_sale=true",
          "status=archived&category=home",
        ]
          .concat("option[colour]=green")
          .map(async (query) => (await find(shop.call, query)).join(" ")),
      );
    expect(await find(shop.call, "option[colour]=blue")).toEqual([]);
    expect(await state()).toEqual([
      "",
      "draft mug coat tee polo",
      "mug coat tee",
      "draft tee",
      "coat polo",
      "tee",
      "polo",
    ]);
    await shop.call("PATCH /categories/shirts/", { body: { parent_id: home } });
    expect(await find(shop.call, "category=home")).toEqual(["draft", "mug", "coat", "tee"]);
    expect(await find(shop.call, "category=clothing")).toEqual([]);
    await change("coat", { price: 250 });
    await shop.call("DELETE /products/draft/");
    expect(await find(shop.call, "on_sale=true")).toEqual(["polo"]);
    expect(await find(shop.call, "category=shirts")).toEqual(["tee"]);
    await change("mug", { price: 4 });
    expect(await find(shop.call, "on_sale=true")).toEqual(["mug", "polo"]);
  });

  test("the sort popular lists the most viewed and liked products first; a like counts as ten views", async (shop) => {
    await plant(shop);
    const ids = Object.fromEntries((await list(shop.call)).data.map(({ slug, id }) => [slug, id]));
    const view = async (slug: string) => {
      const body = { resource_type: "product", resource_id: ids[slug] };
      expect((await shop.callAnonymously("POST /views/", { body })).status).toBe(200);
    };
    for (const slug of ["tee", "tee", "mug"]) await view(slug);
    await shop.callAnonymously("POST /likes/", { body: { resource_type: "product", resource_id: ids.polo } });
    await suite.app.memory.views.flush();
    expect((await find(shop.call, "sort=popular")).slice(0, 3)).toEqual(["polo", "tee", "mug"]);
    expect(await find(shop.call, "sort=popular&tag=summer")).toEqual(["polo", "tee", "mug", "draft"]);
    expect((await find(shop.call, "sort=-views_count")).slice(0, 2)).toEqual(["tee", "mug"]);
    expect((await find(shop.call, "sort=views_count")).slice(-2)).toEqual(["mug", "tee"]);
  });

  test("a facet counts the products that match all filters except its own", async (shop) => {
    const ids = await plant(shop);
    const facets = async (query: string) => {
      const { page } = await list(shop.call, `${query}&facets=tags,categories,price&limit=1`);
      const { tags, categories, price } = page.facets as Record<
        string,
        { values: Record<string, unknown>[]; is_complete: boolean }
      >;
      expect([tags, categories, price].map((facet) => facet?.is_complete)).toEqual([true, true, true]);
      return {
        tags: tags?.values.map(({ value, count }) => `${value} ${count}`).join(),
        categories: categories?.values
          .map(({ slug, count }) => `${slug} ${count}`)
          .toSorted()
          .join(),
        price: price?.values.map(({ gte, lt, count }) => `${gte}-${lt} ${count}`).join(),
      };
    };
    expect(await facets("")).toEqual({
      tags: "summer 4,a,b 1,cotton 1,süß & mild 1,winter 1",
      categories: "clothing 4,home 2,shirts 3",
      price: "5-10 1,10-20 3,20-50 1,200-500 1",
    });
    expect(await facets("tag=cotton&category=shirts&price[gte]=10&status=published")).toEqual({
      tags: "summer 2,cotton 1,süß & mild 1",
      categories: "clothing 1,home 1,shirts 1",
      price: "10-20 1",
    });
    const { page } = await list(shop.call, "facets=categories&q=mug");
    expect<unknown>(page.facets).toEqual({
      categories: { values: [{ id: ids.home, slug: "home", title: "Home", count: 1 }], is_complete: true },
    });
    expect((await list(shop.call, "facets=tags&q=nonesuch")).page.facets).toEqual({
      tags: { values: [], is_complete: true },
    });
  });

  test("facets have category titles in the language of the list, otherwise in the store's language", async (shop) => {
    await plant(shop);
    await shop.call("PATCH /categories/shirts/", { query: "lang=de", body: { title: "Hemden" } });
    const titles = async (query: string) => {
      const { page } = await list(shop.call, `facets=categories&q=polo&${query}`);
      const { values } = page.facets?.categories ?? {};
      return (values as { title: string; count: number }[]).map(({ title }) => title).toSorted();
    };
    expect(await titles("")).toEqual(["Clothing", "Shirts"]);
    expect(await titles("lang=de-AT")).toEqual(["Clothing", "Hemden"]);
  });

  test("a facet of options counts products with a variant that has the value and the chosen values of the other options", async (shop) => {
    await plant(shop);
    const options = (...pairs: [colour: string, size: string][]) => {
      return { variants: pairs.map(([colour, size]) => ({ options: { colour, size } })) };
    };
    await shop.createProduct({ slug: "cap", tags: ["winter"], ...options(["blue", "M"], ["blue", "L"]) });
    await shop.createProduct({ slug: "sock", status: "draft", ...options(["red", "S"], ["red", "M"], ["blue", "S"]) });
    const counts = async (query: string) => {
      const { page } = await list(shop.call, `facets=options,tags&limit=1&${query}`);
      const { values, is_complete } = page.facets?.options ?? {};
      expect(is_complete).toBe(true);
      return (values as { name: string; value: string; count: number }[])
        .map(({ name, value, count }) => `${name}=${value} ${count}`)
        .join(", ");
    };
    expect(await counts("")).toBe("colour=blue 3, size=M 3, colour=red 2, size=S 2, size=L 1");
    expect(await counts("status=published")).toBe("colour=blue 2, size=M 2, colour=red 1, size=L 1, size=S 1");
    expect(await counts("option[colour]=red")).toBe("colour=blue 3, colour=red 2, size=M 2, size=S 1");
    expect(await counts("option[colour]=blue&option[size]=S")).toBe(
      "colour=blue 2, size=S 2, colour=red 1, size=L 1, size=M 1",
    );
    expect(await counts("tag=winter")).toBe("colour=blue 1, size=L 1, size=M 1");
    expect(await counts("q=mug")).toBe("");
  });

  test("totals are correct after creations, deletions and changes of status, and count only products that the caller may see", async (shop) => {
    await plant(shop);
    const { id, token } = await openAccount(shop);
    const total = async (query: string) => {
      const { page } = await list(shop.call, `include_total=true&limit=1&${query}`);
      const { page: own } = await shop.callAnonymously("GET /products/", {
        query: `include_total=true&user_id=${id}&token=${token}&${query.includes("status") ? "" : query}`,
      });
      return [page.total, own.total];
    };
    expect(await total("")).toEqual([6, 5]);
    expect(await total("status=draft")).toEqual([1, 5]);
    expect(await total("tag=summer")).toEqual([4, 3]);
    expect(await total("tag=summer&available=true&sort=price")).toEqual([4, 3]);
    await shop.call("PATCH /products/draft/", { body: { status: "published" } });
    await shop.call("DELETE /products/mug/");
    await shop.createProduct({ title: "New", status: "archived" });
    expect(await total("")).toEqual([6, 5]);
    expect(await total("status=archived")).toEqual([1, 5]);
    expect(await total("tag=summer")).toEqual([3, 3]);
  });

  suite.test("invalid filters and sorts are refused with 5102", async (shop) => {
    for (const [query, field] of [
      ["sort=relevance", "sort"],
      ["sort=-popular", "sort"],
      ["facets=colour", "facets"],
      ["available=maybe", "available"],
      ["tag=", "tag.0"],
      [Array.from({ length: 11 }, (_, n) => `tag=t${n}`).join("&"), "tag"],
      ["option[colour]=", "option.colour"],
      ["option=blue", "option"],
      ["option=[1]", "option"],
      ["option=null", "option"],
      ["option=%7B%22colour%22%3A1%7D", "option.colour"],
      ["tags=blue", "tags"],
    ] as const) {
      const { code, fields } = await list(shop.call, query);
      expect([query, code, fields]).toEqual([query, 5102, [field]]);
    }
  });

  test("a product is only in categories of its own store, and in each only once", async () => {
    const [shop, other] = [await suite.shop(), await suite.shop()];
    const [{ home }, theirs] = [await plant(shop), await plant(other)];
    const body = { title: "Lamp", price: 1, category_ids: [home, theirs.home] };
    const { code, fields } = await shop.call("POST /products/", { body });
    expect([code, fields]).toEqual([5102, ["category_ids.1"]]);
    expect((await list(shop.call, `category=${theirs.home}`)).fields).toEqual(["category"]);
    const lamp = await shop.createProduct({ category_ids: [home, "home", "shirts"] });
    expect(lamp.category_ids).toHaveLength(2);
    const replaced = await shop.call(`PUT /products/${lamp.id}/`, { body: { title: "Lamp", price: 1 } });
    expect(replaced.data).toMatchObject({ category_ids: [] });
  });
});
