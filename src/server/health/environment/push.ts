import { sql } from "drizzle-orm";
import { pushOptions } from "../../config/push-config.ts";
import { all, statement } from "../../db/statement.ts";
import { pushRegistrations } from "../../modules/notifications/table.ts";
import { countOf } from "../finding.ts";
import { inScope } from "../records/check.ts";
import type { EnvironmentCheck } from "./check.ts";

const variables = {
  ios: "BODEGA_APNS_KEY, BODEGA_APNS_KEY_ID, BODEGA_APNS_TEAM_ID and BODEGA_APNS_TOPIC",
  android: "BODEGA_FCM_CREDENTIALS",
} as const;

const selectDevices = statement<{ platform: keyof typeof variables; devices: number }>(sql`
  select platform, count(*) as devices from ${pushRegistrations} r where platform <> 'web' and ${inScope("r")}
  group by platform order by platform`);

/** There are push credentials for all platforms that registered. */
export const push = {
  id: "push",
  needsDatabase: true,
  async run({ ctx, tenant, config }) {
    const { platforms } = pushOptions(config);
    const found = await all(ctx.db, selectDevices, { tenantId: tenant?.id ?? null });
    return found
      .filter(({ platform }) => !platforms.includes(platform))
      .map(({ platform, devices }) => ({
        severity: "warning",
        subject: platform,
        message: `${countOf(devices, `${platform} device`)} registered for notifications, but no ${platform} credentials are configured.`,
        remedy: `Set ${variables[platform]}, for example in ${config.dataDir}/bodega.env.`,
      }));
  },
} satisfies EnvironmentCheck;
