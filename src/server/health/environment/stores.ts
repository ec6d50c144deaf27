import { sql } from "drizzle-orm";
import { all, param, statement } from "../../db/statement.ts";
import { appKeyOrigins, appKeys } from "../../modules/app-keys/table.ts";
import { mailOutbox } from "../../modules/mail/table.ts";
import { listUntaxed } from "../../modules/shipping/service.ts";
import { taxRates } from "../../modules/taxes/table.ts";
import { tenants } from "../../modules/tenants/table.ts";
import { twoFactor } from "../../modules/two-factor/table.ts";
import { users } from "../../modules/users/table.ts";
import { webhookDeliveries, webhooks } from "../../modules/webhooks/table.ts";
import { listVisitorActs } from "../../security/scopes.ts";
import { formatDuration } from "../../values/units.ts";
import { countOf, type Finding, finding, type StoreSubject } from "../finding.ts";
import { findInStores, inScope } from "../records/check.ts";

const selectContradicting = statement<{ namespace: string }>(sql`
  select namespace from ${tenants} where ${inScope(tenants.id)} and tax_note is not null
    and exists (select 1 from ${taxRates} r where r.tenant_id = ${tenants.id} and r.rate > 0) order by namespace`);

/** Finds countries to which stores ship without a tax rate, and stores that charge tax despite their tax note. */
export async function* checkTaxes(subject: StoreSubject): AsyncGenerator<Finding> {
  const { ctx, tenant, command } = subject;
  yield* findInStores(subject, selectContradicting, ({ namespace }) => {
    const message = `Store ${namespace} charges tax, but its tax note says that it charges none. Remove the note, or the rates.`;
    return finding("warning", namespace, message, command(`tenant update ${namespace} --tax-note ""`));
  });
  for (const { namespace, country, taxClass } of await listUntaxed(ctx, tenant)) {
    const what = taxClass === null ? "" : ` for the class ${taxClass}`;
    const message = `Store ${namespace} ships to ${country}, but has no tax rate for it${what}. Add a rate; it may be 0.`;
    const subject = [namespace, country, taxClass ?? []].flat().join(" ");
    yield { ...finding("warning", subject, message, command(`tax show -n ${namespace}`)), namespace };
  }
}

const selectStores = statement<Record<"namespace" | "status", string>>(sql`
  select namespace, status from ${tenants} where ${inScope(tenants.id)} order by namespace`);
const selectOwnerless = statement<{ namespace: string }>(sql`
  select namespace from ${tenants} where ${inScope(tenants.id)} and status = 'active' and not exists (
    select 1 from ${users} u where u.tenant_id = ${tenants.id} and u.role = 'owner' and u.status = 'active')
  order by namespace`);

export async function* checkStores({ ctx, tenant, command }: StoreSubject): AsyncGenerator<Finding> {
  const stores = await all(ctx.db, selectStores, { tenantId: tenant?.id ?? null });
  if (stores.length === 0) yield finding("note", "stores", "No store exists yet.", command("tenant create demo"));
  for (const { namespace } of stores.filter(({ status }) => status === "suspended")) {
    const message = `Store ${namespace} is suspended. Its requests fail with the error 5215.`;
    yield { ...finding("note", namespace, message, command(`tenant resume ${namespace}`)), namespace };
  }
}

// Finds staff and owners by the index of roles, because most active users are customers.
const selectWithoutTwoFactor = statement<Record<"user_id" | "email" | "role" | "namespace", string>>(sql`
  select u.id as user_id, u.email, u.role, t.namespace
  from ${tenants} t cross join ${users} u on u.tenant_id = t.id
  where u.role in ('staff', 'owner') and +u.status = 'active' and t.status = 'active' and ${inScope("u")}
    and not exists (select 1 from ${twoFactor} f where f.user_id = u.id and f.confirmed_at is not null)
  order by t.namespace, u.role, u.id`);

export async function* checkAccounts(subject: StoreSubject): AsyncGenerator<Finding> {
  yield* findInStores(subject, selectWithoutTwoFactor, ({ user_id, email, role, namespace }) => {
    const message = `${email} (${role} of store ${namespace}) signs in without two-factor authentication.`;
    return finding("warning", user_id, message, subject.command(`user two-factor -n ${namespace} ${email}`));
  });
  yield* findInStores(subject, selectOwnerless, ({ namespace }) => {
    const message = `Store ${namespace} has no owner. It can be managed only from this terminal.`;
    const create = `user create -n ${namespace} --role owner --random-password --email you@example.com`;
    return finding("note", namespace, message, subject.command(create));
  });
}

/** A queue with failed or overdue deliveries. `since` is when the oldest waiting delivery was queued. */
type Queue = { namespace: string } & Record<"failed" | "waiting", number> &
  Record<"since" | "last_error", string | null>;

function describeQueue({ failed, waiting, since, last_error: error }: Queue, noun: string, now: number): string {
  const oldest = since === null ? "" : ` (the oldest for ${formatDuration(now - Date.parse(since))})`;
  const counts = `${countOf(failed, noun)} failed in the last 7 days, ${countOf(waiting, noun)} waiting${oldest}`;
  return `${counts}. Last error: ${error ?? "none"}.`;
}

