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

/** Returns the keys, with the private key encrypted. Creates missing keys, even if several processes start at once. */
export async function makeVapidKeys({ db, vault, now }: VapidCtx) {
  const kept = await get(db, selectKeys);
  if (kept) return kept;
  const { publicKey, privateKey } = (await import("web-push")).default.generateVAPIDKeys();
  await run(db, insertKeys, { publicKey, privateKey: vault.seal("push", place, privateKey), now: toTimestamp(now()) });
  return (await get(db, selectKeys)) as NonNullable<typeof kept>;
}

/** Returns the keys; creates missing ones. Errors: wrongState if they were encrypted with another secret key. */
export async function ensureVapidKeys(ctx: VapidCtx) {
  const { publicKey, privateKey: sealed } = await makeVapidKeys(ctx);
  const privateKey = ctx.vault.open("push", place, sealed);
  if (privateKey !== null) return { publicKey, privateKey };
  throw wrongState("The Web Push keys were encrypted with another secret key. Replace them: bodega db rekey");
}
