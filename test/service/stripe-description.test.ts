import { afterAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { disconnectStripe } from "../../src/server/modules/payments/stripe/connect.ts";
import { openPayShop } from "../support/pay-shop.ts";
import { findPort } from "../support/port.ts";
import { until } from "../support/until.ts";

const folder = join(tmpdir(), "bodega-stripe-mock");

/** Stripe's own server for tests, which checks requests against its description of the API; null without Go. */
async function findMock(): Promise<string | null> {
  const path = Bun.which("stripe-mock") ?? join(folder, "stripe-mock");
  if (existsSync(path)) return path;
  const go = Bun.which("go");
  if (go === null) return null;
  const args = ["install", "github.com/stripe/stripe-mock@latest"];
  const child = Bun.spawn([go, ...args], {
    env: { ...process.env, GOBIN: folder },
    stderr: "ignore",
    timeout: 120_000,
  });
  return (await child.exited) === 0 ? path : null;
}

const mock = await findMock();
if (mock === null)
  console.warn("Not run: requests are not compared with Stripe's description, because Go is missing or offline.");

const children: Bun.Subprocess[] = [];
afterAll(() => {
  for (const child of children) child.kill();
});

test.skipIf(mock === null)(
  "Stripe's own API description accepts each request that the server sends, and refuses an unknown request",
  async () => {
    const port = findPort();
    const url = `http://127.0.0.1:${port}/v1/`;
    children.push(Bun.spawn([mock as string, "-http-port", String(port)], { stdout: "ignore", stderr: "ignore" }));
    const headers = { authorization: "Bearer sk_test_123", "content-type": "application/x-www-form-urlencoded" };
    const send = async (call: string, text: string) => {
      const [method = "", path = ""] = call.split(" ");
      const query = method === "GET" && text ? `?${text}` : "";
      const reply = await fetch(`${url}${path}${query}`, { method, headers, ...(method === "POST" && { body: text }) });
      return { call, status: reply.status, ...(reply.ok ? {} : { fault: await reply.text() }) };
    };
    await until("stripe-mock", async () => (await send("GET account", "").catch(() => null))?.status === 200);

    const shop = await openPayShop();
    const first = await shop.order();
    const paid = await shop.checkout(first);
    shop.stripe.pay(shop.sessionOf(paid));
    await shop.stripe.settle();
    await shop.shop.call(`POST /orders/${first.id}/refund/`, { body: { amount: 5 } });
    await shop.runJobs();
    const [intent] = shop.stripe.books.lists.payment_intents;
    shop.stripe.dispute(String(intent?.id));
    await shop.stripe.settle();
    const second = await shop.order();
    await shop.checkout(second);
    await shop.shop.call(`POST /orders/${second.id}/cancel/`, { body: {} });
    shop.clock.advance(3600_000);
    await shop.runJobs();
    await disconnectStripe(shop.ctx);
    await shop.close();

    const calls = shop.stripe.calls.map(({ call, text }) => [call, text] as const);
    const shapes = new Set(calls.map(([call]) => call.replace(/\/\w+_(?:test_)?\w{20,}/, "/:id")));
    for (const shape of [
      ...["GET account", "POST webhook_endpoints", "POST checkout/sessions", "GET checkout/sessions/:id"],
      ...["POST checkout/sessions/:id/expire", "POST refunds", "GET refunds", "GET disputes", "GET events"],
      "DELETE webhook_endpoints/:id",
    ]) {
      expect([...shapes]).toContain(shape);
    }
    for (const [call, text] of calls) expect(await send(call, text)).toEqual({ call, status: 200 });
    expect((await send("POST refunds", "payment_intent=pi_1&colour=red")).status).toBe(400);
  },
  60_000,
);
