import { beforeAll, expect, test } from "bun:test";
import { setOrigins } from "../../../src/server/modules/app-keys/origins.ts";
import { deactivateKey } from "../../../src/server/modules/app-keys/service.ts";
import { type CallOptions, newAddress } from "../../support/client.ts";
import { bearer, type Shop } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";

onDatabase("file", (suite) => {
  let shop: Shop;
  let server: string;
  beforeAll(async () => {
    shop = await suite.shop();
    server = bearer(await shop.issueKey({ scopes: ["auth:forward"] }));
  });
  let people = 0;
  /** Makes a failed sign-in, each time of another person. */
  const signIn = (more: CallOptions, customer?: string) =>
    shop.callAnonymously("POST /auth/login/", {
      body: { email: `nobody-${people++}@example.com`, password: "wrong" },
      ...more,
      headers: { ...(customer !== undefined && { "x-client-address": customer }), ...more.headers },
    });
  /**
   * Makes this many sign-ins from one address. Returns their codes. Without a name, each sign-in is for another
   * customer.
   */
  const codesOf = async (times: number, more: CallOptions, customer?: string) => {
    const codes: unknown[] = [];
    const address = newAddress();
    for (let n = 0; n < times; n++) codes.push((await signIn({ address, ...more }, customer ?? newAddress())).code);
    return codes;
  };
  const throttled = [...Array(10).fill(5212), 5209];

  test("a server with the scope auth:forward can sign in customers of many addresses, each with its own limit", async () => {
    expect(await codesOf(25, { auth: server })).toEqual(Array(25).fill(5212));
    expect(await codesOf(11, { auth: server }, newAddress())).toEqual(throttled);
    expect(await codesOf(11, { auth: server }, "2001:db8:1:2::1")).toEqual(throttled);
    // The /64 network of this household has used up its attempts, at every server that forwards them.
    expect((await signIn({ auth: shop.auth }, "2001:db8:1:2:3::4")).code).toBe(5209);
    expect((await signIn({ address: "2001:db8:1:2::9" })).code).toBe(5209);
  });

  test("refreshes, logouts and password resets are also limited by the forwarded address", async () => {
    for (const [request, body, code] of [
      ["POST /auth/refresh/", {}, 5300],
      ["POST /auth/logout/", { user_id: "usr_x", token: "v2.x" }, 5214],
      ["POST /auth/password/reset/", { email: "a@example.com", code: "123456", password: "x" }, 5217],
    ] as const) {
      const send = (customer: string) =>
        shop.callAnonymously(request, {
          auth: server,
          body,
          address: "10.200.0.1",
          headers: { "x-client-address": customer },
        });
      const one = newAddress();
      const codes: unknown[] = [];
      for (let n = 0; n < 11; n++) codes.push((await send(one)).code);
      expect([request, codes]).toEqual([request, [...Array(10).fill(code), 5209]]);
      expect((await send(newAddress())).code).toBe(code);
    }
  });

  test("the log and the audit log contain the forwarded address", async () => {
    const customer = newAddress();
    await signIn({ auth: server }, ` ::ffff:${customer} `);
    expect(suite.app.entries.at(-1)?.ip).toBe(customer);
    const { rows } = await suite.app.db.execute("select address from audit_log order by seq desc limit 1");
    expect(rows[0]?.address as string).toBe(customer);
  });

  test("X-Client-Address is ignored from callers without the scope auth:forward", async () => {
    const origin = "https://shop.example.com";
    const other = await suite.shop();
    const page = await shop.issueKey();
    await setOrigins(suite.app.system, { appId: page.app_id, origins: [origin], allowNoOrigin: true });
    const ended = await shop.issueKey();
    await deactivateKey(suite.app.system, ended.app_id);
    const every = ["catalog:read", "products:*", "orders:*", "wishlist:*", "rewards:*", "users:*", "events:read"];
    const callers: Record<string, CallOptions> = {
      nobody: {},
      "a key without the scope": { auth: bearer(await shop.issueKey({ scopes: every })) },
      "a wrong secret": { auth: bearer({ ...page, app_secret: shop.key.app_secret }) },
      "a key that is not active": { auth: bearer(ended) },
      "another store's key": { auth: other.auth },
      "a key of pages": { auth: bearer(page) },
      "a page with any key": { auth: shop.auth, headers: { origin } },
    };
    for (const [name, more] of Object.entries(callers)) {
      expect([name, await codesOf(11, more)]).toEqual([name, throttled]);
    }
  });

  test("a malformed X-Client-Address from a server with the scope auth:forward gets 5100", async () => {
    for (const customer of ["", "unknown", "10.0.0.1, 10.0.0.2", "10.0.0.1:80", "shop.example.com"]) {
      expect([customer, (await signIn({ auth: server }, customer)).code]).toEqual([customer, 5100]);
      expect((await signIn({ address: newAddress() }, customer)).code).toBe(5212);
    }
  });

  test("outside /auth/, X-Client-Address is ignored, even with the scope auth:forward", async () => {
    const address = newAddress();
    const codes: unknown[] = [];
    for (let n = 0; n < 11; n++) {
      const query = { user_id: "usr_x", token: "v2.x" };
      const headers = { "x-client-address": newAddress() };
      codes.push((await shop.callAnonymously("GET /orders/", { address, query, headers })).code);
    }
    expect(codes).toEqual([...Array(10).fill(5205), 5209]);
  });
});
