import { afterAll, beforeAll } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import type { Ctx, SystemCtx } from "../../src/server/context.ts";
import { copyDatabase, migrate } from "../../src/server/db/migrate.ts";
import { run, statement } from "../../src/server/db/statement.ts";
import { inTransaction } from "../../src/server/db/transaction.ts";
import { addOrigins } from "../../src/server/modules/app-keys/origins.ts";
import { issueKey, rotateKey } from "../../src/server/modules/app-keys/service.ts";
import { appKeys } from "../../src/server/modules/app-keys/table.ts";
import { createCategory } from "../../src/server/modules/catalogue/categories/service.ts";
import { createProduct, deleteProduct } from "../../src/server/modules/catalogue/products/service.ts";
import { createDiscount } from "../../src/server/modules/discounts/service.ts";
import { queueMail } from "../../src/server/modules/mail/outbox.ts";
import { prepareMessage, sendMessage } from "../../src/server/modules/notifications/messages/messages.ts";
import { registerDevice } from "../../src/server/modules/notifications/registrations/registration.ts";
import { createOrder, prepareOrder } from "../../src/server/modules/orders/create.ts";
import { payOrder } from "../../src/server/modules/orders/payments.ts";
import { refundOrder } from "../../src/server/modules/orders/refund.ts";
import { recordWithdrawal } from "../../src/server/modules/orders/withdrawals/withdraw.ts";
import { connectStripe } from "../../src/server/modules/payments/stripe/connect.ts";
import { replaceShippingRates } from "../../src/server/modules/shipping/service.ts";
import { replaceTaxRates } from "../../src/server/modules/taxes/service.ts";
import { createTenant, requireTenant } from "../../src/server/modules/tenants/service.ts";
import { issueToken } from "../../src/server/modules/tokens/service.ts";
import { createUser } from "../../src/server/modules/users/service.ts";
import { fanOut } from "../../src/server/modules/webhooks/deliveries.ts";
import { addWebhook } from "../../src/server/modules/webhooks/service.ts";
import { openVault } from "../../src/server/security/secret-key.ts";
import type { OrderReply } from "../support/orders.ts";
import { stripeKey } from "../support/pay-shop.ts";
import { newPng } from "../support/pictures.ts";
import { newSubscription } from "../support/registrations.ts";
import { startSmtpServer } from "../support/smtp.ts";
import { startStripe } from "../support/stripe.ts";

/** A copy of the prepared store `demo`, with names of its records and files. */
export interface PreparedShop {
  /** The directory of the copy: its data, and other files of commands. */
  dir: string;
  dataDir: string;
  env: Record<string, string | undefined>;
  namespace: string;
  /** The published key `web`, which was used. Its old secret is valid, too. */
  appId: string;
  /** The number of an unpaid order. */
  pendingOrder: string;
  /** The number of an overpaid order. */
  attentionOrder: string;
  webhookId: string;
  failedMailId: string;
  messageId: string;
  registrationId: string;
  /** A file with one product that the store does not have. */
  productFile: string;
  ratesFile: string;
  taxesFile: string;
  /** A file with a key of Stripe. */
  keyFile: string;
  /** A file with a picture that is not in the store. */
  pictureFile: string;
  /** A file with a backup of the database. */
  backupFile: string;
}

const files = {
  productFile: "products.csv",
  ratesFile: "rates.csv",
  taxesFile: "taxes.csv",
  pictureFile: "LAMP-1.png",
  keyFile: "stripe.key",
  backupFile: "backup.db",
};

type Contents = Omit<PreparedShop, "dir" | "dataDir" | "env" | keyof typeof files>;

/** Prepared data directories, with one store and with two. All test files of a process share them and their servers. */
const models = new Map<boolean, Promise<Model>>();

type Model = Awaited<ReturnType<typeof makeModel>>;

