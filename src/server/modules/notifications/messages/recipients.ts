import { type SQL, sql } from "drizzle-orm";
import type { PushPlatform } from "../../../config/push-config.ts";
import type { Ctx } from "../../../context.ts";
import { all, param, statement } from "../../../db/statement.ts";
import { tenants } from "../../tenants/table.ts";
import { pushRegistrations, pushTopics } from "../table.ts";

/** Conditions for the recipients of a message; null matches all. `lang`, a BCP 47 tag, also matches its regional varieties. */
export interface Recipients {
  topic: string | null;
  userId: string | null;
  lang: string | null;
}

export interface Recipient {
  id: string;
  platform: PushPlatform;
  is_proven: number;
  /** Whether its language matches. */
  is_meant: number;
}

const fromTopic = sql`from ${pushTopics} p join ${pushRegistrations} r on r.id = p.registration_id
  where p.tenant_id = ${param("tenantId")} and p.topic = ${param("topic")}`;
// Otherwise the planner reads all registrations of the store, in order.
const fromUser = sql`from ${pushRegistrations} r indexed by push_registrations_by_user
  where r.user_id = ${param("userId")} and r.tenant_id = ${param("tenantId")}`;
const fromAll = sql`from ${pushRegistrations} r where r.tenant_id = ${param("tenantId")}`;
const spoken = sql`lower(coalesce(r.lang, (select language from ${tenants} where id = ${param("tenantId")})))`;
const isMeant = sql`(${param("lang")} is null or ${spoken} = lower(${param("lang")})
  or ${spoken} like lower(${param("lang")}) || '-%')`;

// A page counts registrations of other languages too, so that none takes long to read.
const pageOf = (from: SQL, id: SQL) =>
  statement<Recipient>(sql`
    select r.id, r.platform, r.is_proven, ${isMeant} as is_meant ${from} and ${id} > ${param("after")}
    order by ${id} limit ${param("limit")}`);
const pages = {
  topic: pageOf(fromTopic, sql`p.registration_id`),
  user: pageOf(fromUser, sql`r.id`),
  all: pageOf(fromAll, sql`r.id`),
};
const countOf = (from: SQL) =>
  statement<{ platform: PushPlatform; count: number }>(sql`
    select r.platform, count(*) as count ${from} and ${isMeant} group by r.platform`);
const counts = { topic: countOf(fromTopic), user: countOf(fromUser), all: countOf(fromAll) };

const kindOf = ({ topic, userId }: Recipients) => (userId !== null ? "user" : topic !== null ? "topic" : "all");

/** A page of registrations, by id. @param page after: the last id of the previous page, empty for the first. */
export function pageRecipients(
  db: Ctx["db"],
  tenantId: string,
  recipients: Recipients,
  page: { after: string; limit: number },
): Promise<Recipient[]> {
  return all(db, pages[kindOf(recipients)], { ...recipients, tenantId, ...page });
}

export async function countRecipients(ctx: Pick<Ctx, "db" | "tenant">, recipients: Recipients) {
  const rows = await all(ctx.db, counts[kindOf(recipients)], { ...recipients, tenantId: ctx.tenant.id });
  return { web: 0, ios: 0, android: 0, ...Object.fromEntries(rows.map(({ platform, count }) => [platform, count])) };
}
