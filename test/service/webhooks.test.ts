import { afterAll, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import { listAudit } from "../../src/server/modules/audit/list.ts";
import { resumeTenant, suspendTenant } from "../../src/server/modules/tenants/service.ts";
import { maxWaiting, purgeDeliveries, replayDeliveries } from "../../src/server/modules/webhooks/deliveries.ts";
import { delaysMs } from "../../src/server/modules/webhooks/delivery.ts";
import { addWebhook, listWebhooks, removeWebhook, rotateWebhook } from "../../src/server/modules/webhooks/service.ts";
import { createVault } from "../../src/server/security/vault.ts";
import { certificate } from "../support/certificate.ts";
import { failureOf } from "../support/failure.ts";
import { expectedSignature } from "../support/receiver.ts";
import { onDatabase, onEachDatabase } from "../support/suite.ts";
import { until } from "../support/until.ts";
import { closeReceivers, openHook, openReceiver } from "../support/webhooks.ts";

afterAll(closeReceivers);

const dayMs = 86_400_000;
const status = (code: number) => (response: ServerResponse) => response.writeHead(code).end();

onEachDatabase((suite) => {
  const { onFile } = suite;
  test("a webhook receives each event after its creation once, with a signature", async () => {
    const { record, sender, receiver, webhook, shop, clock, deliveries } = await openHook(suite);
    const other = await suite.shop();
    await other.createProduct();
    await record("order.created", "ord_1");
    await record("order.paid", "ord_1");
    expect(await sender.runUntilIdle()).toBe(2);
    expect(await sender.runUntilIdle()).toBe(0);
    expect(receiver.received.map(({ body }) => body.type).toSorted()).toEqual(["order.created", "order.paid"]);
    for (const message of receiver.received) {
      expect(message.signature).toBe(expectedSignature(webhook.secret, message));
      expect(message.timestamp).toBe(String(Math.floor(clock.now() / 1000)));
      const created_at = new Date(clock.now()).toISOString();
      const { id, body } = message;
      const rest = { subject: "ord_1", data: { version: 2 }, created_at, namespace: shop.namespace };
      expect(body).toEqual({ id, type: body.type, ...rest });
      expect(Object.keys(body)).toEqual(["id", "type", "subject", "data", "created_at", "namespace"]);
    }
    expect(await deliveries()).toMatchObject([
      { type: "order.paid", status: "delivered", attempts: 1, last_status: 204, last_error: null },
      { type: "order.created", status: "delivered", attempts: 1 },
    ]);
  });

  onFile(
    "a webhook receives only events of its types and its store, and no events from before it was added",
    async () => {
      const { record, sender, receiver, ctx, shop } = await openHook(suite, { types: ["order.*", "stock.changed"] });
      for (const type of ["product.created", "order.paid", "user.updated", "stock.changed"] as const)
        await record(type);
      const late = await openReceiver();
      await addWebhook(ctx, { url: late.url, allowPrivate: true });
      await shop.createProduct();
      await sender.runUntilIdle();
      expect(receiver.received.map(({ body }) => body.type).toSorted()).toEqual(["order.paid", "stock.changed"]);
      expect(late.received.map(({ body }) => body.type)).toEqual(["product.created"]);
    },
  );

  onFile(
    "a failed delivery is retried with the same id and longer pauses for about a day, and then marked as failed",
    async () => {
      const { record, sender, receiver, clock, deliveries, skipToNext, notices } = await openHook(suite, {
        answer: status(503),
      });
      await record();
      const start = clock.now();
      const waits: number[] = [];
      for (let attempt = 1; attempt <= delaysMs.length + 1; attempt++) {
        expect(await sender.runUntilIdle()).toBe(1);
        expect(await sender.runUntilIdle()).toBe(0);
        if (attempt > delaysMs.length) break;
        const before = clock.now();
        await skipToNext();
        waits.push(clock.now() - before);
      }
      for (const [index, wait] of waits.entries()) {
        expect(wait).toBeWithin(delaysMs[index] as number, (delaysMs[index] as number) * 1.2 + 1);
      }
      expect((clock.now() - start) / dayMs).toBeWithin(0.9, 1.3);
      const [failed] = await deliveries();
      expect(failed).toMatchObject({ status: "failed", attempts: 12, last_status: 503, next_attempt_at: null });
      expect(failed?.last_error).toContain("503");
      expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1);
      expect(new Set(receiver.received.map(({ timestamp }) => timestamp)).size).toBe(12);
      expect(notices).toEqual([expect.stringContaining("events stay queued"), expect.stringContaining("failed: 503")]);
    },
  );

  onFile("a suspended store sends nothing, and sends its waiting deliveries when it is resumed", async () => {
    let code = 503;
    const { record, sender, receiver, ctx, shop, clock } = await openHook(suite, {
      answer: (response) => response.writeHead(code).end(),
    });
    await record();
    await sender.runUntilIdle();
    await record();
    await suspendTenant(ctx, shop.namespace);
    clock.advance(dayMs);
    expect(await sender.runUntilIdle()).toBe(0);
    await resumeTenant(ctx, shop.namespace);
    code = 200;
    expect(await sender.runUntilIdle()).toBe(2);
    expect(receiver.received).toHaveLength(3);
  });

  onFile("a removed webhook receives no more events, and its deliveries are deleted", async () => {
    const { record, sender, receiver, ctx, webhook } = await openHook(suite, { answer: status(500) });
    await record();
    await sender.runUntilIdle();
    await removeWebhook(ctx, webhook.webhook_id);
    await record();
    expect(await sender.runUntilIdle()).toBe(0);
    expect(receiver.received).toHaveLength(1);
    expect((await suite.app.db.execute("select 1 from webhook_deliveries")).rows).toEqual([]);
  });

  onFile("replay repeats one event, all events after an event, or all failed deliveries", async () => {
    let code = 410;
    const { record, sender, receiver, ctx, webhook, deliveries } = await openHook(suite, {
      answer: (response) => response.writeHead(code).end(),
      types: ["order.*"],
    });
    for (const subject of ["ord_1", "ord_2", "ord_3"]) await record("order.paid", subject);
    await record("product.updated");
    await sender.runUntilIdle();
    expect((await deliveries()).map((one) => [one.status, one.attempts])).toEqual(Array(3).fill(["failed", 1]));
    code = 200;
    const replay = async (choice: Parameters<typeof replayDeliveries>[2]) => {
      receiver.received.length = 0;
      const count = await replayDeliveries(ctx, webhook.webhook_id, choice);
      expect(await sender.runUntilIdle()).toBe(count);
      return receiver.received.map(({ body }) => body.subject).toSorted();
    };
    expect(await replay("failed")).toEqual(["ord_1", "ord_2", "ord_3"]);
    expect(await replay("failed")).toEqual([]);
    const first = (await deliveries())[2]?.event_id as string;
    expect(await replay({ after: first })).toEqual(["ord_2", "ord_3"]);
    expect(await replay({ event: first })).toEqual(["ord_1"]);
    const acts = await listAudit(ctx, { event: "webhook.replayed" });
    expect(acts.filter(({ subject }) => subject === webhook.webhook_id)).toHaveLength(4);
    const stranger = await openHook(suite);
    for (const choice of ["failed", { event: first }] as const) {
      expect(await failureOf(replayDeliveries(stranger.ctx, webhook.webhook_id, choice))).toMatchObject({ code: 5301 });
    }
    const own = stranger.webhook.webhook_id;
    expect(await failureOf(replayDeliveries(stranger.ctx, own, { event: first }))).toMatchObject({ code: 5301 });
  });

  onFile("finished deliveries are purged after thirty days", async () => {
    const { record, sender, clock, deliveries, ctx } = await openHook(suite, {
      answer: (response, { body }) => response.writeHead(body.subject === "bad" ? 410 : 200).end(),
    });
    for (const subject of ["bad", "good"]) await record("product.updated", subject);
    await sender.runUntilIdle();
    const statuses = async () => (await deliveries()).map((one) => one.status);
    clock.advance(30 * dayMs - 1);
    await purgeDeliveries(ctx);
    expect(await statuses()).toEqual(["delivered", "failed"]);
    clock.advance(1);
    await purgeDeliveries(ctx);
    expect(await statuses()).toEqual([]);
  });
});

