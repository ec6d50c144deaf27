import { beforeAll, expect, test } from "bun:test";
import { setOrigins } from "../../src/server/modules/app-keys/origins.ts";
import { deactivateKey } from "../../src/server/modules/app-keys/service.ts";
import { suspendTenant } from "../../src/server/modules/tenants/service.ts";
import { type CallOptions, newAddress } from "../support/client.ts";
import { bearer, type Shop } from "../support/factories.ts";
import { onEachDatabase } from "../support/suite.ts";

const read = "GET /products/";

onEachDatabase((suite) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await suite.shop();
  });
  /** The code of a read with these credentials, from an address without failed attempts. */
  const codeOf = async (options: CallOptions, from = shop) =>
    (await from.call(read, { address: newAddress(), ...options })).code;
  const origin = (value: string | null): CallOptions => ({ headers: { origin: value } });

  test("§5 non-public endpoints require authentication", async () => {
    expect(await codeOf({ auth: null })).toBe(5206);
  });

  test("§5 app auth: app_id, app_secret and namespace admit a backend", async () => {
    expect(await codeOf({})).toBeUndefined();
  });

  test("§5 app auth 1: credentials are scoped to a tenant", async () => {
    const other = await suite.shop();
    expect(await codeOf({ namespace: other.namespace })).toBe(5203);
    expect(await codeOf({}, other)).toBeUndefined();
  });

  test("§5 app auth 2: the two values are joined by a required colon", async () => {
    const { app_id, app_secret } = shop.key;
    expect(await codeOf({ auth: `Bearer ${app_id}:${app_secret}` })).toBeUndefined();
    for (const joint of ["", " ", ";", "=", "."]) {
      expect(await codeOf({ auth: `Bearer ${app_id}${joint}${app_secret}` })).toBe(5202);
    }
  });

  test("§5 app auth 2: the scheme word is parsed case-insensitively", async () => {
    const { app_id, app_secret } = shop.key;
    for (const scheme of ["Bearer", "bearer", "BEARER", "bEaReR"]) {
      expect(await codeOf({ auth: `${scheme} ${app_id}:${app_secret}` })).toBeUndefined();
    }
  });

  test("§5 app auth 3: the parameters are accepted in query and body", async () => {
    const { app_id, app_secret } = shop.key;
    expect(await codeOf({ auth: null, query: { app_id, app_secret } })).toBeUndefined();
    const body = { title: "Lamp", price: 1, app_id, app_secret, namespace: shop.namespace };
    expect((await shop.call("POST /products/", { auth: null, namespace: null, body })).status).toBe(201);
  });

  test("§5 app auth 4: a key must be active and published", async () => {
    const unpublished = await shop.issueKey({ publish: false });
    const inactive = await shop.issueKey();
    await deactivateKey(suite.app.system, inactive.app_id);
    for (const key of [unpublished, inactive]) expect(await codeOf({ auth: bearer(key) })).toBe(5203);
  });

  test("§5 domains 1: a key that restricts nothing may be used from any origin", async () => {
    for (const value of ["https://anything.example", "null", null]) expect(await codeOf(origin(value))).toBeUndefined();
  });

  test("§5 domains 2: the host of Origin must match exactly or by wildcard", async () => {
    const restricted = await suite.shop();
    const appId = restricted.key.app_id;
    await setOrigins(suite.app.system, { appId, origins: ["shop.example.com", "*.example.org"] });
    for (const [value, code] of [
      ["https://shop.example.com", undefined],
      ["https://a.example.org", undefined],
      ["https://a.b.example.org", undefined],
      ["https://example.org", 5203],
      ["https://evilexample.org", 5203],
      ["https://shop.example.com.evil.com", 5203],
      ["https://www.shop.example.com", 5203],
      ["null", 5203],
    ] as const) {
      expect([value, await codeOf(origin(value), restricted)]).toEqual([value, code]);
    }
  });

  test("§5 domains 3: a request with no Origin is allowed only if the key permits it", async () => {
    const restricted = await suite.shop();
    const appId = restricted.key.app_id;
    for (const allowNoOrigin of [false, true]) {
      await setOrigins(suite.app.system, { appId, origins: ["shop.example.com"], allowNoOrigin });
      expect(await codeOf(origin(null), restricted)).toBe(allowNoOrigin ? undefined : 5203);
    }
  });

  test("§5 token auth 1: user_id, token and namespace are sent as query parameters", async () => {
    expect(await codeOf({ auth: null, query: { user_id: "usr_1", token: "v2.x" } })).toBe(5205);
    const query = { user_id: "usr_1", token: "v2.x" };
    expect(await codeOf({ auth: null, namespace: null, query })).toBe(5204);
  });

  const codes: [code: number, meaning: string, status: number, tries: CallOptions[]][] = [
    [5202, "invalid app credential params", 400, [{ auth: "Bearer x" }, { auth: null, query: { app_id: "x" } }]],
    [
      5203,
      "app auth failed, no match",
      401,
      [{ auth: "Bearer x:y" }, { auth: null, query: { app_id: "x", app_secret: "y" } }],
    ],
    [
      5204,
      "invalid token params",
      400,
      [
        { auth: null, query: { user_id: "x" } },
        { auth: null, query: { token: "x" } },
      ],
    ],
    [5205, "token not found or mismatch", 401, [{ auth: null, query: { user_id: "x", token: "v2.x" } }]],
    [
      5206,
      "no method succeeded",
      401,
      [{ auth: null }, { auth: "Bearer x:y", query: { user_id: "x", token: "v2.x" } }],
    ],
    [5215, "store not found", 404, [{ namespace: "no-such-store" }]],
  ];
  for (const [code, meaning, status, tries] of codes) {
    test(`§7 ${code} is ${meaning}, with a remedy`, async () => {
      for (const options of tries) {
        const reply = await shop.call(read, { address: newAddress(), ...options });
        expect([reply.code, reply.status]).toEqual([code, status]);
        expect(reply.error?.remedy).toMatch(/\S/);
      }
    });
  }

  test("§7 5215 also answers for a store that cannot be reached", async () => {
    const closed = await suite.shop();
    await suspendTenant(suite.app.system, closed.namespace);
    expect(await codeOf({}, closed)).toBe(5215);
  });

  test("§7, §8 5209: an address has 10 authentication attempts per minute", async () => {
    const address = newAddress();
    const attempt = async () => (await shop.call(read, { auth: "Bearer x:y", address })).code;
    for (let n = 0; n < 10; n++) expect(await attempt()).toBe(5203);
    const blocked = await shop.call(read, { auth: "Bearer x:y", address });
    expect([blocked.code, blocked.status, blocked.headers.get("retry-after")]).toEqual([5209, 429, "60"]);
    suite.app.clock.advance(60_000);
    expect(await attempt()).toBe(5203);
  });

  test("§8 the limit is per address", async () => {
    const address = newAddress();
    for (let n = 0; n < 11; n++) await shop.call(read, { auth: "Bearer x:y", address });
    expect(await codeOf({ auth: "Bearer x:y" })).toBe(5203);
  });
});
