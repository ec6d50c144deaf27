import { describe, expect, test } from "bun:test";
import { openAccount } from "../../support/account.ts";
import { startTestApp } from "../../support/app.ts";
import { type ApiReply, type CallOptions, createClient, newAddress } from "../../support/client.ts";
import type { Shop } from "../../support/factories.ts";
import { becomeVisitor, ofProduct } from "../../support/reactions.ts";
import { newSubscription } from "../../support/registrations.ts";
import { onEachDatabase } from "../../support/suite.ts";

type Reply = ApiReply<Record<string, unknown>>;
/** Makes a public write about a new record. */
type Write = (shop: Shop, more: CallOptions) => Promise<Reply>;

const about = (request: string): Write => {
  return async (shop, more) => {
    const { id } = await shop.createProduct();
    return shop.callAnonymously(request, { body: ofProduct(id), ...more });
  };
};
const register: Write = (shop, more) =>
  shop.callAnonymously("POST /notifications/register/", {
    body: { platform: "web", subscription: newSubscription() },
    ...more,
  });
/** Each kind of public write, and whether a visitor may make it. */
const writes: [name: string, write: Write, byVisitor: boolean][] = [
  ["POST /likes/", about("POST /likes/"), true],
  ["POST /bookmarks/", about("POST /bookmarks/"), true],
  ["POST /views/", about("POST /views/"), true],
  ["POST /notifications/register/", register, false],
];

const answerOf = ({ status, code, headers }: Reply) => [code ?? status < 300, headers.get("retry-after")];
const fine: ReturnType<typeof answerOf> = [true, null];