onDatabase("file", (suite) => {
  const failures: [what: string, answer: (response: ServerResponse) => unknown, error: RegExp][] = [
    ["redirects", (response) => response.writeHead(302, { location: "/elsewhere" }).end(), /^302/],
    ["closes the connection", (response) => response.destroy(), /./],
    ["never answers", () => {}, /^no answer within 0.05 s$/],
  ];
  test.each(failures)("a delivery to a receiver that %s fails, and is tried again later", async (_, answer, error) => {
    const { record, sender, receiver, deliveries } = await openHook(suite, { answer, sender: { timeoutMs: 50 } });
    await record();
    expect(await sender.runUntilIdle()).toBe(1);
    expect(receiver.received).toHaveLength(1);
    const last_error = expect.stringMatching(error);
    expect(await deliveries()).toMatchObject([{ status: "waiting", attempts: 1, last_error }]);
  });

  test("replies with a long or endless body count as successes, and are not read to their end", async () => {
    let written = 0;
    let closed = 0;
    const { record, sender, deliveries } = await openHook(suite, {
      answer: (response, { body }) => {
        if (body.subject === "long") return response.writeHead(200).end("x".repeat(50_000));
        response.writeHead(200);
        response.on("close", () => closed++);
        const more = () => {
          written += 8192;
          if (!response.closed) response.write("x".repeat(8192), () => setImmediate(more));
        };
        more();
      },
    });
    await record("product.updated", "long");
    await record("product.updated", "endless");
    expect(await sender.runUntilIdle()).toBe(2);
    expect((await deliveries()).map((one) => one.status)).toEqual(["delivered", "delivered"]);
    await until("the endless answer is cut", () => closed === 1);
    expect(written).toBeLessThan(50_000_000);
  });

  test("a webhook connects to a private address only if allowed, even if a name resolves to it", async () => {
    const { record, ctx, openSender, receiver } = await openHook(suite);
    const { webhook_id } = await addWebhook(ctx, { url: `https://rebinding.example:${receiver.port}/` });
    await record();
    await openSender({ lookup: async () => ["127.0.0.1"] }).runUntilIdle();
    const [, hook] = await listWebhooks(ctx);
    expect(hook).toMatchObject({ webhook_id, waiting: 1, delivered: 0 });
    expect(hook?.last_error).toBe("rebinding.example has 127.0.0.1, which is not a public address");
    expect(receiver.received).toHaveLength(1);
    const details = [{ field: "url", message: expect.stringContaining("127.0.0.1") }];
    expect(await failureOf(addWebhook(ctx, { url: "https://127.0.0.1/" }))).toMatchObject({ code: 5102, details });
    const named = addWebhook(ctx, { url: "https://inside.example/" }, async () => ["127.0.0.1"]);
    expect(await failureOf(named)).toMatchObject({ code: 5102, details });
  });

  test("the connection uses the checked address, and the certificate is verified for the name", async () => {
    const { record, ctx, openSender } = await openHook(suite);
    const secure = await openReceiver(undefined, { secure: true });
    const add = (name: string) => addWebhook(ctx, { url: `https://${name}:${secure.port}/`, allowPrivate: true });
    await add("localhost");
    await add("wrong.example");
    await add("localhost.");
    await record();
    await openSender({ lookup: async () => ["127.0.0.1"], ca: certificate }).runUntilIdle();
    const [, right, wrong, dotted] = await listWebhooks(ctx);
    expect(right).toMatchObject({ delivered: 1 });
    expect(dotted).toMatchObject({ delivered: 1 });
    expect(wrong).toMatchObject({ delivered: 0, waiting: 1 });
    expect(wrong?.last_error).toContain("ERR_TLS_CERT_ALTNAME_INVALID");
    const hosts = ["localhost.", "localhost"].map((name) => `${name}:${secure.port}`);
    expect(secure.received.map(({ host }) => host).toSorted()).toEqual(hosts);
  });

  test("if the first address of a name is unreachable, the next address is tried", async () => {
    const { record, openSender, receiver } = await openHook(suite, {
      url: ({ port }) => `http://two.example:${port}/`,
    });
    await record();
    await openSender({ lookup: async () => ["127.0.0.2", "127.0.0.1"] }).runUntilIdle();
    expect(receiver.received).toHaveLength(1);
  });

  test("if the secret key is lost, a webhook sends nothing and reports this, until it gets a new secret", async () => {
    const { record, openSender, receiver, ctx, webhook, deliveries, skipToNext } = await openHook(suite);
    const vault = createVault(() => "another key, with which the server runs by now");
    const sender = openSender({ vault });
    await record();
    await sender.runUntilIdle();
    expect(receiver.received).toEqual([]);
    expect((await deliveries())[0]?.last_error).toContain("bodega webhook rotate");
    const { secret } = await rotateWebhook({ ...ctx, vault }, webhook.webhook_id);
    expect(secret).not.toBe(webhook.secret);
    await skipToNext();
    await sender.runUntilIdle();
    const [message] = receiver.received;
    expect(message?.signature).toBe(expectedSignature(secret, message as never));
  });

  test("a store has at most twenty webhooks, which accept only known event types", async () => {
    const { ctx } = await openHook(suite);
    const add = (types?: string[]) => addWebhook(ctx, { url: "https://1.1.1.1/", types });
    expect(await failureOf(add(["orders.*"]))).toMatchObject({ code: 5102, details: [{ field: "types" }] });
    for (let i = 1; i < 20; i++) await add();
    expect(await failureOf(add())).toMatchObject({ code: 5306 });
  });

  test("the waiting deliveries of a webhook are limited; further events are delivered later", async () => {
    const { record, sender, receiver, ctx, webhook, clock } = await openHook(suite, { answer: status(503) });
    const { webhook_id: id } = webhook;
    const later = new Date(clock.now() + dayMs).toISOString();
    await suite.app.db.execute({
      sql: `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
        insert into webhook_deliveries (id, tenant_id, webhook_id, event, status, next_attempt_at, created_at)
        select 'dlv_' || i, ?, ?, -i, 'waiting', ?, '' from n`,
      args: [maxWaiting, ctx.tenant.id, id, later],
    });
    await record();
    expect(await sender.runUntilIdle()).toBe(0);
    await suite.app.db.execute("delete from webhook_deliveries where event < 0");
    expect(await sender.runUntilIdle()).toBe(1);
    expect(receiver.received).toHaveLength(1);
  });
});
