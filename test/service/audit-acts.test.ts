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

  /** Event, subject and details of a store's audit rows, oldest first. */
  async function acts(namespace: string): Promise<[event: string, subject: string | null, details: unknown][]> {
    const rows = await listAudit(ctx, { namespace, limit: 1000 });
    for (const row of rows) {
      expect(row).toMatchObject({ actor_kind: "terminal", actor_id: "ana", request_id: "req-acts", code: null });
    }
    return rows
      .map(({ event, subject, details }): [string, string | null, unknown] => [event, subject, details])
      .reverse();
  }

  test("changes of a store are audited with the names of the changed fields", async () => {
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

  test("changes of a key are audited, without its secrets", async () => {
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

  test("a failed act is not audited as done, and a rolled-back one leaves no row", async () => {
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