onEachDatabase((suite) => {
  const { onFile } = suite;
  const open = (tenant: { addressWrites?: number; visitorWrites?: number }) => suite.shop({ tenant });

  describe.each(writes)("%s", (_name, write, byVisitor) => {
    onFile("a public write beyond the limit of an IP address gets 5107 with an exact Retry-After", async () => {
      const { clock } = suite.app;
      const shop = await open({ addressWrites: 3 });
      const address = newAddress();
      for (let n = 0; n < 3; n++) {
        expect(answerOf(await write(shop, { address }))).toEqual(fine);
        clock.advance(1000);
      }
      const refused = await write(shop, { address });
      expect([refused.status, ...answerOf(refused)]).toEqual([429, 5107, "57"]);
      expect(refused.error?.message).toBe("Too many writes from this address.");
      expect(answerOf(await write(shop, {}))).toEqual(fine);
      const named = { "x-client-address": newAddress() };
      const page = await shop.issueKey({ scopes: ["catalog:read"] });
      const cases: [string, Record<string, string>, ReturnType<typeof answerOf>][] = [
        [shop.auth, {}, [5107, "57"]],
        [shop.auth, named, fine],
        // With a storefront key, all visitors of a page count as one address.
        [shop.auth, { ...named, origin: "https://shop.example.com" }, [5107, "57"]],
        [`Bearer ${page.app_id}:${page.app_secret}`, named, [5107, "57"]],
      ];
      for (const [auth, headers, answer] of cases) {
        expect(answerOf(await write(shop, { address, auth, headers }))).toEqual(answer);
      }
      clock.advance(56_000);
      expect(answerOf(await write(shop, { address }))).toEqual([5107, "1"]);
      clock.advance(1000);
      expect(answerOf(await write(shop, { address }))).toEqual(fine);
      expect(answerOf(await write(shop, { address }))).toEqual([5107, "1"]);
    });

    onFile("a public write beyond the limit of a user or visitor is refused, from any address", async () => {
      const shop = await open({ visitorWrites: 2 });
      const { id: user_id, token } = await openAccount(shop);
      const people: CallOptions[] = [{ query: { user_id, token } }];
      if (byVisitor) {
        const { id } = await shop.createProduct();
        people.push({ query: { visitor: await becomeVisitor(shop.callAnonymously, "/likes/", id) } });
        suite.app.clock.advance(60_000);
        people.push({ ...people[1], auth: shop.auth });
      }
      const answers: unknown[] = [];
      for (const by of people) {
        for (let n = 0; n < 3; n++) answers.push(answerOf(await write(shop, by)));
      }
      const byTheKey = byVisitor ? [fine, fine, [5107, "60"], ...Array(3).fill([5107, "60"])] : [];
      expect(answers).toEqual([fine, fine, [5107, "60"], ...byTheKey]);
    });
  });

  onFile("writes of all kinds count together; reads and repeated views do not count", async () => {
    const shop = await open({ addressWrites: 4 });
    const address = newAddress();
    const { id } = await shop.createProduct();
    const call = async (request: string, more: CallOptions = {}) =>
      answerOf(await shop.callAnonymously(request, { address, ...more }));
    const body = ofProduct(id);
    expect(await call("POST /views/", { body })).toEqual(fine);
    for (let n = 0; n < 9; n++) expect(await call("POST /views/", { body })).toEqual(fine);
    expect(await call("POST /likes/", { body })).toEqual(fine);
    expect(answerOf(await register(shop, { address }))).toEqual(fine);
    const visitor = await becomeVisitor(shop.callAnonymously, "/bookmarks/", id);
    expect(await call("DELETE /bookmarks/", { query: { ...body, visitor } })).toEqual(fine);
    expect(await call("DELETE /bookmarks/", { query: { ...body, visitor } })).toEqual([5107, "60"]);
    expect(await call("POST /bookmarks/", { body })).toEqual([5107, "60"]);
    for (const path of ["/likes/", "/bookmarks/", "/views/"]) {
      for (let n = 0; n < 9; n++) expect(await call(`GET ${path}`, { query: body })).toEqual(fine);
    }
    expect(await call("POST /views/", { body })).toEqual(fine);
  });

  onFile("a public write that is refused for any reason counts, too", async () => {
    const shop = await open({ addressWrites: 5 });
    const address = newAddress();
    const send = async (body: unknown, request = "POST /likes/") =>
      answerOf(await shop.callAnonymously(request, { address, body }))[0];
    expect(await send({ resource_type: "product" })).toBe(5102);
    expect(await send({ ...ofProduct("prod_1"), text: "x".repeat(65_536) })).toBe(5104);
    expect(await send({ platform: "web" }, "POST /notifications/register/")).toBe(5102);
    expect(await send(ofProduct("prod_1"), "POST /views/")).toBe(5301);
    expect(await send(ofProduct("prod_1"), "POST /bookmarks/")).toBe(5301);
    for (const request of ["POST /likes/", "POST /views/", "POST /bookmarks/", "POST /notifications/register/"]) {
      expect(await send({}, request)).toBe(5107);
    }
  });

  test("two processes share the limits, and only the audit log identifies callers", async () => {
    const shop = await open({ addressWrites: 6, visitorWrites: 0 });
    const app = startTestApp({ db: await suite.database.openAgain(), clock: suite.app.clock });
    const elsewhere: Shop = { ...shop, callAnonymously: createClient(app, { namespace: shop.namespace }) };
    const address = newAddress();
    const like = about("POST /likes/");
    const share = async () => {
      await suite.app.memory.writes.sync();
      await app.memory.writes.sync();
    };
    for (let n = 0; n < 4; n++) expect(answerOf(await like(shop, { address }))).toEqual(fine);
    await share();
    for (let n = 0; n < 2; n++) expect(answerOf(await like(elsewhere, { address }))).toEqual(fine);
    expect(answerOf(await like(elsewhere, { address }))).toEqual([5107, "60"]);
    await share();
    await suite.app.memory.writes.sync();
    expect(answerOf(await like(shop, { address }))).toEqual([5107, "60"]);
    const { rows } = await suite.app.db.execute("select * from public_hits");
    expect(JSON.stringify(rows)).not.toContain(address);
    await app.stop();
  });
});
