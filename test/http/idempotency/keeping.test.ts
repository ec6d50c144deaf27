import { beforeAll, describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { takesKey } from "../../../src/server/api/answers.ts";
import { routes } from "../../../src/server/api/routes.ts";
import { inTransaction } from "../../../src/server/db/transaction.ts";
import { AppError } from "../../../src/server/errors.ts";
import { app, defineRoute, publicAccess, type Route, reply } from "../../../src/server/http/route.ts";
import { recordAudit } from "../../../src/server/modules/audit/service.ts";
import { createProduct } from "../../../src/server/modules/catalogue/products/service.ts";
import { recordEvent } from "../../../src/server/modules/events/service.ts";
import { keptMs, purgeReplies } from "../../../src/server/modules/idempotency/service.ts";
import { createVault } from "../../../src/server/security/vault.ts";
import { goodPassword, openAccount, otherPassword } from "../../support/account.ts";
import { startTestApp, type TestApp } from "../../support/app.ts";
import { type Call, createClient } from "../../support/client.ts";
import type { Shop } from "../../support/factories.ts";
import { onEachDatabase, type Suite } from "../../support/suite.ts";

const nameOf = ({ method, path }: Route) => `${method} ${path}`;
/**
 * Names of fields with secrets. `access_token` is not among them, because the token of an order is added after the
 * reply is stored.
 */
const secretNames = /(?<!access_)token|secret|recovery|otpauth|password|qr_svg/;

describe("declarations of routes", () => {
  test("every POST outside /auth/ supports an idempotency key, unless its reply has a secret", () => {
    const without = routes
      .filter(({ method, path }) => method === "POST" && !path.startsWith("/auth/"))
      .filter((route) => !takesKey(route));
    expect(without.map(nameOf).toSorted()).toEqual([
      "POST /bookmarks/",
      "POST /likes/",
      "POST /notifications/register/",
      // These routes call a provider, so they cannot run in the transaction of a stored reply. Repeating them changes
      // nothing.
      "POST /orders/:id/checkout/",
      "POST /orders/:id/checkout/check/",
      "POST /orders/:id/invoice/",
      "POST /orders/access/",
      "POST /payments/stripe/",
      "POST /users/me/email/verify/",
      "POST /users/me/erase/",
      "POST /users/me/password/",
      "POST /users/me/two-factor/",
      "POST /users/me/two-factor/confirm/",
      "POST /users/me/two-factor/disable/",
      "POST /users/me/two-factor/recovery-codes/",
      "POST /users/sign-up/",
      "POST /users/verify/",
      "POST /users/verify/resend/",
      "POST /views/",
    ]);
  });

  test("no route that supports an idempotency key returns a secret, because the reply is stored", () => {
    for (const route of routes.filter(takesKey)) {
      const names = [...JSON.stringify(route.reply.data).matchAll(/"(\w+)":/g)].map(([, name]) => name as string);
      expect([nameOf(route), names.filter((name) => secretNames.test(name))]).toEqual([nameOf(route), []]);
    }
  });
});

let runs = 0;
const Runs = Type.Object({ run: Type.Integer() });
const common = { tag: "Trial", errors: ["wrongState"], reply: { status: 201, data: Runs } } as const;
const access = [app("products:write")] as const;

/** Routes of this test, for cases that do not occur in the product. */
const trialRoutes = [
  defineRoute("POST", "/trial/", "try", {
    ...common,
    summary: "Try something",
    access,
    query: Type.Object({ dry_run: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
    handle: async () => reply({ run: ++runs }, { version: 7, language: "pt-BR" }),
  }),
  defineRoute("POST", "/failing/", "fail", {
    ...common,
    summary: "Fail after all is written",
    access,
    body: Type.Object({ unexpected: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
    handle: async ({ ctx, body }) => {
      runs += 1;
      await inTransaction(ctx, async (tx) => {
        await createProduct(tx, { title: "Undone", price: 1 });
        await recordAudit(tx, { event: "user.created", subject: "undone" });
        await recordEvent(tx, { type: "user.created", subject: "undone", data: {} });
      });
      throw body.unexpected ? new Error("as a bug would") : new AppError("wrongState");
    },
  }),
  defineRoute("POST", "/open/", "open", {
    ...common,
    summary: "Open to anyone",
    access: [publicAccess],
    handle: async () => reply({ run: ++runs }),
  }),
  defineRoute("POST", "/secret/", "tellSecret", {
    ...common,
    summary: "Tell a secret",
    access,
    secret: true,
    handle: async () => reply({ run: ++runs }),
  }),
];

/** Returns all rows of all tables, as text. */
async function dump({ app: { db } }: Suite): Promise<string> {
  const { rows: tables } = await db.execute(
    "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and sql not like 'create virtual%'",
  );
  const parts: string[] = [];
  for (const { name } of tables)
    parts.push(JSON.stringify((await db.execute(`select * from "${name}"`)).rows.map((row) => Object.values(row))));
  return parts.join("\n");
}

async function countRows({ app: { db } }: Suite): Promise<unknown> {
  const { rows } = await db.execute(`select (select count(*) from products) as products,
    (select count(*) from audit_log) as audit, (select count(*) from events) as events,
    (select count(*) from idempotency_keys) as keys`);
  return { ...rows[0] };
}

onEachDatabase((suite) => {
  const { onFile } = suite;
  let shop: Shop;
  let trial: TestApp;
  let call: Call;
  let keys = 0;
  const keyed = (key = `trial-${++keys}`) => ({ headers: { "idempotency-key": key } });
  beforeAll(async () => {
    shop = await suite.shop();
    trial = startTestApp({ db: suite.database.db, clock: suite.app.clock, routes: trialRoutes });
    call = createClient(trial, { namespace: shop.namespace, auth: shop.auth });
  });

  onFile("a dry run with an idempotency key runs each time, stores no reply, and ignores stored replies", async () => {
    const send = keyed();
    const dry = { ...send, query: { dry_run: "true" } };
    const all = [];
    for (const options of [dry, dry, send, dry]) all.push(await call("POST /trial/", options));
    expect(new Set(all.map(({ data }) => data.run)).size).toBe(4);
    expect(all.map(({ headers }) => headers.get("idempotency-replayed"))).toEqual([null, null, null, null]);
    expect((await call("POST /trial/", { ...send, query: { dry_run: "false" } })).code).toBe(5307);
  });

  test("a request that fails at its end writes no record, event, audit row or stored reply", async () => {
    const send = keyed();
    for (const [unexpected, code] of [
      [false, 5306],
      [true, 5000],
    ] as const) {
      const before = await countRows(suite);
      const ran = runs;
      for (let time = 0; time < 2; time++) {
        expect((await call("POST /failing/", { ...send, body: { unexpected } })).code).toBe(code);
      }
      expect(runs).toBe(ran + 2);
      expect(await countRows(suite)).toEqual(before as never);
    }
  });

  onFile("idempotency keys of visitors are ignored, so each of their requests runs", async () => {
    const send = { ...keyed(), auth: null };
    const [first, second] = [await call("POST /open/", send), await call("POST /open/", send)];
    expect(second.data.run).toBe((first.data.run as number) + 1);
    const own = { headers: send.headers };
    expect((await call("POST /open/", own)).data).toEqual((await call("POST /open/", own)).data);
  });

  onFile("a reply with a secret is not stored, and the idempotency key is ignored", async () => {
    const send = keyed("no key at all");
    const [first, second] = [await call("POST /secret/", send), await call("POST /secret/", send)];
    expect(second.data.run).toBe((first.data.run as number) + 1);
  });

  onFile("no password, token or code is stored with a reply, or can be guessed from the stored hashes", async (own) => {
    const account = await openAccount(own);
    const { headers } = keyed();
    const body = { email: "kept@example.com", password: otherPassword };
    expect((await own.call("POST /users/", { body, headers })).status).toBe(201);
    const { data } = await account.call("POST /users/me/two-factor/", { body: { password: goodPassword }, headers });
    const change = { current_password: goodPassword, password: "Umber-Saucer-2756?x" };
    const session = await account.call("POST /users/me/password/", { body: change, headers });
    expect(session.status).toBe(200);
    const rows = await dump(suite);
    expect(rows).toContain("kept@example.com");
    for (const secret of [goodPassword, otherPassword, change.password, data.secret, session.data.token]) {
      expect(typeof secret).toBe("string");
      expect(rows).not.toContain(secret as string);
    }
    // The hash of a request is keyed, because a plain hash would allow guessing the password.
    const otherKey = createVault(() => "another secret that only tests know, 32 characters or more");
    const elsewhere = startTestApp({ db: suite.database.db, clock: suite.app.clock, vault: otherKey });
    const there = createClient(elsewhere, { namespace: own.namespace, auth: own.auth });
    expect((await there("POST /users/", { body, headers })).code).toBe(5307);
    await elsewhere.stop();
  });

  test("a purge removes only stored replies that are older than a day", async () => {
    const ctx = { db: suite.app.db, now: suite.app.clock.now };
    suite.app.clock.advance(1);
    await call("POST /trial/", keyed());
    suite.app.clock.advance(keptMs - 1);
    const young = keyed();
    const kept = await call("POST /trial/", young);
    await purgeReplies(ctx);
    suite.app.clock.advance(1);
    expect(await purgeReplies(ctx)).toBe(1);
    expect(await purgeReplies(ctx)).toBe(0);
    expect((await call("POST /trial/", young)).data).toEqual(kept.data);
  });
});
