import type { Ctx } from "../../../context.ts";
import { findVapidPublicKey } from "../providers/vapid.ts";
import type { PushOffer } from "../registrations/registration-model.ts";
import { deliveryOf } from "../registrations/registration-record.ts";

/** What a client needs before it registers: the key that browsers subscribe with, and what this server can send to. */
export async function describeOffer(ctx: Ctx): Promise<PushOffer> {
  const vapid_public_key = await findVapidPublicKey(ctx);
  const platforms = (["web", "ios", "android"] as const).map((platform) => ({
    platform,
    delivery: platform === "web" && vapid_public_key === null ? ("off" as const) : deliveryOf(ctx, platform),
  }));
  return { vapid_public_key, platforms };
}