async function makeModel(hasSecondStore: boolean) {
  const [smtp, stripe] = await Promise.all([startSmtpServer(), startStripe()]);
  const dir = mkdtempSync(join(tmpdir(), "bodega-prepared-"));
  const contents = await prepareShop(dir, hasSecondStore, stripe.url);
  await copyDatabase(join(dir, "bodega.db"), join(dir, "backup.db"));
  const [database, key, backup] = ["bodega.db", "secret.key", "backup.db"].map((name) => readFileSync(join(dir, name)));
  rmSync(dir, { recursive: true });
  const written: Record<string, string | Uint8Array | undefined> = {
    "data/bodega.db": database,
    "data/secret.key": key,
    "backup.db": backup,
    "products.csv": "title,price,sku\nChair,49.00,CHAIR-1\n",
    "stripe.key": `${stripeKey}\n`,
    "rates.csv": "zone,countries,name,price\nEurope,CH DE,Express,9.90\n",
    "taxes.csv": "class,country,rate\nstandard,CH,8.1\nstandard,DE,19\n",
    "LAMP-1.png": newPng(),
  };
  const mail = { BODEGA_SMTP_URL: smtp.url, BODEGA_MAIL_FROM: "shop@example.com" };
  return { contents, written, env: { BODEGA_STRIPE_URL: stripe.url, ...mail } };
}

/**
 * Call this at the top of a test file. Prepares a store with a record of each kind, once. The returned function makes a
 * copy, which commands may change. Without `-n`, commands use the only store, unless `hasSecondStore` is set.
 */
export function usePreparedShop({ hasSecondStore = false } = {}): () => PreparedShop {
  let base: string;
  let model: Model;
  let copies = 0;

  beforeAll(async () => {
    base = mkdtempSync(join(tmpdir(), "bodega-copies-"));
    const making = models.get(hasSecondStore) ?? makeModel(hasSecondStore);
    models.set(hasSecondStore, making);
    model = await making;
    mkdirSync(join(base, "original", "data"), { recursive: true });
    for (const [name, content] of Object.entries(model.written)) {
      writeFileSync(join(base, "original", name), content ?? "", { mode: 0o600 });
    }
  });

  afterAll(() => rmSync(base, { recursive: true, force: true }));

  return () => {
    const dir = join(base, String(++copies));
    const dataDir = join(dir, "data");
    mkdirSync(dataDir, { recursive: true });
    for (const name of Object.keys(model.written)) copyFileSync(join(base, "original", name), join(dir, name));
    const paths = Object.entries(files).map(([field, name]) => [field, join(dir, name)]);
    const env = { PATH: process.env.PATH, HOME: dir, BODEGA_DATA_DIR: dataDir, ...model.env };
    return { ...model.contents, dir, dataDir, env, ...(Object.fromEntries(paths) as typeof files) };
  };
}

async function prepareShop(dataDir: string, hasSecondStore: boolean, stripeUrl: string): Promise<Contents> {
  const db = await openStoreDatabase({ dataDir });
  try {
    await migrate(db);
    const vault = await openVault({ secret: undefined, dataDir }, db);
    const system: SystemCtx = {
      db,
      vault,
      actor: { kind: "terminal", account: "ada" },
      requestId: "prepared",
      now: Date.now,
    };
    if (hasSecondStore) await createTenant(system, { namespace: "second" });
    return await fillShop({ ...system, payments: { stripeUrl } });
  } finally {
    await db.close();
  }
}

const dropOrderMails = statement(
  sql`delete from mail_outbox where kind = 'withdrawal_received' or kind like 'order_%'`,
);
const useKeys = statement(sql`update ${appKeys} set last_used_at = created_at`);

async function fillShop(system: SystemCtx): Promise<Contents> {
  const namespace = "demo";
  await createTenant(system, {
    namespace,
    title: "The demo store, with a title that is rather long",
    currency: "EUR",
    invoiceFrom: "Kiln",
  });
  const ctx: Ctx = { ...system, tenant: await requireTenant(system, namespace) };
  const scopes = ["products:read"];
  const { app_id: appId } = await issueKey(system, { namespace, name: "web", publish: true, scopes });
  await run(system.db, useKeys, {});
  await rotateKey(system, { appId, overlapMs: 86_400_000 });
  await addOrigins(system, { appId, origins: ["shop.example.com", "*.example.org"] });
  // This user has no orders, which would prevent an erasure.
  await createUser(ctx, { email: "grace@example.com", name: "Grace Hopper" });
  const { id: userId } = await createUser(ctx, { email: "ada@example.com", name: "Ada Lovelace", role: "staff" });
  await inTransaction(ctx, (tx) => issueToken(tx, userId));
  await connectStripe(ctx, { key: stripeKey });
  const webhook = await addWebhook(ctx, { url: "https://example.com/hooks", types: undefined, allowPrivate: false });
  const sold = await sellProduct(ctx, userId);
  await failDelivery(ctx);
  return {
    namespace,
    appId,
    ...sold,
    webhookId: webhook.webhook_id,
    failedMailId: await failMail(ctx),
    ...(await registerBrowser(ctx)),
  };
}

