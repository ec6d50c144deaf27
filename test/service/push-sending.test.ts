import { afterAll, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import type { SendPush } from "../../src/server/modules/notifications/providers/provider.ts";
import { ensureVapidKeys } from "../../src/server/modules/notifications/providers/vapid.ts";
import {
  fanOut,
  purgeMessages,
  purgePushes,
  purgeRegistrations,
} from "../../src/server/modules/notifications/sending/queue.ts";
import { createUser } from "../../src/server/modules/users/service.ts";
import { createVault } from "../../src/server/security/vault.ts";
import { tenantContext } from "../support/factories.ts";
import { createBrowser, readVapid } from "../support/push-browser.ts";
import { closePushServices, openPushes } from "../support/pushes.ts";
import { onDatabase, onEachDatabase } from "../support/suite.ts";

afterAll(closePushServices);

const dayMs = 86_400_000;
const status = (code: number, headers: Record<string, string> = {}) => {
  return (response: ServerResponse) => response.writeHead(code, headers).end();
};

onEachDatabase((suite) => {
  const { onFile } = suite;
  test("a message reaches every browser of the store once, encrypted and signed, with its time to live", async () => {
    const { service, register, queue, sender, deliveries, registrations, clock } = await openPushes(suite);
    const browsers = [service.subscribe(), service.subscribe()];
    for (const { subscription } of browsers) await register({ target: subscription });
    const content = { title: "News", body: "Läden ✓ 灯", url: "/news", data: { page: "2" } };
    const id = await queue({ content, expiresAt: clock.now() + 600_000 });
    expect(await sender.runUntilIdle()).toBe(2);
    expect(await sender.runUntilIdle()).toBe(0);
    for (const { messages } of browsers) expect(messages()).toEqual([{ ...content, tag: id }]);
    const { publicKey } = await ensureVapidKeys({ ...suite.app.system, now: clock.now });
    for (const { headers } of service.received) {
      const { authorization = "", ttl, urgency, "content-encoding": encoding, topic } = headers;
      expect([ttl, urgency, encoding, topic]).toEqual(["600", "normal", "aes128gcm", undefined]);
      const { aud, exp, sub } = readVapid(authorization, publicKey);
      expect({ aud, sub }).toEqual({ aud: service.origin, sub: "mailto:ops@example.com" });
      expect(exp - Date.now() / 1000).toBeWithin(3600, 86_400);
    }
    expect((await deliveries()).map((row) => [row.status, row.attempts, row.last_status])).toEqual([
      ["sent", 1, 201],
      ["sent", 1, 201],
    ]);
    expect((await registrations()).map(({ is_proven }) => is_proven)).toEqual([1, 1]);
  });

  onFile(
    "a message goes to matching devices only: by topic, user and language, and never to another store",
    async () => {
      const { service, register, queue, sender, rows, ctx } = await openPushes(suite);
      const makeCustomer = async (name: string) => (await createUser(ctx, { email: `${name}@example.com` })).id;
      const [ann, bob] = [await makeCustomer("ann"), await makeCustomer("bob")];
      const people: [name: string, person: Omit<Parameters<typeof register>[0], "target">][] = [
        ["ann", { userId: ann, lang: "pt-BR", topics: ["sale"] }],
        ["bob", { userId: bob, lang: "de", topics: ["sale", "news"] }],
        ["eve", { lang: "pt", topics: ["news"] }],
        // A device without a language gets the store's language.
        ["guest", {}],
        ["other", { lang: "pap" }],
      ];
      const browsers = people.map(([name, person]) => ({ name, person, browser: service.subscribe() }));
      for (const { person, browser } of browsers) await register({ target: browser.subscription, ...person });
      const heard = async (message: Parameters<typeof queue>[0]) => {
        const id = await queue(message);
        await sender.runUntilIdle();
        const tags = browsers.filter(({ browser }) => browser.messages().some(({ tag }) => tag === id));
        return tags.map(({ name }) => name);
      };
      expect(await heard({})).toEqual(["ann", "bob", "eve", "guest", "other"]);
      expect(await heard({ topic: "sale" })).toEqual(["ann", "bob"]);
      expect(await heard({ topic: "news", lang: "pt" })).toEqual(["eve"]);
      expect(await heard({ lang: "pt" })).toEqual(["ann", "eve"]);
      expect(await heard({ lang: "pt-br" })).toEqual(["ann"]);
      expect(await heard({ lang: "en" })).toEqual(["guest"]);
      expect(await heard({ lang: "pa" })).toEqual([]);
      expect(await heard({ userId: bob })).toEqual(["bob"]);
      expect(await heard({ topic: "nothing" })).toEqual([]);
      const { tenant: elsewhere } = await tenantContext(await suite.shop());
      for (const table of ["push_registrations", "push_topics"]) {
        await suite.app.db.execute({ sql: `update ${table} set tenant_id = ?`, args: [elsewhere.id] });
      }
      for (const message of [{}, { topic: "sale" }, { userId: bob }]) expect(await heard(message)).toEqual([]);
      expect(await rows("select 1 from push_messages where position is not null")).toEqual([]);
    },
  );

  onFile("a failed delivery is retried with longer waits until the message expires", async () => {
    const { service, register, queue, sender, deliveries, skipToNext, clock } = await openPushes(suite, {
      answer: status(503),
    });
    await register({ target: service.subscribe().subscription, isProven: true });
    await queue({ expiresAt: clock.now() + 4 * 3_600_000 });
    const waits: number[] = [];
    for (;;) {
      const before = clock.now();
      expect(await sender.runUntilIdle()).toBe(1);
      const [row] = await deliveries();
      if (row?.status !== "waiting") break;
      expect(row).toMatchObject({ last_status: 503, priority: 2, attempts: waits.length + 1 });
      await skipToNext();
      waits.push((clock.now() - before) / 1000);
    }
    for (const [index, least] of [5, 30, 120, 600, 1800, 3600, 3600].entries()) {
      if (waits[index] !== undefined) expect(waits[index]).toBeWithin(least, least * 1.2 + 1);
    }
    expect(waits.length).toBeGreaterThan(5);
    expect(await deliveries()).toMatchObject([{ status: "expired", last_status: 503 }]);
    expect((await deliveries())[0]?.last_error).toContain("503");
  });

  onFile("registrations that the push service no longer knows are removed, and so are their deliveries", async () => {
    const codes: Record<string, number> = { "/send/1": 404, "/send/2": 410 };
    const { service, register, queue, sender, deliveries, registrations } = await openPushes(suite, {
      answer: (response, { path }) => response.writeHead(codes[path] ?? 201).end(),
    });
    const ids = [];
    for (let n = 0; n < 3; n++) ids.push(await register({ target: service.subscribe().subscription }));
    const stays = ids[2] as string;
    await queue();
    await queue();
    await sender.runUntilIdle();
    expect((await registrations()).map(({ id }) => id)).toEqual([stays]);
    const ended = (await deliveries()).map((row) => [row.status, row.registration_id]);
    const dropped = Array(4).fill(["dropped", null]);
    expect(ended.toSorted()).toEqual([...dropped, ["sent", stays], ["sent", stays]]);
    expect(await sender.runUntilIdle()).toBe(0);
  });
});

onDatabase("file", (suite) => {
  test.each([400, 302])("a message that a push service refuses (%d) has failed, and is not retried", async (code) => {
    const { service, register, queue, sender, deliveries, registrations, clock } = await openPushes(suite, {
      answer: status(code, { location: "http://127.0.0.1:1/" }),
    });
    await register({ target: service.subscribe().subscription });
    await queue();
    expect(await sender.runUntilIdle()).toBe(1);
    expect(await deliveries()).toMatchObject([{ status: "failed", last_status: code, attempts: 1 }]);
    expect((await deliveries())[0]?.last_error).toStartWith(`${code}: `);
    clock.advance(dayMs / 2);
    expect(await sender.runUntilIdle()).toBe(0);
    expect(await registrations()).toHaveLength(1);
  });

  test.each([
    ["an error", 500, undefined],
    ["a reply 429", 429, undefined],
    ["a reply 429 with a very long Retry-After", 429, "1000000000"],
  ])("an error about one device (%s) delays only this device", async (_, code, after) => {
    const { service, register, queue, openSender, clock, rows } = await openPushes(suite, {
      answer: (response, { path }) => {
        const isBad = path === "/send/1";
        response.writeHead(isBad ? code : 201, isBad && after !== undefined ? { "retry-after": after } : {}).end();
      },
    });
    const sender = openSender();
    const bad = service.subscribe();
    const badId = await register({ target: bad.subscription });
    for (let round = 1; round < 4; round++) {
      // In the first round, only this device fails; in the second, it fails before all others.
      const others = Array.from({ length: round === 1 ? 0 : 6 }, () => service.subscribe());
      for (const { subscription } of others) await register({ target: subscription, isProven: round === 2 });
      await queue();
      await sender.runUntilIdle();
      for (const { messages } of others) expect(messages()).toHaveLength(1);
      clock.advance(100);
    }
    const [first] = await rows<{ next: string; made: string }>(
      `select next_attempt_at as next, created_at as made from push_deliveries where registration_id = '${badId}' order by id`,
    );
    const waits = (Date.parse(first?.next ?? "") - Date.parse(first?.made ?? "")) / 1000;
    if (after === undefined) expect(waits).toBeWithin(5, 7);
    else expect(waits).toBe(3600);
  });

  test("after many failures at a push service, its circuit opens for at most a minute; then one message at a time is tried", async () => {
    let isDown = true;
    const { service, register, queue, sender, clock, notices } = await openPushes(suite, {
      answer: (response) => response.writeHead(isDown ? 503 : 201, { "retry-after": "3600" }).end(),
    });
    for (let n = 0; n < 5; n++) await register({ target: service.subscribe().subscription, isProven: true });
    await queue();
    expect(await sender.runUntilIdle()).toBe(5);
    const late = Array.from({ length: 3 }, () => service.subscribe());
    for (const { subscription } of late) await register({ target: subscription, isProven: true });
    await queue();
    expect(await sender.runUntilIdle()).toBe(0);
    expect(notices.filter((text) => text.includes("to 127.0.0.1"))).toHaveLength(1);
    isDown = false;
    clock.advance(70_000);
    const probes = await sender.runUntilIdle();
    expect(probes).toBeGreaterThan(0);
    expect(notices.at(-1)).toContain("accepts push notifications again");
    clock.advance(10_000);
    expect(probes + (await sender.runUntilIdle())).toBe(8);
    for (const { messages } of late) expect(messages()).toHaveLength(1);
  });

  test("messages to phones fail at once, because only browsers are served", async () => {
    const { register, queue, sender, deliveries } = await openPushes(suite);
    await register({ platform: "android", target: { token: "a:b" } });
    await register({ platform: "ios", target: { token: "ab" } });
    await queue();
    await queue();
    expect(await sender.runUntilIdle()).toBe(0);
    const errors = (await deliveries()).map((row) => [row.status, row.last_error]);
    expect(new Set(errors.map(String))).toEqual(new Set(["failed,Notifications are sent to browsers only"]));
  });

  test("a delivery to an address that was encrypted with another key is dropped", async () => {
    const { service, register, queue, openSender, deliveries } = await openPushes(suite);
    await register({ target: service.subscribe().subscription });
    await queue();
    await openSender({ vault: createVault(() => "another secret, 32 characters or more") }).runUntilIdle();
    expect(await deliveries()).toMatchObject([{ status: "dropped", last_status: null }]);
    expect(service.received).toEqual([]);
  });

  test("a device that was sold, detached or removed does not receive messages for its former user", async () => {
    const { service, register, queue, sender, ctx, clock, deliveries } = await openPushes(suite);
    const { id: ann } = await createUser(ctx, { email: `ann-${ctx.tenant.namespace}@example.com` });
    const { id: bob } = await createUser(ctx, { email: `bob-${ctx.tenant.namespace}@example.com` });
    const [sold, detached, gone] = [service.subscribe(), service.subscribe(), service.subscribe()];
    const soldId = await register({ target: sold.subscription, userId: ann });
    await register({ target: detached.subscription, userId: ann });
    const goneId = await register({ target: gone.subscription, userId: ann });
    await queue({ userId: ann });
    await fanOut({ db: suite.app.db, now: clock.now });
    await suite.app.db.batch([
      { sql: "update push_registrations set user_id = null where id <> ?", args: [soldId] },
      { sql: "update push_registrations set user_id = ? where id = ?", args: [bob, soldId] },
      { sql: "delete from push_registrations where id = ?", args: [goneId] },
    ]);
    expect(await sender.runUntilIdle()).toBe(0);
    expect((await deliveries()).map((row) => [row.status, row.last_error]).toSorted()).toEqual([
      ["dropped", "the device no longer belongs to the user"],
      ["dropped", "the device no longer belongs to the user"],
      ["dropped", "the registration was removed"],
    ]);
    expect(service.received).toEqual([]);
  });

  const refused: [string, string, Record<string, string[]>][] = [
    ["a private network", "https://10.1.2.3/push", {}],
    [
      "a name that resolves to a private network",
      "https://push.example.com/x",
      { "push.example.com": ["93.184.216.34", "192.168.0.1"] },
    ],
    ["http", "http://push.example.com/x", { "push.example.com": ["93.184.216.34"] }],
  ];
  test.each(refused)(
    "the sender connects to an endpoint on %s only if private endpoints are allowed",
    async (_, endpoint, names) => {
      const { register, queue, sender, deliveries } = await openPushes(suite, {
        web: { allowPrivate: false, lookup: async (name) => names[name] ?? [] },
      });
      await register({ target: { endpoint, keys: createBrowser().keys } });
      await queue();
      await sender.runUntilIdle();
      expect(await deliveries()).toMatchObject([{ status: "failed", attempts: 1, last_status: null }]);
      expect((await deliveries())[0]?.last_error).toMatch(/not a public address|only https/);
    },
  );

  test("messages go first to registrations that have already received a message", async () => {
    const sent: string[] = [];
    const sendPush: SendPush = async ({ endpoint }) => {
      sent.push(new URL(endpoint).host);
      return { result: "accepted", status: 201, retryAfterMs: 0, error: null };
    };
    const { register, queue, sender } = await openPushes(suite, { sender: { sendPush } });
    const { keys } = createBrowser();
    for (const name of ["new", "old"])
      await register({ target: { endpoint: `https://${name}`, keys }, isProven: name === "old" });
    await queue();
    await sender.runUntilIdle();
    expect(sent).toEqual(["old", "new"]);
  });

  test("a message to ten thousand devices is queued in batches, once for each device", async () => {
    const { queue, rows, ctx, clock } = await openPushes(suite);
    const now = new Date(clock.now()).toISOString();
    await suite.app.db.execute({
      sql: `with recursive n(i) as (select 1 union all select i + 1 from n where i < 10000)
        insert into push_registrations (id, tenant_id, platform, target_key, target, secret_hash, created_at, updated_at)
        select printf('reg_%05d', i), ?, 'web', i, '', '', ?, ? from n`,
      args: [ctx.tenant.id, now, now],
    });
    await queue();
    const count = async () => (await rows<{ n: number }>("select count(*) as n from push_deliveries"))[0]?.n;
    const deps = { db: suite.app.db, now: clock.now };
    await fanOut(deps);
    expect(await count()).toBe(500);
    await Promise.all([fanOut(deps), fanOut(deps)]);
    expect(await count()).toBe(1500);
    for (let n = 3; n < 21; n++) await fanOut(deps);
    expect(await count()).toBe(10_000);
    expect(await rows("select 1 from push_messages where position is not null")).toEqual([]);
  });

  test("messages and their deliveries are purged after thirty days", async () => {
    const { service, register, queue, sender, clock, ctx } = await openPushes(suite, {
      answer: (response, { path }) => response.writeHead(path === "/send/2" ? 201 : 400).end(),
    });
    for (let n = 0; n < 2; n++) await register({ target: service.subscribe().subscription });
    await queue();
    await sender.runUntilIdle();
    clock.advance(30 * dayMs - 1);
    expect([await purgePushes(ctx), await purgeMessages(ctx)]).toEqual([0, 0]);
    clock.advance(1);
    expect([await purgePushes(ctx), await purgeMessages(ctx)]).toEqual([2, 1]);
  });

  test("a registration is purged after 180 days without a renewal or a received message", async () => {
    const { service, register, queue, sender, rows, clock } = await openPushes(suite);
    const used = await register({ target: service.subscribe().subscription, isProven: true, topics: ["news"] });
    await register({ target: service.subscribe().subscription, isProven: true });
    const renewed = await register({ target: service.subscribe().subscription, isProven: true });
    const ctx = { db: suite.app.db, now: clock.now };
    clock.advance(100 * dayMs);
    const now = new Date(clock.now()).toISOString();
    await suite.app.db.execute({
      sql: "update push_registrations set updated_at = ? where id = ?",
      args: [now, renewed],
    });
    await queue({ topic: "news" });
    await sender.runUntilIdle();
    clock.advance(80 * dayMs - 1);
    expect(await purgeRegistrations(ctx)).toBe(0);
    clock.advance(1);
    expect(await purgeRegistrations(ctx)).toBe(1);
    const left = (await rows<{ id: string }>("select id from push_registrations order by id")).map(({ id }) => id);
    expect(left).toEqual([used, renewed]);
    clock.advance(100 * dayMs);
    expect(await purgeRegistrations(ctx)).toBe(2);
  });
});
