import { expect, test } from "bun:test";
import type { InStatement } from "@libsql/core/api";
import type { Ctx } from "../../src/server/context.ts";
import type { Session } from "../../src/server/db/session.ts";
import { verifyAudit } from "../../src/server/modules/audit/verify.ts";
import { createOrder, prepareOrder } from "../../src/server/modules/orders/create.ts";
import type { OrderInput } from "../../src/server/modules/orders/model.ts";
import { eraseUser, exportPerson } from "../../src/server/modules/personal-data/service.ts";
import { updateOwnProfile } from "../../src/server/modules/profile/service.ts";
import { adjustRewards, redeemPoints } from "../../src/server/modules/rewards/service.ts";
import { openAccount } from "../support/account.ts";
import { tenantContext } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { interrupted } from "../support/interrupted.ts";
import { onDatabase } from "../support/suite.ts";

/** Returns a session that records its statements. */
function recording(db: Session, ran: InStatement[]): Session {
  return {
    execute: (one) => {
      ran.push(one);
      return db.execute(one);
    },
    batch: (all, mode) => {
      ran.push(...all);
      return db.batch(all, mode);
    },
    transaction: (work) => db.transaction((tx) => work(recording(tx, ran))),
  };
}

const emptiedAfterAWhile = ["idempotency_keys", "mail_codes", "push_messages", "rate_limits"];

const note = "Canary note";
type Write = (callers: { user: Ctx; key: Ctx; customer_id: string; product_id: string }) => Promise<unknown>;
const orderOf = (product_id: string) => ({
  items: [{ product_id, quantity: 1 }],
  shipping_address: { line1: note, city: "Porto", country: "PT" },
  note,
});
const place = async (ctx: Ctx, input: OrderInput) => createOrder(ctx, await prepareOrder(ctx, input));
const writes: [what: string, Write][] = [
  ["an order", ({ user, product_id }) => place(user, orderOf(product_id))],
  ["an order by a key", ({ key, product_id, customer_id }) => place(key, { ...orderOf(product_id), customer_id })],
  ["spent points", ({ user }) => redeemPoints(user, { points: 1, note })],
  ["points that a key spends", ({ key, customer_id }) => redeemPoints(key, { points: 1, note, customer_id })],
  ["points that a key adds", ({ key, customer_id }) => adjustRewards(key, { points: 1, note, customer_id })],
  ["a change of the profile", ({ user }) => updateOwnProfile(user, { name: note }, null)],
];

onDatabase("file", (suite) => {
  test("an export finds a person's rows with indexes; an erasure also scans tables whose rows are kept for a short time", async () => {
    const shop = await suite.shop();
    const { id } = await openAccount(shop);
    const ctx = await tenantContext(shop);
    const other = await suite.database.openAgain();
    const ran: InStatement[] = [];
    const recorded = { ...ctx, db: recording(ctx.db, ran) };
    /** Returns the tables that a recorded statement scanned: all rows, or all of a store. */
    const scanned = async () => {
      const tables = new Set<string>();
      for (const one of ran.splice(0) as { sql: string; args: [] }[]) {
        // The newest entry is found from the end, without a scan.
        if (one.sql.includes('from "audit_log" order by seq desc limit 1')) continue;
        const { rows } = await other.execute({ ...one, sql: `explain query plan ${one.sql}` });
        for (const { detail } of rows) {
          const [, table] =
            /^(?:SCAN (?!page|json_each|CONSTANT)(?=\w)|SEARCH (?=\w+ .*\(tenant_id=\?\)))(\w+)/.exec(`${detail}`) ??
            [];
          if (table !== undefined) tables.add(table);
        }
      }
      return [...tables].toSorted();
    };
    await exportPerson(recorded, id);
    expect(ran.length).toBeGreaterThan(5);
    expect(await scanned()).toEqual([]);
    await eraseUser(recorded, id);
    expect(await scanned()).toEqual(emptiedAfterAWhile);
  });

  /** Opens a customer with points. Another process erases the customer just before the first transaction of a call. */
  async function openErased() {
    const shop = await suite.shop();
    const { id: product_id } = await shop.createProduct({ stock: 10 });
    const { id } = await openAccount(shop);
    await shop.call("POST /rewards/adjust/", { body: { points: 100, note: "Earned", customer_id: id } });
    const stored = { ...(await tenantContext(shop)), client: { ip: "198.51.100.78" } };
    const other = { ...stored, db: await suite.database.openAgain() };
    const late = (actor: Ctx["actor"]) => interrupted({ ...stored, actor }, () => eraseUser(other, id));
    const user = late({ kind: "user", userId: id, role: "customer" });
    const key = late({ kind: "app", appId: "app_1", scopes: new Set(["*"]) });
    const read = async (sql: string): Promise<unknown[]> =>
      (await other.db.execute({ sql, args: [stored.tenant.id, id] })).rows;
    return { stored, callers: { user, key, customer_id: id, product_id }, read };
  }

  for (const [what, write] of writes) {
    test(`${what} is refused and leaves no data if another process erases the customer meanwhile`, async () => {
      const { callers, read } = await openErased();
      expect(await failureOf(write(callers))).toMatchObject({ name: "AppError" });
      expect(await read("select 1 from users where tenant_id = ?1 and id = ?2")).toEqual([]);
      expect(await read("select 1 from orders where tenant_id = ?1 and ?2 <> ''")).toEqual([]);
      expect(await read("select points, note from reward_entries where tenant_id = ?1 and user_id = ?2")).toEqual([
        { points: 100, note: null },
      ]);
      expect(await read("select reserved from products where tenant_id = ?1 and ?2 <> ''")).toEqual([{ reserved: 0 }]);
    });
  }

  test("an export while another process erases the customer leaves no address in the audit log", async () => {
    const { stored, callers, read } = await openErased();
    await exportPerson(callers.user, callers.customer_id);
    expect(await read("select event, address from audit_log where ?1 <> '' and actor_id = ?2")).toEqual([
      { event: "user.exported", address: null },
    ]);
    expect(await verifyAudit(stored)).toMatchObject({ intact: true });
  });
});