/** SQL for deliveries `d` that failed recently, or wait for too long. */
const isTroubled = (before: string) => sql`((d.status = 'failed' and d.finished_at > ${param("recent")})
    or (d.status = 'waiting' and d.created_at < ${param(before)}))`;
const counts = sql`count(case when d.status = 'failed' then 1 end) as failed,
    count(case when d.status = 'waiting' then 1 end) as waiting,
    min(case when d.status = 'waiting' then d.created_at end) as since`;

const selectMail = statement<Queue>(sql`
  select t.namespace, ${counts},
    (select f.last_error from ${mailOutbox} f where f.tenant_id = t.id and f.status = 'failed'
      order by f.finished_at desc limit 1) as last_error
  from ${mailOutbox} d join ${tenants} t on t.id = d.tenant_id where ${isTroubled("late")} and ${inScope("d")}
  group by t.id order by t.namespace`);

export const checkOutbox = (subject: StoreSubject) =>
  findInStores(subject, selectMail, (row) => {
    const { namespace } = row;
    const message = `Mail of store ${namespace}: ${describeQueue(row, "mail", subject.now())}`;
    const retry = subject.command(`mail retry --all -n ${namespace}`);
    const check = "Check that the server runs and has BODEGA_SMTP_URL. Its log has the reason.";
    return finding("warning", namespace, message, row.failed > 0 ? retry : check);
  });

const selectFailing = statement<Queue & Record<"webhook_id" | "url", string>>(sql`
  select w.id as webhook_id, t.namespace, w.url, ${counts},
    (select coalesce(l.last_error, 'HTTP ' || l.last_status) from ${webhookDeliveries} l
      where l.webhook_id = w.id and (l.last_error is not null or l.last_status is not null)
      order by l.event desc limit 1) as last_error
  from ${webhookDeliveries} d join ${webhooks} w on w.id = d.webhook_id join ${tenants} t on t.id = w.tenant_id
  where ${isTroubled("overdue")} and ${inScope("w")} group by w.id order by t.namespace, w.id`);

export const checkWebhooks = (subject: StoreSubject) =>
  findInStores(subject, selectFailing, (row) => {
    const { webhook_id: id, namespace, failed } = row;
    // The path of a URL may be a secret, so only the host is named.
    const name = `Webhook ${id} of store ${namespace} (${new URL(row.url).host})`;
    const [verb, flag] = failed > 0 ? ["replay", "--failed"] : ["deliveries", "--status waiting"];
    const next = subject.command(`webhook ${verb} -n ${namespace} ${id} ${flag}`);
    return finding("warning", id, `${name}: ${describeQueue(row, "delivery", subject.now())}`, next);
  });

const expiresSoonMs = 30 * 86_400_000;

/** A published key. `origins` is the number of its origins, and `scopes` is a JSON array. */
type Key = Record<"app_id" | "namespace" | "name" | "scopes", string> &
  Record<"enforce_origins" | "origins", number> & { expires_at: string | null };

const selectKeys = statement<Key>(sql`
  select k.id as app_id, t.namespace, k.name, k.scopes, k.enforce_origins, k.expires_at,
    (select count(*) from ${appKeyOrigins} o where o.app_id = k.id) as origins
  from ${appKeys} k join ${tenants} t on t.id = k.tenant_id
  where k.revoked_at is null and k.active and k.published and t.status = 'active' and ${inScope("k")}
  order by t.namespace, k.id`);

export const checkKeys = (subject: StoreSubject) =>
  findInStores(subject, selectKeys, (key) => Array.from(describeKey(key, subject)));

function* describeKey(key: Key, { command, now }: StoreSubject): Generator<Finding> {
  const { app_id, name, namespace, expires_at, enforce_origins, origins, scopes } = key;
  const warn = (fault: string, remedy: string) =>
    finding("warning", app_id, `Key ${app_id} (${name}) of store ${namespace} ${fault}`, remedy);
  const left = Date.parse(expires_at ?? "") - now();
  const extend = command(`key update ${app_id} --expires 90d`);
  if (left <= 0) {
    const revoke = command(`key revoke ${app_id} --yes`);
    const ago = formatDuration(left);
    return yield warn(`is published but expired ${ago} ago. Extend it, or revoke it with ${revoke}.`, extend);
  }
  if (left <= expiresSoonMs) yield warn(`expires in ${formatDuration(left)}, on ${expires_at}.`, extend);
  if (enforce_origins && origins === 0) return;
  const serversOnly = command(`origin set ${app_id} --allow-no-origin`);
  const acts = listVisitorActs(JSON.parse(scopes)).join(", ");
  const pages = enforce_origins ? "can be used by web pages" : "can be used from any website";
  if (acts !== "") {
    yield warn(`${pages}, whose visitors can read it and ${acts}. Give pages a storefront key.`, serversOnly);
  } else if (!enforce_origins) {
    const websites = command(`origin set ${app_id} shop.example.com --allow-no-origin`);
    yield warn(`${pages}. Allow only servers, or name the websites with ${websites}`, serversOnly);
  }
}
