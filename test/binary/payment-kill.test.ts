import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openShop, useBinaries } from "../support/binary.ts";
import type { OrderReply } from "../support/orders.ts";
import { returnUrls, stripeKey } from "../support/pay-shop.ts";
import { startStripe } from "../support/stripe.ts";

const { installBinary } = useBinaries();

/** More for a thorough run: BODEGA_TEST_KILLS=50 bun test test/binary/payment-kill.test.ts */
const kills = Number(process.env.BODEGA_TEST_KILLS ?? 3);
const buyers = 4;

test(
  "kill -9 during checkouts, webhooks and refunds loses no payment, and no payment is booked or refunded twice",
  async () => {
    const stripe = await startStripe();
    const binary = installBinary();
    const { namespace, auth } = await openShop(binary);
    const { url, port, ...first } = await binary.serve();
    await first.end();
    Object.assign(binary.env, { BODEGA_STRIPE_URL: stripe.url, BODEGA_PUBLIC_URL: url });
    writeFileSync(join(binary.dir, "stripe.key"), stripeKey);
    await binary.json("payment", "connect", "stripe", "-n", namespace, "--key-file", "stripe.key");
    await binary.json(
      "tenant",
      "update",
      namespace,
      "--pending-orders",
      "0",
      "--orders-per-minute",
      "0",
      "--stock-share",
      "100",
    );

    async function call<T>(method: string, path: string, body?: object): Promise<T> {
      const headers = { authorization: auth, "content-type": "application/json" };
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
      const reply = await fetch(`${url}${path}${path.includes("?") ? "&" : "?"}namespace=${namespace}`, init);
      const { data, error } = (await reply.json()) as { data: T; error?: { code: number; message: string } };
      if (error?.code === 5000) throw new Error(error.message);
      return data;
    }

    /** Places, pays and refunds orders until the server has ended. */
    async function buy(productId: string): Promise<void> {
      for (;;) {
        const order = await call<OrderReply>("POST", "/orders/", { items: [{ product_id: productId, quantity: 1 }] });
        const page = await call<{ url: string } | undefined>("POST", `/orders/${order.id}/checkout/`, returnUrls);
        const session = page?.url.split("/").at(-1);
        if (session !== undefined) stripe.pay(session);
        await call("POST", `/orders/${order.id}/checkout/check/`);
        await call("POST", `/orders/${order.id}/refund/`, { amount: 1 + Math.floor(Math.random() * 5) });
      }
    }

    let productId = "";
    for (let round = 0; round < kills; round++) {
      const server = await binary.serve("--port", String(port));
      productId ||= (await call<{ id: string }>("POST", "/products/", { title: "Lamp", price: 10 })).id;
      const ended = Promise.allSettled(Array.from({ length: buyers }, () => buy(productId)));
      await Bun.sleep(20 + Math.random() * 500);
      server.signal("SIGKILL");
      await server.exited;
      const wrong = (await ended).filter(
        (one) => one.status === "rejected" && /Internal error/.test(String(one.reason)),
      );
      expect(wrong).toEqual([]);
      await stripe.settle();
    }

    const server = await binary.serve("--port", String(port));
    // Stripe repeats the events that were not accepted, and some of the accepted ones.
    for (const webhook of [...stripe.webhooks]) expect(await stripe.send(webhook)).toBe(200);
    const orders: OrderReply[] = [];
    const read = async () => {
      orders.length = 0;
      for (let cursor: string | null = ""; cursor !== null; ) {
        const query: string = `?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}&namespace=${namespace}`;
        const reply = await fetch(`${url}/orders/${query}`, { headers: { authorization: auth } });
        const { data, page } = (await reply.json()) as { data: OrderReply[]; page: { next_cursor: string | null } };
        orders.push(...data);
        cursor = page.next_cursor;
      }
      return orders.every(({ refunds }) => refunds.every(({ state }) => state !== "requested"));
    };
    // A refund that was being requested is requested again after a minute.
    const deadline = performance.now() + 90_000;
    while (!(await read()) && performance.now() < deadline) await Bun.sleep(500);
    expect(orders.flatMap(({ refunds }) => refunds.filter(({ state }) => state === "requested"))).toEqual([]);
    const { lists } = stripe.books;
    const paid = lists["checkout/sessions"].filter(({ payment_status }) => payment_status === "paid");
    const booked = orders.flatMap(({ payments }) => payments.map(({ reference }) => reference));
    expect(booked.toSorted()).toEqual(paid.map(({ payment_intent }) => payment_intent).toSorted());
    for (const { metadata } of paid) expect(orders.find(({ id }) => id === metadata.order)?.paid_at).not.toBeNull();
    const refunds = orders.flatMap((order) => order.refunds);
    expect(refunds.map(({ id }) => id).toSorted()).toEqual(
      lists.refunds.map(({ metadata }) => metadata.refund ?? "").toSorted(),
    );
    expect(await server.end()).toBe(0);
    expect((await binary.run("db", "check")).code).toBe(0);
    await stripe.stop();
    console.log(
      `${kills} kills: ${orders.length} orders, ${paid.length} payments and ${refunds.length} refunds, all there once`,
    );
  },
  150_000 + kills * 5000,
);
