import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Ctx, SystemCtx } from "./context.ts";
import type { Database } from "./db/session.ts";
import { inTransaction } from "./db/transaction.ts";
import { demoProducts } from "./demo-products.ts";
import { AppError } from "./errors.ts";
import { activateKey, issueKey, publishKey } from "./modules/app-keys/service.ts";
import { listProducts } from "./modules/products/list.ts";
import { createProduct } from "./modules/products/service.ts";
import { slugFrom } from "./modules/products/slug.ts";
import { createTenant, listTenants, requireTenant } from "./modules/tenants/service.ts";
import type { Vault } from "./vault.ts";

/** What the demo's ready-made requests need. */
export interface DemoStore {
  namespace: string;
  appId: string;
  appSecret: string;
  /** One of its products. */
  productId: string;
  /** Whether this call made the store, or found it. */
  isNew: boolean;
}

const namespace = "demo";
const keyFile = "demo-key.json";

/**
 * Fills an empty data directory with a store to try things on: a tenant, some twenty products and a published key. A
 * directory that has been filled keeps its data, and gets a new key where the old one is gone. The key's secret is kept
 * in a file of its own, readable by its owner only, because the demo has to print requests that work each time that it
 * starts; no other key's secret ever is.
 * @throws AppError 5302 when the directory holds another store of that name.
 */
export async function seedDemo(db: Database, vault: Vault, now: () => number, dataDir: string): Promise<DemoStore> {
  const ctx: SystemCtx = { db, actor: { kind: "terminal" }, vault, requestId: "demo", now, clientIp: null };
  const path = join(dataDir, keyFile);
  const isOurs = existsSync(path);
  return inTransaction(ctx, async (tx) => {
    const isNew = !(await listTenants(tx)).some((tenant) => tenant.namespace === namespace);
    if (isNew) await createTenant(tx, { namespace, title: "Demo store", currency: "EUR" });
    else if (!isOurs) {
      throw new AppError(5302, `${dataDir} holds a store named demo of its own; choose another --data-dir.`);
    }
    const kept = isOurs && !isNew ? await findKey(tx, path) : null;
    const key = kept ?? (await issueKey(tx, { namespace, name: "Demo", publish: true }));
    const work = { ...tx, tenant: await requireTenant(tx, namespace) };
    const { app_id: appId, app_secret: appSecret } = key;
    // Before the commit: a store whose secret nobody has could not be opened again, a stray file can be replaced.
    if (!kept) writeFileSync(path, `${JSON.stringify({ appId, appSecret }, null, 2)}\n`, { mode: 0o600 });
    return { namespace, appId, appSecret, productId: (await findProduct(work)) ?? (await fillShelves(work)), isNew };
  });
}

/** Whether a data directory was made by the demo, where nothing is anybody's secret. */
export function isDemoDir(dataDir: string): boolean {
  return existsSync(join(dataDir, keyFile));
}

/** The key of the file, fit for use again if someone has withdrawn it; null when file or key is of no use any more. */
async function findKey(ctx: SystemCtx, path: string): Promise<{ app_id: string; app_secret: string } | null> {
  try {
    const kept = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown> | null;
    const { appId, appSecret } = kept ?? {};
    if (typeof appId !== "string" || typeof appSecret !== "string") return null;
    await activateKey(ctx, appId);
    await publishKey(ctx, appId);
    return { app_id: appId, app_secret: appSecret };
  } catch (error) {
    // A damaged file, a key that is gone (5301) or revoked (5306).
    if (error instanceof SyntaxError || (error instanceof AppError && error.code !== 5001)) return null;
    throw error;
  }
}

async function findProduct(ctx: Ctx): Promise<string | undefined> {
  const { json } = await listProducts(ctx, { limit: 1, status: "published" });
  return (JSON.parse(json) as { id: string }[])[0]?.id;
}

/** Creates the products; the last one made is returned, since newest stand first in lists. */
async function fillShelves(ctx: Ctx): Promise<string> {
  let id = "";
  for (const { picture, ...product } of demoProducts) {
    const name = slugFrom(product.title);
    const images = [{ url: `https://pictures.example/${name}.jpg`, alt: picture }];
    const { json } = await createProduct(ctx, { ...product, images });
    id = (JSON.parse(json) as { id: string }).id;
  }
  return id;
}
