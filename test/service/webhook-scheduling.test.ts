import { afterAll, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import { inTransaction } from "../../src/server/db/transaction.ts";
import { recordEvent } from "../../src/server/modules/events/service.ts";
import { addWebhook } from "../../src/server/modules/webhooks/service.ts";
import { tenantContext } from "../support/factories.ts";
import { onDatabase } from "../support/suite.ts";
import { until } from "../support/until.ts";
import { closeReceivers, openHook, openReceiver } from "../support/webhooks.ts";

afterAll(closeReceivers);

onDatabase("file", (suite) => {
  test("receivers that never answer delay no other receiver of their store, and no other store", async () => {
    const held: ServerResponse[] = [];
    const hook = await openHook(suite, { answer: (response) => held.push(response) });
    const { record, ctx, sender, receiver: dead } = hook;
    for (let i = 1; i < 19; i++) await addWebhook(ctx, { url: dead.url, allowPrivate: true });
    const sound = await openReceiver();
    await addWebhook(ctx, { url: sound.url, allowPrivate: true });
    const neighbour = { ...(await tenantContext(await suite.shop())), now: ctx.now };
    const next = await openReceiver();
    await addWebhook(neighbour, { url: next.url, allowPrivate: true });
    for (let i = 0; i < 40; i++) await record();
    const data = { version: 2 };
    await inTransaction(neighbour, (tx) => recordEvent(tx, { type: "product.updated", subject: "prod_1", data }));
    const run = sender.runUntilIdle();
    await until("the sound ones have all", () => sound.received.length === 40 && next.received.length === 1);
    await until("each dead one is asked", () => dead.received.length === 19);
    expect(held.filter((response) => response.closed)).toEqual([]);
    await sender.stop(0);
    await run;
  });

  test("a receiver that is down gets one message at a time, with increasing pauses, until it replies again", async () => {
    let code = 500;
    const { record, sender, receiver, clock } = await openHook(suite, {
      answer: (response) => response.writeHead(code).end(),
    });
    for (let i = 0; i < 20; i++) await record();
    expect(await sender.runUntilIdle()).toBe(1);
    for (const seconds of [5, 10, 20, 40, 60, 60]) {
      clock.advance(seconds * 1000 - 1);
      expect(await sender.runUntilIdle()).toBe(0);
      clock.advance(1);
      expect(await sender.runUntilIdle()).toBe(1);
    }
    code = 200;
    clock.advance(60_000);
    expect(await sender.runUntilIdle()).toBe(20);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(20);
  });

  test("a receiver that refuses some events gets the other events without delay", async () => {
    const { record, sender, deliveries } = await openHook(suite, {
      answer: (response, { body }) => response.writeHead(body.subject === "odd" ? 422 : 204).end(),
    });
    for (let i = 0; i < 10; i++) await record("product.updated", i % 2 ? "odd" : "even");
    expect(await sender.runUntilIdle()).toBe(10);
    expect((await deliveries()).filter(({ status }) => status === "delivered")).toHaveLength(5);
  });

  test("a delivery succeeds when its status arrives; if the body of the reply is slow, the sender closes the connection", async () => {
    const held: ServerResponse[] = [];
    const { record, sender, deliveries } = await openHook(suite, {
      answer: (response) => held.push(response.writeHead(200, { "content-length": "100" })) && response.write("x"),
      // After this time, the sender closes the slow connection.
      sender: { timeoutMs: 300 },
    });
    await record();
    expect(await sender.runUntilIdle()).toBe(1);
    expect(await deliveries()).toMatchObject([{ status: "delivered", attempts: 1, last_status: 200 }]);
    await until("the connection is closed", () => held.every((response) => response.closed));
  });

  test("Retry-After of a reply applies to all waiting deliveries of the receiver", async () => {
    const { record, sender, clock, deliveries } = await openHook(suite, {
      answer: (response) => response.writeHead(429, { "retry-after": "120" }).end(),
    });
    await record();
    expect(await sender.runUntilIdle()).toBe(1);
    const [{ next_attempt_at } = {}] = await deliveries();
    expect(Date.parse(next_attempt_at as string) - clock.now()).toBe(120_000);
    await record();
    clock.advance(120_000 - 1);
    expect(await sender.runUntilIdle()).toBe(0);
    clock.advance(1);
    expect(await sender.runUntilIdle()).toBe(1);
  });
});
