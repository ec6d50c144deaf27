import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import { migrate, migrationStatus, migrations } from "../../src/server/db/migrate.ts";
import type { Database } from "../../src/server/db/session.ts";
import { issueKey } from "../../src/server/modules/app-keys/service.ts";
import { makeDir, openCli } from "../cli/run-bodega.ts";
import { startTestApp } from "../support/app.ts";
import { createClient } from "../support/client.ts";
import { createClock } from "../support/clock.ts";
import { bearer } from "../support/factories.ts";
import type { OrderReply } from "../support/orders.ts";
import { findInconsistencies } from "../support/record-check.ts";
import { hasSqld, startSqld } from "../support/sqld.ts";

setDefaultTimeout(60_000);

/** A reply of the earlier version that also made the backup. */
interface Reply {
  namespace: string;
  request: string;
  query?: Record<string, string>;
  data: unknown;
  total?: number;
}

// Backup and replies are from the last version with only the first migration. They contain products with and without
// variants and translations, orders of every status, points, and refunds of lines and whole orders, in two currencies.
const backup = join(import.meta.dir, "before-sale", "backup.tar.gz");
const lines = readFileSync(join(import.meta.dir, "before-sale", "replies.ndjson"), "utf8")
  .trim()
  .split("\n");
const replies = lines.map((line) => JSON.parse(line) as Reply);
const namespaces = ["before", "yen"];
/** A clock with the time of the replies. */
const clock = () => createClock(Date.UTC(2030, 0, 15, 13, 0, 1));

const ends: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

/** Restores the backup with the command, and opens the database. */
async function restore(kind: "file" | "server"): Promise<{ db: Database; report: Record<string, unknown> }> {
  const { dataDir, run } = openCli();
  const server = kind === "server" ? await startSqld() : undefined;
  if (server) ends.push(() => server.stop());
  const env = server && { BODEGA_DATABASE_URL: server.url };
  const copy = join(makeDir(), "backup.tar.gz");
  copyFileSync(backup, copy);
  const { code, stdout, stderr } = await run(["db", "restore", copy, "--yes", "--json"], env && { env });
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  const db = await openStoreDatabase({ dataDir, ...(server && { url: server.url }) });
  ends.push(() => db.close());
  return { db, report: JSON.parse(stdout) as Record<string, unknown> };
}

async function openApp(db: Database) {
  const app = startTestApp({ db, clock: clock() });
  const calls = new Map(
    await Promise.all(
      namespaces.map(async (namespace) => {
        const key = await issueKey(app.system, { namespace, name: "test", publish: true });
        return [namespace, createClient(app, { namespace, auth: bearer(key) })] as const;
      }),
    ),
  );
  const read = async ({ namespace, request, query }: Reply) => {
    const call = calls.get(namespace) as ReturnType<typeof createClient>;
    return call(request, query ? { query } : {});
  };
  ends.push(() => app.stop());
  return { app, read, call: calls.get("before") as ReturnType<typeof createClient> };
}

/** Returns the rows of a query, as text. */
async function rowsOf(db: Database, sql: string): Promise<unknown[]> {
  return (await db.execute(sql)).rows.map((row) => ({ ...row }));
}

const readable = replies.filter(({ request }) => request !== "GET /events/");

describe.each(hasSqld ? (["file", "server"] as const) : (["file"] as const))("a store of before on a %s", (kind) => {
  test("gives the same replies as before the migration, and doctor finds no errors", async () => {
    const { db, report } = await restore(kind);
    expect(report).toMatchObject({ restored: true, missing_migrations: migrations.slice(1).map(({ name }) => name) });
    await migrate(db);
    expect((await migrationStatus(db)).every(({ appliedAt }) => appliedAt !== null)).toBe(true);
    expect(await rowsOf(db, "select * from pragma_foreign_key_check")).toEqual([]);
    expect(await rowsOf(db, "select name from sqlite_schema where name like '%_before' or name like '__new%'")).toEqual(
      [],
    );

    const { app, read } = await openApp(db);
    for (const reply of readable) {
      const { data, page, error } = await read(reply);
      expect([reply.request, error]).toEqual([reply.request, undefined]);
      // There may be new fields. Old fields, and the lengths of lists, must be the same.
      expect({ ...reply, data, ...(reply.total !== undefined && { total: page.total }) }).toMatchObject({ ...reply });
    }
    const { ok, inconsistencies } = await findInconsistencies(app.system);
    expect({ ok, inconsistencies }).toEqual({ ok: true, inconsistencies: [] });
  });
});

