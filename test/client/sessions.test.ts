import { afterAll, beforeAll, beforeEach, expect, setSystemTime, test } from "bun:test";
import type { ClientOptions, Session } from "../../src/client/client.ts";
import { updateTenant } from "../../src/server/modules/tenants/service.ts";
import { goodPassword } from "../support/account.ts";
import type { Shop } from "../support/factories.ts";
import { codeIn, deliverMail } from "../support/sign-up.ts";
import { onDatabase } from "../support/suite.ts";
import { until } from "../support/until.ts";
import { loadBuiltClient } from "./built-client.ts";
import { connect, failureOf, sharedStorage } from "./connect.ts";
import { type FaultyProxy, startFaultyProxy } from "./faulty-proxy.ts";

const day = 86_400_000;

onDatabase("file", (suite) => {
  let built: Awaited<ReturnType<typeof loadBuiltClient>>;
  let shop: Shop;
  let proxy: FaultyProxy;
  beforeAll(async () => {
    built = await loadBuiltClient();
    shop = await suite.shop();
    proxy = await startFaultyProxy(suite.app.url);
  });
  afterAll(async () => {
    setSystemTime();
    await proxy.close();
  });
  beforeEach(() => {
    proxy.passed.length = 0;
    setSystemTime(suite.app.clock.now());
  });

  const open = (options: Partial<ClientOptions> = {}) => connect(built, shop, { url: proxy.url, ...options });
  const failure = (call: Promise<unknown>) => failureOf(built, call);
  const paths = () => proxy.passed.map(({ path }) => path);
  const advance = (ms: number) => {
    suite.app.clock.advance(ms);
    setSystemTime(suite.app.clock.now());
  };
  async function createLogin() {
    const email = `${crypto.randomUUID()}@example.com`;
    await shop.call("POST /users/", { body: { email, password: goodPassword } });
    return { email, password: goodPassword };
  }

  test("a customer signs in with a mailed code, even while somebody else is signed in", async () => {
    await updateTenant(suite.app.system, shop.namespace, { signInByMail: "on" });
    const [first, second] = [await createLogin(), await createLogin()];
    const client = open();
    await client.auth.login(first);
    expect((await client.store()).sign_in_by_mail).toBe(true);
    expect(await client.auth.mailCode({ email: second.email })).toEqual({ accepted: true });
    const code = codeIn((await deliverMail(shop)).at(-1)?.text);
    const { user_id } = await client.auth.login({ email: second.email, code });
    expect([(await client.auth.session())?.user_id, (await client.users.me()).email]).toEqual([user_id, second.email]);
  });

  test("a customer signs up with a code, signs in and out, and steps in the wrong order are errors", async () => {
    const sessions: (Session | null)[] = [];
    const client = open({ onSession: (session) => sessions.push(session) });
    const account = { email: "grace@example.com", password: goodPassword };
    expect(await client.auth.signUp(account)).toEqual({ accepted: true, next: "verify" });
    expect((await failure(client.auth.login(account))).code).toBe(5212);
    const code = codeIn((await deliverMail(shop)).at(-1)?.text);
    await client.auth.verify({ ...account, code });
    const { user_id, token, store } = await client.auth.login(account);
    expect([store.namespace, (await client.users.me()).email]).toEqual([shop.namespace, account.email]);
    expect(proxy.passed.at(-1)?.headers.authorization).toBe(`Bearer ${user_id}:${token}`);
    expect((await client.auth.session())?.user_id).toBe(user_id);
    await client.auth.logout();
    expect(await client.auth.session()).toBeNull();
    expect((await failure(client.call("GET /users/me/", { as: "key" }))).code).toBe(5300);
    expect(sessions.map((session) => session?.user_id)).toEqual([user_id, undefined]);
  });

  test("a token that will soon expire is refreshed only once for many calls, and a new page uses the new token", async () => {
    const storage = sharedStorage();
    const client = open({ storage });
    const { token } = await client.auth.login(await createLogin());
    advance(23 * day);
    await client.users.me();
    expect(paths()).toEqual(["/auth/login/", "/users/me/"]);
    advance(2 * day);
    await Promise.all(Array.from({ length: 5 }, () => client.users.me()));
    expect(paths().filter((path) => path === "/auth/refresh/")).toHaveLength(1);
    const next = await client.auth.session();
    expect(next?.token).not.toBe(token);
    await open({ storage }).users.me();
    expect(proxy.passed.at(-1)?.headers.authorization).toBe(`Bearer ${next?.user_id}:${next?.token}`);
  });

  test("after a temporary failure of the refresh, the client continues to use the token", async () => {
    const client = open({ retries: 0 });
    const login = await createLogin();
    await client.auth.login(login);
    advance(25 * day);
    proxy.faults.push("cut");
    expect((await client.users.me()).email).toBe(login.email);
    await client.users.me();
    expect(paths().slice(1)).toEqual(["/auth/refresh/", "/users/me/", "/users/me/"]);
    advance(120_000);
    await client.users.me();
    expect(paths().slice(-2)).toEqual(["/auth/refresh/", "/users/me/"]);
  });

  test("a call that was sent before another page refreshed the token is sent again with the new token", async () => {
    const storage = sharedStorage();
    const login = await createLogin();
    const client = open({ storage });
    await client.auth.login(login);
    let release = () => {};
    proxy.hold = new Promise<void>((resolve) => {
      release = resolve;
    });
    const call = client.users.me();
    await until("the call", () => proxy.passed.length === 2);
    proxy.hold = Promise.resolve();
    await open({ storage }).auth.refresh();
    release();
    expect((await call).email).toBe(login.email);
  });

  test("the client forgets a session that another device has ended, and calls `onSession`", async () => {
    const sessions: (Session | null)[] = [];
    const login = await createLogin();
    const client = open({ onSession: (session) => sessions.push(session) });
    await client.auth.login(login);
    await open().auth.login(login);
    expect((await failure(client.users.me())).code).toBe(5207);
    expect([await client.auth.session(), sessions.at(-1)]).toEqual([null, null]);
  });

  test("clients with a common storage notice each other's sign-ins and sign-outs: tabs at once, other clients at their next call", async () => {
    const storage = sharedStorage();
    const told: Record<"tab" | "client", (string | undefined)[]> = { tab: [], client: [] };
    Object.assign(globalThis, { document: {} });
    const note = (who: keyof typeof told) => ({
      onSession: (session: Session | null) => told[who].push(session?.token),
    });
    open({ storage, ...note("tab") });
    Reflect.deleteProperty(globalThis, "document");
    const same = open({ storage, ...note("client") });
    const client = open({ storage });
    const change = (key: string, storageArea: unknown = storage) =>
      (globalThis as unknown as EventTarget).dispatchEvent(Object.assign(new Event("storage"), { key, storageArea }));
    const key = () => [...storage.items.keys()][0] as string;

    const { token } = await client.auth.login(await createLogin());
    change("another", storage);
    change(key(), sharedStorage());
    expect(told).toEqual({ tab: [], client: [] });
    change(key());
    await until("the tab", () => told.tab.length === 1);
    await same.users.me();
    await client.auth.logout();
    change(`bodega ${new URL(proxy.url).host} ${shop.namespace} session`);
    await until("the tab", () => told.tab.length === 2);
    expect(await same.auth.session()).toBeNull();
    expect(told).toEqual({ tab: [token, undefined], client: [undefined] });
  });

  test("without a connection, a sign-out removes the session from this device", async () => {
    const client = open({ retries: 0 });
    await client.auth.login(await createLogin());
    proxy.faults.push("cut");
    expect((await failure(client.auth.logout())).code).toBe("network");
    expect(await client.auth.session()).toBeNull();
  });

  test("the client reads the catalogue with the key even while a customer is signed in, unless the call says otherwise", async () => {
    const client = open();
    const { user_id, token } = await client.auth.login(await createLogin());
    await client.products.list().page();
    await client.products.list({}, { as: "user" }).page();
    const sent = proxy.passed.slice(1).map(({ headers }) => headers.authorization);
    expect(sent).toEqual([shop.auth, `Bearer ${user_id}:${token}`]);
  });

  test("after a change of the password, the user has a new session", async () => {
    const client = open();
    const login = await createLogin();
    await client.auth.login(login);
    await client.auth.changePassword({ current_password: login.password, password: "Cobalt-Teapot-9032!" });
    expect((await client.users.me()).email).toBe(login.email);
  });

  test("concurrent first likes and views belong to one visitor, whose likes become the user's at sign-in", async () => {
    const storage = sharedStorage();
    const client = open({ storage, app: undefined });
    const ids = await Promise.all([1, 2, 3].map(async () => (await shop.createProduct()).id));
    const resources = ids.map((resource_id) => ({ resource_type: "product", resource_id }));
    await Promise.all(resources.map((resource) => client.likes.add(resource)));
    await Promise.all(resources.map((resource) => client.views.add(resource)));
    expect([...storage.items.keys()]).toEqual([expect.stringMatching(/ visitor$/)]);
    const again = open({ storage });
    const states = await again.likes.get({ resource_type: "product", resource_id: ids });
    expect(states.map(({ active, count }) => [active, count])).toEqual([
      [true, 1],
      [true, 1],
      [true, 1],
    ]);
    await again.likes.remove(resources[0] as (typeof resources)[0]);
    await again.auth.login(await createLogin());
    const liked: string[] = [];
    for await (const { resource_id } of again.likes.list()) liked.push(resource_id);
    expect(liked.toSorted()).toEqual(ids.slice(1).toSorted());
  });
});
