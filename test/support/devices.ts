import { sealTarget } from "../../src/server/modules/notifications/providers/provider.ts";
import { newId, toTimestamp } from "../../src/server/values/stamps.ts";
import { type Shop, tenantContext } from "./factories.ts";

interface Device {
  platform?: "web" | "ios" | "android";
  topics?: string[];
  userId?: string;
  lang?: string | null;
  token?: string;
}

/** Adds a device of a shop to the database, as a registration would. Returns its id. */
export async function addDevice(shop: Shop, device: Device = {}): Promise<string> {
  const { platform = "android", topics = [], userId = null, lang = "en" } = device;
  const { db, tenant, vault } = await tenantContext(shop);
  const id = newId("reg");
  const target = sealTarget(vault, id, { token: device.token ?? id });
  const now = toTimestamp(shop.app.clock.now());
  const insertRegistration = `insert into push_registrations (id, tenant_id, platform, target_key, target, user_id, lang,
    secret_hash, created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?, '', ?, ?)`;
  await db.batch([
    { sql: insertRegistration, args: [id, tenant.id, platform, id, target, userId, lang, now, now] },
    ...topics.map((topic) => ({
      sql: "insert into push_topics (tenant_id, topic, registration_id) values (?, ?, ?)",
      args: [tenant.id, topic, id],
    })),
  ]);
  return id;
}
