import { beforeAll, expect, spyOn } from "bun:test";
import { addressSubject } from "../../../src/server/modules/rate-limits/service.ts";
import { purgeSignUps } from "../../../src/server/modules/sign-up/service.ts";
import { updateTenant } from "../../../src/server/modules/tenants/service.ts";
import { goodPassword, openAccount, otherPassword } from "../../support/account.ts";
import { type ApiReply, newAddress } from "../../support/client.ts";
import { type Shop, tenantContext } from "../../support/factories.ts";
import { readOutbox } from "../../support/mail.ts";
import { otherCode, requestCode, reset } from "../../support/password-reset.ts";
import { type ApiScenario, runScenarios, type ScenarioRow, scenariosOf } from "../../support/scenarios.ts";
import { codeIn, deliverMail, readCode, signUp, verify } from "../../support/sign-up.ts";
import { onDatabase } from "../../support/suite.ts";
import { makeUser, readUsers } from "../../support/users.ts";

const request = "POST /users/sign-up/";
const email = "ada@example.com";
const good = { email, password: goodPassword };
const send = (body: unknown, more = {}) => ({ body, ...more });

const scenarios: ApiScenario[] = [
  ...scenariosOf(request, [
    [
      "a sign-up is accepted, and its reply says that the address must be verified",
      () => send({ ...good, name: "Ada" }),
      200,
      {
        lacks: [goodPassword],
        check: ({ data }: ApiReply) => expect(data).toEqual({ accepted: true, next: "verify" }),
      },
    ],
    ["the error for a sign-up without fields names them", () => send({}), 5102, ["email", "password"]],
    ["a sign-up with an invalid email gets 5102", () => send({ ...good, email: "nobody" }), 5102, "email"],
    [
      "a sign-up with a weak password gets 5217",
      () => send({ ...good, password: "Short-1" }),
      5217,
      "password",
      { lacks: ["Short-1"] },
    ],
    ...["role", "status", "email_verified", "password_hash", "metadata"].map(
      (field): ScenarioRow => [
        `a sign-up cannot choose ${field}`,
        () => send({ ...good, [field]: "owner" }),
        5102,
        field,
        { lacks: [goodPassword] },
      ],
    ),
    ["a sign-up with a blank name gets 5102", () => send({ ...good, name: " " }), 5102, "name"],
  ]),
  ...scenariosOf("POST /users/verify/", [
    ["a code that was never sent gets 5216", () => send({ ...good, code: "012345" }), 5216],
    ["the error for verifying without fields names them", () => send({}), 5102, ["code", "email", "password"]],
    ["a code for an invalid address gets 5216", () => send({ ...good, email: "nobody", code: "012345" }), 5216],
  ]),
  {
    name: "a request for another code is accepted with any text",
    request: "POST /users/verify/resend/",
    send: () => send({ email: "nobody" }),
    expect: 200,
    check: ({ data }: ApiReply) => expect(data).toEqual({ accepted: true }),
  },
];

