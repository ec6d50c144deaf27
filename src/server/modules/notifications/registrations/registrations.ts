import { timingSafeEqual } from "node:crypto";
import { sql } from "drizzle-orm";
import { defaultPushOptions, type PushPlatform } from "../../../config/push-config.ts";
import type { Ctx } from "../../../context.ts";
import { keysetList } from "../../../db/keyset-list.ts";
import { all, get, param, run, statement } from "../../../db/statement.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { notFound } from "../../../errors.ts";
import type { ListPage } from "../../../pagination/list-page.ts";
import type { ListQuery } from "../../../pagination/list-query.ts";
import { hashSecret } from "../../../security/random-secret.ts";
import { recordAudit } from "../../audit/service.ts";
import { countPublicWrite } from "../../rate-limits/public-writes.ts";
import { ownIdOf } from "../../users/guards.ts";
import type { Target } from "../providers/provider.ts";
import { pushRegistrations, pushTopics } from "../table.ts";
import { Device, type Registration } from "./registration-model.ts";

/** The columns of a registration that replies show, the topics in alphabetical order. */
export type RegistrationRow = Omit<Registration, "delivery" | "lang" | "topics"> & {
  lang: string | null;
  /** JSON array. */
  topics: string;
};

const topicsOf = sql`(select json_group_array(topic) from (
  select topic from ${pushTopics} where registration_id = r.id order by topic))`;
export const registrationColumns = sql`r.id, r.platform, r.lang, r.user_id, r.created_at, r.updated_at,
  ${topicsOf} as topics`;

export function toRegistration(ctx: Ctx, { topics, lang, ...row }: RegistrationRow): Registration {
  const delivery = deliveryOf(ctx, row.platform);
  return { ...row, lang: lang ?? ctx.tenant.language, topics: JSON.parse(topics), delivery };
}

export function deliveryOf({ push = defaultPushOptions }: Ctx, platform: PushPlatform): "on" | "off" {
  return push.platforms.includes(platform) ? "on" : "off";
}

/**
 * Keyed hashes of a target, different in each store. `targetKey` finds its registration. `proofKey` is made of the keys
 * with which it can be registered again; null for tokens, which are secret themselves.
 * @throws unavailable without the server's key.
 */
export function keysOf({ vault, tenant }: Ctx, platform: PushPlatform, target: Target) {
  const hash = (kind: string, ...texts: string[]) => vault.mac("push", [kind, tenant.id, ...texts].join("\n"));
  if ("token" in target) return { targetKey: hash("target", platform, target.token), proofKey: null };
  const { endpoint, keys } = target;
  return { targetKey: hash("target", platform, endpoint), proofKey: hash("proof", keys.p256dh, keys.auth) };
}

/**
 * Counts a write towards the limits of its address and user.
 * @param device counted if the caller is not a user: one app key may write for many devices.
 * @throws tooManyRequests.
 */
export async function countDeviceWrite(ctx: Ctx, device: string): Promise<void> {
  await countPublicWrite(ctx, ctx.actor.kind === "user" ? ctx.actor.userId : device);
}

/** Compares a secret with a stored hash in constant time, also with an undefined hash. */
export function isManagementSecret(secret: string, stored: string | undefined): boolean {
  const given = Buffer.from(hashSecret(secret));
  return timingSafeEqual(given, Buffer.from(stored ?? "-".repeat(given.length)));
}

const usualLimit = 100;

/** A registration as the terminal prints it, without its target; `is_proven`: whether it has received a message. */
export type RegistrationRecord = Omit<Registration, "id" | "delivery"> & {
  registration_id: string;
  is_proven: boolean;
};

type Row = RegistrationRow & { is_proven: number };

