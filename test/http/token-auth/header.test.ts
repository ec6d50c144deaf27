import { beforeAll, expect, test } from "bun:test";
import { setOrigins } from "../../../src/server/modules/app-keys/origins.ts";
import { type Account, openAccount } from "../../support/account.ts";
import { type ApiReply, type CallOptions, newAddress } from "../../support/client.ts";
import type { Shop } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";

type Pair = { user_id: string; token: string };
const of = ({ id, token }: Account): Pair => ({ user_id: id, token });
/** Returns call options with the credentials in the header. */
const header = ({ user_id, token }: Pair, scheme = "Bearer"): CallOptions => ({
  auth: `${scheme} ${user_id}:${token}`,
});

onDatabase("file", (suite) => {
  let shop: Shop;
  let account: Account;
  beforeAll(async () => {
    shop = await suite.shop();
    account = await openAccount(shop);
  });
  const call = <T = Record<string, unknown>>(request: string, more: CallOptions): Promise<ApiReply<T>> =>
    shop.callAnonymously<T>(request, more);

  test("a user token in the header authenticates reads and writes, without a token in the URL", async () => {
    for (const scheme of ["Bearer", "bearer", "BEARER"]) {
      const { status, data } = await call("GET /users/me/", header(of(account), scheme));
      expect([status, data.id]).toEqual([200, account.id]);
    }
    const body = { name: "Ada" };
    expect((await call("PATCH /users/me/", { ...header(of(account)), body })).data.name).toBe("Ada");
    expect(suite.app.entries.at(-1)?.caller).toBe(account.id);
  });

  test("credentials in the header get the same codes as in the query, on user routes, public routes and refresh", async () => {
    const [neighbour, foreign] = [await openAccount(shop), await openAccount(await suite.shop())];
    const replaced = await openAccount(shop);
    await call("POST /auth/refresh/", header(of(replaced)));
    const { user_id, token } = of(account);
    const table: [Pair, number, CallOptions?][] = [
      [{ user_id, token: "v2.x" }, 5205],
      [{ user_id, token: shop.key.app_secret }, 5205],
      [{ user_id: neighbour.id, token }, 5205],
      [{ user_id: "usr_'or'1'='1", token }, 5205],
      [of(foreign), 5205],
      [of(replaced), 5207],
      [{ user_id, token: "" }, 5204],
      [{ user_id, token: "a b" }, 5204],
      [{ user_id, token: "x".repeat(257) }, 5204],
    ];
    const like = { resource_type: "product", resource_id: (await shop.createProduct()).id };
    for (const [pair, code] of table) {
      for (const [request, expected] of [
        ["GET /products/", code],
        ["GET /likes/", code],
        ["POST /auth/refresh/", code === 5204 ? 5204 : 5214],
      ] as const) {
        const query: Record<string, string> = request.includes("likes") ? like : {};
        const inHeader = await call(request, { ...header(pair), query });
        const inQuery = await call(request, { query: { ...query, ...pair } });
        expect([request, pair, inHeader.code]).toEqual([request, pair, expected]);
        expect({ ...inHeader.error }).toEqual({ ...inQuery.error });
      }
    }
    for (const auth of [`Bearer ${user_id}`, "Bearer usr_", "Bearer usr_:"]) {
      expect((await call("GET /products/", { auth })).code).toBe(5204);
    }
    expect((await call("GET /users/me/", header(of(account)))).status).toBe(200);
  });

  test("the query takes precedence over the header, and the header over the body", async () => {
    const [other, third] = [await openAccount(shop), await openAccount(shop)];
    const wrong = { user_id: other.id, token: "v2.wrong" };
    const me = async (auth: Pair, query: Partial<Pair>) => {
      const { code, data } = await call("GET /users/me/", { ...header(auth), query });
      return code ?? data.id;
    };
    expect(await me(of(account), of(other))).toBe(other.id);
    expect(await me(wrong, of(other))).toBe(other.id);
    expect(await me(of(account), wrong)).toBe(5205);
    expect(await me(of(account), { user_id: other.id })).toBe(5205);
    expect(await me(of(account), { user_id: account.id })).toBe(account.id);
    expect((await call("POST /auth/logout/", { ...header(of(third)), body: of(account) })).status).toBe(200);
    expect([await me(of(third), {}), await me(of(account), {})]).toEqual([5207, account.id]);
  });

  test("if a page sends its key in the query and its user in the header, the route uses the credentials that it accepts", async () => {
    const origin = "https://shop.example.com";
    const { app_id, app_secret } = await shop.issueKey({ scopes: ["catalog:read"] });
    await setOrigins(suite.app.system, { appId: app_id, origins: [origin] });
    const page = (pair: Pair) => ({ ...header(pair), query: { app_id, app_secret }, headers: { origin } });
    const mine = await call("GET /orders/", page(of(account)));
    expect([mine.status, suite.app.entries.at(-1)?.caller]).toEqual([200, account.id]);
    const catalog = await call("GET /products/", page(of(account)));
    expect([catalog.status, suite.app.entries.at(-1)?.caller]).toEqual([200, app_id]);
    const ended = await call("GET /orders/", page({ ...of(account), token: "v2.ended" }));
    expect([ended.code, ended.headers.get("access-control-allow-origin")]).toEqual([5205, origin]);
    expect((await call("GET /orders/", { query: { app_id, app_secret }, headers: { origin } })).code).toBe(5300);
    expect((await call("GET /users/", page(of(account)))).code).toBe(5300);
  });

  test("wrong tokens in the header count as failed attempts of the address, and valid tokens do not count", async () => {
    const address = newAddress();
    const good = () => call("GET /users/me/", { ...header(of(account)), address });
    for (let n = 0; n < 10; n++) expect((await good()).status).toBe(200);
    const codes: unknown[] = [];
    for (let n = 0; n < 11; n++) {
      codes.push((await call("GET /users/me/", { auth: `Bearer ${account.id}:v2.wrong`, address })).code);
    }
    expect(codes).toEqual([...Array(10).fill(5205), 5209]);
    expect((await good()).status).toBe(200);
  });
});
