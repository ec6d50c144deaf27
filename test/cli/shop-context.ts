import { openStoreDatabase } from "../../src/server/admin/open-database.ts";
import type { Ctx } from "../../src/server/context.ts";
import { requireTenant } from "../../src/server/modules/tenants/service.ts";
import { openVault } from "../../src/server/security/secret-key.ts";
import type { PreparedShop } from "./prepared-shop.ts";

/** Opens a copy of the prepared store for services, beside the commands that a test runs. */
export async function openShopContext({ dataDir, namespace, env }: PreparedShop) {
  const db = await openStoreDatabase({ dataDir });
  const vault = await openVault({ secret: undefined, dataDir }, db);
  const system = { db, vault, actor: { kind: "terminal" }, requestId: "test", now: Date.now } as const;
  const payments = { stripeUrl: env.BODEGA_STRIPE_URL };
  const ctx: Ctx = { ...system, tenant: await requireTenant(system, namespace), payments };
  return { ctx, close: () => db.close() };
}
