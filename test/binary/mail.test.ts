import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { type Binary, openShop, useBinaries } from "../support/binary.ts";
import { certificate } from "../support/certificate.ts";
import { findInFiles } from "../support/find-in-files.ts";
import type { OrderReply } from "../support/orders.ts";
import type { Serving } from "../support/serving.ts";
import { type Delivery, type SmtpServerUnderTest, startSmtpServer } from "../support/smtp.ts";
import { until } from "../support/until.ts";

const { installBinary } = useBinaries();
const templates = readdirSync(join(import.meta.dir, "../../src/server/modules/mail/templates"));
const languages = templates.map((name) => name.replace(".json", ""));

/** The store, the server and the mail server of the current test. */
let binary: Binary;
let server: Serving;
let smtp: SmtpServerUnderTest;
let auth: string;

beforeEach(async () => {
  binary = installBinary();
  smtp = await startSmtpServer({ security: "starttls", credentials: { user: "mailer", password: "hunter2-hunter2" } });
  writeFileSync(join(binary.dir, "ca.pem"), certificate);
  writeFileSync(join(binary.dir, "smtp-url"), `${smtp.url}\n`);
  Object.assign(binary.env, {
    NODE_EXTRA_CA_CERTS: join(binary.dir, "ca.pem"),
    BODEGA_SMTP_URL_FILE: join(binary.dir, "smtp-url"),
    BODEGA_MAIL_FROM: "shop@example.com",
  });
  ({ auth } = await openShop(binary));
  await addUsers(languages.map((language) => `${language}@example.org`));
  server = await binary.serve("--workers", "2", "--trusted-proxy", "127.0.0.1");
}, 60_000);

afterEach(async () => {
  await server.end("SIGKILL");
  await smtp.close();
});

/** Adds users without passwords to the store. */
async function addUsers(emails: string[]): Promise<void> {
  const db = await openStoreDatabase({ dataDir: join(binary.dir, "bodega-data") });
  for (const email of emails) {
    await db.execute({
      sql: `insert into users (id, tenant_id, email, email_key, role, status, created_at, updated_at)
        select ?, id, ?, ?, 'customer', 'active', '', '' from tenants where namespace = 'demo'`,
      args: [`usr_${Bun.randomUUIDv7("hex")}`, email, email],
    });
  }
  await db.close();
}

function forgot(email: string, language: string, address: string): Promise<Response> {
  return fetch(`${server.url}/auth/password/forgot/?namespace=demo`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": address },
    body: JSON.stringify({ email, language }),
  });
}

/** Requests a reset code in every language. Returns the codes in the received mails. */
async function requestCodes(): Promise<string[]> {
  const replies = await Promise.all(
    languages.map((language, n) => forgot(`${language}@example.org`, language, `192.0.2.${n}`)),
  );
  expect(replies.map(({ status }) => status)).toEqual(languages.map(() => 200));
  await smtp.waitFor(languages.length);
  return languages.map((language) => {
    const code = /^\d{6}$/m.exec(deliveryTo(language).mail.text ?? "")?.[0];
    expect(code).toBeDefined();
    return code as string;
  });
}

const deliveryTo = (language: string) =>
  smtp.received.find(({ to }) => to[0] === `${language}@example.org`) as Delivery;

test("a server with open connections to the mail server stops, and no file contains a code or password", async () => {
  const codes = await requestCodes();
  expect(await server.end()).toBe(0);
  expect(server.log()).not.toContain("hunter2");
  expect(codes).toHaveLength(languages.length);
  expect(findInFiles(join(binary.dir, "bodega-data"), ["hunter2-hunter2"])).toEqual([]);
  for (const code of codes) expect(server.log()).not.toMatch(new RegExp(`\\b${code}\\b`));
});

test("after kill -9 of two workers during sales, each event of an order has exactly one mail of each kind", async () => {
  const limits = ["--pending-orders", "0", "--orders-per-minute", "0", "--stock-share", "100"];
  await binary.json("tenant", "update", "demo", "--notify", "boss@example.org", ...limits);
  async function call<T>(method: string, path: string, body: object = {}): Promise<T> {
    const headers = { authorization: auth, "content-type": "application/json" };
    const init = { method, headers, ...(method !== "GET" && { body: JSON.stringify(body) }) };
    const reply = await fetch(`${server.url}${path}${path.includes("?") ? "&" : "?"}namespace=demo`, init);
    return ((await reply.json()) as { data: T }).data;
  }
  let buyers = 0;
  const sell = async (productId: string) => {
    for (;;) {
      const items = [{ product_id: productId, quantity: 2 }];
      const buyer = buyers++;
      // Each address gets at most three mails about new orders an hour.
      const { id } = await call<{ id: string }>("POST", "/orders/", { items, email: `buyer-${buyer}@example.org` });
      const acts = buyer % 3 === 0 ? ["cancel"] : ["pay", "fulfill", "refund"];
      for (const act of acts) await call("POST", `/orders/${id}/${act}/`);
    }
  };
  const { id } = await call<{ id: string }>("POST", "/products/", { title: "Lamp", price: 10 });
  for (let round = 0; round < 2; round++) {
    const ended = Promise.allSettled([sell(id), sell(id), sell(id)]);
    await until("sales", () => buyers >= 8 * (round + 1));
    await Bun.sleep(100 * Math.random());
    await server.end("SIGKILL");
    await ended;
    server = await binary.serve("--workers", "2");
  }
  const facts: string[] = [];
  const isSent = (order: OrderReply) => [
    ...["placed", "new"],
    ...(order.paid_at === null ? [] : ["paid"]),
    ...order.fulfillments.map(() => "shipped"),
    ...order.refunds.map(() => "refunded"),
    ...(order.status === "cancelled" && order.paid_at === null ? ["cancelled"] : []),
  ];
  for (let cursor = ""; ; ) {
    const headers = { authorization: auth };
    const list = await fetch(`${server.url}/orders/?namespace=demo&limit=100${cursor}`, { headers });
    const { data, page } = (await list.json()) as { data: OrderReply[]; page: { next_cursor: string | null } };
    for (const order of data) facts.push(...isSent(order).map((kind) => `${order.number} ${kind}`));
    if (page.next_cursor === null) break;
    cursor = `&cursor=${page.next_cursor}`;
  }
  // Mail that was being sent at a kill is sent again after a minute, when its claim ends.
  const queued = await until("all mail that nobody has claimed", async () => {
    const found = await binary.json<{ status: string }[]>("mail", "list", "--limit", "1000");
    return found.filter(({ status }) => status === "waiting").length <= 8 && found;
  });
  // A mail that arrived before the kill recorded it arrives again, as the same message.
  const ids = new Map(smtp.received.map(({ header, mail }) => [header("message-id"), mail.subject ?? ""]));
  const kinds = { new: /^New/, paid: /paid$/, shipped: /shipped$/, refunded: /^Refund/, cancelled: /cancelled$/ };
  const kindOf = (subject: string) => Object.entries(kinds).find(([, form]) => form.test(subject))?.[0] ?? "placed";
  const arrived = [...ids.values()].map((subject) => `${/\d+/.exec(subject)} ${kindOf(subject)}`);
  expect(facts.length).toBeGreaterThan(20);
  expect(arrived.length).toBe(new Set(arrived).size);
  expect(facts).toEqual(expect.arrayContaining(arrived));
  expect(queued).toHaveLength(facts.length);
  expect(facts.length - arrived.length).toBeLessThanOrEqual(8);
}, 120_000);
