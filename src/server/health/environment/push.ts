import { sql } from "drizzle-orm";
import { pushOptions } from "../../config/push-config.ts";
import { all, statement } from "../../db/statement.ts";
import { pushRegistrations } from "../../modules/notifications/table.ts";
import { inScope } from "../records/check.ts";
import type { Checkup } from "./finding.ts";
import { countOf } from "./wording.ts";

const providers = {
  ios: {
    name: "Apple's push service",
    variables: "BODEGA_APNS_KEY, BODEGA_APNS_KEY_ID, BODEGA_APNS_TEAM_ID and BODEGA_APNS_TOPIC",
  },
  android: { name: "Firebase", variables: "BODEGA_FCM_CREDENTIALS" },
} as const;

const selectDevices = statement<{ platform: keyof typeof providers; devices: number }>(sql`
  select platform, count(*) as devices from ${pushRegistrations} r where platform <> 'web' and ${inScope("r")}
  group by platform order by platform`);

/** Devices that registered, and to which nothing can be sent. */
export const push: Checkup = {
  name: "push",
  async find({ ctx, tenant, config }) {
    if (ctx === null) return [];
    const { platforms } = pushOptions(config);
    const found = await all(ctx.db, selectDevices, { tenantId: tenant?.id ?? null });
    return found
      .filter(({ platform }) => !platforms.includes(platform))
      .map(({ platform, devices }) => ({
        severity: "warning",
        subject: platform,
        message: `${countOf(devices, "device")} (${platform}) registered for notifications, and no account at ${providers[platform].name} is set: nothing is sent to them.`,
        remedy: `Set ${providers[platform].variables} for server and commands, such as in ${config.dataDir}/bodega.env.`,
      }));
  },
};
