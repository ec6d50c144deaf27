import { expect, test } from "bun:test";
import { openAccount } from "../../support/account.ts";
import { startTestApp } from "../../support/app.ts";
import { createClient, newAddress } from "../../support/client.ts";
import type { ProductReply, Shop } from "../../support/factories.ts";
import { findInFiles } from "../../support/find-in-files.ts";
import { becomeVisitor, ofProduct } from "../../support/reactions.ts";
import { onEachDatabase } from "../../support/suite.ts";
import { until } from "../../support/until.ts";
import { readViews, viewProduct } from "../../support/views.ts";

const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0";
const crawler = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
const dayMs = 86_400_000;

onEachDatabase((suite) => {
  const { onFile } = suite;
  const flush = () => suite.app.memory.views.flush();
  const open = async () => {
    const shop = await suite.shop();
    return { shop, call: shop.callAnonymously, id: (await shop.createProduct()).id };
  };
  /** Returns the number of views in the database and in the product. */
  async function counted({ call }: Pick<Shop, "call">, id: string): Promise<[number, number]> {
    await flush();
    // A cached reply may have counts from a minute ago.
    suite.app.clock.advance(60_000);
    const product = await call<ProductReply>(`GET /products/${id}/`);
    return [(await readViews(call, id)).data.count, product.data.views_count];
  }

  onFile("a view is counted in its own reply at once, and in the database within a second", async () => {
    const { shop, call, id } = await open();
    const { data, status } = await viewProduct(call, id, { agent: browser });
    expect([status, data]).toEqual([200, { active: true, count: 0 }]);
    expect((await readViews(call, id, { agent: browser })).data.active).toBe(true);
    expect((await readViews(call, id, { agent: browser, address: newAddress() })).data.active).toBe(false);
    await until("the count", async () => (await readViews(call, id)).data.count === 1);
    const product = await shop.call<ProductReply>(`GET /products/${id}/`);
    expect([product.data.views_count, product.data.version]).toEqual([1, 1]);
    expect((await viewProduct(call, id, { agent: browser })).data).toEqual({ active: true, count: 1 });
    expect((await readViews(call, id, { agent: browser })).data.active).toBe(true);
  });

  onFile("each user, each visitor, and each combination of address and user agent counts once a day", async () => {
    const { shop, call, id } = await open();
    const { id: other } = await shop.createProduct();
    const eve = await openAccount(shop);
    const visitor = await becomeVisitor(call, "/likes/", id);
    const address = newAddress();
    const user = { user_id: eve.id, token: eve.token };
    const sameNetwork = "2001:db8:1:2:ffff::9";
    const ways = [
      [
        { agent: browser, address },
        { agent: browser, address },
      ],
      [{ agent: "Shop/2 (iPhone)", address }],
      [
        { agent: browser, address: "2001:db8:1:2::1" },
        { agent: browser, address: sameNetwork },
      ],
      [{ agent: browser, address: "2001:db8:1:3::1" }],
      [
        { query: { visitor }, agent: browser, address },
        { query: { visitor } },
        { query: { visitor }, auth: shop.auth },
      ],
      [{ query: user }, { query: { ...user, visitor }, agent: browser, address }],
    ];
    for (const round of [1, 2]) {
      for (const way of ways.flat()) {
        expect([round, way, (await viewProduct(call, id, way)).data.active]).toEqual([round, way, true]);
      }
      expect([round, await counted(shop, id)]).toEqual([round, [ways.length, ways.length]]);
      expect((await readViews(call, id, { days: "1" })).data.days[0]?.count).toBe(ways.length);
    }
    // The visitor can also be in the body. The query takes precedence.
    const body = { ...ofProduct(id), visitor };
    await call("POST /views/", { body });
    await call("POST /views/", { body, query: { visitor: "vis_x" }, headers: { "user-agent": "another" }, address });
    expect(await counted(shop, id)).toEqual([ways.length + 1, ways.length + 1]);
    expect((await readViews(call, id, { days: "1" })).data.days[0]?.count).toBe(ways.length + 1);
    await viewProduct(call, other, { query: { visitor } });
    expect(await counted(shop, other)).toEqual([1, 1]);
  });

  onFile("a beacon with JSON as text/plain in UTF-8 counts a view; other routes refuse it", async () => {
    const { shop, call, id } = await open();
    const raw = JSON.stringify(ofProduct(id));
    const send = (request: string, type: string) => call(request, { raw, headers: { "content-type": type } });
    expect((await send("POST /views/", "text/plain;charset=UTF-8")).data).toEqual({ active: true, count: 0 });
    expect(await counted(shop, id)).toEqual([1, 1]);
    expect((await send("POST /views/", "text/plain")).code).toBeUndefined();
    expect((await send("POST /views/", "text/plain; charset=latin1")).code).toBe(5103);
    expect((await send("POST /views/", "text/html")).code).toBe(5103);
    expect((await send("POST /likes/", "text/plain")).code).toBe(5103);
  });

  onFile("views of known bots are not counted; views of libraries, apps and empty agents count", async () => {
    const { shop, call, id } = await open();
    const visitor = await becomeVisitor(call, "/likes/", id);
    for (const query of [{}, { visitor }] as Record<string, string>[]) {
      expect((await viewProduct(call, id, { agent: crawler, query })).data).toEqual({ active: false, count: 0 });
      expect((await readViews(call, id, { agent: crawler, query })).data.active).toBe(false);
    }
    expect(await counted(shop, id)).toEqual([0, 0]);
    for (const agent of ["", "curl/8.5.0", "Bun/1.4.5"]) await viewProduct(call, id, { agent });
    expect(await counted(shop, id)).toEqual([3, 3]);
  });

  onFile("views by day contain each requested day (UTC); a view at midnight counts for the new day", async () => {
    const { shop, call, id } = await open();
    const { clock } = suite.app;
    const visitor = await becomeVisitor(call, "/likes/", id);
    const look = (query: Record<string, string> = {}) => viewProduct(call, id, { query, address: newAddress() });
    const untilMidnight = dayMs - (clock.now() % dayMs);
    clock.advance(untilMidnight - 1);
    const day = (back: number) => new Date(clock.now() - back * dayMs).toISOString().slice(0, 10);
    const last = day(0);
    await look({ visitor });
    await look({ visitor });
    clock.advance(1);
    await look({ visitor });
    await look();
    await flush();
    expect(day(1)).toBe(last);
    clock.advance(2 * dayMs);
    await look();
    await flush();
    const { data } = await readViews(call, id, { days: "5" });
    expect([data.count, data.active]).toEqual([4, false]);
    expect(data.days).toEqual([0, 1, 2, 0, 1].map((count, index) => ({ day: day(4 - index), count })));
    expect((await readViews(call, id)).data.days.length).toBe(30);
    expect((await readViews(call, id, { days: "1" })).data.days).toEqual([{ day: day(0), count: 1 }]);
    const year = (await readViews(call, id, { days: "366" })).data.days;
    expect([year.length, year[0]?.day, year.at(-1)?.day]).toEqual([366, day(365), day(0)]);
    expect(await counted(shop, id)).toEqual([4, 4]);
  });

  onFile("a view with invalid fields is refused, and one of an unpublished resource gets 5301", async () => {
    const { shop, call, id } = await open();
    const hidden = [
      await shop.createProduct({ status: "draft" }),
      await (await suite.shop()).createProduct(),
      await shop.createProduct(),
    ];
    await shop.call(`DELETE /products/${hidden.at(-1)?.id}/`);
    const user = await openAccount(shop);
    const wrong: [input: Record<string, string>, code: number, fields: string[]][] = [
      ...hidden.map(({ id: of }): [Record<string, string>, number, string[]] => [ofProduct(of), 5301, []]),
      [ofProduct("prod_x"), 5301, []],
      [{ resource_type: "constructor", resource_id: id }, 5102, ["resource_type"]],
      [{ resource_type: "product" }, 5102, ["resource_id"]],
    ];
    for (const [input, code, fields] of wrong) {
      for (const reply of [await call("POST /views/", { body: input }), await call("GET /views/", { query: input })]) {
        expect([input, reply.code, reply.fields]).toEqual([input, code, fields] as never);
      }
    }
    for (const days of ["0", "367"]) {
      expect([days, (await readViews(call, id, { days })).fields]).toEqual([days, ["days"]]);
    }
    const subject = await shop.call("POST /views/", { query: { user_id: user.id }, body: ofProduct(id) });
    expect([subject.code, subject.fields]).toEqual([5102, ["user_id"]]);
    expect((await shop.call("GET /views/", { query: { ...ofProduct(id), user_id: user.id } })).code).toBe(5102);
    expect((await viewProduct(call, id, { query: { user_id: user.id, token: "v2.x" } })).code).toBe(5205);
    expect(await counted(shop, id)).toEqual([0, 0]);
  });

  test("a viewer counts only once, even with several processes and fifty concurrent calls", async () => {
    const { shop, call, id } = await open();
    const again = startTestApp({ db: await suite.database.openAgain(), clock: suite.app.clock });
    try {
      const there = createClient(again, { namespace: shop.namespace });
      const address = newAddress();
      const agents = Array.from({ length: 5 }, (_, n) => `${browser} ${n}`);
      const many = Array.from({ length: 50 }, (_, n) =>
        viewProduct(n % 2 ? call : there, id, { address, agent: agents[n % 5] as string }),
      );
      expect((await Promise.all(many)).filter(({ data }) => !data?.active)).toEqual([]);
      await Promise.all([flush(), again.memory.views.flush()]);
      expect(await counted(shop, id)).toEqual([5, 5]);
    } finally {
      await again.stop();
    }
  });

  onFile("no address, user agent or visitor is stored or logged with a view", async () => {
    const { call, id } = await open();
    const visitor = await becomeVisitor(call, "/bookmarks/", id);
    const [address, network, agent] = ["203.0.113.77", "2001:db8:77:88::99", "Peculiar/7.7 (Unmistakable; U)"];
    await viewProduct(call, id, { address, agent });
    await viewProduct(call, id, { address: network, agent });
    await viewProduct(call, id, { address, agent, query: { visitor } });
    await flush();
    const secrets = [address, network, "2001:db8:77:88", agent, "Unmistakable", visitor];
    expect(findInFiles(suite.database.dataDir, secrets)).toEqual([]);
    const { rows: tables } = await suite.app.db.execute("select name from sqlite_schema where type = 'table'");
    let seen = 0;
    for (const { name } of tables) {
      if (/^product_search|^sqlite_|^libsql_/.test(String(name))) continue;
      const { rows } = await suite.app.db.execute(`select * from "${name}"`);
      const text = JSON.stringify(rows.map((row) => ({ ...row })));
      seen += rows.length;
      expect([name, secrets.filter((secret) => text.includes(secret))]).toEqual([name, []]);
    }
    expect(seen).toBeGreaterThan(10);
    expect(suite.app.lines.filter((line) => line.includes(agent) || line.includes("vis_"))).toEqual([]);
  });
});
