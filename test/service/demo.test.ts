import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seedDemo } from "../../src/server/admin/demo.ts";
import type { SystemCtx } from "../../src/server/context.ts";
import { listCategories } from "../../src/server/modules/catalogue/categories/service.ts";
import { listProducts } from "../../src/server/modules/catalogue/list/list.ts";
import { verifyPassword } from "../../src/server/modules/passwords/password-hash.ts";
import { createTenant, deleteTenant, requireTenant } from "../../src/server/modules/tenants/service.ts";
import { findSignInUser, type SignInUser } from "../../src/server/modules/users/credentials.ts";
import details from "../../tools/demo-pictures/details.json" with { type: "json" };
import { vault } from "../support/app.ts";
import { openTestDatabase, type TestDatabase } from "../support/backend.ts";
import { failureOf } from "../support/failure.ts";

let database: TestDatabase;
let system: SystemCtx;
let dir: string;

const seed = () => seedDemo(database.db, vault, Date.now, { dataDir: dir, shopUrl: "http://127.0.0.1:8081" });
const keyFile = () => join(dir, "demo-key.json");

beforeAll(async () => {
  database = await openTestDatabase("file");
  system = { db: database.db, actor: { kind: "terminal" }, vault, requestId: "test", now: Date.now };
});

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "bodega-demo-"));
  await deleteTenant(system, "demo").catch(() => {});
});

afterAll(async () => {
  await database.close();
  rmSync(dir, { recursive: true, force: true });
});

test("the demo keeps its store, key and products after a restart", async () => {
  const first = await seed();
  expect(first.isNew).toBe(true);
  expect(await seed()).toEqual({ ...first, isNew: false });
  const { rows } = await database.db.execute("select count(*) as n from products where deleted_at is null");
  expect(rows[0]?.n).toBe(21);
  const { rows: seen } = await database.db.execute("select count(*) as n from media where uses = 1 and bytes < 20000");
  expect(seen[0]?.n).toBe(62);
  const { rows: fewest } = await database.db.execute(
    "select min(json_array_length(images)) as n from products where deleted_at is null",
  );
  expect(fewest[0]?.n).toBe(2);
  expect(statSync(keyFile()).mode & 0o777).toBe(0o600);
});

test("the demo has a tree of categories with translated titles, and facets count the products of each category", async () => {
  await seed();
  const ctx = { ...system, tenant: await requireTenant(system, "demo"), push: {} as never, memory: {} as never };
  const { page } = await listProducts(ctx, { category: "home", facets: "categories", limit: 1 });
  for (const [slug, count] of Object.entries({ home: 12, kitchen: 5, gifts: 4 })) {
    expect(page.facets?.categories?.values).toContainEqual(expect.objectContaining({ slug, count }));
  }
  const { json } = await listCategories(ctx, { parent_id: "none" }, "de");
  expect((JSON.parse(json) as { title: string }[]).map(({ title }) => title)).toEqual([
    "Wohnen",
    "Kleidung",
    "Garten",
    "Geschenke",
  ]);
});

test("the requests that the demo prints name an existing product, even after deletions", async () => {
  const { productId } = await seed();
  await database.db.execute({ sql: "update products set deleted_at = 'x' where id = ?", args: [productId] });
  expect((await seed()).productId).not.toBe(productId);
  await database.db.execute("update products set deleted_at = 'x'");
  await database.db.execute("update product_variants set deleted_at = 'x'");
  expect((await seed()).productId).toMatch(/^prod_/);
});

test("the demo refuses a directory with a store of another name", async () => {
  await createTenant(system, { namespace: "shop" });
  expect(await failureOf(seed())).toMatchObject({ code: 5302 });
  await deleteTenant(system, "shop");
});

test("the demo does not change a store of the same name that it did not create", async () => {
  await seed();
  rmSync(keyFile());
  expect(await failureOf(seed())).toMatchObject({ code: 5302 });
});

test("the demo's customer can sign in with the printed password", async () => {
  const { email, password } = await seed();
  const { id } = await requireTenant(system, "demo");
  const user = (await findSignInUser(database.db, id, email)) as SignInUser;
  expect(await verifyPassword(password, user.passwordHash)).toBe(true);
});

const root = join(import.meta.dir, "../..");
const folder = join(root, "src/server/admin/demo-pictures");

/** Returns the pictures of a product: a drawing, and details of it. */
const views = (name: string) => [
  `${name}.webp`,
  ...Object.keys(details[name as keyof typeof details]).map((_, index) => `detail-${index + 1}/${name}.webp`),
];

test("each picture of the demo is a small WebP like the pictures that the server stores, and is made from a drawing", async () => {
  const names = [...new Bun.Glob("**/*.webp").scanSync(folder)];
  for (const name of names) {
    const bytes = readFileSync(join(folder, name));
    expect(bytes.length).toBeLessThan(20_000);
    expect(await new Bun.Image(bytes).metadata()).toEqual({ width: 640, height: 640, format: "webp" });
  }
  const drawings = [...new Bun.Glob("*.svg").scanSync(join(root, "tools/demo-pictures"))].map((name) =>
    name.slice(0, -4),
  );
  expect(drawings.length).toBe(21);
  expect(drawings.flatMap(views).toSorted()).toEqual(names.toSorted());
});