test("the change feed continues with old events unchanged, and products are found, counted and changed as before", async () => {
  const { db } = await restore("file");
  await migrate(db);
  const { read, call } = await openApp(db);
  const before = replies.find(({ request }) => request === "GET /events/") as Reply;
  const { data } = await read(before);
  expect(data).toEqual(before.data as never);
  const created = await call("POST /products/", { body: { title: "Chair", price: 1 } });
  expect(created.status).toBe(201);
  const [last] = (
    await call<{ subject: string }[]>("GET /events/", { query: { types: "product.created", limit: "100" } })
  ).data.toReversed();
  expect(last?.subject).toBe(created.data.id as string);

  const fresh = await openStoreDatabase({ dataDir: join(makeDir(), "data") });
  ends.push(() => fresh.close());
  await migrate(fresh);
  const schema =
    "select type, name, tbl_name, sql from sqlite_schema where name not like 'sqlite_%' order by type, name";
  expect(await rowsOf(db, schema)).toEqual(await rowsOf(fresh, schema));
  await expectSearchWorks(call);
});

/** Changes, adds and deletes products, and finds them by their new words. */
async function expectSearchWorks(call: ReturnType<typeof createClient>): Promise<void> {
  const find = async (q: string) => (await call<{ id: string }[]>("GET /products/", { query: { q } })).data.length;
  const [lamp] = (await call<{ id: string; version: number }[]>("GET /products/", { query: { q: "lamp" } })).data;
  const changed = await call(`PATCH /products/${lamp?.id}/`, { body: { title: "Beacon", weight_g: 900 } });
  expect(changed.data).toMatchObject({ title: "Beacon", weight_g: 900, version: (lamp?.version as number) + 1 });
  expect(await find("beacon")).toBe(1);
  const shirt = (await call<{ id: string }[]>("GET /products/", { query: { q: "shirt" } })).data[0];
  const variant = await call(`POST /products/${shirt?.id}/variants/`, { body: { options: { size: "Enormous" } } });
  expect(variant.status).toBe(201);
  expect(await find("enormous")).toBe(1);
  expect((await call("POST /products/", { body: { title: "Copy", price: 1, sku: "S-S" } })).code).toBe(5302);
  const counted = async () => (await call("GET /products/", { query: { include_total: "true" } })).page.total;
  const before = (await counted()) as number;
  await call(`DELETE /products/${shirt?.id}/`);
  expect(await counted()).toBe(before - 1);
}

test("a migration that fails half-way changes nothing; then, stores keep their prices without tax, can sell and refund", async () => {
  const { db } = await restore("file");
  await expectFailureChangesNothing(db);
  await migrate(db);
  const { app, call } = await openApp(db);
  expect((await call("GET /store/")).data).toMatchObject({ prices_include_tax: false, has_shipping_rates: false });
  const orders = (await call<OrderReply[]>("GET /orders/", { query: { limit: "100" } })).data;
  for (const order of orders) {
    const { status, payment_status, total_minor: total, refunded_minor: refunded } = order;
    const isPaid = payment_status !== "unpaid";
    expect([order.number, order.received_minor]).toEqual([order.number, isPaid ? total : 0]);
    expect([order.number, order.due_minor]).toEqual([order.number, isPaid ? 0 : total]);
    expect(order.payments.map(({ amount_minor }) => amount_minor)).toEqual(
      isPaid && (total > 0 || order.payment_reference !== null) ? [total] : [],
    );
    for (const { fulfilled_quantity: sent, cancelled_quantity: cancelled, ...line } of order.items) {
      const isSent = order.fulfillment_status === "fulfilled";
      expect([sent, cancelled]).toEqual(isSent ? [line.quantity, 0] : [0, line.refunded_quantity]);
    }
    if (status === "pending" && total > 0) {
      expect((await call(`POST /orders/${order.id}/pay/`, { body: {} })).data).toMatchObject({ status: "paid" });
    }
    if (status === "paid") {
      expect((await call(`POST /orders/${order.id}/fulfill/`)).data).toMatchObject({ status: "completed" });
    }
    if (payment_status === "refunded" || status === "cancelled" || status === "expired") continue;
    const whole = await call<OrderReply>(`POST /orders/${order.id}/refund/`, { body: { restock: true } });
    expect([order.number, whole.error]).toEqual([order.number, undefined]);
    expect(whole.data).toMatchObject({ payment_status: "refunded", refunded_minor: total });
    expect(whole.data.refunds.reduce((sum, { amount_minor }) => sum + amount_minor, 0)).toBe(total);
    expect(refunded).toBeLessThanOrEqual(total);
  }
  const { inconsistencies } = await findInconsistencies(app.system);
  expect(inconsistencies).toEqual([]);
});

async function expectFailureChangesNothing(db: Database): Promise<void> {
  const [, sale] = migrations;
  const contents = async () => {
    const tables = await rowsOf(
      db,
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by 1",
    );
    const hash = createHash("sha256");
    for (const { name } of tables as { name: string }[]) {
      if (!name.startsWith("product_search")) hash.update(JSON.stringify(await rowsOf(db, `select * from "${name}"`)));
    }
    return [tables, hash.digest("hex")];
  };
  const before = await contents();
  const broken = { name: "0001_sale", sql: `${sale?.sql}\n--> statement-breakpoint\nINSERT INTO nowhere VALUES (1);` };
  await expect(migrate(db, [migrations[0] as typeof broken, broken])).rejects.toThrow("nowhere");
  expect(await contents()).toEqual(before);
}