onDatabase("file", (suite) => {
  const { test } = suite;
  runScenarios(suite, scenarios);

  const login = (shop: Shop, of = email, password = goodPassword) =>
    shop.callAnonymously("POST /auth/login/", { body: { email: of, password } });

  test("the mailed code creates the account in the language of the sign-up; only then can it sign in", async (shop) => {
    const body = { email: "Ada@example.com", password: goodPassword, name: "Ada" };
    await shop.call(request, send(body, { query: { lang: "de" } }));
    expect((await login(shop)).code).toBe(5212);
    expect(await readUsers(shop)).toEqual([]);
    const [mail] = await deliverMail(shop);
    expect(mail).toMatchObject({ to: "Ada@example.com", subject: "Ihr Bestätigungscode" });
    const code = codeIn(mail?.text);
    expect((await verify(shop, email, otherCode(code))).code).toBe(5216);
    expect((await verify(shop, email, code)).data).toEqual({ verified: true });
    const account = { email: body.email, name: "Ada", lang: "de", role: "customer", status: "active" } as const;
    expect(await readUsers(shop)).toMatchObject([{ ...account, email_verified: true }]);
    expect((await login(shop)).status).toBe(200);
    expect((await verify(shop, email, code)).code).toBe(5216);
  });

  test("a sign-up with the address of an account has the same reply, rows and hashing, and a mail without a code", async (shop) => {
    await openAccount(shop, { email: "real@example.com" });
    // The first sign-up of a store creates the row of its count.
    await signUp(shop, "else@example.com");
    const traces: unknown[] = [];
    const hash = spyOn(Bun.password, "hash");
    for (const address of ["real@example.com", "none@example.com"]) {
      hash.mockClear();
      const before = await counts(shop);
      const { text, status, headers, requestId } = await signUp(shop, address);
      const names = [...headers.keys()].filter((name) => name !== "date").toSorted();
      const added = (await counts(shop)).map((n, i) => n - (before[i] as number));
      traces.push([status, text.replace(requestId, ""), names, added, hash.mock.calls.length]);
    }
    hash.mockRestore();
    expect(traces[0]).toEqual(traces[1]);
    const lengths = await suite.app.db.execute({
      sql: "select length(sealed) as n from mail_outbox m join tenants t on t.id = m.tenant_id where namespace = ?",
      args: [shop.namespace],
    });
    expect(new Set(lengths.rows.map(({ n }) => n)).size).toBe(1);
    const mails = await deliverMail(shop);
    // Several are sent at once, so they can arrive in any order.
    const mailTo = (address: string) => mails.find(({ to }) => to === address);
    expect(mails).toHaveLength(3);
    expect(mailTo("none@example.com")?.subject).toBe("Your verification code");
    expect(mailTo("real@example.com")?.subject).toBe("You already have an account");
    expect(mailTo("real@example.com")?.text).not.toMatch(/\b\d{6}\b/);
  });

  /** Counts the rows of each kind. */
  async function counts({ namespace }: Shop): Promise<number[]> {
    const sql = `select (select count(*) from audit_log where namespace = t.namespace) as a,
      (select count(*) from mail_codes c where c.tenant_id = t.id) as b, (select count(*) from users u where u.tenant_id = t.id) as c,
      (select count(*) from mail_outbox m where m.tenant_id = t.id) as d, (select count(*) from sign_ups s where s.tenant_id = t.id) as e,
      (select count(*) from rate_limits where key like 'sign_up-%' || t.id || '%') as f from tenants t where namespace = ?`;
    const { rows } = await suite.app.db.execute({ sql, args: [namespace] });
    return Object.values({ ...rows[0] }).map(Number);
  }

  test("a disabled user gets no mail and no second account", async (shop) => {
    await makeUser(shop, { email, status: "disabled" });
    await signUp(shop, email);
    const code = await readCode(shop, "sign_up_code");
    expect(await deliverMail(shop)).toEqual([]);
    expect((await verify(shop, email, code)).code).toBe(5216);
    expect(await readUsers(shop)).toHaveLength(1);
  });

  test("the password distinguishes several people's sign-ups with one address, and only one account is created", async (shop) => {
    await signUp(shop, email, { name: "Ada" });
    await signUp(shop, email, { password: otherPassword, name: "Mallory" });
    const code = await readCode(shop, "sign_up_code");
    expect((await verify(shop, email, code)).status).toBe(200);
    expect((await verify(shop, email, code, otherPassword)).code).toBe(5216);
    expect(await readUsers(shop)).toMatchObject([{ name: "Ada" }]);
  });

  test("if strangers have used up the mails of an address, its owner can verify a sign-up with a code that the strangers requested", async (shop) => {
    for (let n = 0; n < 3; n++) await signUp(shop, email, { password: otherPassword, name: "Mallory" });
    await signUp(shop, email, { name: "Ada" });
    expect(await readOutbox(suite.app, shop.namespace)).toHaveLength(3);
    expect((await verify(shop, email, await readCode(shop, "sign_up_code"))).status).toBe(200);
    expect(await readUsers(shop)).toMatchObject([{ name: "Ada" }]);
  });

  test("an address gets at most ten mails about sign-ups a day, and this limit does not affect other mails", async (shop) => {
    const mailed = async () => (await readOutbox(suite.app, shop.namespace)).map(({ kind }) => kind);
    for (let n = 0; n < 12; n++) {
      await shop.call("POST /users/verify/resend/", send({ email }));
      suite.app.clock.advance(20 * 60_000);
    }
    await signUp(shop, email);
    expect(await mailed()).toEqual(Array(10).fill("sign_up_code"));
    await shop.callAnonymously("POST /auth/password/forgot/", send({ email }));
    expect(await mailed()).toContain("reset_code");
    suite.app.clock.advance(86_400_000);
    await signUp(shop, email);
    expect(await mailed()).toHaveLength(12);
  });

  /** Counts this many calls for a limit, at the present time. */
  const useUp = (key: string, hits: number) => {
    const now = suite.app.clock.now();
    const args = [key, JSON.stringify(Array(hits).fill(now)), now + 3_600_000];
    return suite.app.db.execute({ sql: "insert into rate_limits (key, hits, expires_at) values (?, ?, ?)", args });
  };

  test("beyond 300 mails about sign-ups an hour, a store refuses sign-ups; other stores are not affected", async () => {
    const [shop, other] = [await suite.shop(), await suite.shop()];
    const { tenant } = await tenantContext(shop);
    await useUp(`sign-up-mails-store:${tenant.id}`, 299);
    expect((await signUp(shop, "last@example.com")).status).toBe(200);
    const refused = await signUp(shop, email);
    expect([refused.code, refused.headers.get("retry-after")]).toEqual([5107, "3600"]);
    expect((await signUp(other, email)).status).toBe(200);
    suite.app.clock.advance(3_600_000);
    expect((await signUp(shop, email)).status).toBe(200);
  });

  test("a client's second sign-up with an address replaces the first", async (shop) => {
    const address = newAddress();
    for (const password of [otherPassword, goodPassword])
      await shop.call(request, send({ email, password }, { address }));
    const code = await readCode(shop, "sign_up_code");
    expect((await verify(shop, email, code, otherPassword)).code).toBe(5216);
    expect((await verify(shop, email, code)).status).toBe(200);
  });

  test("wrong passwords with the right code also count as tries, and five tries lock the code", async (shop) => {
    await signUp(shop, email);
    const code = await readCode(shop, "sign_up_code");
    for (let n = 0; n < 5; n++) expect((await verify(shop, email, code, otherPassword)).code).toBe(5216);
    expect((await verify(shop, email, code)).code).toBe(5213);
  });

  test("a code of a sign-up expires after 15 minutes, and another code can be requested for three days", async (shop) => {
    await signUp(shop, email);
    const code = await readCode(shop, "sign_up_code");
    suite.app.clock.advance(15 * 60_000);
    expect((await verify(shop, email, code)).code).toBe(5216);
    suite.app.clock.advance(3 * 86_400_000 - 15 * 60_000 - 1);
    const purge = () => purgeSignUps({ db: suite.app.db, now: suite.app.clock.now });
    await purge();
    await shop.call("POST /users/verify/resend/", send({ email }));
    expect((await deliverMail(shop)).map(({ to }) => to)).toEqual([email]);
    suite.app.clock.advance(1);
    await purge();
    await shop.call("POST /users/verify/resend/", send({ email }));
    expect(await deliverMail(shop)).toEqual([]);
    await signUp(shop, email);
    expect((await verify(shop, email, await readCode(shop, "sign_up_code"))).status).toBe(200);
  });

  test("an IP address can make thirty sign-up calls within 20 minutes in each store", async () => {
    const [shop, other] = [await suite.shop(), await suite.shop()];
    const { tenant, vault } = await tenantContext(shop);
    const address = newAddress();
    await useUp(`sign-ups:${addressSubject(vault, address, tenant.id)}`, 29);
    const attempt = (of: Shop) => of.call(request, send(good, { address }));
    expect((await attempt(shop)).status).toBe(200);
    const { code, headers } = await attempt(shop);
    expect([code, headers.get("retry-after")]).toEqual([5213, "1200"]);
    expect((await attempt(other)).status).toBe(200);
    expect((await signUp(shop, "elsewhere@example.com")).status).toBe(200);
  });

  test("an IP address can verify ten times a minute, and a server with auth:forward names the address that counts", async (shop) => {
    const body = { ...good, code: "012345" };
    const address = newAddress();
    for (let n = 0; n < 10; n++) {
      expect((await shop.call("POST /users/verify/", { body, address })).code).toBe(5216);
    }
    const { code, headers } = await shop.call("POST /users/verify/", { body, address });
    expect([code, headers.get("retry-after")]).toEqual([5209, "60"]);
    const { app_id, app_secret } = await shop.issueKey({ scopes: ["customers:sign-up", "auth:forward"] });
    const forwarded = { "x-client-address": newAddress() };
    const auth = `Bearer ${app_id}:${app_secret}`;
    expect((await shop.call("POST /users/verify/", { body, address, auth, headers: forwarded })).code).toBe(5216);
  });

  test("when a sign-up is verified, the visitor's likes become the account's", async (shop) => {
    const { id } = await shop.createProduct();
    const about = { resource_type: "product", resource_id: id };
    const { data } = await shop.callAnonymously("POST /likes/", { body: about });
    await signUp(shop, email, { visitor: data.visitor });
    await verify(shop, email, await readCode(shop, "sign_up_code"));
    const { user_id, token } = (await login(shop)).data as { user_id: string; token: string };
    const query = { user_id, token, ...about };
    expect((await shop.callAnonymously("GET /likes/", { query })).data).toMatchObject({ active: true, count: 1 });
  });

  test("no table contains the code or the password of a sign-up", async (shop) => {
    await signUp(shop, email);
    const code = await readCode(shop, "sign_up_code");
    for (const table of ["sign_ups", "mail_codes", "audit_log", "mail_outbox"]) {
      const { rows } = await suite.app.db.execute(`select * from ${table}`);
      const text = JSON.stringify(rows);
      expect(text).not.toContain(goodPassword);
      if (table !== "mail_outbox") expect(text).not.toMatch(new RegExp(`"${code}"`));
    }
    expect(suite.app.lines.join("\n")).not.toContain(goodPassword);
  });

  let open: Shop;
  beforeAll(async () => {
    open = await suite.shop();
    await updateTenant(suite.app.system, open.namespace, { signUp: "open" });
  });

  /** Signs in to the store with open sign-up. Returns a function that calls as this user. */
  async function signIn(of = email, password = goodPassword) {
    const { data } = await login(open, of, password);
    const query = { user_id: data.user_id as string, token: data.token as string };
    return (call: string, body?: object) => open.callAnonymously(call, { query, ...(body && { body }) });
  }

  test("in a store with open sign-up, the account exists at once, and the mailed code verifies its email", async () => {
    expect((await signUp(open, email)).data).toEqual({ accepted: true, next: "login" });
    const own = await signIn();
    expect((await own("GET /users/me/")).data).toMatchObject({ email, email_verified: false, pending_email: null });
    const code = codeIn((await deliverMail(open)).at(-1)?.text);
    expect((await own("POST /users/me/email/verify/", { code })).data).toMatchObject({ email, email_verified: true });
    expect((await own("POST /users/me/email/resend/")).code).toBe(5306);
  });

  test("in a store with open sign-up, nobody can lock out the owner of an address by signing up with it", async () => {
    const address = "victim@example.com";
    await signUp(open, address);
    const own = await signIn(address);
    const begun = await own("POST /users/me/two-factor/", { password: goodPassword });
    expect([begun.code, begun.error?.message]).toEqual([5306, "The email must be verified first."]);
    const home = { name: "Mallory", line1: "Road 1", postal_code: "1", city: "Town", country: "DE" };
    expect((await own("PATCH /users/me/", { phone: "+49 1", addresses: [home] })).status).toBe(200);
    const change = { email: "mallory@example.com", password: goodPassword };
    expect((await own("PATCH /users/me/", change)).data).toMatchObject({ pending_email: change.email });
    const code = await requestCode(open, address);
    expect((await reset(open, address, code, otherPassword)).status).toBe(200);
    expect((await login(open, address)).code).toBe(5212);
    const mine = await signIn(address, otherPassword);
    const cleared = { email_verified: true, pending_email: null, phone: null, addresses: [] };
    expect((await mine("GET /users/me/")).data).toMatchObject(cleared);
    expect((await mine("POST /users/me/two-factor/", { password: otherPassword })).status).toBe(200);
  });

  test("in a store with open sign-up, a used address gets the same reply and a mail, and keeps its password", async () => {
    await openAccount(open, { email: "taken@example.com" });
    const replies = [
      await signUp(open, "taken@example.com", { password: otherPassword }),
      await signUp(open, "free@example.com"),
    ];
    const [taken, free] = replies.map(({ text, status, requestId }) => [status, text.replace(requestId, "")]);
    expect(taken).toEqual(free as (string | number)[]);
    const mails = (await deliverMail(open)).filter(({ to }) => to === "taken@example.com");
    expect(mails.map(({ subject }) => subject)).toEqual(["You already have an account"]);
    expect((await login(open, "taken@example.com", otherPassword)).code).toBe(5212);
  });

  test("a store can turn sign-up off", async (shop) => {
    await updateTenant(suite.app.system, shop.namespace, { signUp: "off" });
    expect((await signUp(shop, email)).code).toBe(5300);
    expect(await readOutbox(suite.app, shop.namespace)).toEqual([]);
  });
});
