import { type SQL, sql } from "drizzle-orm";
import { type PushPlatform, pushOptions } from "../../config/push-config.ts";
import { all, param, statement } from "../../db/statement.ts";
import { isInUse, type StoredSecret } from "../../modules/app-keys/model.ts";
import { appKeyOrigins, appKeySecrets, appKeys } from "../../modules/app-keys/table.ts";
import { mailOutbox } from "../../modules/mail/table.ts";
import { pushRegistrations } from "../../modules/notifications/table.ts";
import { tenants } from "../../modules/tenants/table.ts";
import { twoFactor } from "../../modules/two-factor/table.ts";
import { users } from "../../modules/users/table.ts";
import { webhookDeliveries, webhooks } from "../../modules/webhooks/table.ts";
import { listVisitorActs } from "../../security/scopes.ts";
import { quoteWord } from "../../values/shell-quote.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { formatDuration } from "../../values/units.ts";
import { countOf, type Finding, finding, type StoreSubject } from "../finding.ts";
import { findInStores, inScope } from "../records/check.ts";

const isChecked = inScope(tenants.id);
const selectStores = (condition: SQL) =>
  statement<{ namespace: string }>(sql`
    select namespace from ${tenants} where ${isChecked} and ${condition} order by namespace`);
const selectAny = statement(sql`select 1 from ${tenants} where ${isChecked} limit 1`);
const selectSuspended = selectStores(sql`status = 'suspended'`);
const selectOwnerless = selectStores(sql`status = 'active' and not exists (
  select 1 from ${users} u where u.tenant_id = ${tenants.id} and u.role = 'owner' and u.status = 'active')`);

export async function* checkStores(subject: StoreSubject): AsyncGenerator<Finding> {
  const { ctx, tenant, command } = subject;
  if ((await all(ctx.db, selectAny, { tenantId: tenant?.id ?? null })).length === 0) {
    yield finding("note", "stores", "No store exists yet.", command("tenant create demo"));
  }
  yield* findInStores(subject, selectSuspended, ({ namespace }) => {
    const message = `Store ${namespace} is suspended. Its requests fail with the error 5215.`;
    return finding("note", namespace, message, command(`tenant resume ${namespace}`));
  });
}

// By store and role, as the index of roles, because most active users are customers.
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

const variables = {
  ios: "BODEGA_APNS_KEY, BODEGA_APNS_KEY_ID, BODEGA_APNS_TEAM_ID and BODEGA_APNS_TOPIC",
  android: "BODEGA_FCM_CREDENTIALS",
} as const;

const selectDevices = statement<{ platform: PushPlatform; devices: number }>(sql`
  select platform, count(*) as devices from ${pushRegistrations} r
  where platform <> 'web' and ${inScope("r")} group by platform order by platform`);

export async function* checkPush({ ctx, tenant, config }: StoreSubject): AsyncGenerator<Finding> {
  const { platforms } = pushOptions(config);
  for (const { platform, devices } of await all(ctx.db, selectDevices, { tenantId: tenant?.id ?? null })) {
    if (platform === "web" || platforms.includes(platform)) continue;
    const message = `No ${platform === "ios" ? "iOS" : "Android"} credentials are configured: ${countOf(devices, "registered device")} cannot get notifications.`;
    const remedy = `Set ${variables[platform]}, for example in ${config.dataDir}/bodega.env.`;
    yield finding("warning", platform, message, remedy);
  }
}

/** A queue with failed deliveries or old waiting ones; `since` is when the oldest waiting one was queued. */
type Queue = { namespace: string } & Record<"failed" | "waiting", number> &
  Record<"since" | "last_error", string | null>;

function describeQueue({ failed, waiting, since, last_error: error }: Queue, noun: string, now: number): string {
  const oldest = since === null ? "" : `, the oldest for ${formatDuration(now - Date.parse(since))}`;
  const parts = [
    ...(failed > 0 ? [`${countOf(failed, noun)} failed in the last 7 days`] : []),
    ...(waiting > 0 ? [`${countOf(waiting, noun)} waiting${oldest}`] : []),
  ];
  return `${parts.join("; ")}. Last error: ${error ?? "none"}.`;
}

/** SQL for deliveries `d` that failed recently, or have waited since before a time, and for their counts. */
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
    const { webhook_id: id, namespace, url, failed } = row;
    // The path of a URL may be a secret.
    const host = new URL(url).host;
    const message = `Webhook ${id} of store ${namespace} (${host}): ${describeQueue(row, "delivery", subject.now())}`;
    const next =
      failed > 0 ? `replay -n ${namespace} ${id} --failed` : `deliveries -n ${namespace} ${id} --status waiting`;
    return finding("warning", id, message, subject.command(`webhook ${next}`));
  });

const day = 86_400_000;
const unusedMs = 90 * day;
const neverUsedMs = 30 * day;
const expiresSoonMs = 30 * day;
/** Switching callers to a new secret takes days; an old secret that stays valid for longer is a risk. */
const longOverlapMs = 14 * day;

