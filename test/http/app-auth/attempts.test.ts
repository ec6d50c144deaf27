import { expect } from "bun:test";
import { startTestApp } from "../../support/app.ts";
import { createClient, newAddress } from "../../support/client.ts";
import { bearer, type Shop } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";

const minute = 60_000;
const request = "GET /products/";

/** Makes this many failed attempts from an address. Returns the code of each reply. */
async function fail(shop: Shop, address: string, times: number, options = {}): Promise<(number | undefined)[]> {
  const codes: (number | undefined)[] = [];
  for (let n = 0; n < times; n++) {
    codes.push((await shop.call(request, { auth: `Bearer ${shop.key.app_id}:wrong-${n}`, address, ...options })).code);
  }
  return codes;
}

const ten5203 = Array(10).fill(5203);

onDatabase("file", (suite) => {
  const { test } = suite;

  test("the audit log has one entry each time that an address is blocked", async (shop) => {
    const address = newAddress();
    const readRows = async () => {
      const sql = "select code, address, actor_kind from audit_log where event = 'attempts.refused' and namespace = ?";
      const { rows } = await suite.app.db.execute({ sql, args: [shop.namespace] });
      return rows.map((row) => [row.code, row.address, row.actor_kind]);
    };
    await fail(shop, address, 10);
    expect(await readRows()).toEqual([]);
    await fail(shop, address, 5);
    expect(await readRows()).toEqual([[5209, address, "visitor"]]);
    suite.app.clock.advance(minute);
    await fail(shop, address, 12);
    expect(await readRows()).toHaveLength(2);
  });

  test("attempts that the limit refuses do not prolong the block", async () => {
    const { clock } = suite.app;
    const shop = await suite.shop();
    const address = newAddress();
    await fail(shop, address, 10);
    for (let n = 0; n < 6; n++) {
      clock.advance(minute / 6 - 1);
      expect(await fail(shop, address, 1)).toEqual([5209]);
    }
    clock.advance(6);
    expect(await fail(shop, address, 1)).toEqual([5203]);
  });

  test("calls without credentials get 5206 and do not count as attempts", async (shop) => {
    const address = newAddress();
    for (let n = 0; n < 15; n++) expect((await shop.call(request, { address, auth: null })).code).toBe(5206);
    expect(await fail(shop, address, 10)).toEqual(ten5203);
  });

  test("every kind of failed authentication counts as an attempt; other errors do not", async (shop) => {
    const address = newAddress();
    const call = (options: object) => shop.call(request, { address, ...options });
    const readonly = bearer(await shop.issueKey({ scopes: ["products:read"] }));
    for (let n = 0; n < 5; n++) {
      expect((await call({ namespace: null })).code).toBe(5202);
      expect((await call({ namespace: "no-such-store", auth: "Bearer a:b" })).code).toBe(5215);
      expect((await call({ query: { limit: 0 } })).code).toBe(5102);
      expect((await shop.call("POST /products/", { address, auth: readonly, body: {} })).code).toBe(5300);
      expect((await shop.call("GET /products/prod_1/", { address })).code).toBe(5301);
    }
    const failures: [number, object][] = [
      [5202, { auth: "Bearer a" }],
      [5202, { auth: null, query: { app_id: "a" } }],
      [5203, { auth: "Bearer a:b" }],
      [5203, { auth: null, query: { app_id: "a", app_secret: "b" } }],
      [5204, { auth: null, query: { token: "v2.x" } }],
      [5204, { auth: null, query: { user_id: "usr_1" } }],
      [5205, { auth: null, query: { user_id: "usr_1", token: "v2.x" } }],
      [5206, { auth: "Bearer a:b", query: { user_id: "usr_1", token: "v2.x" } }],
      [5202, { auth: "Bearer :" }],
      [5203, { auth: "Bearer a:b" }],
    ];
    for (const [code, options] of failures) expect((await call(options)).code).toBe(code);
    for (const [, options] of failures) expect((await call(options)).code).toBe(5209);
  });

  test("attempts are counted by address, across stores and keys", async () => {
    const [one, other] = [await suite.shop(), await suite.shop()];
    const address = newAddress();
    await fail(one, address, 5);
    expect(await fail(other, address, 6)).toEqual([...Array(5).fill(5203), 5209]);
    expect(await fail(other, newAddress(), 1)).toEqual([5203]);
  });

  test("only a trusted proxy can name the address whose attempts count", async (shop) => {
    const { db, clock } = suite.app;
    const app = startTestApp({ db, clock, trustedProxies: ["192.0.2.0/24"] });
    const call = createClient(app, { namespace: shop.namespace });
    const caller = newAddress();
    const send = async (address: string, forwarded: string) =>
      (await call(request, { auth: "Bearer a:b", address, headers: { "x-forwarded-for": forwarded } })).code;
    for (let n = 0; n < 10; n++) expect(await send("192.0.2.1", `${newAddress()}, ${caller}`)).toBe(5203);
    expect(await send("192.0.2.7", `1.2.3.4, ${caller}`)).toBe(5209);
    expect(app.entries.at(-1)?.ip).toBe(caller);
    // The peer is not a trusted proxy, so its own address counts.
    expect(await send(newAddress(), caller)).toBe(5203);
    await app.stop();
  });
});
