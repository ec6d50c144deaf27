import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Ctx, SystemCtx } from "./context.ts";
import type { Database } from "./db/session.ts";
import { inTransaction } from "./db/transaction.ts";
import { demoProducts } from "./demo-products.ts";
import { AppError } from "./errors.ts";
import { getKey, issueKey } from "./modules/app-keys/service.ts";
import { createProduct } from "./modules/products/service.ts";
import { slugFrom } from "./modules/products/slug.ts";
import { createTenant, requireTenant } from "./modules/tenants/service.ts";

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
 * directory that has been filled is left as it is. The key's secret is kept in a file of its own, readable by its owner
 * only, because the demo has to print requests that work each time that it starts; no other key's secret ever is.
 * @throws AppError 5302 when the directory holds another store of that name.
 */
export async function seedDemo(db: Database, now: () => number, dataDir: string): Promise<DemoStore> {
  const ctx: SystemCtx = { db, actor: { kind: "terminal" }, requestId: "demo", now, clientIp: null };
  const path = join(dataDir, keyFile);
  if (existsSync(path)) {
    const kept = JSON.parse(readFileSync(path, "utf8")) as Omit<DemoStore, "isNew" | "namespace">;
    if (await isStanding(ctx, kept.appId)) return { ...kept, namespace, isNew: false };
  }
  const store = await inTransaction(ctx, async (tx) => {
    await createTenant(tx, { namespace, title: "Demo store", currency: "EUR" }).catch((error) => {
      if (!(error instanceof AppError) || error.code !== 5302) throw error;
      throw new AppError(5302, `${dataDir} holds a store named demo of its own; choose another --data-dir.`);
    });
    const { app_id: appId, app_secret: appSecret } = await issueKey(tx, { namespace, name: "Demo", publish: true });
    const tenant = await requireTenant(tx, namespace);
    const made = { appId, appSecret, productId: await fillShelves({ ...tx, tenant }) };
    // Before the commit: a store whose secret nobody has could not be opened again, a stray file can be replaced.
    writeFileSync(path, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 });
    return made;
  });
  return { ...store, namespace, isNew: true };
}

async function isStanding(ctx: SystemCtx, appId: string): Promise<boolean> {
  try {
    return (await getKey(ctx, appId)).revoked_at === null;
  } catch (error) {
    if (error instanceof AppError && error.code === 5301) return false;
    throw error;
  }
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
