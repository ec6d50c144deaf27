import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Ctx, SystemCtx } from "../context.ts";
import type { Database } from "../db/session.ts";
import { inTransaction } from "../db/transaction.ts";
import { AppError, conflict } from "../errors.ts";
import { activateKey, issueKey, publishKey } from "../modules/app-keys/service.ts";
import { verifyPassword } from "../modules/passwords/password-hash.ts";
import { listProducts } from "../modules/products/list/list.ts";
import { createProduct } from "../modules/products/service.ts";
import { slugFrom } from "../modules/products/slug.ts";
import { createTenant, listTenants, requireTenant } from "../modules/tenants/service.ts";
import { findSignInUser } from "../modules/users/credentials.ts";
import { createUser, setPassword } from "../modules/users/service.ts";
import type { Vault } from "../security/vault.ts";
import { demoProducts } from "./demo-products.ts";

/** What the demo's ready-made requests need. */
export interface DemoStore {
  namespace: string;
  appId: string;
  appSecret: string;
  /** One of its products. */
  productId: string;
  /** A customer who can sign in. */
  email: string;
  password: string;
  /** Whether this call made the store, or found it. */
  isNew: boolean;
}

/** The store that the demo makes. */
export const demoNamespace = "demo";
const namespace = demoNamespace;
const email = "ada@example.com";
const keyFile = "demo-key.json";

/**
 * Fills an empty data directory with a store to try things on: a tenant, some twenty products, a customer and a published
 * key. A directory that has been filled keeps its data, and gets a new key where the old one is gone. The key's secret and the
 * customer's password are kept in a file of its own, readable by its owner only, because the demo has to print requests that work each time that it
 * starts; nobody else's ever are.
 * @throws conflict when the directory holds stores that the demo did not make.
 */
export async function seedDemo(db: Database, vault: Vault, now: () => number, dataDir: string): Promise<DemoStore> {
  const ctx: SystemCtx = { db, actor: { kind: "terminal" }, vault, requestId: "demo", now, clientIp: null };
  const path = join(dataDir, keyFile);
  const isOurs = existsSync(path);
  const before = isOurs ? readKept(path) : {};
  const password = before.password ?? `Aa1-${randomBytes(12).toString("base64url")}`;
  const store = await inTransaction(ctx, async (tx) => {
    const tenants = await listTenants(tx);
    const isNew = !tenants.some((tenant) => tenant.namespace === namespace);
    // What the demo prints and shows is nobody's secret, so it stays away from real stores.
    if (!isOurs && tenants.length > 0) {
      throw conflict(`${dataDir} holds stores of its own; choose another --data-dir for the demo.`);
    }
    if (isNew) await createTenant(tx, { namespace, title: "Demo store", currency: "EUR" });
    const kept = isNew ? null : await findKey(tx, before);
    const key = kept ?? (await issueKey(tx, { namespace, name: "Demo", publish: true }));
    const work = { ...tx, tenant: await requireTenant(tx, namespace) };
    const { app_id: appId, app_secret: appSecret } = key;
    // Before the commit: a store whose secret nobody has could not be opened again, a stray file can be replaced.
    if (!kept || !before.password) {
      writeFileSync(path, `${JSON.stringify({ appId, appSecret, password }, null, 2)}\n`, { mode: 0o600 });
    }
    return { namespace, appId, appSecret, productId: (await findProduct(work)) ?? (await fillShelves(work)), isNew };
  });
  // Outside the transaction, in which nobody should wait for a hash.
  await welcomeCustomer({ ...ctx, tenant: await requireTenant(ctx, namespace) }, password);
  return { ...store, email, password };
}

/** Makes sure that the customer is there and can sign in with the password that is printed. */
async function welcomeCustomer(ctx: Ctx, password: string): Promise<void> {
  const user = await findSignInUser(ctx.db, ctx.tenant.id, email);
  if (!user) await createUser(ctx, { email, name: "Ada", password, email_verified: true });
  else if (!(await verifyPassword(password, user.passwordHash))) await setPassword(ctx, user.id, password);
}

/** Whether a data directory was made by the demo, where nothing is anybody's secret. */
export function isDemoDir(dataDir: string): boolean {
  return existsSync(join(dataDir, keyFile));
}

/** The key that was kept, fit for use again if someone has withdrawn it; null when it is of no use any more. */
async function findKey(
  ctx: SystemCtx,
  { appId, appSecret }: Kept,
): Promise<{ app_id: string; app_secret: string } | null> {
  if (appId === undefined || appSecret === undefined) return null;
  try {
    await activateKey(ctx, appId);
    await publishKey(ctx, appId);
    return { app_id: appId, app_secret: appSecret };
  } catch (error) {
    // A key that is gone (notFound) or revoked (wrongState).
    if (error instanceof AppError && error.kind !== "unavailable") return null;
    throw error;
  }
}

/** What the demo's file holds; of a damaged one, what is left. */
type Kept = Partial<Record<"appId" | "appSecret" | "password", string>>;

function readKept(path: string): Kept {
  try {
    const kept: unknown = JSON.parse(readFileSync(path, "utf8"));
    return Object.fromEntries(Object.entries(kept ?? {}).filter(([, value]) => typeof value === "string"));
  } catch (error) {
    if (error instanceof SyntaxError) return {};
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
