import type { SystemCtx } from "../context.ts";
import { inTransaction } from "../db/transaction.ts";
import { issueKeyWithOrigins } from "../modules/app-keys/origins.ts";
import { type AppKeyDetails, getKey, listKeys } from "../modules/app-keys/service.ts";
import { createTenant, getTenant, listTenants, requireTenant, type TenantDetails } from "../modules/tenants/service.ts";
import { listUsers } from "../modules/users/list.ts";
import type { User } from "../modules/users/model.ts";
import { addUser, type NewUser } from "../modules/users/service.ts";
import { keyPurposes } from "../security/scopes.ts";
import { claimDatabase } from "../security/secret-key.ts";

export interface ShopPlan {
  namespace: string;
  store: {
    title: string;
    currency: string;
    language: string;
    country: string | null;
    pricesIncludeTax: "yes" | "no";
  } | null;
  /** The owner. `prepareUser` has hashed the password, because hashing takes too long for a transaction. */
  owner: NewUser | null;
  /** With origins, the key is a storefront key, which visitors can read. Without origins, no browser can use it. */
  key: { name: string; publish: boolean; origins: string[] } | null;
}

export interface Shop {
  store: TenantDetails | null;
  owner: User | null;
  /** The oldest key that is not revoked. `app_secret` is set only if the key was just created. */
  key: (AppKeyDetails & { app_secret?: string }) | null;
}

export async function findShop(ctx: SystemCtx, namespace: string): Promise<Shop> {
  const tenants = await listTenants(ctx);
  const store = tenants.find((tenant) => tenant.namespace === namespace) ?? null;
  if (store === null) return { store, owner: null, key: null };
  const work = { ...ctx, tenant: await requireTenant(ctx, namespace) };
  const owners = await listUsers(work, { role: "owner", status: "active", sort: "created_at", limit: 1 });
  const keys = await listKeys(ctx, { namespace });
  return {
    store,
    owner: (JSON.parse(owners.json) as User[])[0] ?? null,
    key: keys.find((key) => key.revoked_at === null) ?? null,
  };
}

/**
 * Creates the missing parts of a shop in one transaction, so two calls at once create one shop. Returns the shop, and
 * which parts were created.
 * @throws notFound if neither the database nor the plan has the store; conflict if another user has the address
 * of the owner; validationFailed; wrongState if the database has another secret key.
 */
export async function setUpShop(ctx: SystemCtx, plan: ShopPlan) {
  const { namespace } = plan;
  await claimDatabase(ctx.db, ctx.vault);
  return inTransaction(ctx, async (tx) => {
    const before = await findShop(tx, namespace);
    if (before.store === null && plan.store !== null) await createTenant(tx, { namespace, ...plan.store });
    const work = { ...tx, tenant: await requireTenant(tx, namespace) };
    const owner = before.owner ?? (plan.owner && (await addUser(work, plan.owner)));
    const key = before.key ?? (plan.key && (await makeKey(tx, namespace, plan.key)));
    const made = { store: before.store === null, owner: owner !== before.owner, key: key !== before.key };
    return { store: await getTenant(tx, namespace), owner, key, made };
  });
}

async function makeKey(tx: SystemCtx, namespace: string, key: NonNullable<ShopPlan["key"]>) {
  const isOfPages = key.origins.length > 0;
  const scopes = [...keyPurposes[isOfPages ? "storefront" : "backend"]];
  const issued = await issueKeyWithOrigins(tx, { namespace, ...key, scopes, allowNoOrigin: !isOfPages });
  return { ...(await getKey(tx, issued.app_id)), app_secret: issued.app_secret };
}
