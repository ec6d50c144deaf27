import { expect } from "bun:test";
import { goodPassword, openAccount, otherPassword } from "../../support/account.ts";
import type { ApiReply } from "../../support/client.ts";
import type { Shop } from "../../support/factories.ts";
import { readOutbox, readResetCode } from "../../support/mail.ts";
import { forgot, reset } from "../../support/password-reset.ts";
import { type ApiScenario, runScenarios, scenariosOf } from "../../support/scenarios.ts";
import { onDatabase } from "../../support/suite.ts";

const forgotRequest = "POST /auth/password/forgot/";
const resetRequest = "POST /auth/password/reset/";
const email = "ada@example.com";
const good = { email, code: "012345", password: otherPassword };

/** Returns the options of a call without credentials, from a new address. */
const send = (body: unknown, more = {}) => ({ body, auth: null, ...more });

const scenarios: ApiScenario[] = [
  ...scenariosOf(forgotRequest, [
    [
      "forgot accepts an address",
      () => send({ email }),
      200,
      { check: ({ data }: ApiReply) => expect(data).toEqual({ accepted: true }) },
    ],
    ["forgot accepts a language", () => send({ email, language: "pt-br" }), 200],
    ["forgot accepts a text that is not an address", () => send({ email: "nobody" }), 200],
    ["forgot without an email gets 5102", () => send({}), 5102, "email"],
    ["forgot with a very long email gets 5102", () => send({ email: `${"a".repeat(400)}@example.com` }), 5102, "email"],
    ["forgot with an invalid language gets 5102", () => send({ email, language: "not a language" }), 5102, "language"],
    [
      "forgot with an unknown field gets 5102",
      () => send({ email, password: goodPassword }),
      5102,
      "password",
      { lacks: [goodPassword] },
    ],
    ["forgot without a body gets 5102", () => send(undefined), 5102],
  ]),
  ...scenariosOf(resetRequest, [
    ["reset with a code that was never sent gets 5216", () => send(good), 5216],
    ["reset with a text that is not an address gets 5216", () => send({ ...good, email: "x" }), 5216],
    ["reset without any field gets 5102 with the names of all", () => send({}), 5102, ["code", "email", "password"]],
    [
      "reset with a number as code gets 5102, because a number loses leading zeros",
      () => send({ ...good, code: 123456 }),
      5102,
      "code",
      { lacks: [otherPassword] },
    ],
    [
      "reset with a code other than six digits gets 5216, like a wrong code",
      () => send({ ...good, code: "12345" }),
      5216,
    ],
    ["reset with a very long code gets 5102", () => send({ ...good, code: "1".repeat(65) }), 5102, "code"],
    [
      "reset with a very long password gets 5102",
      () => send({ ...good, password: "Aa1!".repeat(300) }),
      5102,
      "password",
    ],
  ]),
];