const columns = sql`${registrationColumns}, r.is_proven`;
const selectSome = statement<Row>(sql`
  select ${columns} from ${pushRegistrations} r where r.tenant_id = ${param("tenantId")}
    and (${param("userId")} is null or r.user_id = ${param("userId")})
    and (${param("platform")} is null or r.platform = ${param("platform")})
    and (${param("topic")} is null or exists (select 1 from ${pushTopics} t
      where t.tenant_id = r.tenant_id and t.topic = ${param("topic")} and t.registration_id = r.id))
  order by r.id desc limit ${param("limit")}`);
const selectOne = statement<Row>(sql`
  select ${columns} from ${pushRegistrations} r where r.tenant_id = ${param("tenantId")} and r.id = ${param("id")}`);
const remove = statement(sql`
  delete from ${pushRegistrations} where tenant_id = ${param("tenantId")} and id = ${param("id")}`);

export interface RegistrationFilter {
  topic?: string | undefined;
  userId?: string | undefined;
  platform?: PushPlatform | undefined;
  /** 100 unless given. */
  limit?: number | undefined;
}

/** The store's registrations, newest first. */
export async function listRegistrations(ctx: Ctx, filter: RegistrationFilter = {}): Promise<RegistrationRecord[]> {
  const { topic = null, userId = null, platform = null, limit = usualLimit } = filter;
  const rows = await all(ctx.db, selectSome, { tenantId: ctx.tenant.id, topic, userId, platform, limit });
  return rows.map((row) => toRecord(ctx, row));
}

/**
 * Removes a registration; its device receives nothing until it registers again.
 * @throws notFound when there is none with this id.
 */
export function removeRegistration(ctx: Ctx, id: string): Promise<RegistrationRecord> {
  return inTransaction(ctx, async (tx) => {
    const row = await get(tx.db, selectOne, { tenantId: ctx.tenant.id, id });
    if (!row) throw notFound("registration", id, { in: `store ${JSON.stringify(ctx.tenant.namespace)}` });
    await run(tx.db, remove, { tenantId: ctx.tenant.id, id });
    await recordAudit(tx, { event: "registration.removed", subject: id, details: { platform: row.platform } });
    return toRecord(ctx, row);
  });
}

function toRecord({ tenant }: Ctx, { id, is_proven, topics, lang, ...row }: Row): RegistrationRecord {
  const shown = { lang: lang ?? tenant.language, topics: JSON.parse(topics), is_proven: is_proven === 1 };
  return { registration_id: id, ...row, ...shown };
}

const readPage = keysetList({
  name: "devices",
  fields: Object.keys(Device.properties),
  json: sql`json_object('id', r.id, 'platform', r.platform, 'lang', coalesce(r.lang, ${param("language")}),
    'topics', json(${topicsOf}),
    'created_at', r.created_at, 'updated_at', r.updated_at)`,
  // Otherwise the planner may read all registrations of the store.
  from: sql`from ${pushRegistrations} r indexed by push_registrations_by_user`,
  base: sql`r.tenant_id = ${param("tenantId")}`,
  conditions: { userId: sql`r.user_id = ${param("userId")}` },
  sorts: { created_at: sql`r.created_at` },
  id: sql`r.id`,
});
const removeOwn = statement(sql`
  delete from ${pushRegistrations}
  where tenant_id = ${param("tenantId")} and user_id = ${param("userId")} and id = ${param("id")}`);

/** A page of the calling user's devices, newest first, without their targets. Errors: malformedRequest, validationFailed. */
export function listOwnDevices(ctx: Ctx, query: ListQuery): Promise<ListPage> {
  return readPage(ctx, query, { filters: { userId: ownIdOf(ctx) }, values: { language: ctx.tenant.language } });
}

/** Removes a device of the calling user. Errors: notFound, also for another user's device. */
export async function removeOwnDevice(ctx: Ctx, id: string): Promise<void> {
  const removed = await run(ctx.db, removeOwn, { tenantId: ctx.tenant.id, userId: ownIdOf(ctx), id });
  if (removed === 0) throw notFound("registration", id);
}
