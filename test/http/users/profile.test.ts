import { beforeAll, expect, test } from "bun:test";
import { type Account, goodPassword, openAccount, otherPassword } from "../../support/account.ts";
import type { Shop } from "../../support/factories.ts";
import { readOutbox } from "../../support/mail.ts";
import { otherCode } from "../../support/password-reset.ts";
import { codeIn, deliverMail, readCode } from "../../support/sign-up.ts";
import { onDatabase } from "../../support/suite.ts";
import { makeUser, readAudit, type UserReply } from "../../support/users.ts";

const request = "PATCH /users/me/";
const password = goodPassword;
const address = { line1: "Rua Augusta 1", city: "Lisboa", country: "PT", is_default: true };

onDatabase("file", (suite) => {
  let shop: Shop;
  let account: Account;
  beforeAll(async () => {
    shop = await suite.shop();
    account = await openAccount(shop, { email: "shared@example.com" });
  });
  const patch = (of: Account, body: Record<string, unknown>, headers: Record<string, string> = {}) =>
    of.call<UserReply>(request, { body, headers });
  const confirm = (of: Account, code: string) => of.call<UserReply>("POST /users/me/email/verify/", { body: { code } });
  const profile = async (of: Account) => (await of.call<UserReply>("GET /users/me/")).data;

  test("GET /users/me/ returns the same user as staff see, with the version as ETag", async () => {
    const { data, headers } = await account.call<UserReply>("GET /users/me/");
    expect(data).toEqual((await shop.call<UserReply>(`GET /users/${account.id}/`)).data);
    expect(headers.get("etag")).toBe(`"${data.version}"`);
  });

  test("users can change their name, phone, language, addresses and metadata, and no other field changes", async () => {
    const own = await openAccount(shop);
    const before = await profile(own);
    suite.app.clock.advance(1000);
    const body = { name: "Ada", phone: "+351 1", lang: "pt-br", addresses: [address], metadata: { a: { b: 1 }, c: 2 } };
    const { data, headers } = await patch(own, body);
    const updated_at = new Date(suite.app.clock.now()).toISOString();
    expect(data).toEqual({ ...before, ...body, lang: "pt-BR", version: 2, updated_at });
    expect(headers.get("etag")).toBe('"2"');
    expect((await patch(own, { metadata: { a: null }, name: null })).data).toMatchObject({
      name: null,
      metadata: { c: 2 },
    });
  });

  test("PATCH with a field that is unknown, invalid or reserved for staff gets 422 with its name, and nothing is written", async () => {
    const before = await profile(account);
    for (const [field, body] of [
      ["role", { role: "owner" }],
      ["status", { status: "active" }],
      ["email_verified", { email: "x@example.com", password, email_verified: true }],
      ["password_hash", { password_hash: "x" }],
      ["id", { id: "usr_01h455vb4pex5vsknk084sn02q" }],
      ["two_factor_enabled", { two_factor_enabled: false }],
      ["version", { version: 9 }],
      ["addresses.0.country", { addresses: [{ ...address, country: "XX" }] }],
      ["email", { email: "eve", password }],
      ["password", { email: "eve@example.com" }],
      ["password", { password }],
      ["password", { email: "eve@example.com", password: 1 }],
      ["password", { email: "eve@example.com", password: "x".repeat(1025) }],
    ] as const) {
      const { code, fields } = await patch(account, { name: "Eve", ...body });
      expect({ body, code, fields }).toEqual({ body, code: 5102, fields: [field] });
    }
    expect(await profile(account)).toEqual(before);
  });

  test("a new email requires the password, and is used only after its code is entered; both addresses get a mail", async () => {
    const own = await openAccount(shop, { email: "old@example.com" });
    await shop.call(`PATCH /users/${own.id}/`, { body: { email_verified: true, name: "Ada", lang: "de" } });
    const { data, text } = await patch(own, { email: "New@example.com", password, name: "Ada L." });
    expect(data).toMatchObject({ email: "old@example.com", pending_email: "New@example.com", name: "Ada L." });
    expect(text).not.toContain(password);
    const [toOld, toNew] = (await deliverMail(shop)).slice(-2);
    expect(toOld).toMatchObject({ to: "old@example.com", subject: "Eine neue E-Mail-Adresse wurde angegeben" });
    expect(toOld?.text).not.toContain("New@example.com");
    expect(toNew).toMatchObject({ to: "New@example.com", subject: "Bestätigen Sie Ihre E-Mail-Adresse" });
    const login = (email: string) => shop.callAnonymously("POST /auth/login/", { body: { email, password } });
    expect((await login("new@example.com")).code).toBe(5212);
    const code = codeIn(toNew?.text);
    expect((await confirm(own, otherCode(code))).code).toBe(5216);
    const verified = { email: "New@example.com", pending_email: null, email_verified: true };
    expect((await confirm(own, code)).data).toMatchObject(verified);
    expect((await confirm(own, code)).code).toBe(5216);
    expect((await deliverMail(shop)).map(({ to, subject }) => [to, subject])).toEqual([
      ["old@example.com", "Ihre E-Mail-Adresse wurde geändert"],
    ]);
    const events = (await readAudit(shop)).filter(({ subject }) => subject === own.id).slice(2);
    expect(events).toMatchObject([
      { event: "user.updated", details: { fields: ["name", "pending_email"] } },
      { event: "user.email_change_failed" },
      { event: "user.email_changed", details: null },
      { event: "user.updated", details: { fields: ["email_verified", "pending_email"] } },
    ]);
    expect((await login("old@example.com")).code).toBe(5212);
    expect((await login("new@example.com")).status).toBe(200);
  });

  test("another code for a new email can be requested, and only the latest code is valid", async () => {
    const own = await openAccount(shop, { email: "again@example.com" });
    await patch(own, { email: "again-new@example.com", password });
    const first = await readCode(shop, "email_code");
    suite.app.clock.advance(1000);
    expect((await own.call("POST /users/me/email/resend/")).data).toEqual({ accepted: true });
    const second = await readCode(shop, "email_code");
    if (first !== second) expect((await confirm(own, first)).code).toBe(5216);
    expect((await confirm(own, second)).data).toMatchObject({ email: "again-new@example.com" });
    expect((await own.call("POST /users/me/email/resend/")).code).toBe(5306);
  });

  test("a code verifies only the email to which it was mailed, and no email that is entered later", async () => {
    const own = await openAccount(shop);
    await patch(own, { email: "mine@example.com", password });
    const code = await readCode(shop, "email_code");
    await patch(own, { email: "stranger@example.com", password });
    if (code !== (await readCode(shop, "email_code"))) expect((await confirm(own, code)).code).toBe(5216);
    expect((await profile(own)).email).toBe(own.email);
  });

  test("a new password, or an email that staff set, removes a pending email", async () => {
    const own = await openAccount(shop);
    await patch(own, { email: "thief@example.com", password });
    const code = await readCode(shop, "email_code");
    await shop.call(`PATCH /users/${own.id}/`, { body: { email: "set-by-store@example.com" } });
    expect(await profile(own)).toMatchObject({ email: "set-by-store@example.com", pending_email: null });
    expect((await confirm(own, code)).code).toBe(5216);
    await patch(own, { email: "thief@example.com", password });
    const body = { current_password: password, password: otherPassword };
    const { data } = await own.call<{ token: string }>("POST /users/me/password/", { body });
    const query = { user_id: own.id, token: data.token };
    expect((await own.call("GET /users/me/", { query })).data).toMatchObject({ pending_email: null });
  });

  test("sending the present email needs no password and causes no mail; the email in other case needs the password, and is the same account", async () => {
    const own = await openAccount(shop, { email: "case@example.com" });
    await shop.call(`PATCH /users/${own.id}/`, { body: { email_verified: true } });
    const mails = async () => (await readOutbox(suite.app, shop.namespace)).length;
    const before = await mails();
    expect((await patch(own, { email: "case@example.com", name: "Ada" })).data).toMatchObject({ email_verified: true });
    expect((await patch(own, { email: "CASE@example.com" })).fields).toEqual(["password"]);
    expect((await patch(own, { email: "CASE@example.com", password })).data).toMatchObject({
      email: "CASE@example.com",
      email_verified: true,
    });
    expect(await mails()).toBe(before);
  });

  test("another user's email becomes pending like any email; that user gets a mail without a code", async () => {
    const own = await openAccount(shop);
    const other = await makeUser(shop);
    await deliverMail(shop);
    const { data } = await patch(own, { email: other.email.toUpperCase(), password });
    expect(data).toMatchObject({ email: own.email, pending_email: other.email.toUpperCase() });
    const mails = await deliverMail(shop);
    expect(mails.map(({ to, subject }) => [to, subject])).toEqual([
      [own.email, "A new email address was requested"],
      [other.email.toUpperCase().replace("EXAMPLE.COM", "example.com"), "You already have an account"],
    ]);
    expect(mails[1]?.text).not.toMatch(/\b\d{6}\b/);
  });

  test("more than three new emails a day are refused, so that strangers get few mails", async () => {
    const own = await openAccount(shop);
    for (let n = 0; n < 3; n++)
      expect([n, (await patch(own, { email: `stranger-${n}@example.com`, password })).status]).toEqual([n, 200]);
    const { code, headers } = await patch(own, { email: "stranger-3@example.com", password });
    expect([code, headers.get("retry-after")]).toEqual([5107, "86400"]);
    expect((await patch(own, { name: "Ada" })).status).toBe(200);
  });

  test("if four users verify one email at once, only one of them gets it", async () => {
    const racers = await Promise.all(Array.from({ length: 4 }, () => openAccount(shop)));
    const codes: string[] = [];
    for (const own of racers) {
      await patch(own, { email: "prize@example.com", password });
      codes.push(await readCode(shop, "email_code"));
      suite.app.clock.advance(1);
    }
    const replies = await Promise.all(racers.map((own, n) => confirm(own, codes[n] as string)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ code, fields }) => code === 5302 && fields[0] === "email")).toHaveLength(3);
  });

  test("a user who is disabled during a change stays disabled, and is not changed afterwards", async () => {
    const own = await openAccount(shop);
    const outcomes = await Promise.all([
      shop.call(`PATCH /users/${own.id}/`, { body: { status: "disabled" } }),
      ...Array.from({ length: 8 }, (_, n) => patch(own, { metadata: { [`k${n}`]: 1 } })),
    ]);
    for (const { code } of outcomes) expect([undefined, 5207]).toContain(code);
    const { data } = await shop.call<UserReply>(`GET /users/${own.id}/`);
    expect(data.status).toBe("disabled");
    expect((await patch(own, { name: "Eve" })).code).toBe(5207);
  });
});
