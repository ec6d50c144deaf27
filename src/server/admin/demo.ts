import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import demoDetails from "../../../tools/demo-pictures/details.json" with { type: "json" };
import type { Ctx, SystemCtx } from "../context.ts";
import type { Database } from "../db/session.ts";
import { inTransaction } from "../db/transaction.ts";
import { conflict } from "../errors.ts";
import { issueKeyWithOrigins } from "../modules/app-keys/origins.ts";
import { issueKey } from "../modules/app-keys/service.ts";
import type { CategoryInput } from "../modules/catalogue/categories/model.ts";
import { createCategory, listCategoryTree } from "../modules/catalogue/categories/service.ts";
import { listProducts } from "../modules/catalogue/list/list.ts";
import type { ProductInput } from "../modules/catalogue/products/model.ts";
import { createProduct } from "../modules/catalogue/products/service.ts";
import { slugFrom } from "../modules/catalogue/products/slug.ts";
import { storePicture } from "../modules/media/service.ts";
import { createTenant, listTenants, requireTenant } from "../modules/tenants/service.ts";
import { addUser, type NewUser, prepareUser } from "../modules/users/service.ts";
import { keyPurposes } from "../security/scopes.ts";
import type { Vault } from "../security/vault.ts";
import { collectFiles } from "../values/collect-files.ts" with { type: "macro" };
import { newId } from "../values/stamps.ts";
import demoCategories from "./demo-categories.json" with { type: "json" };
import demoProducts from "./demo-products.json" with { type: "json" };
import { linkShop, openSale, saleSettings } from "./demo-sale.ts";

export const demoNamespace = "demo";
const namespace = demoNamespace;
const email = "ada@example.com";
const ownerEmail = "owner@example.com";
const keyFile = "demo-key.json";
/** The key for pages on this machine. The printed requests also use it, so it allows requests without `Origin`. */
const pageKey = {
  namespace,
  name: "Demo pages",
  publish: true,
  scopes: [...keyPurposes.storefront],
  origins: ["localhost", "127.0.0.1", "[::1]"],
  allowNoOrigin: true,
};
/** Pictures by file name, in base64. `details.json` lists more pictures, which show details of products. */
const pictures = collectFiles("admin/demo-pictures") as Record<string, string>;
const details: Record<string, object> = demoDetails;

type Secrets = Record<"appId" | "appSecret" | "pageId" | "pageSecret" | "password", string>;
type DemoPlace = Record<"dataDir" | "shopUrl", string>;

/**
 * Fills an empty data directory with a sample store: products in categories, rates, a discount code, a customer, an
 * owner and two published keys, one of them for pages. Later starts keep the data. Each start prints requests that work,
 * so the secrets are stored in `demo-key.json`, which only its owner can read.
 * @returns a context for the store, its secrets, the id of a product, and whether the store is new.
 * @throws conflict if the directory contains stores that the demo did not create.
 */
export async function seedDemo(db: Database, vault: Vault, now: () => number, { dataDir, shopUrl }: DemoPlace) {
  const ctx: SystemCtx = { db, actor: { kind: "terminal" }, vault, requestId: "demo", now };
  const path = join(dataDir, keyFile);
  const tenants = await listTenants(ctx);
  // The demo prints its secrets, so it must not run on real stores.
  if (tenants.length > 0 && !existsSync(path)) {
    throw conflict(`${dataDir} contains other stores. Choose another --data-dir for the demo.`);
  }
  const isNew = !tenants.some((tenant) => tenant.namespace === namespace);
  const password = `Aa1-${randomBytes(12).toString("base64url")}`;
  // Users are prepared before the transaction, because hashing the password would block other writers.
  const prepare = (user: { email: string; name: string; role?: "owner" }) =>
    prepareUser(ctx, { ...user, password, email_verified: true });
  const owner = { email: ownerEmail, name: "Grace", role: "owner" } as const;
  const users = isNew && [await prepare({ email, name: "Ada" }), await prepare(owner)];
  return inTransaction(ctx, async (tx) => {
    const kept: Secrets = users
      ? { ...(await createStore(tx, users)), password }
      : JSON.parse(readFileSync(path, "utf8"));
    const work = { ...tx, tenant: await requireTenant(tx, namespace) };
    await linkShop(work, shopUrl);
    const { json } = await listProducts(work, { limit: 1, status: "published" });
    const [product] = JSON.parse(json) as { id: string }[];
    const productId = product?.id ?? (await fillShelves(work));
    // The file is written before the commit: a file without a store is harmless, but lost secrets cannot be read again.
    if (isNew) writeFileSync(path, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 });
    const inStore = { ...ctx, tenant: await requireTenant(tx, namespace) };
    return { ctx: inStore, namespace, email, ownerEmail, ...kept, productId, isNew };
  });
}

async function createStore(tx: SystemCtx, users: NewUser[]) {
  await createTenant(tx, { ...saleSettings, namespace, title: "Demo store", signInByMail: "on" });
  const key = await issueKey(tx, { namespace, name: "Demo", publish: true });
  const page = await issueKeyWithOrigins(tx, pageKey);
  const work = { ...tx, tenant: await requireTenant(tx, namespace) };
  await openSale(work);
  for (const user of users) await addUser(work, user);
  return { appId: key.app_id, appSecret: key.app_secret, pageId: page.app_id, pageSecret: page.app_secret };
}

/** Whether a demo created the data directory. The secrets of a demo may be printed. */
export function isDemoDir(dataDir: string): boolean {
  return existsSync(join(dataDir, keyFile));
}

/** Creates the products. Returns the id of the last product, which lists show first. */
async function fillShelves(ctx: Ctx): Promise<string> {
  const known = (await listCategoryTree(ctx)).map(({ slug }) => slug);
  for (const category of demoCategories as (CategoryInput & { slug: string })[]) {
    if (!known.includes(category.slug)) await createCategory(ctx, category);
  }
  let id = "";
  for (const { picture, ...product } of demoProducts as (ProductInput & { picture: string })[]) {
    const name = slugFrom(product.title);
    const images = [{ media_id: await hangPicture(ctx, `${name}.webp`), alt: picture }];
    for (const alt of Object.keys(details[name] ?? {})) {
      images.push({ media_id: await hangPicture(ctx, `detail-${images.length}/${name}.webp`), alt });
    }
    const { json } = await createProduct(ctx, { ...product, images });
    id = (JSON.parse(json) as { id: string }).id;
  }
  return id;
}

async function hangPicture(ctx: Ctx, name: string): Promise<string> {
  const bytes = Buffer.from(pictures[name] as string, "base64");
  const hash = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
  const read = { id: newId("med"), hash, picture: { bytes, width: 640, height: 640 } };
  return (await storePicture(ctx, read)).media.id;
}
