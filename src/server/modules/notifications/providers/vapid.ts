import type { Ctx } from "../../../context.ts";
import { pick } from "../../../db/selection.ts";
import { get, param, params, run, statement } from "../../../db/statement.ts";
import { wrongState } from "../../../errors.ts";
import { toTimestamp } from "../../../values/stamps.ts";
import { vapidKeys } from "../table.ts";

const place = "vapid";

const selectKeys = statement((q) => q.select(pick(vapidKeys, "publicKey", "privateKey")).from(vapidKeys));
const keys = { id: 1, ...params("publicKey", "privateKey"), createdAt: param("now") };
const insertKeys = statement((q) => q.insert(vapidKeys).values(keys).onConflictDoNothing());

type VapidCtx = Pick<Ctx, "db" | "vault" | "now">;

/** Returns the keys, the private one sealed. Creates missing ones, even if several processes start at once. */
export async function makeVapidKeys({ db, vault, now }: VapidCtx) {
  const kept = await get(db, selectKeys);
  if (kept) return kept;
  const { publicKey, privateKey } = (await import("web-push")).default.generateVAPIDKeys();
  await run(db, insertKeys, { publicKey, privateKey: vault.seal("push", place, privateKey), now: toTimestamp(now()) });
  return get(db, selectKeys);
}

/** Returns the keys; creates missing ones. Errors: wrongState if they were sealed with another key. */
export async function ensureVapidKeys(ctx: VapidCtx) {
  const kept = await makeVapidKeys(ctx);
  const privateKey = kept && ctx.vault.open("push", place, kept.privateKey);
  if (!kept || !privateKey) {
    throw wrongState("The Web Push keys were encrypted with another secret key. Replace them: bodega db rekey");
  }
  return { publicKey: kept.publicKey, privateKey };
}

/** Returns the public key; null if there is none and none can be created. */
export async function findVapidPublicKey(ctx: VapidCtx): Promise<string | null> {
  return (await makeVapidKeys(ctx))?.publicKey ?? null;
}
