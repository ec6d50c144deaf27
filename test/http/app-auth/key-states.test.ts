import { expect } from "bun:test";
import type { FileDatabase } from "../../../src/server/db/local/file-database.ts";
import {
  getKey,
  publishKey,
  retireSecrets,
  revokeKey,
  rotateKey,
  unpublishKey,
} from "../../../src/server/modules/app-keys/service.ts";
import {
  createTenant,
  deleteTenant,
  resumeTenant,
  suspendTenant,
} from "../../../src/server/modules/tenants/service.ts";
import { bearer, type Shop } from "../../support/factories.ts";
import { onEachDatabase } from "../../support/suite.ts";
import { until } from "../../support/until.ts";

const minute = 60_000;

/** Makes a call with these credentials from a new address. Returns its code. */
async function codeOf(shop: Shop, auth = shop.auth): Promise<number | undefined> {
  return (await shop.call("GET /products/", { auth })).code;
}

onEachDatabase((suite) => {
  const { test, onFile } = suite;
  test("writes to a store that is deleted meanwhile get 5215 and no internal error", async (shop) => {
    const body = { title: "Lamp", price: 1 };
    const writes = Array.from({ length: 20 }, () => shop.call("POST /products/", { body }));
    const gone = deleteTenant(suite.app.system, shop.namespace);
    const codes = new Set((await Promise.all(writes)).map(({ status, code }) => code ?? status));
    await gone;
    expect([...codes].filter((code) => code !== 201)).toEqual(codes.has(5215) ? [5215] : []);
    expect((await shop.call("POST /products/", { body })).code).toBe(5215);
  });

  onFile("a revoked key does not work", async (shop) => {
    expect(await codeOf(shop)).toBeUndefined();
    await revokeKey(suite.app.system, shop.key.app_id);
    expect(await codeOf(shop)).toBe(5203);
  });

  onFile("a key works until the moment that it expires", async () => {
    const { clock } = suite.app;
    const shop = await suite.shop({ key: { expiresAt: new Date(clock.now() + minute).toISOString() } });
    clock.advance(minute - 1);
    expect(await codeOf(shop)).toBeUndefined();
    clock.advance(1);
    expect(await codeOf(shop)).toBe(5203);
  });

  onFile("after a rotation, the new secret works at once, and the old one until the overlap ends", async () => {
    const { clock, system } = suite.app;
    const shop = await suite.shop();
    const rotated = await rotateKey(system, { appId: shop.key.app_id, overlapMs: minute });
    expect(rotated.app_id).toBe(shop.key.app_id);
    expect([await codeOf(shop), await codeOf(shop, bearer(rotated))]).toEqual([undefined, undefined]);
    clock.advance(minute - 1);
    expect([await codeOf(shop), await codeOf(shop, bearer(rotated))]).toEqual([undefined, undefined]);
    clock.advance(1);
    expect([await codeOf(shop), await codeOf(shop, bearer(rotated))]).toEqual([5203, undefined]);
  });

  onFile("a second rotation can shorten the overlap of the first rotation, but never lengthen it", async () => {
    const { clock, system } = suite.app;
    const shop = await suite.shop();
    const appId = shop.key.app_id;
    const second = await rotateKey(system, { appId, overlapMs: 10 * minute });
    const third = await rotateKey(system, { appId, overlapMs: minute });
    const fourth = await rotateKey(system, { appId, overlapMs: 60 * minute });
    clock.advance(minute);
    const codes = [shop.key, second, third, fourth].map((key) => codeOf(shop, bearer(key)));
    expect(await Promise.all(codes)).toEqual([5203, 5203, undefined, undefined]);
  });

  onFile("a suspended store refuses all calls, and works again when it is resumed", async (shop) => {
    expect(await codeOf(shop)).toBeUndefined();
    await suspendTenant(suite.app.system, shop.namespace);
    expect([await codeOf(shop), await codeOf(shop, "Bearer a:b")]).toEqual([5215, 5215]);
    expect((await shop.call("GET /products/")).text).toContain('"message":"The store is suspended."');
    await resumeTenant(suite.app.system, shop.namespace);
    expect([await codeOf(shop), await codeOf(shop, "Bearer a:b")]).toEqual([undefined, 5203]);
  });

  onFile("the keys of a deleted store stop working, even in a new store with the same name", async () => {
    const shop = await suite.shop();
    await shop.createProduct();
    await deleteTenant(suite.app.system, shop.namespace);
    expect(await codeOf(shop)).toBe(5215);
    await createTenant(suite.app.system, { namespace: shop.namespace });
    expect(await codeOf(shop)).toBe(5203);
    const auth = bearer(await shop.issueKey());
    expect((await shop.call("GET /products/", { auth })).data).toEqual([] as never);
  });

  test("a change of a key by another process applies to the next call", async (shop) => {
    expect(await codeOf(shop)).toBeUndefined();
    const db = await suite.database.openAgain();
    const elsewhere = { ...suite.app.system, db };
    for (const [change, code] of [
      [() => unpublishKey(elsewhere, shop.key.app_id), 5203],
      [() => publishKey(elsewhere, shop.key.app_id), undefined],
      [() => suspendTenant(elsewhere, shop.namespace), 5215],
      [() => resumeTenant(elsewhere, shop.namespace), undefined],
      [() => rotateKey(elsewhere, { appId: shop.key.app_id, overlapMs: 0 }), 5203],
    ] as const) {
      await change();
      expect([`${change}`, await codeOf(shop)]).toEqual([`${change}`, code]);
    }
  });

  test("a change of a key during many concurrent calls applies to every later call", async (shop) => {
    const { app_id } = shop.key;
    for (let round = 0; round < 5; round++) {
      const during = Array.from({ length: 20 }, () => codeOf(shop));
      await unpublishKey(suite.app.system, app_id);
      expect(await codeOf(shop)).toBe(5203);
      await Promise.all(during);
      expect(await codeOf(shop)).toBe(5203);
      await publishKey(suite.app.system, app_id);
      expect(await codeOf(shop)).toBeUndefined();
    }
  });

  test("the last use of a key is written at most once a minute, and only for an authenticated call", async () => {
    const { clock, system } = suite.app;
    const shop = await suite.shop();
    const { app_id } = shop.key;
    const lastUsed = async () => (await getKey(system, app_id)).last_used_at;
    await codeOf(shop, `Bearer ${app_id}:wrong`);
    expect(await lastUsed()).toBeNull();
    const first = new Date(clock.now()).toISOString();
    await codeOf(shop);
    await until("the first use is written", async () => (await lastUsed()) === first);
    clock.advance(minute - 1);
    await codeOf(shop);
    await (suite.app.db as FileDatabase).queue.drain();
    expect(await lastUsed()).toBe(first);
    clock.advance(1);
    const second = new Date(clock.now()).toISOString();
    await Promise.all([codeOf(shop), codeOf(shop), codeOf(shop)]);
    await until("the second use is written", async () => (await lastUsed()) === second);
  });

  test("the last use of a key is kept when the used secret is replaced or removed", async () => {
    const { clock, system } = suite.app;
    const endings = [
      ["rotated", (appId: string) => rotateKey(system, { appId, overlapMs: 0 })],
      ["retired", (appId: string) => retireSecrets(system, appId)],
      ["revoked", (appId: string) => revokeKey(system, appId)],
    ] as const;
    for (const [name, end] of endings) {
      const shop = await suite.shop();
      const { app_id } = shop.key;
      const lastUsed = async () => (await getKey(system, app_id)).last_used_at;
      const used = new Date(clock.now()).toISOString();
      await codeOf(shop);
      await until("the use is written", async () => (await lastUsed()) === used);
      clock.advance(minute);
      if (name === "retired") await rotateKey(system, { appId: app_id, overlapMs: minute });
      await end(app_id);
      expect([name, await lastUsed()]).toEqual([name, used]);
    }
  });
});
