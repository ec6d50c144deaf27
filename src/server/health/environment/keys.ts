import { sql } from "drizzle-orm";
import { all, param, statement } from "../../db/statement.ts";
import type { KeySecret } from "../../modules/app-keys/model.ts";
import { describeSecrets } from "../../modules/app-keys/secret-state.ts";
import { appKeySecrets, appKeys } from "../../modules/app-keys/table.ts";
import { tenants } from "../../modules/tenants/table.ts";
import { formatDuration } from "../../values/duration.ts";
import { quoteWord } from "../../values/shell-quote.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { inScope } from "../records/check.ts";
import type { Checkup, CheckupDeps, Finding } from "./finding.ts";
import { limitFindings } from "./limit-findings.ts";

const day = 86_400_000;
const staleMs = 90 * day;
const neverUsedMs = 30 * day;
const soonMs = 30 * day;
/** Callers are moved over in days; a secret that stays for longer is one more to lose. */
const longOverlapMs = 14 * day;

interface Key {
  app_id: string;
  namespace: string;
  name: string;
  url: string | null;
  domain: string | null;
  enforce_origins: number;
  expires_at: string | null;
  updated_at: string;
  last_used_at: string | null;
  /** JSON of those that have not ended. */
  secrets: string;
}

const selectKeys = statement<Key>(sql`
  select k.id as app_id, t.namespace, k.name, t.url, t.domain, k.enforce_origins, k.expires_at, k.updated_at,
    max(s.last_used_at) as last_used_at,
    json_group_array(json_object('created_at', s.created_at, 'expires_at', s.expires_at, 'last_used_at', s.last_used_at))
      filter (where s.expires_at is null or s.expires_at > ${param("now")}) as secrets
  from ${appKeys} k join ${tenants} t on t.id = k.tenant_id left join ${appKeySecrets} s on s.app_id = k.id
  where k.revoked_at is null and k.active and k.published and t.status = 'active' and ${inScope("k")}
  group by k.id order by t.namespace, k.id`);

/** Published keys that any website may use, that nobody uses, that have ended or soon will, or that have old secrets. */
export const keys: Checkup = {
  name: "keys",
  ofStores: true,
  async find(about) {
    const { ctx, tenant, now } = about;
    if (ctx === null) return [];
    const found = await all(ctx.db, selectKeys, {
      tenantId: tenant?.id ?? null,
      now: toTimestamp(now()),
    });
    return [findOpen, findStale, findEnding, findOverlap].flatMap((look) =>
      limitFindings(
        found.flatMap((key) => look(key, about)),
        "keys",
      ),
    );
  },
};

function describeKey({ app_id, name, namespace }: Key): string {
  return `The key ${app_id} (${name}) of ${namespace}`;
}

function finding(key: Key, message: string, remedy: string): Finding[] {
  const { app_id: subject, namespace } = key;
  return [{ severity: "warning", subject, namespace, message: `${describeKey(key)} ${message}`, remedy }];
}

function isEnded({ expires_at }: Key, now: number): boolean {
  return expires_at !== null && Date.parse(expires_at) <= now;
}

function findOpen(key: Key, { now, command }: CheckupDeps): Finding[] {
  if (key.enforce_origins || isEnded(key, now())) return [];
  const address = key.url !== null && URL.canParse(key.url) ? new URL(key.url).hostname : key.domain;
  const servers = command(`origin set ${key.app_id} --allow-no-origin`);
  if (address === null) {
    return finding(key, "may be used from any website. If only servers use it, allow them alone.", servers);
  }
  return finding(
    key,
    `may be used from any website. If only servers use it: ${servers}; otherwise name the websites.`,
    command(`origin set ${key.app_id} ${quoteWord(address)} --allow-no-origin`),
  );
}

function findStale(key: Key, { now, command }: CheckupDeps): Finding[] {
  if (isEnded(key, now())) return [];
  const usedMs = key.last_used_at === null ? null : now() - Date.parse(key.last_used_at);
  const changedMs = now() - Date.parse(key.updated_at);
  if (usedMs === null ? changedMs < neverUsedMs : usedMs < staleMs || changedMs < neverUsedMs) return [];
  const since = usedMs === null ? "has never been used" : `has not been used for ${formatDuration(usedMs)}`;
  return finding(key, `is published and ${since}.`, command(`key unpublish ${key.app_id}`));
}

function findEnding(key: Key, { now, command }: CheckupDeps): Finding[] {
  const leftMs = key.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at) - now();
  if (leftMs > soonMs) return [];
  const prolong = command(`key update ${key.app_id} --expires 90d`);
  if (leftMs > 0) return finding(key, `ends in ${formatDuration(leftMs)}, on ${key.expires_at}.`, prolong);
  const message = `ended ${formatDuration(leftMs)} ago and is still published: whoever uses it is refused.`;
  return finding(key, `${message} Prolong it, or revoke it: ${command(`key revoke ${key.app_id} --yes`)}`, prolong);
}

/** Old secrets that callers have left behind, or that are to stay for very long. */
function findOverlap(key: Key, { now, command }: CheckupDeps): Finding[] {
  const secrets: Omit<KeySecret, "may_go">[] = JSON.parse(key.secrets);
  const newestFirst = secrets.sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
  const [, ...old] = describeSecrets(newestFirst, now());
  if (old.length === 0) return [];
  const until = old.reduce(
    (last, { expires_at }) => (expires_at !== null && expires_at > last ? expires_at : last),
    "",
  );
  if (old.every(({ may_go }) => may_go)) {
    const message = `has an old secret that is not used any more, and stays valid until ${until}.`;
    return finding(key, message, command(`key retire ${key.app_id} --yes`));
  }
  const leftMs = Date.parse(until) - now();
  if (leftMs <= longOverlapMs) return [];
  const message = `has an old secret that stays valid for ${formatDuration(leftMs)} more, until ${until}. See who uses it.`;
  return finding(key, message, command(`key show ${key.app_id}`));
}
