import { sql } from "drizzle-orm";
import { all, param, statement } from "../../db/statement.ts";
import { tenants } from "../../modules/tenants/table.ts";
import { webhookDeliveries, webhooks as webhookTable } from "../../modules/webhooks/table.ts";
import { formatDuration } from "../../values/duration.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { countOf, type Finding, limitFindings } from "../finding.ts";
import { inScope } from "../records/check.ts";
import type { EnvironmentCheck, StoreSubject } from "./check.ts";

const recentMs = 7 * 86_400_000;
const overdueMs = 3_600_000;

interface Webhook {
  webhook_id: string;
  namespace: string;
  url: string;
  failed: number;
  waiting: number;
  /** When the oldest waiting delivery was queued. */
  since: string | null;
  last_error: string | null;
}

const selectFailing = statement<Webhook>(sql`
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

/** No webhook has failed recently or waits for long. */
export const webhooks = {
  id: "webhooks",
  ofStores: true,
  needsDatabase: true,
  async run(subject) {
    const { ctx, tenant, now } = subject;
    const found = await all(ctx.db, selectFailing, {
      tenantId: tenant?.id ?? null,
      recent: toTimestamp(now() - recentMs),
      overdue: toTimestamp(now() - overdueMs),
    });
    return limitFindings(
      found.map((one) => describeWebhook(one, subject)),
      "webhooks",
    );
  },
} satisfies EnvironmentCheck;

function describeWebhook(one: Webhook, { now, command }: StoreSubject): Finding {
  const { webhook_id: id, namespace, url, failed, waiting, since, last_error: error } = one;
  const oldest = since === null ? "" : `, the oldest for ${formatDuration(now() - Date.parse(since))}`;
  const parts = [
    ...(failed > 0 ? [`${countOf(failed, "delivery")} failed in the last 7 days`] : []),
    ...(waiting > 0 ? [`${countOf(waiting, "delivery")} waiting${oldest}`] : []),
  ];
  return {
    severity: "warning",
    subject: id,
    namespace,
    // The path of a URL may be a secret.
    message: `Webhook ${id} of store ${namespace} (${new URL(url).host}): ${parts.join("; ")}. Last error: ${error ?? "none"}.`,
    remedy:
      failed > 0
        ? command(`webhook replay -n ${namespace} ${id} --failed`)
        : command(`webhook deliveries -n ${namespace} ${id} --status waiting`),
  };
}
