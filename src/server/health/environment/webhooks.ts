import { sql } from "drizzle-orm";
import { all, param, statement } from "../../db/statement.ts";
import { tenants } from "../../modules/tenants/table.ts";
import { webhookDeliveries, webhooks as webhookTable } from "../../modules/webhooks/table.ts";
import { formatDuration } from "../../values/duration.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { inScope } from "../records/check.ts";
import type { Checkup, CheckupDeps, Finding } from "./finding.ts";
import { limitFindings } from "./limit-findings.ts";
import { countOf } from "./wording.ts";

const recentMs = 7 * 86_400_000;
const overdueMs = 3_600_000;

interface Webhook {
  webhook_id: string;
  namespace: string;
  url: string;
  failed: number;
  waiting: number;
  /** When the oldest of those that wait was queued. */
  since: string | null;
  last_error: string | null;
}

const selectTroubled = statement<Webhook>(sql`
  select w.id as webhook_id, t.namespace, w.url, count(case when d.status = 'failed' then 1 end) as failed,
    count(case when d.status = 'waiting' then 1 end) as waiting,
    min(case when d.status = 'waiting' then d.created_at end) as since,
    (select coalesce(l.last_error, 'HTTP ' || l.last_status) from ${webhookDeliveries} l
      where l.webhook_id = w.id and (l.last_error is not null or l.last_status is not null)
      order by l.event desc limit 1) as last_error
  from ${webhookDeliveries} d join ${webhookTable} w on w.id = d.webhook_id join ${tenants} t on t.id = w.tenant_id
  where ((d.status = 'failed' and d.finished_at > ${param("recent")})
    or (d.status = 'waiting' and d.created_at < ${param("overdue")})) and ${inScope("w")}
  group by w.id order by t.namespace, w.id`);

/** Webhooks that have failed of late, or wait for too long. */
export const webhooks: Checkup = {
  name: "webhooks",
  ofStores: true,
  async find(about) {
    const { ctx, tenant, now } = about;
    if (ctx === null) return [];
    const found = await all(ctx.db, selectTroubled, {
      tenantId: tenant?.id ?? null,
      recent: toTimestamp(now() - recentMs),
      overdue: toTimestamp(now() - overdueMs),
    });
    return limitFindings(
      found.map((one) => describeWebhook(one, about)),
      "webhooks",
    );
  },
};

function describeWebhook(one: Webhook, { now, command }: CheckupDeps): Finding {
  const { webhook_id: id, namespace, url, failed, waiting, since, last_error: error } = one;
  const oldest = since === null ? "" : `, the oldest for ${formatDuration(now() - Date.parse(since))}`;
  const parts = [
    ...(failed > 0 ? [`${countOf(failed, "delivery").replace(/ys$/, "ies")} failed within the last 7 days`] : []),
    ...(waiting > 0 ? [`${waiting} wait${oldest}`] : []),
  ];
  return {
    severity: "warning",
    subject: id,
    namespace,
    // The rest of an address may be a secret.
    message: `The webhook ${id} of ${namespace} (${new URL(url).host}) is not heard: ${parts.join("; ")}. The last answer: ${error ?? "none"}.`,
    remedy:
      failed > 0
        ? command(`webhook replay -n ${namespace} ${id} --failed`)
        : command(`webhook deliveries -n ${namespace} ${id} --status waiting`),
  };
}
