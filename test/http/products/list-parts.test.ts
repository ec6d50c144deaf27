import { expect } from "bun:test";
import {
  blockOf,
  blockPrefix,
  indexTokens,
  termToken,
} from "../../../src/server/modules/catalogue/list/search-words.ts";
import { openAccount } from "../../support/account.ts";
import type { ApiReply, Call } from "../../support/client.ts";
import type { ProductReply } from "../../support/factories.ts";
import { readPages } from "../../support/read-pages.ts";
import { onDatabase, type Suite } from "../../support/suite.ts";

const request = "GET /products/";
type Query = Record<string, string | number>;

const slugs = (products: ProductReply[]) => products.map(({ slug }) => slug);

const readAll = (call: Call, query: Query, between?: () => unknown) =>
  readPages<ProductReply>(call, request, query, between);

let filled = 0;

async function idOf(suite: Suite, namespace: string): Promise<string> {
  const tenants = { sql: "select id from tenants where namespace = ?", args: [namespace] };
  const { rows } = await suite.app.db.execute(tenants);
  return rows[0]?.id as string;
}

const oneOfAThousand = "case when i % 1000 = 1 then 'draft' else 'published' end";

/**
 * Inserts rows into the database, one second after another. Direct inserts are enough, because only the number of rows
 * matters.
 * @param status SQL for the status of row `i`.
 * @param wordsOf the tenant whose search words the rows have.
 */
