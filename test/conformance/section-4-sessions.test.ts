import { beforeAll, describe, expect, test } from "bun:test";
import { type ServedShop, type Session, useServedShops } from "../support/served-shop.ts";

const { startServedShop } = useServedShops();
const newPassword = "Another-Kettle-9026";

let shop: ServedShop;
beforeAll(async () => {
  shop = await startServedShop();
});

const post = <T = Session>(path: string, body: unknown, query: Record<string, string> = {}) =>
  shop.callAnonymously<T>(`POST /auth/${path}/`, { body, query });
const credentialsOf = ({ user_id, token }: Session) => ({ user_id, token });
/** Returns the bytes of a reply without its request id. */
const bytesOf = ({ text, requestId }: { text: string; requestId: string }) => text.replace(requestId, "");

describe("§4 Authentication endpoints, row 1: POST /auth/login/", () => {
  test("a login returns data.user_id, data.token, data.expires_at and data.store", async () => {
    const user = await shop.createUser();
    const { status, data } = await post("login", user.login);
    expect(status).toBe(200);
    expect(Object.keys(data).toSorted()).toEqual(["expires_at", "store", "token", "user_id"]);
    expect(data.user_id).toBe(user.id);
    expect(data.expires_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/);
  });

  test("§2, §9 data.token begins with v2. and is random", async () => {
    const user = await shop.createUser();
    const tokens = [await shop.signIn(user), await shop.signIn(user)].map(({ token }) => token);
    for (const token of tokens) expect(token).toMatch(/^v2\.[A-Za-z0-9_-]{43}$/);
    expect(tokens[0]).not.toBe(tokens[1]);
  });

  test("§2 data.store has namespace, title, domain, url, currency, currency_sign and logo", async () => {
    const store = {
      namespace: "described",
      title: "Lamps & more",
      domain: "lamps.example.com",
      url: "https://lamps.example.com",
      currency: "USD",
      currency_sign: "$",
      logo: "https://lamps.example.com/logo.png",
    };
    const { title, domain, url, currency, logo } = store;
    const flags = { title, domain, url, currency, logo };
    const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
    await shop.binary.json("tenant", "create", store.namespace, ...args);
    const key = await shop.binary.json("key", "issue", "-n", store.namespace, "--name", "web", "--publish");
    const call = shop.clientOf({ namespace: store.namespace, auth: `Bearer ${key.app_id}:${key.app_secret}` });
    const body = { email: "a@example.com", password: "Vermilion-Kettle-4871" };
    expect((await call("POST /users/", { body })).status).toBe(201);
    const { data } = await call<Session>("POST /auth/login/", { body, auth: null });
    expect(data.store).toEqual(store);
  });
});

test("§4 Authentication endpoints, rows 2 and 3: POST /auth/refresh/ and POST /auth/logout/ accept a JSON body", async () => {
  const session = await shop.signIn(await shop.createUser());
  const { status, data } = await post("refresh", credentialsOf(session));
  expect(status).toBe(200);
  expect((await post("logout", credentialsOf(data))).status).toBe(200);
  expect(await shop.codeOf(data)).toBe(5207);
});

describe("§4 Authentication endpoints, row 4: POST /auth/password/forgot/", () => {
  test("the reply is identical whether or not the email belongs to a user", async () => {
    const { email } = await shop.createUser();
    const known = await post("password/forgot", { email });
    const unknown = await post("password/forgot", { email: "nobody@example.com" });
    expect([known.status, unknown.status]).toEqual([200, 200]);
    expect(bytesOf(unknown)).toBe(bytesOf(known));
    const names = (headers: Headers) => [...headers.keys()].toSorted();
    expect(names(unknown.headers)).toEqual(names(known.headers));
  });

  test("the field language is a language code, and the mail is in that language", async () => {
    const user = await shop.createUser();
    const reply = await post("password/forgot", { email: user.email, language: "ar" });
    expect(reply.status).toBe(200);
    const mail = await shop.mailbox.waitFor(user.email, 1);
    expect(mail.html).toMatch(/dir="rtl"/);
    expect(mail.text).toMatch(/\p{Script=Arabic}/u);
    expect((await post("password/forgot", { email: user.email, language: "not a language" })).fields).toEqual([
      "language",
    ]);
  });
});

test.each([
  ["1: POST /auth/login/", "login", { email: "a@example.com", password: "Vermilion-Kettle-4871" }],
  ["4: POST /auth/password/forgot/", "password/forgot", { email: "a@example.com" }],
  [
    "5: POST /auth/password/reset/",
    "password/reset",
    { email: "a@example.com", code: "012345", password: newPassword },
  ],
])("§4 Authentication endpoints, row %s requires strings in its fields", async (_row, path, body) => {
  for (const field of Object.keys(body)) {
    for (const value of [undefined, 12345, null, ["text"]]) {
      const { code, fields } = await post(path, { ...body, [field]: value });
      expect({ field, value, code, fields }).toEqual({ field, value, code: 5102, fields: [field] });
    }
  }
});

