import { beforeAll, describe, expect, test } from "bun:test";
import { type Account, openAccount } from "../../support/account.ts";
import type { CallOptions } from "../../support/client.ts";
import { type Shop, tenantContext } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";

interface Session {
  user_id: string;
  token: string;
  expires_at: string;
}
type Names = { user_id?: string; token?: string };
const routes = ["POST /auth/refresh/", "POST /auth/logout/"] as const;

onDatabase("file", (suite) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await suite.shop();
  });
  const call = (request: string, more: CallOptions = {}) => shop.callAnonymously<Session>(request, more);
  const namesOf = ({ id, token }: Account) => ({ user_id: id, token });

  for (const request of routes) {
    describe(request, () => {
      test("refresh and logout accept user_id and token in the body, and the query takes precedence for each", async () => {
        const taken: ((names: Required<Names>) => CallOptions)[] = [
          (names) => ({ query: names }),
          (names) => ({ body: names }),
          ({ user_id, token }) => ({ query: { user_id }, body: { token } }),
          ({ user_id, token }) => ({ query: { token }, body: { user_id } }),
          (names) => ({ query: names, body: { user_id: "usr_x", token: "v2.x" } }),
          (names) => ({ namespace: null, body: { ...names, namespace: shop.namespace } }),
        ];
        for (const send of taken) {
          const account = await openAccount(shop);
          expect((await call(request, send(namesOf(account)))).status).toBe(200);
        }
        const names = namesOf(await openAccount(shop));
        expect((await call(request, { query: { token: "v2.x" }, body: names })).code).toBe(5214);
        expect((await call(request, { query: { user_id: "usr_x" }, body: names })).code).toBe(5214);
        expect((await call(request, { query: names })).status).toBe(200);
      });

      test("refresh and logout reply 5214 for a token that is unknown, ended or expired, or belongs to another store or a disabled user", async () => {
        const { clock } = suite.app;
        const other = namesOf(await openAccount(await suite.shop()));
        const mine = namesOf(await openAccount(shop));
        const neighbour = namesOf(await openAccount(shop));
        const disabled = await openAccount(shop);
        const ctx = await tenantContext(shop);
        await ctx.db.execute({ sql: "update users set status = 'disabled' where id = ?", args: [disabled.id] });
        const bad: Names[] = [
          { ...mine, token: "v2.x" },
          { ...mine, token: "x" },
          { ...mine, token: mine.token.slice(0, -1) },
          { ...mine, user_id: neighbour.user_id },
          { user_id: mine.user_id, token: neighbour.token },
          other,
          namesOf(disabled),
        ];
        const ended = namesOf(await openAccount(shop));
        await call("POST /auth/logout/", { query: ended });
        bad.push(ended);
        const texts = new Set<string>();
        for (const names of bad) {
          const { code, text, requestId } = await call(request, { query: names });
          expect({ names, code }).toEqual({ names, code: 5214 });
          texts.add(text.replace(requestId, ""));
        }
        expect(texts.size).toBe(1);
        const old = namesOf(await openAccount(shop));
        clock.advance(30 * 86_400_000);
        expect((await call(request, { query: old })).code).toBe(5214);
      });

      test("refresh and logout reply 5204 if user_id or token is missing or malformed, and 5206 if both are", async () => {
        const { user_id, token } = namesOf(await openAccount(shop));
        const halves: CallOptions[] = [
          { query: { user_id } },
          { query: { token } },
          { body: { user_id } },
          { query: { user_id: "", token } },
          { query: { user_id, token: `${token} x` } },
          { body: { user_id, token: 5 } },
          { body: { user_id, token: null } },
          { query: { user_id, token: "" }, body: { token } },
        ];
        for (const send of halves)
          expect({ send, code: (await call(request, send)).code }).toEqual({ send, code: 5204 });
        for (const send of [{}, { body: {} }, { raw: "" }]) expect((await call(request, send)).code).toBe(5206);
        expect((await call(request, { query: { user_id, token } })).status).toBe(200);
      });

      test("refresh and logout verify only the token, and ignore valid and wrong app keys", async () => {
        const { auth } = shop;
        const { user_id, token } = namesOf(await openAccount(shop));
        expect((await call(request, { auth, query: { user_id, token: "v2.x" } })).code).toBe(5214);
        expect((await call(request, { auth, query: { token: "v2.x" } })).code).toBe(5204);
        expect((await call(request, { auth, query: { user_id }, body: { token: "v2.x" } })).code).toBe(5214);
        expect((await call(request, { auth: "Bearer a:b", query: { user_id, token } })).status).toBe(200);
      });

      test("refresh and logout refuse app keys: a valid key gets 5300, and a wrong key its own error", async () => {
        const { auth } = shop;
        expect((await call(request, { auth })).code).toBe(5300);
        expect((await call(request, { auth, query: { user_id: "usr_1" } })).code).toBe(5300);
        expect((await call(request, { auth: "Bearer a:b" })).code).toBe(5203);
        expect((await call(request, { auth: "Bearer a" })).code).toBe(5202);
      });

      test("refresh and logout refuse unknown fields, and then do not change the token", async () => {
        const names = namesOf(await openAccount(shop));
        expect((await call(request, { query: names, body: { all: true } })).fields).toEqual(["all"]);
        expect((await call(request, { query: { ...names, all: "1" } })).fields).toEqual(["all"]);
        expect((await call(request, { query: names, raw: "{" })).code).toBe(5100);
        expect((await call(request, { query: names })).status).toBe(200);
      });
    });
  }

  test("on other routes, a token in the body does not authenticate, and is not an unknown field", async () => {
    const account = await openAccount(shop);
    await (await tenantContext(shop)).db.execute({
      sql: "update users set role = 'staff' where id = ?",
      args: [account.id],
    });
    const lamp = { title: "Lamp", price: 1 };
    const create = (more: CallOptions) => call("POST /products/", more);
    const wrong = { ...lamp, user_id: "usr_x", token: "v2.x" };
    expect((await create({ body: { ...lamp, ...namesOf(account) } })).code).toBe(5206);
    expect((await create({ body: { ...lamp, token: account.token }, query: { user_id: account.id } })).code).toBe(5204);
    expect((await create({ body: wrong, query: namesOf(account) })).status).toBe(201);
    expect((await create({ body: wrong, auth: shop.auth })).status).toBe(201);
  });
});
