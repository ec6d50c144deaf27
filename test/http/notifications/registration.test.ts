import { expect } from "bun:test";
import { openTarget } from "../../../src/server/modules/notifications/providers/provider.ts";
import { newId } from "../../../src/server/values/stamps.ts";
import { openAccount } from "../../support/account.ts";
import { vault } from "../../support/app.ts";
import { createClient, newAddress } from "../../support/client.ts";
import {
  newAppleToken,
  newGoogleToken,
  newSubscription,
  type RegistrationReply,
  registerWith,
} from "../../support/registrations.ts";
import { runScenarios, type ScenarioRow, scenariosOf } from "../../support/scenarios.ts";
import { onDatabase } from "../../support/suite.ts";

const path = "/notifications/register/";
const post = `POST ${path}`;
const secretForm = /^rsec_[\w-]{43}$/;
const absent = `${path}reg_01h455vb4pex5vsknk084sn02q/`;
const web = (more: Record<string, unknown> = {}) => ({ platform: "web", subscription: newSubscription(), ...more });

interface Offer {
  vapid_public_key: string;
  platforms: { platform: string; delivery: string }[];
}

onDatabase("file", (suite) => {
  const { test } = suite;
  const rows = async (sql: string, ...args: string[]) =>
    (await suite.app.db.execute({ sql, args })).rows.map((row) => ({ ...row }) as Record<string, unknown>);
  const idsIn = async (namespace: string) =>
    rows(
      "select r.id from push_registrations r join tenants t on t.id = r.tenant_id where t.namespace = ? order by r.id",
      namespace,
    ).then((found) => found.map(({ id }) => id));

  /** Returns the target of a registration, and whether it has received a message. */
  const targetOf = async (id: string) => {
    const [row] = await rows("select target, is_proven from push_registrations where id = ?", id);
    return [openTarget(vault, id, row?.target as string) as unknown, row?.is_proven];
  };
  const prove = (id: string) =>
    suite.app.db.execute({ sql: "update push_registrations set is_proven = 1 where id = ?", args: [id] });
  const sealed = ({ endpoint, keys }: ReturnType<typeof newSubscription>) => ({ endpoint, keys });

  test("the public key for browsers and the available platforms are public", async () => {
    const [first, second] = [await suite.shop(), await suite.shop()];
    const offer = await first.callAnonymously<Offer>(`GET ${path}`);
    expect(offer.data.vapid_public_key).toMatch(/^B[\w-]{86}$/);
    expect(offer.data.platforms).toEqual([
      { platform: "web", delivery: "on" },
      { platform: "ios", delivery: "off" },
      { platform: "android", delivery: "off" },
    ]);
    expect((await second.callAnonymously<Offer>(`GET ${path}`)).data).toEqual(offer.data);
  });

  test("a browser registers, gets its secret once, and changes and removes its registration with this secret", async () => {
    const { callAnonymously: call, namespace } = await suite.shop({ tenant: { language: "de" } });
    const made = await call<RegistrationReply>(post, { body: web({ topics: ["sale", "news", "sale"] }) });
    expect(made.status).toBe(201);
    const at = new Date(suite.app.clock.now()).toISOString();
    const { management_secret, ...shown } = made.data;
    expect(management_secret).toMatch(secretForm);
    expect(shown).toEqual({
      id: expect.stringMatching(/^reg_/) as unknown as string,
      platform: "web",
      lang: "de",
      topics: ["news", "sale"],
      user_id: null,
      delivery: "on",
      created_at: at,
      updated_at: at,
    });
    const own = `${path}${shown.id}/`;
    suite.app.clock.advance(1000);
    const body = { management_secret, topics: ["b", "a"], lang: "pt-br" };
    const changed = await call<RegistrationReply>(`PATCH ${own}`, { body });
    const later = new Date(suite.app.clock.now()).toISOString();
    const expected = { ...shown, lang: "pt-BR", topics: ["a", "b"], updated_at: later };
    expect([changed.status, changed.data as unknown]).toEqual([200, expected]);
    const unchanged = await call<RegistrationReply>(`PATCH ${own}`, { body: { management_secret } });
    expect(unchanged.data).toEqual(changed.data);
    const cleared = await call<RegistrationReply>(`PATCH ${own}`, { body: { management_secret, topics: [] } });
    expect(cleared.data.topics).toEqual([]);

    const removed = await call(`DELETE ${own}`, { body: { management_secret } });
    expect([removed.status, removed.data]).toEqual([200, { id: shown.id, deleted: true }]);
    expect(await idsIn(namespace)).toEqual([]);
    expect((await call(`DELETE ${own}`, { body: { management_secret } })).code).toBe(5301);
  });

  test("phones register with their tokens, which are body fields and not credentials", async (shop) => {
    const customer = await openAccount(shop);
    const plain = createClient(suite.app);
    const body = { platform: "android", token: newGoogleToken() };
    const fromBody = await plain<RegistrationReply>(post, { body: { ...body, namespace: shop.namespace, lang: "fr" } });
    expect([fromBody.status, fromBody.data.lang, fromBody.data.user_id]).toEqual([201, "fr", null]);
    // The token in the query is the user's; the token in the body is the device's.
    const query = { user_id: customer.id, token: customer.token };
    const signedIn = await plain<RegistrationReply>(post, { namespace: shop.namespace, query, body });
    expect([signedIn.status, signedIn.data.id, signedIn.data.user_id]).toEqual([200, fromBody.data.id, customer.id]);
    // A server of the shop sends its key together with the user's parameters.
    const both = await shop.call<RegistrationReply>(post, { query, body });
    expect([both.status, both.data.user_id]).toEqual([200, customer.id]);
    const wrong = { user_id: customer.id, token: "v2.x" };
    expect((await shop.call(post, { query: wrong, body })).code).toBe(5205);
    const { app_id, app_secret } = shop.key;
    const withKey = { ...body, namespace: shop.namespace, app_id, app_secret };
    const byKey = await plain<RegistrationReply>(post, { body: withKey });
    expect([byKey.status, byKey.data.id, byKey.data.user_id]).toEqual([200, fromBody.data.id, null]);
    const apple = newAppleToken();
    const ios = await registerWith(shop.callAnonymously, { platform: "ios", token: apple.toUpperCase() });
    expect(await targetOf(ios.id)).toEqual([{ token: apple }, 0]);
    const again = await shop.call<RegistrationReply>(post, { body: { platform: "ios", token: apple } });
    expect([again.status, again.data.id, again.data.delivery]).toEqual([200, ios.id, "off"]);
  });

  test("a new registration of a device replaces all fields including the user, and makes the previous secret invalid", async (shop) => {
    const customer = await openAccount(shop);
    const subscription = newSubscription();
    const first = await registerWith(customer.call, { subscription, topics: ["sale"], lang: "fr" });
    expect(first.user_id).toBe(customer.id);
    expect(await targetOf(first.id)).toEqual([sealed(subscription), 0]);
    await prove(first.id);
    const anew = await shop.callAnonymously<RegistrationReply>(post, { body: { platform: "web", subscription } });
    expect(anew.status).toBe(200);
    const { id, created_at } = first;
    expect(anew.data).toMatchObject({ id, created_at, topics: [], lang: "en", user_id: null });
    expect(await targetOf(first.id)).toEqual([sealed(subscription), 1]);
    expect(anew.data.management_secret).not.toBe(first.management_secret);
    const change = (management_secret: string) =>
      shop.callAnonymously(`PATCH ${path}${first.id}/`, { body: { management_secret } });
    expect((await change(first.management_secret)).code).toBe(5301);
    expect((await change(anew.data.management_secret)).status).toBe(200);
    expect(await idsIn(shop.namespace)).toEqual([first.id]);
  });

  test("an endpoint with other keys can be registered only with its secret", async () => {
    const { callAnonymously: call, namespace } = await suite.shop();
    const subscription = newSubscription();
    const mine = await registerWith(call, { subscription, topics: ["sale"] });
    const other = newSubscription(subscription.endpoint);
    const auth = { ...subscription, keys: { ...subscription.keys, auth: other.keys.auth } };
    const stored = () => rows("select * from push_registrations where id = ?", mine.id);
    const before = await stored();
    const strange = (await registerWith(call)).management_secret;
    for (const forged of [other, auth]) {
      for (const secret of [{}, { management_secret: "rsec_x" }, { management_secret: strange }]) {
        const body = { platform: "web", subscription: forged, topics: ["mine"], ...secret };
        const refused = await call(post, { body });
        expect([refused.code, refused.status]).toEqual([5302, 409]);
      }
    }
    expect(await stored()).toEqual(before);
    expect(await rows("select topic from push_topics where registration_id = ?", mine.id)).toEqual([{ topic: "sale" }]);
    await prove(mine.id);
    const { management_secret } = mine;
    const body = { platform: "web", subscription: other, management_secret };
    const taken = await call<RegistrationReply>(post, { body });
    expect([taken.status, taken.data.id]).toEqual([200, mine.id]);
    expect(await targetOf(mine.id)).toEqual([sealed(other), 0]);
    // From now on, changes need the new keys.
    expect((await call(post, { body: { platform: "web", subscription } })).code).toBe(5302);
    expect((await call(post, { body: { platform: "web", subscription: other } })).status).toBe(200);
    expect(await idsIn(namespace)).toHaveLength(2);
  });

  test("a browser with a changed subscription keeps its registration, and cannot replace another one", async () => {
    const { callAnonymously: call } = await suite.shop();
    const taken = newSubscription();
    await registerWith(call, { subscription: taken });
    const { id, management_secret } = await registerWith(call, { topics: ["sale"] });
    const change = (more: object) =>
      call<RegistrationReply>(`PATCH ${path}${id}/`, { body: { management_secret, ...more } });
    await prove(id);
    const renewed = newSubscription();
    expect((await change({ subscription: renewed })).data).toMatchObject({ id, topics: ["sale"] });
    expect(await targetOf(id)).toEqual([sealed(renewed), 0]);
    const again = await call<RegistrationReply>(post, { body: { platform: "web", subscription: renewed } });
    expect(again.data.id).toBe(id);
    expect((await change({})).code).toBe(5301);
    const mine = await registerWith(call);
    const steal = { management_secret: mine.management_secret, subscription: taken };
    expect((await call(`PATCH ${path}${mine.id}/`, { body: steal })).code).toBe(5302);
    const token = { management_secret: mine.management_secret, token: newAppleToken() };
    expect(await call(`PATCH ${path}${mine.id}/`, { body: token })).toMatchObject({ code: 5102, fields: ["token"] });
  });

  test("an unknown registration, one of another store, and a wrong secret get the same reply", async () => {
    const [ours, theirs] = [await suite.shop(), await suite.shop()];
    const mine = await registerWith(ours.callAnonymously);
    const foreign = await registerWith(theirs.callAnonymously);
    const tries: [string, string][] = [
      [`${path}${mine.id}/`, foreign.management_secret],
      [`${path}${mine.id}/`, `${mine.management_secret.slice(0, -1)}_`],
      [`${path}${mine.id}/`, "x"],
      [`${path}${foreign.id}/`, foreign.management_secret],
      [`${path}${newId("reg")}/`, mine.management_secret],
      [absent, mine.management_secret],
      [`${path}reg_x/`, mine.management_secret],
      [`${path}${newId("usr")}/`, mine.management_secret],
    ];
    const verdicts = new Set<string>();
    for (const [at, management_secret] of tries) {
      for (const method of ["PATCH", "DELETE"]) {
        for (const call of [ours.callAnonymously, ours.call]) {
          const { status, error } = await call(`${method} ${at}`, { body: { management_secret } });
          verdicts.add(JSON.stringify([status, error]));
        }
      }
    }
    expect([...verdicts].map((text) => JSON.parse(text)[1].code)).toEqual([5301]);
    expect(await idsIn(ours.namespace)).toEqual([mine.id]);
    expect(await idsIn(theirs.namespace)).toEqual([foreign.id]);
  });

  test("the same browser in two stores has two registrations with different keyed hashes", async () => {
    const [ours, theirs] = [await suite.shop(), await suite.shop()];
    const subscription = newSubscription();
    const { id: here } = await registerWith(ours.callAnonymously, { subscription });
    const { id: there } = await registerWith(theirs.callAnonymously, { subscription });
    const keys = await rows("select target_key, proof_key from push_registrations where id in (?, ?)", here, there);
    expect(new Set(keys.flatMap((row) => Object.values(row))).size).toBe(4);
  });

  test("deleting a user deletes their devices", async (shop) => {
    const customer = await openAccount(shop);
    const { id } = await registerWith(customer.call, { topics: ["sale"] });
    expect((await shop.call(`DELETE /users/${customer.id}/`)).status).toBe(200);
    expect(await idsIn(shop.namespace)).toEqual([]);
    expect(await rows("select 1 from push_topics where registration_id = ?", id)).toEqual([]);
  });

  test("a user keeps only the fifty devices that registered last", async (shop) => {
    const customer = await openAccount(shop);
    const first = newSubscription();
    const oldest = await registerWith(customer.call, { subscription: first });
    const second = await registerWith(customer.call);
    for (let n = 0; n < 48; n++) await registerWith(customer.call);
    suite.app.clock.advance(1000);
    await registerWith(customer.call, { subscription: first });
    const last = await registerWith(customer.call);
    const ids = await idsIn(shop.namespace);
    expect(ids).toHaveLength(50);
    expect(ids).toContainValues([oldest.id, last.id]);
    expect(ids).not.toContain(second.id);
  });

  test("without an account, an IP address registers at most twenty new devices an hour; renewals do not count", async (shop) => {
    const from = { address: newAddress() };
    const body = web();
    await shop.callAnonymously(post, { ...from, body });
    for (let n = 0; n < 19; n++) await shop.callAnonymously(post, { ...from, body: web() });
    for (const auth of [null, shop.auth]) {
      const refused = await shop.call(post, { ...from, auth, body: web() });
      expect([refused.status, refused.code, refused.headers.get("retry-after")]).toEqual([429, 5107, "3600"]);
      expect(refused.error?.message).toBe("Too many new devices from this address.");
    }
    expect(await idsIn(shop.namespace)).toHaveLength(20);
    expect((await shop.callAnonymously(post, { ...from, body })).status).toBe(200);
    expect((await shop.callAnonymously(post, { body: web() })).status).toBe(201);
    const customer = await openAccount(shop);
    expect((await customer.call(post, { ...from, body: web() })).status).toBe(201);
    suite.app.clock.advance(3_600_000);
    expect((await shop.callAnonymously(post, { ...from, body: web() })).status).toBe(201);
  });

  test("a store with the maximum number of devices refuses new devices, and renews existing ones", async (shop) => {
    const body = web();
    await registerWith(shop.callAnonymously, body);
    const almost = `update push_counts set registrations = 99999
      where registrations = 1 and tenant_id = (select id from tenants where namespace = ?)`;
    expect((await suite.app.db.execute({ sql: almost, args: [shop.namespace] })).rowsAffected).toBe(1);
    const { id, management_secret } = await registerWith(shop.callAnonymously);
    const full = await shop.callAnonymously(post, { body: web() });
    expect([full.status, full.code]).toEqual([409, 5306]);
    expect(full.error?.message).toBe("The store has 100000 registered devices, the maximum.");
    expect((await shop.callAnonymously(post, { body })).status).toBe(200);
    const other = web({ subscription: newSubscription(body.subscription.endpoint) });
    expect((await shop.callAnonymously(post, { body: other })).code).toBe(5302);
    await shop.callAnonymously(`DELETE ${path}${id}/`, { body: { management_secret } });
    expect((await shop.callAnonymously(post, { body: web() })).status).toBe(201);
  });

  const at = (endpoint: string) => () => ({ body: web({ subscription: newSubscription(endpoint) }) });
  const topics = (all: string[]) => () => ({ body: web({ topics: all }) });
  const twenty = Array.from({ length: 20 }, (_, n) => `${"t".repeat(62)}${n + 10}`);
  runScenarios(suite, [
    ...["PATCH", "DELETE"].map((method) => ({
      name: `${method} without the secret gets an error that names the secret`,
      request: `${method} ${absent}`,
      send: { body: {}, auth: null },
      expect: 5102 as const,
      fields: ["management_secret"],
    })),
    ...scenariosOf(post, [
      [
        "a registration with app credentials has no user",
        () => ({ body: web({ user_id: newId("usr") }) }),
        5102,
        "user_id",
      ],
      ["a platform must be web, ios or android", () => ({ body: web({ platform: "windows" }) }), 5102, "platform"],
      ["a body must contain the platform and its required fields", { body: {} }, 5102, "platform"],
      ["a token that is not a string is refused", { body: { platform: "ios", token: 5 } }, 5102, "token"],
      [
        "an unknown field of a subscription is refused",
        () => ({ body: web({ subscription: { ...newSubscription(), extra: 1 } }) }),
        5102,
        "subscription.extra",
      ],
      [
        "the error for an invalid key names the field, and does not repeat the key",
        () => ({
          body: web({ subscription: { ...newSubscription(), keys: { p256dh: "B".repeat(87), auth: "A".repeat(22) } } }),
        }),
        5102,
        "subscription.keys.p256dh",
        { lacks: ["BBBB"] },
      ],
      [
        "an endpoint on a private network is refused",
        at("https://169.254.169.254/x"),
        5102,
        "subscription.endpoint",
        { lacks: ["169.254"] },
      ],
      ["a language must be a known language", () => ({ body: web({ lang: "no language" }) }), 5102, "lang"],
      ...["Sale", "", "-sale", "x".repeat(65)].map(
        (topic): ScenarioRow => [
          `${JSON.stringify(topic)} is refused as a topic`,
          topics(["good", topic]),
          5102,
          "topics.1",
        ],
      ),
      ["more than twenty topics are refused", topics([...twenty, "more"]), 5102, "topics"],
      ["twenty topics of the maximum length are accepted", topics(twenty), 201],
    ]),
  ]);
});
