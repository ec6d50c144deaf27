import { expect } from "bun:test";
import type { Shop } from "../../support/factories.ts";
import { readPages } from "../../support/read-pages.ts";
import { onDatabase, type Suite } from "../../support/suite.ts";
import { makeUser, type UserReply } from "../../support/users.ts";

const request = "GET /users/";
type Query = Record<string, string | number>;

const list = ({ call }: Shop, query: Query = {}) => call<UserReply[]>(request, { query });
const emails = (users: UserReply[]) => users.map(({ email }) => email.split("@")[0]);
const found = async (shop: Shop, query: Query) => emails((await list(shop, { sort: "email", ...query })).data);

const readAll = (shop: Shop, query: Query, between?: () => unknown) =>
  readPages<UserReply>(shop.call, request, query, between);

const people = [
  { email: "Carla@example.com", name: "Carla Couto", role: "staff" },
  { email: "ana@example.com", name: "Ana 100% Silva" },
  { email: "BOB@example.com", name: null, status: "disabled" },
  { email: "zoe@example.com", name: "ana_maria" },
  { email: "a_b@example.com", name: "Émile" },
  { email: "dan@example.com", name: "100 percent", role: "owner" },
];

/** Creates six users, two per second. */
async function fill(suite: Suite): Promise<Shop> {
  const shop = await suite.shop();
  for (const [n, person] of people.entries()) {
    await makeUser(shop, person);
    if (n % 2 === 1) suite.app.clock.advance(1000);
  }
  return shop;
}

onDatabase("file", (suite) => {
  const { test } = suite;
  test("a page has 20 users by default, newest first, with the same fields as a GET of the user, and a total only on request", async (shop) => {
    await Promise.all(Array.from({ length: 21 }, () => makeUser(shop)));
    const { data, page } = await list(shop);
    expect([data.length, page.has_more, page.limit, "total" in page]).toEqual([20, true, 20, false]);
    const inOrder = data.toSorted((a, b) => (`${a.created_at}${a.id}` < `${b.created_at}${b.id}` ? 1 : -1));
    expect(data).toEqual(inOrder);
    expect(data[4]).toEqual((await shop.call<UserReply>(`GET /users/${data[4]?.id}/`)).data);
    const all = await list(shop, { limit: 100, include_total: "true" });
    expect([all.data.length, all.page.total]).toEqual([21, 21]);
  });

  test("pages in any order contain each user once, even while others are created", async () => {
    const shop = await fill(suite);
    for (const sort of ["created_at", "-created_at", "email", "-email"]) {
      const whole = (await list(shop, { sort, limit: 100 })).data;
      const key = (user: UserReply) => (sort.endsWith("email") ? user.email.toLowerCase() : user.created_at + user.id);
      const sign = sort.startsWith("-") ? -1 : 1;
      expect(whole).toEqual(whole.toSorted((a, b) => (key(a) < key(b) ? -sign : sign)));
      // New users may be missing in the list, but must not move others to another page.
      const seen = await readAll(shop, { sort, limit: 2 }, () => makeUser(shop));
      expect(seen.filter(({ id }) => whole.some((one) => one.id === id))).toEqual(whole);
    }
  });

  test("filters of users work alone and together, across pages and in the total", async () => {
    const shop = await fill(suite);
    expect(await found(shop, { role: "customer" })).toEqual(["a_b", "ana", "BOB", "zoe"]);
    expect(await found(shop, { role: "staff" })).toEqual(["Carla"]);
    expect(await found(shop, { status: "disabled" })).toEqual(["BOB"]);
    expect(await found(shop, { status: "active", role: "owner" })).toEqual(["dan"]);
    expect(await found(shop, { status: "disabled", role: "owner" })).toEqual([]);
    const { page } = await list(shop, { role: "customer", limit: 1, include_total: "true" });
    expect([page.total, page.has_more]).toEqual([4, true]);
    expect(emails(await readAll(shop, { role: "customer", sort: "-email", limit: 1 }))).toEqual([
      "zoe",
      "BOB",
      "ana",
      "a_b",
    ]);
  });

  test("q matches the beginning of a user's email or name; %, _ and \\ are ordinary characters", async () => {
    const shop = await fill(suite);
    const cases: Record<string, string[]> = {
      ana: ["ana", "zoe"],
      ANA: ["ana", "zoe"],
      "ana ": ["ana"],
      ana_: ["zoe"],
      "Ana 100%": ["ana"],
      a_: ["a_b"],
      "100": ["dan"],
      "100%": [],
      "%": [],
      _: [],
      "\\": [],
      silva: [],
      "carla@example.com": ["Carla"],
      Émile: ["a_b"],
      ÉMI: ["a_b"],
      "e\u0301mile": ["a_b"],
      "'": [],
      z: ["zoe"],
    };
    for (const [q, expected] of Object.entries(cases)) expect([q, await found(shop, { q })]).toEqual([q, expected]);
    expect(await found(shop, { q: "ana", status: "disabled" })).toEqual([]);
    expect(emails(await readAll(shop, { q: "a", sort: "email", limit: 1 }))).toEqual(["a_b", "ana", "zoe"]);
  });

  test("q finds the same users even with more than a thousand matches", async () => {
    const shop = await fill(suite);
    const sql = `with recursive n(i) as (select 100000 union all select i + 1 from n where i < 101199)
      insert into users (id, tenant_id, email, email_key, name, name_key, role, status, created_at, updated_at)
      select 'usr_many_' || t.id || i, t.id, 'many' || i || '@example.com', 'many' || i || '@example.com', 'Ana ' || i,
        'ana ' || i, 'customer', 'active', '2029-01-01T00:00:00.000Z', '2029-01-01T00:00:00.000Z'
      from n, tenants t where t.namespace = ?`;
    await suite.app.db.execute({ sql, args: [shop.namespace] });
    const { data, page } = await list(shop, { q: "ana", sort: "email", limit: 2, include_total: "true" });
    expect([emails(data), page.total]).toEqual([["ana", "many100000"], 1202]);
    expect((await list(shop, { q: "many", role: "staff", include_total: "true" })).page.total).toBe(0);
    const all = await readAll(shop, { q: "ana", limit: 100 });
    expect(new Set(all.map(({ id }) => id)).size).toBe(1202);
    expect(emails(all.slice(0, 2)).toSorted()).toEqual(["ana", "zoe"]);
  });

  test("the parameter ids finds users, and fields selects fields", async () => {
    const shop = await fill(suite);
    const stranger = await makeUser(await suite.shop());
    const [first, second] = (await list(shop, { sort: "email", limit: 2 })).data;
    const ids = [second?.id, stranger.id, "usr_1", "", first?.id].join(",");
    const { data, page } = await list(shop, { ids, sort: "email", fields: "email", include_total: "true" });
    expect(data).toEqual([first, second].map((user) => ({ id: user?.id, email: user?.email })) as never);
    expect(page.total).toBe(2);
  });

  test("an invalid parameter of the list gets 422 with its name", async (shop) => {
    const refused: Query[] = [
      { sort: "password_hash" },
      { role: "root" },
      { status: "gone" },
      { email: "ada" },
      { q: "" },
      { q: " " },
      { q: "a\0" },
      { fields: "email,password_hash" },
    ];
    for (const query of refused) {
      const { code, fields } = await list(shop, query);
      expect({ query, code, fields }).toEqual({ query, code: 5102, fields: Object.keys(query) });
    }
  });
});