async function sellProduct(ctx: Ctx, customer_id: string) {
  await createCategory(ctx, { title: "Lamps" });
  const product = await createProduct(ctx, {
    title: "Lamp",
    price: 19.9,
    sku: "LAMP-1",
    images: [{ url: "https://example.com/1.png" }, { url: "https://example.com/2.png" }],
    stock: 9,
    status: "published",
  });
  const { id: productId } = JSON.parse(product.json) as { id: string };
  await createProduct(ctx, { title: "Old lamp", price: 9 });
  await deleteProduct(ctx, "old-lamp", null);
  const items = [{ product_id: productId, quantity: 2 }];
  const address = { name: "Ada", line1: "1 Street", city: "Zürich", country: "CH" };
  const made = await createOrder(
    ctx,
    await prepareOrder(ctx, { items, customer_id, shipping: 4.5, shipping_address: address, note: "Ring" }),
  );
  const order = JSON.parse(made.json) as OrderReply;
  await payOrder(ctx, order.id, { payment_reference: "pay-1" });
  const lines = order.items.map((line) => ({ line_id: line.id, quantity: 1 }));
  await refundOrder(ctx, order.id, { lines, reason: "broken", restock: true });
  const orderOne = async () => {
    const { json } = await createOrder(
      ctx,
      await prepareOrder(ctx, { items: [{ product_id: productId, quantity: 1 }] }),
    );
    return JSON.parse(json) as OrderReply;
  };
  const pending = await orderOne();
  const overpaid = await orderOne();
  await payOrder(ctx, overpaid.id, { amount: overpaid.total + 1 });
  await setRates(ctx);
  await recordWithdrawal(ctx, { number: 99, email: "eve@example.com", name: "Eve" });
  await recordWithdrawal(ctx, { ...{ number: 1, email: "bob@example.com", name: "Bob", text: "Too big" }, lines });
  await run(ctx.db, dropOrderMails, {});
  return { pendingOrder: String(pending.number), attentionOrder: String(overpaid.number) };
}

/** Adds rates and a discount code, which apply to later orders. */
async function setRates(ctx: Ctx): Promise<void> {
  await replaceShippingRates(ctx, [{ zone: "Europe", countries: ["CH", "DE"], name: "Standard", price: 4.5 }]);
  await replaceTaxRates(ctx, [
    { class: "standard", country: "CH", rate: 8.1 },
    { class: "standard", country: "DE", rate: 19 },
  ]);
  await createDiscount(ctx, { code: "WELCOME", amount: 5 });
}

/** Delivers events to the webhook; one delivery fails. */
async function failDelivery(ctx: Ctx): Promise<void> {
  await fanOut(ctx);
  await ctx.db.execute(
    `update webhook_deliveries set status = 'failed', attempts = 12, last_status = 503, last_error = 'answered 503',
      finished_at = created_at where event = (select min(event) from webhook_deliveries)`,
  );
}

async function failMail(ctx: Ctx): Promise<string> {
  const mail = { kind: "reset_code", to: { emailKey: "ada@example.com" }, values: { code: "012345" } } as const;
  const [failed] = [await queueMail(ctx, mail), await queueMail(ctx, mail)];
  const sql =
    "update mail_outbox set status = 'failed', attempts = 1, last_error = 'EENVELOPE: 550', finished_at = created_at where id = ?";
  await ctx.db.execute({ sql, args: [failed as string] });
  return failed as string;
}

async function registerBrowser(ctx: Ctx) {
  const { expirationTime: _, ...subscription } = newSubscription("https://push.example.com/send/1");
  const { id: registrationId } = await registerDevice(ctx, {
    platform: "web",
    subscription,
    topics: ["sale"],
    subject: undefined,
    lang: "en",
  });
  const message = await prepareMessage(ctx, { topic: "sale", title: "Sale", body: "Lamps for half" });
  const { id: messageId } = await sendMessage(ctx, message);
  return { registrationId, messageId: messageId as string };
}
