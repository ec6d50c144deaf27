import { sql } from "drizzle-orm";
import { all, get, param, statement } from "../../db/statement.ts";
import { AppError } from "../../errors.ts";
import { mailOutbox } from "../../modules/mail/table.ts";
import { tenants } from "../../modules/tenants/table.ts";
import { formatDuration } from "../../values/duration.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { type CheckSubject, countOf, type EnvironmentCheck, type Finding, finding, limitFindings } from "../finding.ts";
import { inScope } from "../records/check.ts";

const overdueMs = 15 * 60_000;
const recentMs = 7 * 86_400_000;

/** The mail of a store; `since` is when the oldest waiting one was queued. */
type Queue = { namespace: string } & Record<"waiting" | "failed", number> &
  Record<"since" | "last_error", string | null>;

const selectQueues = statement<Queue>(sql`
  select t.namespace, count(case when m.status = 'queued' then 1 end) as waiting,
    min(case when m.status = 'queued' then m.created_at end) as since,
    count(case when m.status = 'failed' then 1 end) as failed,
    (select f.last_error from ${mailOutbox} f where f.tenant_id = t.id and f.status = 'failed'
      order by f.updated_at desc limit 1) as last_error
  from ${mailOutbox} m join ${tenants} t on t.id = m.tenant_id
  where (m.status = 'queued' or (m.status = 'failed' and m.updated_at > ${param("recent")})) and ${inScope("m")}
  group by t.id order by t.namespace`);

const selectStore = statement<{ namespace: string }>(sql`
  select namespace from ${tenants} where status = 'active' order by namespace limit 1`);

export const mail = {
  id: "mail",
  about: "The mail server accepts the login.",
  run: (subject) => (subject.config.smtpUrl === undefined ? describeNone(subject) : checkServer(subject)),
} satisfies EnvironmentCheck;

export const outbox = {
  id: "outbox",
  about: "No mail has failed recently or waits for long.",
  reads: "stores",
  async run(subject) {
    const { ctx, tenant, now } = subject;
    const values = { tenantId: tenant?.id ?? null, recent: toTimestamp(now() - recentMs) };
    const queues = await all(ctx.db, selectQueues, values);
    const late = queues.flatMap((queue) => describeLate(subject, queue));
    const failed = queues.flatMap((queue) => describeFailed(subject, queue));
    return [...limitFindings(late, "stores"), ...limitFindings(failed, "stores")];
  },
} satisfies EnvironmentCheck;

async function describeNone({ ctx, config, command }: CheckSubject): Promise<Finding[]> {
  if (ctx === null) return [];
  const first = await get(ctx.db, selectStore);
  const init = command(first === undefined ? "init" : `init -n ${first.namespace}`);
  const message = "No mail server is configured, so reset codes and notices are not sent.";
  const remedy = `Set BODEGA_SMTP_URL and BODEGA_MAIL_FROM, for example in ${config.dataDir}/bodega.env, or run: ${init}`;
  return [finding("warning", "BODEGA_SMTP_URL", message, remedy)];
}

async function checkServer({ config, timeoutMs }: CheckSubject): Promise<Finding[]> {
  const { hostname, host } = new URL(config.smtpUrl ?? "");
  // The mail client is loaded only where there is a mail server.
  const { runSmtpSession } = await import("../../modules/mail/smtp-session.ts");
  try {
    const timeouts = { connect: timeoutMs, greeting: timeoutMs, silence: timeoutMs };
    const { session } = await runSmtpSession({ url: config.smtpUrl ?? "", timeouts });
    if (session.encrypted || hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.")) return [];
    const message = `The connection to the mail server ${host} does not use TLS: others can read reset codes on the way.`;
    const remedy = "Turn on TLS at the mail server, or use its TLS port with smtps: in BODEGA_SMTP_URL.";
    return [finding("warning", host, message, remedy)];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const remedy =
      error.kind === "wrongState"
        ? "Correct user and password in BODEGA_SMTP_URL; write @ : / and % in them as %40 %3A %2F %25."
        : "Correct host and port in BODEGA_SMTP_URL, or allow outgoing connections to it. Many providers block ports 25, 465 and 587.";
    return [finding("error", host, `The mail server cannot be used: ${error.message}`, remedy)];
  }
}

function describeLate({ now }: CheckSubject, { namespace, waiting, since }: Queue): Finding[] {
  const ageMs = since === null ? 0 : now() - Date.parse(since);
  if (ageMs < overdueMs) return [];
  const message = `Store ${namespace} has ${countOf(waiting, "waiting mail")}, the oldest for ${formatDuration(ageMs)}.`;
  const remedy = "Check that the server runs and has BODEGA_SMTP_URL. Its log has the reason.";
  return [{ ...finding("warning", namespace, message, remedy), namespace }];
}

function describeFailed({ command }: CheckSubject, { namespace, failed, last_error: error }: Queue): Finding[] {
  if (failed === 0) return [];
  const message = `${countOf(failed, "mail")} of store ${namespace} failed in the last 7 days. Last error: ${error ?? "unknown"}.`;
  const remedy = command(`mail retry --all -n ${namespace}`);
  return [{ ...finding("warning", namespace, message, remedy), namespace }];
}