async function fill(suite: Suite, tenantId: string, count: number, status = oneOfAThousand, wordsOf = tenantId) {
  const sql = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
    insert into products (id, tenant_id, title, slug, status, price_minor, currency, currency_digits, lang,
      created_at, updated_at)
    select printf('prod_0%05d%020d', abs(random()) % 100000, i + ?), ?, 'Title ' || (i * 7919 % ?), 'p' || i,
      ${status}, i * 104729 % ?, 'EUR', 2, 'en', at, at
    from (select i, strftime('%Y-%m-%dT%H:%M:%fZ', 1893456000 + i, 'unixepoch') as at from n)`;
  await suite.app.db.batch([
    { sql, args: [count, filled++ * 1_000_000, tenantId, count, count] },
    { sql: "delete from products_to_index", args: [] },
  ]);
  const words = `insert into product_search (rowid, words)
    select row_number, ? || ' ' || case status when 'published' then ? when 'draft' then ? else ? end || ' ' || ? || ${blockOf("row_number")}
    from products where tenant_id = ?`;
  const statuses = ["published", "draft", "archived"].map((status) => termToken(wordsOf, "status", status));
  await suite.app.db.execute({
    sql: words,
    args: [indexTokens(wordsOf, ["Title"]), ...statuses, blockPrefix(wordsOf), tenantId],
  });
}

onDatabase("file", (suite) => {
  const { test } = suite;
  test("the parameter fields selects fields and the id, and refuses unknown names", async ({ call, createProduct }) => {
    await createProduct({ metadata: { title: "inner" } });
    for (const [fields, names] of [
      ["title", ["id", "title"]],
      ["id", ["id"]],
      [" price , metadata,id,price", ["id", "metadata", "price"]],
    ] as const) {
      const list = await call<object[]>(request, { query: { fields } });
      expect(list.data.map((product) => Object.keys(product).toSorted())).toEqual([[...names]]);
    }
    const { data } = await call<Record<string, unknown>[]>(request, { query: { fields: "metadata" } });
    expect(data[0]?.metadata).toEqual({ title: "inner" });
    for (const fields of ["", "title,", "tenant_id", "__proto__", "Title", "a".repeat(1001)]) {
      expect([fields, (await call(request, { query: { fields } })).fields]).toEqual([fields, ["fields"]]);
    }
  });

  test("the parameter ids finds products of the store; malformed and unknown ids and those of other stores match nothing", async (shop) => {
    const other = await suite.shop();
    const foreign = await other.createProduct();
    const made = [];
    for (let n = 0; n < 4; n++) made.push(await shop.createProduct({ slug: `p${n}`, price: n }));
    await shop.call(`DELETE /products/${made[3]?.id}/`);
    const ids = [made[2], made[0], made[3], made[0], foreign].map((one) => one?.id);
    const wanted = [...ids, "prod_1", "", " ", "x\0y", "'; --", "💡"].join(",");
    expect(slugs((await shop.call<ProductReply[]>(request, { query: { ids: wanted } })).data)).toEqual(["p2", "p0"]);
    const sorted = await readAll(shop.call, { ids: wanted, sort: "price", limit: 1 });
    expect(slugs(sorted)).toEqual(["p0", "p2"]);
    for (const none of ["", ",", "nothing", foreign.id]) {
      const { data, page } = await shop.call(request, { query: { ids: none, include_total: "true" } });
      expect([none, data, page.total]).toEqual([none, [], 0] as never);
    }
    const many = Array.from({ length: 101 }, (_, n) => `prod_${n}`);
    expect((await shop.call(request, { query: { ids: many.slice(1).join(",") } })).data).toEqual([] as never);
    const { code, fields } = await shop.call(request, { query: { ids: many.join(",") } });
    expect([code, fields]).toEqual([5102, ["ids"]]);
  });

  test("ranges of time and price may have inclusive, exclusive or no bounds", async ({ call, createProduct }) => {
    const times: string[] = [];
    for (let n = 0; n < 4; n++) {
      times.push((await createProduct({ slug: `p${n}`, price: n + 0.99 })).created_at);
      suite.app.clock.advance(1000);
    }
    const [, t1 = "", t2 = ""] = times;
    const local = new Date(Date.parse(t1) + 2 * 3_600_000).toISOString().replace("Z", "+02:00");
    const cases: [Query, string[]][] = [
      [{ "created_at[gte]": t1 }, ["p1", "p2", "p3"]],
      [{ "created_at[gt]": t1 }, ["p2", "p3"]],
      [{ "created_at[lte]": t1 }, ["p0", "p1"]],
      [{ "created_at[lt]": t1 }, ["p0"]],
      [{ "created_at[gt]": t1, "created_at[lt]": t2 }, []],
      [{ "created_at[gte]": local, "updated_at[lte]": t2 }, ["p1", "p2"]],
      [{ "created_at[gt]": "2000-02-29" }, ["p0", "p1", "p2", "p3"]],
      [{ "updated_at[gte]": t2, "price[lt]": 3.99 }, ["p2"]],
      [{ "price[gt]": 0.99, "price[gte]": 0, "price[lt]": 2.99 }, ["p1"]],
      [{ "price[lt]": 0 }, []],
    ];
    for (const [query, expected] of cases) {
      for (const sort of ["created_at", "price"]) {
        const products = await readAll(call, { ...query, sort, limit: 2 });
        expect({ query, sort, found: slugs(products) }).toEqual({ query, sort, found: expected });
      }
      const { page } = await call(request, { query: { ...query, include_total: "true", limit: 1 } });
      expect({ query, total: page.total }).toEqual({ query, total: expected.length });
    }
    for (const [name, value] of [
      ["created_at[gte]", "yesterday"],
      ["created_at[lt]", "2026-02-30"],
      ["created_at[lt]", "2026-01-01T25:00:00Z"],
      ["updated_at[gt]", "2026-01-01T10:00:00"],
      ["updated_at[gt]", "1767225600"],
      ["updated_at[lte]", ""],
    ] as const) {
      const { code, fields } = await call(request, { query: { [name]: value } });
      expect([value, code, fields]).toEqual([value, 5102, [name]]);
    }
  });

  test("a cursor is valid only for its own list, and is refused if any parameter differs", async (shop) => {
    const made = [];
    for (let n = 0; n < 3; n++) made.push(await shop.createProduct({ price: 5 }));
    const ids = made.map(({ id }) => id).join(",");
    const query: Query = { limit: 1, ids, "price[lte]": 5, "created_at[gt]": "2000-01-01", q: "lamp" };
    const cursor = (await shop.call(request, { query })).page.next_cursor as string;
    const harmless = { ...query, cursor, limit: 2, fields: "id", include_total: "true", lang: "de" };
    expect((await shop.call(request, { query: harmless })).status).toBe(200);
    const { id, token } = await openAccount(shop);
    const others: Partial<Query>[] = [
      { ids: made[0]?.id as string },
      { "price[lte]": 6 },
      { "price[lt]": 5 },
      { "created_at[gt]": "2001-01-01" },
      { q: "lam" },
      { status: "published" },
      { slug: "lamp" },
      { "updated_at[gt]": "2000-01-01" },
      { sort: "created_at" },
    ];
    for (const changed of others) {
      const reply = await shop.call(request, { query: { ...query, ...changed, cursor } as Query });
      expect([changed, reply.code]).toEqual([changed, 5100] as never);
    }
    const asCustomer = { ...query, cursor, user_id: id, token };
    expect((await shop.callAnonymously(request, { query: asCustomer })).code).toBe(5100);
  });

  test("a filtered list is complete and in order, with any index that it uses", async ({ call, namespace }) => {
    const count = 9000;
    const [mine, other] = [await idOf(suite, namespace), await idOf(suite, (await suite.shop()).namespace)];
    await fill(suite, mine, count);
    // Rows of another store must not be found, even with the same times, prices and search words.
    await fill(suite, other, 1200, oneOfAThousand, mine);
    const cases: [Query, expected: number][] = [
      // Ranges with few matches (found by the index of the range), with many (found in sort order), and with some at
      // the end.
      [{ "price[lt]": 1.5, sort: "-created_at" }, 150],
      [{ "price[lt]": 4, sort: "title" }, 400],
      [{ "created_at[lt]": "2030-01-01T00:10:00Z", sort: "-updated_at" }, 599],
      [{ status: "draft", sort: "price" }, 9],
      [{ q: "title", status: "draft", sort: "created_at" }, 9],
      [{ q: "title", status: "draft", sort: "-price" }, 9],
      // Several filters: one has few matches, one has none, and some have many matches, but together few or none.
      [{ "price[lt]": 1.5, "created_at[gt]": "2030-01-01", status: "published", sort: "title" }, 150],
      [{ "price[gte]": 0, "updated_at[gte]": "2031-01-01", sort: "title" }, 0],
      [{ "price[lt]": 40, "updated_at[lt]": "2030-01-01T01:00:00Z", sort: "-title" }, 1603],
      [{ "created_at[lt]": "2030-01-01T01:00:00Z", "updated_at[gte]": "2030-01-01T01:00:00Z", sort: "price" }, 0],
      [{ "created_at[gte]": "2030-01-01T01:45:00Z", "price[gte]": 0, status: "published", sort: "created_at" }, 2699],
    ];
    for (const [query, expected] of cases) {
      const products = await readAll(call, { ...query, limit: 100, fields: "created_at,updated_at,title,price" });
      const counted = await call(request, { query: { ...query, include_total: "true", limit: 1 } });
      expect([query, counted.page.total]).toEqual([query, expected]);
      const key = String(query.sort).replace("-", "") as "price";
      const sign = String(query.sort).startsWith("-") ? -1 : 1;
      const inOrder = products.toSorted(
        (a, b) => sign * (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : a.id < b.id ? -1 : 1),
      );
      expect([query, products.length, new Set(products.map(({ id }) => id)).size]).toEqual([query, expected, expected]);
      expect(products.map(({ id }) => id)).toEqual(inOrder.map(({ id }) => id));
    }
  });

  test("despite concurrent creates, no page skips or repeats a product", async ({ call, createProduct }) => {
    const lamp = (n: number) => createProduct({ title: `Lamp ${n}`, price: n });
    const before = (await Promise.all(Array.from({ length: 12 }, (_, n) => lamp(n)))).map(({ id }) => id);
    for (const query of [{}, { sort: "price" }, { q: "lamp" }, { q: "lamp", sort: "created_at" }] as Query[]) {
      let rounds = 0;
      // A list towards newer rows must end, although rows are added all the time.
      const made: Promise<unknown>[] = [];
      const during = () => {
        if (rounds++ < 3) made.push(lamp(0), lamp(7), lamp(99));
      };
      const seen = (await readAll(call, { ...query, limit: 5 }, during)).map(({ id }) => id);
      await Promise.all(made);
      expect([query, new Set(seen).size, before.filter((id) => !seen.includes(id))]).toEqual([query, seen.length, []]);
    }
  });
});

// Runs only on a file. On a libSQL server, so many rows take seconds, and the tests above run the same statements.
onDatabase("file", (suite) => {
  const { test } = suite;
  test("a page with few matches may be short; further pages show each product once and no drafts", async (shop) => {
    const rare =
      "case when i <= 21000 then iif(i % 1000 = 1, 'archived', 'draft') else iif(i % 2, 'archived', 'published') end";
    await fill(suite, await idOf(suite, shop.namespace), 25_200, rare);
    // Ten products do not have the word. Five of them are archived.
    const wordless =
      "delete from product_search where rowid in (select row_number from products where slug like 'p2510_')";
    await suite.app.db.execute(wordless);
    const { id, token } = await openAccount(shop);
    const asCustomer: Call = (call, { query, ...send } = {}) =>
      shop.callAnonymously(call, { ...send, query: { ...(query as Query), user_id: id, token } });
    const old = "2030-01-01T00:50:01Z";
    const cases: [string, Call, Query, expected: number][] = [
      ["matches at the end of the searched rows", shop.call, { "created_at[lt]": old, sort: "-updated_at" }, 3000],
      ["published products after all drafts", asCustomer, { sort: "updated_at" }, 2100],
      [
        "few matches with many rows between them",
        shop.call,
        { status: "archived", sort: "updated_at", limit: 30 },
        2121,
      ],
      [
        "pages of a search that another index sorts",
        shop.call,
        { q: "title", status: "archived", sort: "price" },
        2116,
      ],
      ["nothing", asCustomer, { "created_at[lt]": old, sort: "-title" }, 0],
      ["published products without a match", asCustomer, { q: "title", "created_at[lt]": old }, 0],
      ["matches at the end", shop.call, { q: "title", "created_at[lt]": old }, 3000],
    ];
    for (const [what, call, query, expected] of cases) {
      const products: string[] = [];
      let short = 0;
      for (let cursor: string | null = ""; cursor !== null; ) {
        const asked = { limit: 100, ...query, fields: "id", ...(cursor !== "" && { cursor }) };
        const reply: ApiReply<ProductReply[]> = await call(request, { query: asked });
        if (reply.status !== 200) throw new Error(reply.text);
        products.push(...reply.data.map((product) => product.id));
        cursor = reply.page.next_cursor;
        expect(reply.page.has_more).toBe(cursor !== null);
        if (cursor === null || reply.data.length === asked.limit) continue;
        short++;
        const [, , reached] = JSON.parse(Buffer.from(cursor, "base64url").toString());
        if (call !== shop.call && reached !== "") {
          expect([what, (await call(`GET /products/${reached}/`)).status]).toEqual([what, 200]);
        }
      }
      expect([what, products.length, new Set(products).size]).toEqual([what, expected, expected]);
      expect([what, short > 0]).toEqual([what, !/^p/.test(what)]);
    }
  });
});
