import { expect } from "bun:test";
import { openAccount } from "../../support/account.ts";
import type { Shop } from "../../support/factories.ts";
import { readPages } from "../../support/read-pages.ts";
import { newAppleToken, newGoogleToken, registerWith } from "../../support/registrations.ts";
import { runScenarios, scenariosOf } from "../../support/scenarios.ts";
import { onDatabase } from "../../support/suite.ts";

const send = "POST /notifications/send/";
const sale = { title: "Sale", body: "Lamps for half" };
const nobody = { web: 0, ios: 0, android: 0 };
const unknownId = "msg_00000000000000000000000000";

interface Accepted {
  id: string | null;
  recipients: Record<string, number>;
  undeliverable: { platform: string; message: string }[];
  created_at: string;
  expires_at: string;
  [field: string]: unknown;
}
interface Told {
  id: string;
  title: string;
  deliveries: Record<string, number>;
  [field: string]: unknown;
}

onDatabase("file", (suite) => {
  const { test } = suite;
  const wrong = (name: string, body: object, field: string) => ({
    name: `${name} is refused`,
    request: send,
    send: { body },
    expect: 5102 as const,
    fields: [field],
  });

  runScenarios(suite, [
    ...scenariosOf(send, [
      ["a message to a topic is accepted", { body: { ...sale, topic: "sale" } }, 201],
      ["a message to everyone is accepted", { body: { ...sale, everyone: true } }, 201],
      ["the url of a message may be a path of the shop", { body: { ...sale, topic: "a", url: "/sale?x=1" } }, 201],
    ]),
    wrong("a message without recipients", sale, "topic"),
    wrong("a message to a topic and to everyone", { ...sale, topic: "sale", everyone: true }, "topic"),
    wrong("a message to nobody", { ...sale, everyone: false }, "topic"),
    wrong("a malformed topic", { ...sale, topic: "Sale!" }, "topic"),
    wrong("a blank title", { title: " ", body: "x", topic: "sale" }, "title"),
    wrong("what is too large together", { ...sale, body: "漢".repeat(1000), topic: "sale" }, "body"),
    wrong("a plain http address", { ...sale, topic: "sale", url: "http://shop.example/" }, "url"),
    wrong("a host without a scheme", { ...sale, topic: "sale", url: "//evil.example/" }, "url"),
    wrong("the same with a backslash", { ...sale, topic: "sale", url: "/\\evil.example/" }, "url"),
    wrong("an address with credentials", { ...sale, topic: "sale", url: "https://a:b@shop.example/" }, "url"),
    wrong("data by a name of spaces", { ...sale, topic: "sale", data: { "a b": "1" } }, "data"),
    wrong("data by a reserved name", { ...sale, topic: "sale", data: { from: "1" } }, "data.from"),
    wrong("data with NUL", { ...sale, topic: "sale", data: { a: "\0" } }, "data.a"),
    wrong("a minute that is too short", { ...sale, topic: "sale", ttl: 59 }, "ttl"),
    wrong("five weeks", { ...sale, topic: "sale", ttl: 2_419_201 }, "ttl"),
    ...scenariosOf(send, [
      ["two users", { query: { user_id: "usr_a" }, body: { ...sale, customer_id: "usr_b" } }, 5102, "customer_id"],
      ["a message to an unknown user is refused", { body: { ...sale, customer_id: "usr_x" } }, 5301],
    ]),
    {
      name: "a read of an unknown message gets 5301",
      request: `GET /notifications/messages/${unknownId}/`,
      expect: 5301,
    },
    {
      name: "a broken cursor is refused",
      request: "GET /notifications/messages/",
      send: { query: { cursor: "x" } },
      expect: 5100,
    },
  ]);

  test("a sent message is counted, shown and listed only in its own store", async (shop) => {
    const other = await suite.shop();
    const user = await openAccount(shop);
    await registerWith(user.call, { topics: ["sale", "news"], lang: "pt-BR" });
    const android = { platform: "android", token: newGoogleToken() };
    await registerWith(shop.callAnonymously, { ...android, topics: ["sale"], lang: "de" });
    await registerWith(user.call, { platform: "ios", token: newAppleToken(), lang: "pt" });
    await registerWith(other.callAnonymously, { topics: ["sale"] });
    const fields = { url: "https://shop.example/sale", data: { campaign: "7" } };
    const { data, status } = await shop.call<Accepted>(send, {
      body: { ...sale, ...fields, topic: "sale", ttl: 3600 },
    });
    expect(status).toBe(201);
    const now = suite.app.clock.now();
    const [created_at, expires_at] = [new Date(now).toISOString(), new Date(now + 3_600_000).toISOString()];
    const parts = { ...sale, ...fields, topic: "sale", user_id: null, lang: null, created_at, expires_at };
    expect(data).toEqual({
      id: data.id,
      ...parts,
      recipients: { web: 1, ios: 0, android: 1 },
      undeliverable: [{ platform: "android", message: "Notifications are sent to browsers only" }],
    });
    const count = async (body: object) => (await shop.call<Accepted>(send, { body: { ...sale, ...body } })).data;
    expect((await count({ everyone: true })).recipients).toEqual({ web: 1, ios: 1, android: 1 });
    expect((await count({ everyone: true, lang: "pt" })).recipients).toEqual({ web: 1, ios: 1, android: 0 });
    expect((await count({ everyone: true, lang: "pt-BR" })).recipients).toEqual({ ...nobody, web: 1 });
    expect(await count({ user_id: user.id })).toMatchObject({
      user_id: user.id,
      recipients: { web: 1, ios: 1, android: 0 },
    });
    const told = await shop.call<Told>(`GET /notifications/messages/${data.id}/`);
    expect(told.data).toEqual({
      id: data.id as string,
      ...parts,
      is_complete: false,
      deliveries: { waiting: 0, sent: 0, failed: 0, dropped: 0, expired: 0 },
    });
    const page = await shop.call<Told[]>("GET /notifications/messages/", { query: { include_total: "true" } });
    expect(page.page?.total).toBe(5);
    expect(page.data.at(-1)).toEqual({ id: data.id as string, ...parts } as unknown as Told);
    expect((await other.call(`GET /notifications/messages/${data.id}/`)).code).toBe(5301);
    expect((await other.call<Told[]>("GET /notifications/messages/")).data).toEqual([]);
    expect((await other.call(send, { body: { ...sale, user_id: user.id } })).code).toBe(5301);
  });

  test("deliveries are counted by their result", async (shop) => {
    const { id } = (await shop.call<Accepted>(send, { body: { ...sale, topic: "sale" } })).data;
    const [tenant] = (
      await suite.app.db.execute({ sql: "select tenant_id from push_messages where id = ?", args: [id] })
    ).rows;
    const statuses = ["waiting", "sent", "sent", "failed", "dropped", "expired", "expired"];
    for (const [index, status] of statuses.entries()) {
      await suite.app.db.execute({
        sql: `insert into push_deliveries (id, tenant_id, message_id, platform, priority, status, next_attempt_at, created_at)
          values (?, ?, ?, 'web', 1, ?, '', '')`,
        args: [`psh_${id}${index}`, tenant?.tenant_id as string, id, status],
      });
    }
    await suite.app.db.execute({ sql: "update push_messages set position = null where id = ?", args: [id] });
    const { data } = await shop.call<Told>(`GET /notifications/messages/${id}/`);
    expect(data.deliveries).toEqual({ waiting: 1, sent: 2, failed: 1, dropped: 1, expired: 2 });
    expect(data.is_complete).toBe(true);
  });

  test("a dry run checks the message, counts devices, and stores nothing", async (shop) => {
    await registerWith(shop.callAnonymously, { topics: ["sale"] });
    const query = { dry_run: "true" };
    const { data, status } = await shop.call<Accepted>(send, { query, body: { ...sale, topic: "sale" } });
    expect({ status, id: data.id, recipients: data.recipients }).toEqual({
      status: 200,
      id: null,
      recipients: { ...nobody, web: 1 },
    });
    expect((await shop.call(send, { query, body: sale })).code).toBe(5102);
    expect((await shop.call<Told[]>("GET /notifications/messages/")).data).toEqual([]);
    expect(await auditOf(shop)).toEqual([]);
  });

  test("staff can send messages; the audit log has messages to several users, without their text", async (shop) => {
    const staff = await openAccount(shop, { role: "staff" });
    const { data } = await staff.call<Accepted>(send, { body: { ...sale, topic: "sale" } });
    const one = await staff.call<Accepted>(send, { body: { ...sale, customer_id: staff.id } });
    expect(one.data).toMatchObject({ user_id: staff.id, topic: null });
    expect((await staff.call<Told>(`GET /notifications/messages/${one.data.id}/`)).data.title).toBe("Sale");
    const rows = await auditOf(shop);
    expect(rows.map(({ subject, actor_id }) => [subject, actor_id])).toEqual([[data.id as string, staff.id]]);
    expect(JSON.parse(rows[0]?.details as string)).toEqual({ topic: "sale", recipients: nobody });
  });

  test("a cursor continues the list of messages after the previous page", async (shop) => {
    for (let n = 0; n < 5; n++) await shop.call(send, { body: { title: `T${n}`, body: "x", topic: "a" } });
    const seen = await readPages<Told>(shop.call, "GET /notifications/messages/", { limit: 2, fields: "title" });
    expect(seen.map(({ title }) => title)).toEqual(["T4", "T3", "T2", "T1", "T0"]);
  });

  async function auditOf({ namespace }: Shop) {
    const sql = "select subject, actor_id, details from audit_log where namespace = ? and event = 'notification.sent'";
    return (await suite.app.db.execute({ sql, args: [namespace] })).rows;
  }
});
