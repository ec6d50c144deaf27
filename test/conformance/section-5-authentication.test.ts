import { beforeAll, describe, expect, test } from "bun:test";
import type { IssuedKey } from "../support/binary.ts";
import type { CallOptions } from "../support/client.ts";
import { bearer } from "../support/factories.ts";
import { findInFiles } from "../support/find-in-files.ts";
import { type ServedShop, type Session, useServedShops } from "../support/served-shop.ts";

const { startServedShop } = useServedShops();
const read = "GET /products/";

let shop: ServedShop;
beforeAll(async () => {
  shop = await startServedShop();
});

/** Returns the code of a read with only these credentials; undefined for a success. */
const codeOf = async (options: CallOptions) => (await shop.callAnonymously(read, options)).code;
const query = (fields: Record<string, string>): CallOptions => ({ query: fields });
const tokenOf = ({ user_id, token }: Session) => ({ user_id, token });
const issueKey = (...flags: string[]) =>
  shop.binary.json<IssuedKey>("key", "issue", "-n", shop.namespace, "--name", "web", ...flags);

describe("§5 Methods", () => {
  test("non-public endpoints require authentication", async () => {
    expect(await codeOf({})).toBe(5206);
  });

  test("row 1: app auth with app_id, app_secret and namespace", async () => {
    expect(await codeOf({ auth: shop.auth })).toBeUndefined();
    expect(await codeOf({ auth: shop.auth, namespace: null })).toBe(5202);
  });

  test("row 2: token auth with user_id, token and namespace", async () => {
    const session = await shop.signIn(await shop.createUser());
    expect(await codeOf(query(tokenOf(session)))).toBeUndefined();
    expect(await codeOf({ ...query(tokenOf(session)), namespace: null })).toBe(5204);
  });

  test("row 2: a token acts for its own user", async () => {
    const session = await shop.signIn(await shop.createUser());
    const reply = await shop.callAnonymously<{ id: string }>("GET /users/me/", query(tokenOf(session)));
    expect([reply.status, reply.data.id]).toEqual([200, session.user_id]);
  });

  test("row 3: public endpoints take namespace only", async () => {
    const body = { email: "nobody@example.com" };
    expect((await shop.callAnonymously("POST /auth/password/forgot/", { body })).status).toBe(200);
    expect((await shop.callAnonymously("POST /auth/password/forgot/", { body, namespace: null })).code).toBe(5101);
  });
});

describe("§5 App auth", () => {
  test("rule 1: credentials are scoped to a tenant", async () => {
    await shop.binary.json("tenant", "create", "neighbour");
    expect(await codeOf({ auth: shop.auth, namespace: "neighbour" })).toBe(5203);
  });

  test("rule 2: Authorization: Bearer <app_id>:<app_secret>, joined by a required colon", async () => {
    const { app_id, app_secret } = shop.key;
    expect(await codeOf({ auth: `Bearer ${app_id}:${app_secret}` })).toBeUndefined();
    for (const joint of ["", " ", ";", "=", "."]) {
      expect(await codeOf({ auth: `Bearer ${app_id}${joint}${app_secret}` })).toBe(5202);
    }
  });

  test("rule 2: the scheme word is parsed case-insensitively", async () => {
    const { app_id, app_secret } = shop.key;
    for (const scheme of ["Bearer", "bearer", "BEARER", "bEaReR"]) {
      expect(await codeOf({ auth: `${scheme} ${app_id}:${app_secret}` })).toBeUndefined();
    }
  });

  test("rule 3, §2: app_id, app_secret and namespace are also accepted in the query and in the body", async () => {
    const { app_id, app_secret } = shop.key;
    expect(await codeOf(query({ app_id, app_secret }))).toBeUndefined();
    const body = { title: "Lamp", price: 1, app_id, app_secret, namespace: shop.namespace };
    expect((await shop.callAnonymously("POST /products/", { namespace: null, body })).status).toBe(201);
  });

  test("rule 4: a key must be active and published, from the next request on", async () => {
    const key = await issueKey();
    const codes = [await codeOf({ auth: bearer(key) })];
    for (const verb of ["publish", "deactivate", "activate", "unpublish"]) {
      await shop.binary.json("key", verb, key.app_id, "--yes");
      codes.push(await codeOf({ auth: bearer(key) }));
    }
    expect(codes).toEqual([5203, undefined, 5203, undefined, 5203]);
  });
});

describe("§5 Domain enforcement", () => {
  const from = (key: IssuedKey, origin?: string) =>
    codeOf({ auth: bearer(key), headers: origin === undefined ? {} : { origin } });

  test("rule 1: a key may restrict the origins that may use it, but does not have to", async () => {
    const [open, closed] = [await issueKey("--publish"), await issueKey("--publish")];
    await shop.binary.json("origin", "set", closed.app_id, "shop.example.com");
    expect(await from(open, "https://anything.example")).toBeUndefined();
    expect(await from(closed, "https://anything.example")).toBe(5203);
  });

  test("rule 2: the host of Origin must match the allowlist exactly or by wildcard", async () => {
    const key = await issueKey("--publish");
    await shop.binary.json("origin", "set", key.app_id, "shop.example.com", "*.example.org");
    for (const [origin, code] of [
      ["https://shop.example.com", undefined],
      ["https://SHOP.example.com", undefined],
      ["https://a.example.org", undefined],
      ["https://a.b.example.org", undefined],
      ["https://example.org", 5203],
      ["https://example.com", 5203],
      ["https://www.shop.example.com", 5203],
      ["https://evilexample.org", 5203],
      ["https://shop.example.com.evil.com", 5203],
      ["null", 5203],
    ] as const) {
      expect([origin, await from(key, origin)]).toEqual([origin, code]);
    }
  });

  test("rule 3: a request with no Origin is allowed only if the key permits it", async () => {
    const key = await issueKey("--publish");
    await shop.binary.json("origin", "set", key.app_id, "shop.example.com");
    expect(await from(key)).toBe(5203);
    await shop.binary.json("origin", "set", key.app_id, "shop.example.com", "--allow-no-origin");
    expect(await from(key)).toBeUndefined();
  });
});

describe("§5 Token auth", () => {
  test("rule 1: user_id, token and namespace are sent as query parameters", async () => {
    const { user_id, token } = await shop.signIn(await shop.createUser());
    expect(await codeOf(query({ user_id, token }))).toBeUndefined();
    const body = { user_id, token, name: "Ada" };
    expect((await shop.callAnonymously("PATCH /users/me/", { body })).code).toBe(5206);
  });

  test("rule 2: tokens are stored hashed: no file of the data directory contains one", async () => {
    const { token } = await shop.signIn(await shop.createUser());
    expect(findInFiles(shop.dataDir, [token, token.slice(3)])).toEqual([]);
  });
});