describe("§4 Rules", () => {
  test("rule 1: login is POST only", async () => {
    for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
      const { status, headers } = await shop.callAnonymously(`${method} /auth/login/`);
      expect({ method, status, allow: headers.get("allow") }).toEqual({ method, status: 405, allow: "POST, OPTIONS" });
    }
  });

  test("rule 1: a password in the URL signs nobody in", async () => {
    const { email, password } = (await shop.createUser()).login;
    const { code } = await post("login", undefined, { email, password });
    expect(code).toBe(5102);
    expect((await post("login", { email }, { password })).code).toBe(5102);
  });

  test("rule 2: login and the two password reset routes are the only routes accepting no credentials", async () => {
    const { document } = await shop.description();
    const open: string[] = [];
    for (const [path, operations] of Object.entries(document.paths)) {
      if (path === "/media/{id}/{file}") continue;
      for (const method of Object.keys(operations)) {
        const { code } = await shop.callAnonymously(`${method.toUpperCase()} ${path.replace(/\{\w+\}/g, "x")}`);
        if (code !== 5206) open.push(`${method.toUpperCase()} ${path}`);
      }
    }
    const isOfSessions = (route: string) => route.includes(" /auth/");
    const three = ["POST /auth/login/", "POST /auth/password/forgot/", "POST /auth/password/reset/"];
    expect(open.filter(isOfSessions).toSorted()).toEqual(three);
    // The last lines of the section list further public routes.
    const others = open
      .filter((route) => !isOfSessions(route))
      .map((route) => route.replace(/^\w+ (\S+?\/)\{.*/, "$1"));
    const paths = new Set(others.map((route) => route.replace(/^\w+ /, "")));
    expect([...paths].toSorted()).toEqual(["/bookmarks/", "/likes/", "/notifications/register/", "/views/"]);
  });

  test("rule 3: in an unknown or unreachable store, login and password routes fail with 5215 before the password is checked", async () => {
    const namespace = "closing";
    await shop.binary.json("tenant", "create", namespace);
    const key = await shop.binary.json("key", "issue", "-n", namespace, "--name", "web", "--publish");
    const call = shop.clientOf({ namespace, auth: `Bearer ${key.app_id}:${key.app_secret}` });
    const body = { email: "a@example.com", password: "Vermilion-Kettle-4871" };
    expect((await call("POST /users/", { body })).status).toBe(201);
    await shop.binary.json("tenant", "suspend", namespace, "--yes");
    const bodies: [path: string, body: unknown][] = [
      ["login", body],
      ["login", { ...body, password: "wrong" }],
      ["login", {}],
      ["password/forgot", { email: body.email }],
      ["password/reset", { email: body.email, code: "000000", password: newPassword }],
    ];
    for (const unreachable of [namespace, "no-such-store"]) {
      for (const [path, sent] of [...bodies, ...bodies]) {
        const reply = await call(`POST /auth/${path}/`, { auth: null, namespace: unreachable, body: sent });
        expect({ unreachable, path, code: reply.code }).toEqual({ unreachable, path, code: 5215 });
      }
    }
    await shop.binary.json("tenant", "resume", namespace);
    // None of the following requests counts as a wrong password.
    for (let n = 0; n < 3; n++) {
      expect((await call("POST /auth/login/", { auth: null, body: { ...body, password: "wrong" } })).code).toBe(5212);
    }
  });

  test("rule 4: with two-factor on and no otp, login fails with 5211; the call repeated with otp, a string, succeeds", async () => {
    const user = await shop.createUser();
    const authenticator = await shop.enrol(user);
    shop.clock.advance(30_000);
    for (let n = 0; n < 4; n++) expect((await post("login", user.login)).code).toBe(5211);
    expect((await post("login", { ...user.login, otp: Number(authenticator.code()) })).code).toBe(5102);
    expect((await post("login", { ...user.login, otp: authenticator.code() })).status).toBe(200);
  });

  test("rule 5: wrong email, password or one-time code fails with 5212, in the same bytes", async () => {
    const [plain, guarded] = [await shop.createUser(), await shop.createUser()];
    const authenticator = await shop.enrol(guarded);
    const replies = [
      await post("login", { email: "nobody@example.com", password: plain.password }),
      await post("login", { ...plain.login, password: "wrong" }),
      await post("login", { ...guarded.login, otp: authenticator.wrongCode() }),
      await post("login", { ...guarded.login, password: "wrong", otp: authenticator.wrongCode() }),
      await post("login", { ...guarded.login, password: "wrong" }),
    ];
    for (const reply of replies) {
      expect([reply.code, reply.status]).toEqual([5212, 401]);
      expect(bytesOf(reply)).toBe(bytesOf(replies[0] as (typeof replies)[0]));
    }
  });

  for (const path of ["refresh", "logout"]) {
    test(`rule 6: ${path} with an invalid, expired or revoked token fails with 5214`, async () => {
      const user = await shop.createUser();
      const other = await shop.signIn(await shop.createUser());
      const session = await shop.signIn(user);
      const codeOf = async (sent: Record<string, string>) => (await post(path, undefined, sent)).code;
      const { user_id, token } = session;
      expect(await codeOf({ user_id, token: "v2.x" })).toBe(5214);
      expect(await codeOf({ user_id, token: other.token })).toBe(5214);
      expect(await codeOf({ user_id: "usr_1", token })).toBe(5214);
      shop.clock.advance(30 * 86_400_000);
      expect(await codeOf({ user_id, token })).toBe(5214);
      const revoked = await shop.signIn(user);
      await post("logout", undefined, credentialsOf(revoked));
      expect(await codeOf(credentialsOf(revoked))).toBe(5214);
    });
  }

  test("rule 7: a weak new password fails with 5217", async () => {
    for (const password of [
      "",
      "Short-Kettle-12",
      "vermilion-kettle-4871",
      "VERMILION-KETTLE-4871",
      "Vermilion-Kettle-Four",
      "VermilionKettle4871",
    ]) {
      const { code } = await post("password/reset", { email: "nobody@example.com", code: "000000", password });
      expect({ password, code }).toEqual({ password, code: 5217 });
    }
  });
});
