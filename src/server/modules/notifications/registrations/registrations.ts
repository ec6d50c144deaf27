import { and, desc, sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { keysetList } from "../../../db/keyset-list.ts";
import { jsonOf, pickStored } from "../../../db/selection.ts";
import { all, byId, get, matches, ofStore, ofUser, param, run, statement } from "../../../db/statement.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { notFound } from "../../../errors.ts";
import type { ListPage } from "../../../pagination/list-page.ts";
import type { ListQuery } from "../../../pagination/list-query.ts";
import { recordAudit } from "../../audit/service.ts";
import { ownIdOf } from "../../users/guards.ts";
import { type PushPlatform, pushRegistrations, pushTopics } from "../table.ts";
import { Device } from "./registration-model.ts";

const topics = sql`(select json_group_array(topic) from (
  select topic from ${pushTopics} where registration_id = ${pushRegistrations.id} order by topic))`;
const lang = sql<string>`coalesce(${pushRegistrations.lang}, ${param("language")})`;
/** The columns of a registration in replies and at the terminal, without its id. `language` is the default of `lang`. */
export const shownRegistration = {
  ...pickStored(pushRegistrations, "platform", "userId", "createdAt", "updatedAt"),
  lang,
  topics: jsonOf<string[]>(topics),
};

const record = { registration_id: pushRegistrations.id, ...shownRegistration, is_proven: pushRegistrations.isProven };
const hasTopic = sql`(${param("topic")} is null or exists (select 1 from ${pushTopics} t where t.topic = ${param("topic")}
  and t.tenant_id = ${pushRegistrations.tenantId} and t.registration_id = ${pushRegistrations.id}))`;
const matchesFilter = sql`${ofStore(pushRegistrations)} and ${matches(pushRegistrations.userId, "userId")}
  and ${matches(pushRegistrations.platform, "platform")} and ${hasTopic}`;
const selectSome = statement((q) => {
  const records = q.select(record).from(pushRegistrations).where(matchesFilter);
  return records.orderBy(desc(pushRegistrations.id)).limit(sql.placeholder("limit"));
});
const selectOne = statement((q) => q.select(record).from(pushRegistrations).where(byId(pushRegistrations)));
export const removeById = statement((q) => q.delete(pushRegistrations).where(byId(pushRegistrations)));

export function listRegistrations(
  { db, tenant }: Ctx,
  filter: { topic?: string; userId?: string; platform?: PushPlatform | undefined; limit?: number } = {},
) {
  const { topic = null, userId = null, platform = null, limit = 100 } = filter;
  const { id: tenantId, language } = tenant;
  return all(db, selectSome, { tenantId, language, topic, userId, platform, limit });
}

/** Removes a registration; its device receives nothing until it registers again. Errors: notFound. */
export function removeRegistration(ctx: Ctx, id: string) {
  const { id: tenantId, language, namespace } = ctx.tenant;
  return inTransaction(ctx, async (tx) => {
    const registration = await get(tx.db, selectOne, { tenantId, language, id });
    if (!registration) throw notFound("registration", id, { in: `store ${JSON.stringify(namespace)}` });
    await run(tx.db, removeById, { tenantId, id });
    const details = { platform: registration.platform };
    await recordAudit(tx, { event: "registration.removed", subject: id, details });
    return registration;
  });
}

const readPage = keysetList({
  name: "devices",
  fields: Object.keys(Device.properties),
  json: sql`json_object('id', id, 'platform', platform, 'lang', ${lang}, 'topics', json(${topics}),
    'created_at', created_at, 'updated_at', updated_at)`,
  // Without `indexed by`, SQLite may read all registrations of the store.
  from: sql`from ${pushRegistrations} indexed by push_registrations_by_user`,
  conditions: { userId: sql`user_id = ${param("userId")}` },
  sorts: { created_at: sql`created_at` },
});
const isOwn = and(byId(pushRegistrations), ofUser(pushRegistrations));
const removeOwn = statement((q) => q.delete(pushRegistrations).where(isOwn));

/** Returns a page of the caller's devices, newest first, without targets. Errors: malformedRequest, validationFailed. */
export function listOwnDevices(ctx: Ctx, query: ListQuery): Promise<ListPage> {
  return readPage(ctx, query, { filters: { userId: ownIdOf(ctx) }, values: { language: ctx.tenant.language } });
}

export async function removeOwnDevice(ctx: Ctx, id: string): Promise<void> {
  const removed = await run(ctx.db, removeOwn, { tenantId: ctx.tenant.id, userId: ownIdOf(ctx), id });
  if (removed === 0) throw notFound("registration", id);
}
