import { sql } from "drizzle-orm";
import { all, get, param, statement } from "../../db/statement.ts";
import { AppError } from "../../errors.ts";
import { mailOutbox } from "../../modules/mail/table.ts";
import { tenants } from "../../modules/tenants/table.ts";
import { formatDuration } from "../../values/duration.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { inScope } from "../records/check.ts";
import type { Checkup, CheckupDeps, Finding } from "./finding.ts";
import { limitFindings } from "./limit-findings.ts";
import { countOf } from "./wording.ts";

const overdueMs = 15 * 60_000;
const recentMs = 7 * 86_400_000;

interface Waiting {
  namespace: string;
  waiting: number;
  /** Since when the oldest of them waits. */
  since: string | null;
  failed: number;
  last_error: string | null;
}

const selectWaiting = statement<Waiting>(sql`
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

/** The mail server lets us in, and mail does not wait or fail. */
export const mail: Checkup = {
  name: "mail",
  ofStores: true,
  async find(about) {
    const { ctx, tenant, now, config } = about;
    const values = { tenantId: tenant?.id ?? null, recent: toTimestamp(now() - recentMs) };
    const stores = ctx === null ? [] : await all(ctx.db, selectWaiting, values);
    const server =
      config.smtpUrl === undefined ? await describeNone(about, stores) : await converse(about, config.smtpUrl);
    const late = config.smtpUrl === undefined ? [] : stores.flatMap((store) => describeLate(about, store));
    const failed = stores.flatMap((store) => describeFailed(about, store));
    return [...(tenant === null ? server : []), ...limitFindings(late, "stores"), ...limitFindings(failed, "stores")];
  },
};

async function describeNone(about: CheckupDeps, stores: readonly Waiting[]): Promise<Finding[]> {
  const { ctx, config, command } = about;
  if (ctx === null) return [];
  const waiting = stores.reduce((sum, store) => sum + store.waiting, 0);
  const since = stores.map((store) => store.since).sort()[0];
  const held = waiting === 0 ? "" : ` ${countOf(waiting, "mail")} there by now, the oldest since ${since}.`;
  const message = `No mail server is set: reset codes and notices stay in the outbox.${held}`;
  const first = await get(ctx.db, selectStore);
  const init = command(first === undefined ? "init" : `init -n ${first.namespace}`);
  const remedy =
    `Set BODEGA_SMTP_URL and BODEGA_MAIL_FROM for server and commands, such as in ${config.dataDir}/bodega.env. ` +
    `This asks for them and tries them: ${init}`;
  return [{ severity: "warning", subject: "BODEGA_SMTP_URL", message, remedy }];
}

async function converse({ timeoutMs, command }: CheckupDeps, url: string): Promise<Finding[]> {
  const subject = new URL(url).host;
  // What speaks with mail servers is loaded only where there is one.
  const { probeSmtp } = await import("../../modules/mail/smtp-session.ts");
  try {
    const patience = { connect: timeoutMs, greeting: timeoutMs, silence: timeoutMs };
    const { encrypted, authenticated } = await probeSmtp({ url, patience });
    const { hostname, username } = new URL(url);
    const isHere = hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
    const found: Finding[] = [];
    if (!encrypted && !isHere) {
      found.push({
        severity: "warning",
        subject,
        message: `The mail server ${subject} is spoken to without TLS: reset codes can be read on the way.`,
        remedy: "Turn TLS on at the mail server, or name its port for it with smtps: in BODEGA_SMTP_URL.",
      });
    }
    if (username !== "" && !authenticated) {
      found.push({
        severity: "warning",
        subject,
        message: `The mail server ${subject} asks for no credentials here, and BODEGA_SMTP_URL holds some.`,
        remedy: "Name the port at which it takes mail from those who sign in, mostly 465 (smtps:) or 587 (smtp:).",
      });
    }
    return found;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const remedy =
      error.kind === "wrongState"
        ? "Correct user and password in BODEGA_SMTP_URL; @ : / and % in them are written %40 %3A %2F %25."
        : "Correct host and port in BODEGA_SMTP_URL, or let this machine reach it; many providers close ports 25, 465 and 587.";
    const message = `The mail server does not let us in. ${error.message}`;
    return [{ severity: "error", subject, message, remedy: `${remedy} Try it with: ${command("doctor")}` }];
  }
}

function describeLate({ now }: CheckupDeps, { namespace, waiting, since }: Waiting): Finding[] {
  const ageMs = since === null ? 0 : now() - Date.parse(since);
  if (ageMs < overdueMs) return [];
  return [
    {
      severity: "warning",
      subject: namespace,
      namespace,
      message: `${countOf(waiting, "mail")} of ${namespace} wait, the oldest for ${formatDuration(ageMs)}.`,
      remedy: "See that a server runs and has BODEGA_SMTP_URL as well; its log says why mail waits.",
    },
  ];
}

function describeFailed({ command }: CheckupDeps, { namespace, failed, last_error: error }: Waiting): Finding[] {
  if (failed === 0) return [];
  return [
    {
      severity: "warning",
      subject: namespace,
      namespace,
      message: `${countOf(failed, "mail")} of ${namespace} failed within the last 7 days; the last one: ${error ?? "unknown"}.`,
      remedy: command(`mail retry --all -n ${namespace}`),
    },
  ];
}