/** `origins` is their number; `scopes` and unexpired `secrets` are JSON. */
type Key = Record<"app_id" | "namespace" | "name" | "scopes" | "updated_at" | "secrets", string> &
  Record<"url" | "domain" | "expires_at" | "last_used_at", string | null> &
  Record<"enforce_origins" | "origins", number>;

const selectKeys = statement<Key>(sql`
  select k.id as app_id, t.namespace, k.name, t.url, t.domain, k.scopes, k.enforce_origins, k.expires_at,
    (select count(*) from ${appKeyOrigins} o where o.app_id = k.id) as origins, k.updated_at,
    nullif(max(coalesce(k.last_used_at, ''), coalesce(max(s.last_used_at), '')), '') as last_used_at,
    json_group_array(json_object('created_at', s.created_at, 'expires_at', s.expires_at, 'last_used_at', s.last_used_at))
      filter (where s.expires_at is null or s.expires_at > ${param("now")}) as secrets
  from ${appKeys} k join ${tenants} t on t.id = k.tenant_id left join ${appKeySecrets} s on s.app_id = k.id
  where k.revoked_at is null and k.active and k.published and t.status = 'active' and ${inScope("k")}
  group by k.id order by t.namespace, k.id`);

type KeyRule = (key: Key, subject: StoreSubject) => [message: string, remedy: string] | null;

export async function* checkKeys(subject: StoreSubject): AsyncGenerator<Finding> {
  const params = { tenantId: subject.tenant?.id ?? null, now: toTimestamp(subject.now()) };
  const keys = await all(subject.ctx.db, selectKeys, params);
  for (const rule of [checkOrigins, checkUse, checkExpiry, checkSecrets]) {
    for (const key of keys) {
      const [fault, remedy] = rule(key, subject) ?? [];
      if (fault === undefined || remedy === undefined) continue;
      const message = `Key ${key.app_id} (${key.name}) of store ${key.namespace} ${fault}`;
      yield { ...finding("warning", key.app_id, message, remedy), namespace: key.namespace };
    }
  }
}

const isExpired = ({ expires_at }: Key, now: number) => expires_at !== null && Date.parse(expires_at) <= now;

const checkOrigins: KeyRule = (key, { now, command }) => {
  const isOpen = !key.enforce_origins;
  if ((!isOpen && key.origins === 0) || isExpired(key, now())) return null;
  const serversOnly = command(`origin set ${key.app_id} --allow-no-origin`);
  const acts = listVisitorActs(JSON.parse(key.scopes));
  if (acts.length > 0) {
    const pages = isOpen ? "can be used from any website" : "can be used by web pages";
    return [`${pages}, whose visitors can read it and ${acts.join(", ")}. Give pages a storefront key.`, serversOnly];
  }
  if (!isOpen) return null;
  const address = key.url !== null && URL.canParse(key.url) ? new URL(key.url).hostname : key.domain;
  if (address === null) return ["can be used from any website. If only servers use it, allow only them.", serversOnly];
  return [
    `can be used from any website. If only servers use it, run ${serversOnly}; otherwise name the websites.`,
    command(`origin set ${key.app_id} ${quoteWord(address)} --allow-no-origin`),
  ];
};

const checkUse: KeyRule = (key, { now, command }) => {
  if (isExpired(key, now())) return null;
  const unused = key.last_used_at === null ? null : now() - Date.parse(key.last_used_at);
  const unchanged = now() - Date.parse(key.updated_at);
  if (unchanged < neverUsedMs || (unused !== null && unused < unusedMs)) return null;
  const since = unused === null ? "has never been used" : `has not been used for ${formatDuration(unused)}`;
  return [`is published and ${since}.`, command(`key unpublish ${key.app_id}`)];
};

const checkExpiry: KeyRule = ({ app_id, expires_at }, { now, command }) => {
  const left = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at) - now();
  if (left > expiresSoonMs) return null;
  const extend = command(`key update ${app_id} --expires 90d`);
  if (left > 0) return [`expires in ${formatDuration(left)}, on ${expires_at}.`, extend];
  const revoke = command(`key revoke ${app_id} --yes`);
  return [`is published but expired ${formatDuration(left)} ago. Extend it, or revoke it with ${revoke}.`, extend];
};

const checkSecrets: KeyRule = (key, { now, command }) => {
  const secrets: StoredSecret[] = JSON.parse(key.secrets);
  const [newest, ...old] = secrets.sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
  if (newest === undefined || old.length === 0) return null;
  const until = old.map(({ expires_at }) => expires_at ?? "").reduce((a, b) => (a > b ? a : b));
  if (!old.some((secret) => isInUse(secret, newest))) {
    const unused = `has an old secret that is no longer used and is valid until ${until}.`;
    return [unused, command(`key retire ${key.app_id} --yes`)];
  }
  const left = Date.parse(until) - now();
  const used = `has an old secret that is in use and is valid for another ${formatDuration(left)}.`;
  return left <= longOverlapMs ? null : [used, command(`key show ${key.app_id}`)];
};
