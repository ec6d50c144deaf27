import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rekeyDatabase } from "../../src/server/admin/rekey.ts";
import type { Ctx } from "../../src/server/context.ts";
import { listAudit } from "../../src/server/modules/audit/list.ts";
import { queueMail } from "../../src/server/modules/mail/outbox.ts";
import { ensureVapidKeys } from "../../src/server/modules/notifications/providers/vapid.ts";
import { registerDevice } from "../../src/server/modules/notifications/registrations/registration.ts";
import { addWebhook } from "../../src/server/modules/webhooks/service.ts";
import { claimDatabase, openVault } from "../../src/server/security/secret-key.ts";
import { type Shop, tenantContext } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { newSubscription } from "../support/registrations.ts";
import { onDatabase } from "../support/suite.ts";

const dataDir = mkdtempSync(join(tmpdir(), "bodega-rekey-"));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const oldKey = { dataDir, secret: "the old key, which will be lost one day" };
const newKey = { dataDir, secret: "the new key, which takes its place now" };

onDatabase("file", (suite) => {
  let ctx: Ctx;
  let shop: Shop;
  let webhook: Awaited<ReturnType<typeof addWebhook>>;
  let vapidKey: string;

  const rows = async (statement: string) =>
    (await ctx.db.execute(statement)).rows.map((row) => ({ ...row }) as Record<string, unknown>);
  const rekeyings = () => listAudit(ctx, { event: "database.rekeyed" });

  beforeAll(async () => {
    shop = await suite.shop();
    const base = await tenantContext(shop);
    const vault = await openVault(oldKey, base.db);
    await claimDatabase(base.db, vault);
    ctx = { ...base, vault };
    const { id: tenantId } = ctx.tenant;
    webhook = await addWebhook(ctx, { url: "https://1.1.1.1/" });
    vapidKey = (await ensureVapidKeys(ctx)).publicKey;
    const device = { platform: "web", subscription: newSubscription(), topics: ["sale"] } as const;
    await registerDevice(ctx, { ...device, topics: [...device.topics], lang: undefined, subject: undefined });
    await queueMail(ctx, { kind: "reset_code", to: { emailKey: "ada@example.com" }, values: { code: "123456" } });
    await ctx.db.batch([
      {
        sql: `insert into mail_codes (tenant_id, purpose, subject, hash, created_at, expires_at)
          values (?, 'reset', 'ada@example.com', 'h', 'a', 'b')`,
        args: [tenantId],
      },
      {
        sql: `insert into payment_accounts (tenant_id, provider, account, is_live, key, key_end, methods, events_until,
          next_poll_at, created_at) values (?, 'stripe', 'acct_1', 0, 'sealed', 'end1', '["card"]', 'a', 'a', 'a')`,
        args: [tenantId],
      },
      ...["usr_on", "usr_begun", "usr_off"].map((id) => ({
        sql: `insert into users (id, tenant_id, email, email_key, role, status, created_at, updated_at)
          values (?, ?, ?, ?, 'customer', 'active', 'a', 'a')`,
        args: [id, tenantId, `${id}@example.com`, `${id}@example.com`],
      })),
      ...[
        ["usr_on", "2030-01-01T00:00:00.000Z"],
        ["usr_begun", null],
      ].map(([id, at]) => ({
        sql: "insert into two_factor (user_id, tenant_id, secret, confirmed_at, created_at) values (?, ?, 's', ?, 'a')",
        args: [id as string, tenantId, at as string | null],
      })),
    ]);
  });

  test("db rekey with the same key keeps everything; with another key, it deletes what the old key encrypted", async () => {
    expect(await rekeyDatabase(suite.app.system, oldKey)).toEqual({
      rekeyed: false,
      mail_dropped: 0,
      reset_codes_dropped: 0,
      registrations_dropped: 0,
      two_factor_users: [],
      webhooks: [],
      payment_accounts: [],
    });
    expect(await rows("select status from mail_outbox")).toEqual([{ status: "waiting" }]);
    expect(await rows("select subject from mail_codes")).toHaveLength(1);
    expect(await rows("select topic from push_topics")).toEqual([{ topic: "sale" }]);
    expect((await ensureVapidKeys(ctx)).publicKey).toBe(vapidKey);
    expect(await rekeyings()).toEqual([]);

    // With another key, everything that only the old key can decrypt is deleted. The users whose second factor no
    // longer works are listed.
    expect(String(await failureOf(async () => (await openVault(newKey, ctx.db)).fingerprint()))).toContain("db rekey");
    expect(await rekeyDatabase(suite.app.system, newKey)).toEqual({
      rekeyed: true,
      mail_dropped: 1,
      reset_codes_dropped: 1,
      registrations_dropped: 1,
      two_factor_users: [{ namespace: shop.namespace, user_id: "usr_on", email: "usr_on@example.com" }],
      webhooks: [{ namespace: shop.namespace, webhook_id: webhook.webhook_id, url: "https://1.1.1.1/" }],
      payment_accounts: [{ namespace: shop.namespace, provider: "stripe", account: "acct_1" }],
    });
    expect(await rows("select status, sealed from mail_outbox")).toEqual([{ status: "dropped", sealed: null }]);
    expect(await rows("select * from mail_codes")).toEqual([]);
    expect(await rows("select user_id from two_factor")).toHaveLength(2);
    expect((await openVault(newKey, ctx.db)).fingerprint()).toMatch(/\S/);
    expect(await failureOf(async () => (await openVault(oldKey, ctx.db)).fingerprint())).toMatchObject({ code: 5306 });
    const dropped = { mail_dropped: 1, reset_codes_dropped: 1, registrations_dropped: 1 };
    const details = { ...dropped, two_factor_users: 1, webhooks: 1 };
    expect(await rekeyings()).toMatchObject([{ details, namespace: null }]);

    // Browsers get a new key for subscriptions, and the old registrations are deleted.
    const { db, now } = ctx;
    expect(
      await rows("select (select count(*) from push_registrations) as r, (select count(*) from push_topics) as t"),
    ).toEqual([{ r: 0, t: 0 }]);
    const renewed = await ensureVapidKeys({ db, now, vault: await openVault(newKey, db) });
    expect(renewed.publicKey).toMatch(/^B[\w-]{86}$/);
    expect(renewed.publicKey).not.toBe(vapidKey);
  });
});
