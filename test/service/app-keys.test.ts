import { beforeAll, expect, test } from "bun:test";
import type { SystemCtx } from "../../src/server/context.ts";
import { addOrigins, removeOrigins, setOrigins } from "../../src/server/modules/app-keys/origins.ts";
import {
  activateKey,
  deactivateKey,
  getKey,
  issueKey,
  publishKey,
  revokeKey,
  rotateKey,
  unpublishKey,
} from "../../src/server/modules/app-keys/service.ts";
import { createTenant } from "../../src/server/modules/tenants/service.ts";
import { newNamespace } from "../support/factories.ts";
import { failureOf } from "../support/failure.ts";
import { onDatabase } from "../support/suite.ts";

const minute = 60_000;

onDatabase("file", (suite) => {
  let ctx: SystemCtx;
  let namespace: string;
  beforeAll(async () => {
    ctx = suite.app.system;
    namespace = newNamespace();
    await createTenant(ctx, { namespace });
  });
  const issue = (more = {}) => issueKey(ctx, { namespace, name: "web", ...more });

  test("a key has a limited number of valid secrets; after old secrets are retired, the key can get new ones", async () => {
    const { app_id: appId } = await issue();
    for (let n = 1; n < 5; n++) await rotateKey(ctx, { appId, overlapMs: minute });
    expect(await failureOf(rotateKey(ctx, { appId, overlapMs: minute }))).toMatchObject({ code: 5306 });
    expect((await getKey(ctx, appId)).secrets).toHaveLength(5);
    await rotateKey(ctx, { appId, overlapMs: 0 });
    expect((await getKey(ctx, appId)).secrets).toHaveLength(1);
  });

  test("issueKey checks name, scopes and expiry, and throws 5301 for an unknown tenant", async () => {
    for (const [field, input] of [
      ["name", { name: "" }],
      ["name", { name: "a".repeat(101) }],
      ["name", { name: "a\nb" }],
      ["scopes", { scopes: [] }],
      ["scopes", { scopes: ["products:delete"] }],
      ["expires_at", { expiresAt: "soon" }],
      ["expires_at", { expiresAt: new Date(ctx.now()).toISOString() }],
      ["expires_at", { expiresAt: "2001-01-01T00:00:00Z" }],
    ] as const) {
      expect(await failureOf(issue(input))).toMatchObject({ code: 5102, details: [{ field }] });
    }
    expect(await failureOf(issue({ namespace: "no-such-store" }))).toMatchObject({ code: 5301 });
    const expiresAt = new Date(ctx.now() + minute).toISOString();
    const { app_id } = await issue({ scopes: ["products:write", "products:read"], expiresAt, publish: true });
    const shown = { scopes: ["products:read", "products:write"], expires_at: expiresAt, published: true };
    expect(await getKey(ctx, app_id)).toMatchObject(shown);
  });

  test("a revoked key has no secrets, and can be read and revoked again but not changed", async () => {
    const { app_id } = await issue({ publish: true });
    await revokeKey(ctx, app_id);
    await revokeKey(ctx, app_id);
    const at = new Date(ctx.now()).toISOString();
    expect(await getKey(ctx, app_id)).toMatchObject({ active: false, published: false, revoked_at: at, secrets: [] });
    for (const change of [publishKey, unpublishKey, activateKey, deactivateKey]) {
      expect(await failureOf(change(ctx, app_id))).toMatchObject({ code: 5306 });
    }
    expect(await failureOf(rotateKey(ctx, { appId: app_id, overlapMs: 0 }))).toMatchObject({ code: 5306 });
    expect(await failureOf(addOrigins(ctx, { appId: app_id, origins: ["a.example"] }))).toMatchObject({ code: 5306 });
  });

  test("after four concurrent rotations, one secret has no expiry", async () => {
    const { app_id } = await issue();
    const rotations = Array.from({ length: 4 }, () => rotateKey(ctx, { appId: app_id, overlapMs: minute }));
    expect(new Set((await Promise.all(rotations)).map(({ app_secret }) => app_secret)).size).toBe(4);
    const { secrets } = await getKey(ctx, app_id);
    expect(secrets.filter(({ expires_at }) => expires_at === null)).toHaveLength(1);
  });

  test("origins are stored without duplicates, in order, and in the form that browsers send", async () => {
    const appId = (await issue()).app_id;
    const origins = ["*.Example.ORG", "B.example", "b.example", "https://Bücher.example:0443", "a.example"];
    const key = await setOrigins(ctx, { appId, origins });
    expect(key).toMatchObject({
      origins: ["*.example.org", "a.example", "b.example", "https://xn--bcher-kva.example:443"],
      enforce_origins: true,
      allow_no_origin: false,
    });
    await addOrigins(ctx, { appId, origins: ["a.example"] });
    expect((await getKey(ctx, appId)).origins).toEqual(key.origins);
    await removeOrigins(ctx, { appId, origins: ["B.EXAMPLE"] });
    expect((await getKey(ctx, appId)).origins).not.toContain("b.example");
  });

  test("a list of origins with an invalid entry, and the removal of an unknown origin, change nothing", async () => {
    const appId = (await issue()).app_id;
    await setOrigins(ctx, { appId, origins: ["a.example", "b.example"], allowNoOrigin: true });
    const before = await getKey(ctx, appId);
    for (const origins of [
      ["c.example", "*"],
      ["https://"],
      [""],
      Array.from({ length: 201 }, (_, n) => `h${n}.example`),
    ]) {
      const attempt = async () => setOrigins(ctx, { appId, origins });
      expect(await failureOf(attempt)).toMatchObject({ code: 5102, details: [{ field: "origins" }] });
    }
    const attempt = () => removeOrigins(ctx, { appId, origins: ["a.example", "c.example"] });
    expect(await failureOf(attempt)).toMatchObject({ code: 5301 });
    expect(await getKey(ctx, appId)).toEqual(before);
  });
});