onDatabase("file", (suite) => {
  const { test } = suite;
  runScenarios(suite, scenarios);

  test("a reset for an unknown address writes the same rows as for a user's address, and a mail of the same length", async (shop) => {
    const { email } = await openAccount(shop, { email: "real-one@example.com" });
    const traces: number[][] = [];
    for (const address of [email, "nobody-1@example.com"]) {
      const before = await counts(shop);
      await forgot(shop, address);
      traces.push((await counts(shop)).map((n, i) => n - (before[i] as number)));
    }
    expect(traces[0]).toEqual(traces[1] as number[]);
    const mails = await readOutbox(suite.app, shop.namespace);
    expect(mails.map(({ kind, status, to }) => [kind, status, to])).toEqual([
      ["reset_code", "waiting", { emailKey: email }],
      ["reset_code", "waiting", { emailKey: "nobody-1@example.com" }],
    ]);
    const lengths = await suite.app.db.execute({
      sql: "select length(sealed) as n from mail_outbox m join tenants t on t.id = m.tenant_id where namespace = ?",
      args: [shop.namespace],
    });
    expect(lengths.rows[0]?.n).toBe(lengths.rows[1]?.n as number);
  });

  /** Counts the rows of each kind. */
  async function counts({ namespace }: Shop): Promise<number[]> {
    const sql = `select (select count(*) from audit_log where namespace = t.namespace) as a,
      (select count(*) from mail_codes c where c.tenant_id = t.id) as b,
      (select count(*) from mail_outbox m where m.tenant_id = t.id) as c,
      (select count(*) from rate_limits where key like 'reset-%' || t.id || '%') as d from tenants t where namespace = ?`;
    const { rows } = await suite.app.db.execute({ sql, args: [namespace] });
    return Object.values({ ...rows[0] }).map(Number);
  }

  test("the mail has a code of six digits, with leading zeros, which is valid for 15 minutes", async (shop) => {
    const started = suite.app.clock.now();
    for (let n = 0; n < 12; n++) await forgot(shop, `digits-${n}@example.com`);
    const mails = await readOutbox(suite.app, shop.namespace);
    for (const { values, useful_until } of mails) {
      expect(values?.code).toMatch(/^\d{6}$/);
      expect(useful_until).toBe(new Date(started + 15 * 60_000).toISOString());
    }
    expect(new Set(mails.map(({ values }) => values?.code)).size).toBeGreaterThan(9);
  });

  test("the mail of a reset is in the requested language, whose code may be in any form", async (shop) => {
    const query = { lang: "fr" };
    await shop.callAnonymously(forgotRequest, { body: { email: "a@example.com", language: "PT-br" } });
    await forgot(shop, "b@example.com");
    await shop.callAnonymously(forgotRequest, { body: { email: "c@example.com" }, query });
    await shop.callAnonymously(forgotRequest, { body: { email: "d@example.com", language: "ar" }, query });
    const mails = await readOutbox(suite.app, shop.namespace);
    expect(mails.map(({ language }) => language)).toEqual(["pt-BR", undefined, "fr", "ar"]);
  });

  test("a newer reset code replaces the waiting mail of an older code, for addresses with and without a user", async (shop) => {
    const { email } = await openAccount(shop, { email: "twice@example.com" });
    for (const address of [email, "nobody-3@example.com", email.toUpperCase(), "nobody-3@example.com"]) {
      await forgot(shop, address);
      suite.app.clock.advance(1000);
    }
    const mails = await readOutbox(suite.app, shop.namespace);
    expect(mails.map(({ status, to }) => [status, to])).toEqual([
      ["expired", undefined],
      ["expired", undefined],
      ["waiting", { emailKey: email }],
      ["waiting", { emailKey: "nobody-3@example.com" }],
    ]);
  });

  test("a fourth reset mail within 20 minutes is not sent, and the third code stays valid", async (shop) => {
    const { email } = await openAccount(shop);
    const replies: string[] = [];
    for (let n = 0; n < 5; n++) {
      const { text, requestId } = await forgot(shop, n % 2 ? email.toUpperCase() : email);
      replies.push(text.replace(requestId, ""));
      suite.app.clock.advance(60_000);
    }
    expect(new Set(replies).size).toBe(1);
    expect(await readOutbox(suite.app, shop.namespace)).toHaveLength(3);
    expect((await reset(shop, email, await readResetCode(suite.app, shop.namespace))).status).toBe(200);
  });

  test("many concurrent requests for one address send three mails; after 20 minutes, another mail is sent", async (shop) => {
    const mails = async () => (await readOutbox(suite.app, shop.namespace)).length;
    const replies = await Promise.all(Array.from({ length: 20 }, () => forgot(shop, "crowd@example.com")));
    for (const { status } of replies) expect(status).toBe(200);
    expect(await mails()).toBe(3);
    suite.app.clock.advance(20 * 60_000 - 1);
    await forgot(shop, "crowd@example.com");
    expect(await mails()).toBe(3);
    suite.app.clock.advance(1);
    await forgot(shop, "crowd@example.com");
    expect(await mails()).toBe(4);
  });

  test("the limit of reset mails is separate for each store and address", async () => {
    const [shop, other] = [await suite.shop(), await suite.shop()];
    for (let n = 0; n < 4; n++) await forgot(shop, "same@example.com");
    await forgot(shop, "else@example.com");
    await forgot(other, "same@example.com");
    expect(await readOutbox(suite.app, shop.namespace)).toHaveLength(4);
    expect(await readOutbox(suite.app, other.namespace)).toHaveLength(1);
  });

  test("the database contains no code, and the audit log no address", async (shop) => {
    await forgot(shop, "canary-of-mail@example.com");
    const code = await readResetCode(suite.app, shop.namespace);
    const codes = await suite.app.db.execute("select hash from mail_codes");
    expect(JSON.stringify(codes.rows)).not.toContain(code);
    const { rows } = await suite.app.db.execute({
      sql: "select * from audit_log where namespace = ? and event = 'password.reset_requested'",
      args: [shop.namespace],
    });
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain("canary-of-mail");
    expect(rows[0]).toMatchObject({ actor_kind: "visitor", subject: null, details: null });
  });

  test("password forgot and reset ignore credentials", async () => {
    const [shop, other] = [await suite.shop(), await suite.shop()];
    const query = { user_id: "usr_gone", token: "v2.gone" };
    for (const more of [{ auth: other.auth }, { query }, { auth: "Bearer x:y", query }]) {
      expect((await shop.call(forgotRequest, send({ email }, more))).status).toBe(200);
      expect((await shop.call(resetRequest, send(good, more))).code).toBe(5216);
    }
  });

  test("a reset for an invalid address writes nothing", async (shop) => {
    for (const text of ["nobody", "a@b", "@example.com", "a b@example.com", "a@example..com", "\u0000@example.com"]) {
      expect((await shop.call(forgotRequest, send({ email: text }))).data).toEqual({ accepted: true });
    }
    expect(await readOutbox(suite.app, shop.namespace)).toEqual([]);
  });
});
