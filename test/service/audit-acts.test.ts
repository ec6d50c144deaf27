import { beforeAll, expect, test } from "bun:test";
import type { SystemCtx } from "../../src/server/context.ts";
import { inTransaction } from "../../src/server/db/transaction.ts";
import { addOrigins, removeOrigins, setOrigins } from "../../src/server/modules/app-keys/origins.ts";
import {
  activateKey,
  deactivateKey,
  issueKey,
  publishKey,
  revokeKey,
  rotateKey,
  unpublishKey,
} from "../../src/server/modules/app-keys/service.ts";
import { listAudit } from "../../src/server/modules/audit/list.ts";
import { eraseOldAddresses, recordAudit } from "../../src/server/modules/audit/service.ts";
import { verifyAudit } from "../../src/server/modules/audit/verify.ts";
import {
  createTenant,
  deleteTenant,
  resumeTenant,
  suspendTenant,
  updateTenant,
} from "../../src/server/modules/tenants/service.ts";
import { newNamespace } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { onDatabase } from "../support/suite.ts";

onDatabase("file", (suite) => {
  let ctx: SystemCtx;
  beforeAll(() => {
    ctx = { ...suite.app.system, actor: { kind: "terminal", account: "ana" }, requestId: "req-acts" };
  });

  /** Returns event, subject and details of a store's audit rows, oldest first. */
  async function acts(namespace: string): Promise<[event: string, subject: string | null, details: unknown][]> {
    const rows = await listAudit(ctx, { namespace, limit: 1000 });
    for (const row of rows) {
      expect(row).toMatchObject({ actor_kind: "terminal", actor_id: "ana", request_id: "req-acts", code: null });
    }
    return rows
      .map(({ event, subject, details }): [string, string | null, unknown] => [event, subject, details])
      .reverse();
  }

  test("the audit log has changes of a store with the names of the changed fields", async () => {
    const namespace = newNamespace();
    await createTenant(ctx, { namespace, title: "One" });
    await updateTenant(ctx, namespace, { title: "Two", currency: "USD", language: "en" });
    await suspendTenant(ctx, namespace);
    await resumeTenant(ctx, namespace);
    await deleteTenant(ctx, namespace);
    expect(await acts(namespace)).toEqual([
      ["tenant.created", null, null],
      ["tenant.updated", null, { fields: ["title", "currency", "currency_sign"] }],
      ["tenant.suspended", null, null],
      ["tenant.resumed", null, null],
      ["tenant.deleted", null, null],
    ]);
  });

  test("the audit log has changes of a key, without its secrets", async () => {
    const namespace = newNamespace();
    await createTenant(ctx, { namespace });
    const issued = await issueKey(ctx, { namespace, name: "web", scopes: ["products:read"] });
    const { app_id } = issued;
    for (const verb of [publishKey, unpublishKey, deactivateKey, activateKey]) await verb(ctx, app_id);
    await setOrigins(ctx, { appId: app_id, origins: ["a.example", "b.example"], allowNoOrigin: true });
    await addOrigins(ctx, { appId: app_id, origins: ["c.example"] });
    await removeOrigins(ctx, { appId: app_id, origins: ["a.example"] });
    const rotated = await rotateKey(ctx, { appId: app_id, overlapMs: 60_000 });
    await revokeKey(ctx, app_id);
    await revokeKey(ctx, app_id);
    const flags = { enforce_origins: true, allow_no_origin: true };
    const [, ...written] = await acts(namespace);
    expect(written).toEqual([
      ["key.issued", app_id, { name: "web", scopes: ["products:read"], published: false, expires_at: null }],
      ["key.published", app_id, null],
      ["key.unpublished", app_id, null],
      ["key.deactivated", app_id, null],
      ["key.activated", app_id, null],
      ["origins.changed", app_id, { added: ["a.example", "b.example"], removed: [], ...flags }],
      ["origins.changed", app_id, { added: ["c.example"], removed: [], ...flags }],
      ["origins.changed", app_id, { added: [], removed: ["a.example"], ...flags }],
      ["key.rotated", app_id, { overlap_seconds: 60 }],
      ["key.revoked", app_id, null],
    ]);
    for (const { app_secret } of [issued, rotated]) expect(JSON.stringify(written)).not.toContain(app_secret);
  });

  test("the audit log does not record a failed change as a success, and has no row of a rolled-back change", async () => {
    const namespace = newNamespace();
    await createTenant(ctx, { namespace });
    const { app_id } = await issueKey(ctx, { namespace, name: "web" });
    await revokeKey(ctx, app_id);
    const before = await acts(namespace);
    class Undone extends Error {}
    const failing: (() => Promise<unknown>)[] = [
      () => createTenant(ctx, { namespace }),
      () => updateTenant(ctx, namespace, { title: "" }),
      () => publishKey(ctx, app_id),
      () => rotateKey(ctx, { appId: app_id, overlapMs: 0 }),
      () => setOrigins(ctx, { appId: app_id, origins: ["a.example"] }),
      () =>
        inTransaction(ctx, async (tx) => {
          await suspendTenant(tx, namespace);
          throw new Undone();
        }),
    ];
    for (const attempt of failing) expect(await failureOf(attempt)).toBeInstanceOf(Error);
    expect(await acts(namespace)).toEqual(before);
    for (const attempt of [suspendTenant, deleteTenant]) {
      expect(await failureOf(attempt(ctx, "no-such-store"))).toMatchObject({ code: 5301 });
    }
    expect(await acts("no-such-store")).toEqual([]);
  });
});

const day = 86_400_000;

onDatabase("file", (suite) => {
  const execute = (sql: string) => suite.app.db.execute(sql);

  test("addresses in the audit log are erased exactly after the given time, and the chain stays intact", async () => {
    const ctx = { ...suite.app.system, client: { ip: "192.0.2.7" } };
    const count = async () => Number((await execute("select count(address) as n from audit_log")).rows[0]?.n);
    const before = await count();
    for (let n = 0; n < 3; n++) {
      await recordAudit(ctx, { event: "login.failed", namespace: "demo" });
      suite.app.clock.advance(day);
    }
    const head = await verifyAudit(ctx);
    expect(head).toMatchObject({ intact: true });
    const erase = (keptMs: number) => eraseOldAddresses({ db: suite.app.db, now: suite.app.clock.now }, keptMs);
    expect(await erase(3 * day + 1)).toBe(before);
    expect(await erase(3 * day)).toBe(1);
    expect(await count()).toBe(2);
    expect(await erase(day)).toBe(2);
    const { rows } = await execute(
      "select address, address_salt, address_hash from audit_log order by seq desc limit 1",
    );
    expect(rows[0]).toMatchObject({
      address: null,
      address_salt: null,
      address_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await verifyAudit(ctx)).toEqual(head);
  });

  test("an address in the audit log can be erased, but not changed or added", async () => {
    await recordAudit({ ...suite.app.system, client: { ip: "192.0.2.8" } }, { event: "login.failed" });
    for (const change of [
      "address = '192.0.2.9'",
      "address = null, address_salt = address_salt",
      "address = null, address_salt = null, code = 1",
      "address = null, address_salt = null, address_hash = null",
    ]) {
      expect(String(await failureOf(execute(`update audit_log set ${change}`)))).toContain("append-only");
    }
  });
});
