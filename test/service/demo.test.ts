import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seedDemo } from "../../src/server/admin/demo.ts";
import type { SystemCtx } from "../../src/server/context.ts";
import { getKey, revokeKey, unpublishKey } from "../../src/server/modules/app-keys/service.ts";
import { verifyPassword } from "../../src/server/modules/passwords/password-hash.ts";
import { createTenant, deleteTenant, requireTenant } from "../../src/server/modules/tenants/service.ts";
import { findSignInUser, type SignInUser } from "../../src/server/modules/users/credentials.ts";
import { deleteUser, setPassword } from "../../src/server/modules/users/service.ts";
import { vault } from "../support/app.ts";
import { openTestDatabase, type TestDatabase } from "../support/backend.ts";
import { failureOf } from "../support/failure.ts";

let database: TestDatabase;
let system: SystemCtx;
let dir: string;

const seed = () => seedDemo(database.db, vault, Date.now, dir);
const keyFile = () => join(dir, "demo-key.json");

beforeAll(async () => {
  database = await openTestDatabase("file");
  system = { db: database.db, actor: { kind: "terminal" }, vault, requestId: "test", now: Date.now, clientIp: null };
});

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "bodega-demo-"));
  await deleteTenant(system, "demo").catch(() => {});
});

afterAll(async () => {
  await database.close();
  rmSync(dir, { recursive: true, force: true });
});

test("the demo keeps its store, its key and its products from start to start", async () => {
  const first = await seed();
  expect(first.isNew).toBe(true);
  expect(await seed()).toEqual({ ...first, isNew: false });
  const { rows } = await database.db.execute("select count(*) as n from products where deleted_at is null");
  expect(rows[0]?.n).toBe(21);
  expect(statSync(keyFile()).mode & 0o777).toBe(0o600);
});

test("a key that was withdrawn is published again, one that was revoked is replaced", async () => {
  const { appId } = await seed();
  await unpublishKey(system, appId);
  expect((await seed()).appId).toBe(appId);
  expect(await getKey(system, appId)).toMatchObject({ active: true, published: true });
  await revokeKey(system, appId);
  const { appId: next } = await seed();
  expect(next).not.toBe(appId);
  expect(await getKey(system, next)).toMatchObject({ published: true });
});

test("a damaged key file is made anew", async () => {
  const { appId } = await seed();
  for (const text of ["garbage", "{}", "null"]) {
    writeFileSync(keyFile(), text);
    expect((await seed()).appId).not.toBe(appId);
    expect(JSON.parse(readFileSync(keyFile(), "utf8"))).toHaveProperty("appSecret");
  }
});

test("the requests name a product that is there, whatever was deleted", async () => {
  const { productId } = await seed();
  await database.db.execute({ sql: "update products set deleted_at = 'x' where id = ?", args: [productId] });
  expect((await seed()).productId).not.toBe(productId);
  await database.db.execute("update products set deleted_at = 'x'");
  await database.db.execute("update product_variants set deleted_at = 'x'");
  expect((await seed()).productId).toMatch(/^prod_/);
});

test("a directory with a store of another name is no place for the demo", async () => {
  await createTenant(system, { namespace: "shop" });
  expect(await failureOf(seed())).toMatchObject({ code: 5302 });
  await deleteTenant(system, "shop");
});

test("a store of the same name that the demo did not make is left alone", async () => {
  await seed();
  rmSync(keyFile());
  expect(await failureOf(seed())).toMatchObject({ code: 5302 });
});

test("its customer can sign in with the password that is printed, also after somebody changed or removed them", async () => {
  const { email, password } = await seed();
  const tenant = await requireTenant(system, "demo");
  const ctx = { ...system, tenant };
  const find = async () => (await findSignInUser(database.db, tenant.id, email)) as SignInUser;
  const first = await find();
  expect(await verifyPassword(password, first.passwordHash)).toBe(true);
  await setPassword(ctx, first.id, "Something-else-2026");
  expect(await seed()).toMatchObject({ email, password });
  expect(await verifyPassword(password, (await find()).passwordHash)).toBe(true);
  await deleteUser(ctx, first.id, null);
  await seed();
  expect(await verifyPassword(password, (await find()).passwordHash)).toBe(true);
});

test("a directory that was made before there were customers gets one", async () => {
  const { appId, appSecret } = await seed();
  writeFileSync(keyFile(), JSON.stringify({ appId, appSecret }));
  const { password, ...store } = await seed();
  expect(store.appId).toBe(appId);
  expect(JSON.parse(readFileSync(keyFile(), "utf8"))).toEqual({ appId, appSecret, password });
});
