import { sql } from "drizzle-orm";
import { all, param, statement } from "../../db/statement.ts";
import { isInUse, type StoredSecret } from "../../modules/app-keys/model.ts";
import { appKeyOrigins, appKeySecrets, appKeys } from "../../modules/app-keys/table.ts";
import { tenants } from "../../modules/tenants/table.ts";
import { listVisitorActs } from "../../security/scopes.ts";
import { quoteWord } from "../../values/shell-quote.ts";
import { toTimestamp } from "../../values/stamps.ts";
import { formatDuration } from "../../values/units.ts";
import { type Finding, finding, type StoreSubject } from "../finding.ts";
import { inScope } from "../records/check.ts";

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
