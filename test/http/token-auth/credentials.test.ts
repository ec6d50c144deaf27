import { beforeAll, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { inTransaction } from "../../../src/server/db/transaction.ts";
import {
  token as anyToken,
  defineRoute,
  publicAccess,
  type Route,
  reply,
  staff,
} from "../../../src/server/http/route.ts";
import { issueToken, revokeTokensOf } from "../../../src/server/modules/tokens/service.ts";
import { type Account, openAccount } from "../../support/account.ts";
import { startTestApp } from "../../support/app.ts";
import { type CallOptions, createClient } from "../../support/client.ts";
import { type Shop, tenantContext } from "../../support/factories.ts";
import { onDatabase } from "../../support/suite.ts";

const read = "GET /products/";

/** Defines a route that returns its caller. */
const whoRoute = (path: `/${string}/`, id: string, access: Route["access"]) =>
  defineRoute("GET", path, id, {
    tag: "Who",
    summary: "Who calls",
    access,
    reply: {
      data: Type.Object({ kind: Type.String(), id: Type.Optional(Type.String()), role: Type.Optional(Type.String()) }),
    },
    errors: [],
    handle: async ({ ctx: { actor } }) =>
      reply(actor.kind === "user" ? { kind: actor.kind, id: actor.userId, role: actor.role } : { kind: actor.kind }),
  });
const routes = [
  whoRoute("/open/", "open", [publicAccess]),
  whoRoute("/own/", "own", [anyToken]),
  whoRoute("/staff/", "staffOnly", [staff]),
];

onDatabase("file", (suite) => {
  let shop: Shop;
  let account: Account;
  beforeAll(async () => {
    shop = await suite.shop();
    account = await openAccount(shop);
  });
  const names = (of: Account = account) => ({ user_id: of.id, token: of.token });
  const call = (request: string, more: CallOptions = {}) => shop.callAnonymously(request, more);

  test("token auth: an issued token that has ended for any reason gets 5207", async () => {
    const { clock } = suite.app;
    const ctx = await tenantContext(shop);
    const run = (sql: string, id: string) => ctx.db.execute({ sql, args: [id] });
    const ends: ((of: Account) => unknown)[] = [
      (of) => call("POST /auth/refresh/", { query: names(of) }),
      (of) => call("POST /auth/logout/", { query: names(of) }),
      (of) => inTransaction(ctx, (tx) => issueToken(tx, of.id)),
      (of) => revokeTokensOf(ctx, of.id),
      (of) => run("update users set status = 'disabled' where id = ?", of.id),
      (of) => run("delete from users where id = ?", of.id),
      () => clock.advance(30 * 86_400_000),
    ];
    for (const end of ends) {
      const one = await openAccount(shop);
      expect((await call(read, { query: names(one) })).status).toBe(200);
      await end(one);
      expect((await call(read, { query: names(one) })).code).toBe(5207);
    }
    account = await openAccount(shop);
  });

  test("token auth: if several methods are sent, one success is enough; if all fail, the reply is 5206", async () => {
    const bad = { user_id: account.id, token: "v2.x" };
    const { app_id, app_secret } = shop.key;
    const table: [code: number | undefined, more: CallOptions][] = [
      [undefined, { auth: shop.auth, query: bad }],
      [undefined, { auth: "Bearer a:b", query: names() }],
      [undefined, { auth: "Bearer a", query: names() }],
      [undefined, { query: { ...names(), app_id: "a", app_secret: "b" } }],
      [undefined, { query: { ...bad, app_id, app_secret } }],
      [undefined, { auth: shop.auth, query: { user_id: account.id } }],
      [undefined, { auth: shop.auth, query: { token: "v2.x" } }],
      [5206, { auth: "Bearer a:b", query: bad }],
      [5206, { auth: "Bearer a", query: { token: "v2.x" } }],
      // `user_id` beside a wrong key does not count as a second attempt.
      [5203, { auth: "Bearer a:b", query: { user_id: account.id } }],
    ];
    for (const [code, more] of table) expect({ more, code: (await call(read, more)).code }).toEqual({ more, code });
  });

  test("token auth: a route gets the user with the current role; without credentials, an open route gets a visitor", async () => {
    const app = startTestApp({ db: suite.database.db, clock: suite.app.clock, routes });
    const who = createClient(app, { namespace: shop.namespace });
    const user = { kind: "user", id: account.id, role: "customer" };
    const ask = (path: string, more: CallOptions = {}) => who(`GET ${path}`, more);
    expect((await ask("/own/", { query: names() })).data).toEqual(user);
    expect((await ask("/open/", { query: names() })).data).toEqual(user);
    expect((await ask("/open/")).data).toEqual({ kind: "visitor" });
    expect((await ask("/open/", { query: { ...names(), token: "v2.x" } })).code).toBe(5205);
    expect((await ask("/open/", { query: { token: "v2.x" } })).code).toBe(5204);
    expect((await ask("/staff/", { query: names() })).code).toBe(5300);
    expect((await ask("/own/", { auth: shop.auth })).code).toBe(5300);
    await app.stop();
  });
});
