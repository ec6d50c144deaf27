import { type SQL, sql } from "drizzle-orm";
import type { PushPlatform } from "../../../config/push-config.ts";
import type { Ctx } from "../../../context.ts";
import { all, param, statement } from "../../../db/statement.ts";
import { tenants } from "../../tenants/table.ts";
import { type pushMessages, pushRegistrations, pushTopics } from "../table.ts";

/** Conditions for the recipients of a message; null matches all. `lang`, a BCP 47 tag, also matches its regional varieties. */
export type Recipients = Pick<typeof pushMessages.$inferSelect, "topic" | "userId" | "lang">;
export type Recipient = Awaited<ReturnType<typeof pageRecipients>>[number];

const spoken = sql`lower(coalesce(r.lang, (select language from ${tenants} where id = ${param("tenantId")})))`;
const isMeant = sql<boolean>`(${param("lang")} is null or ${spoken} = lower(${param("lang")})
  or ${spoken} like lower(${param("lang")}) || '-%')`.mapWith(Boolean);
const platform = sql<PushPlatform>`r.platform`;

/** @param id the column that orders the registrations. */
const recipientStatements = (from: SQL, id: SQL, where: SQL) => ({
  // A page counts registrations of other languages too, so that none takes long to read.
  page: statement((q) =>
    q
      .select({ id: sql<string>`r.id`, platform, isProven: sql`r.is_proven`.mapWith(Boolean), isMeant })
      .from(from)
      .where(sql`${where} and ${id} > ${param("after")}`)
      .orderBy(id)
      .limit(sql.placeholder("limit")),
  ),
  counts: statement((q) =>
    q
      .select({ platform, count: sql<number>`count(*)` })
      .from(from)
      .where(sql`${where} and ${isMeant}`)
      .groupBy(platform),
  ),
});
const statements = {
  topic: recipientStatements(
    sql`${pushTopics} p join ${pushRegistrations} r on r.id = p.registration_id`,
    sql`p.registration_id`,
    sql`p.tenant_id = ${param("tenantId")} and p.topic = ${param("topic")}`,
  ),
  user: recipientStatements(
    // Otherwise the planner reads all registrations of the store, in order.
    sql`${pushRegistrations} r indexed by push_registrations_by_user`,
    sql`r.id`,
    sql`r.user_id = ${param("userId")} and r.tenant_id = ${param("tenantId")}`,
  ),
  all: recipientStatements(sql`${pushRegistrations} r`, sql`r.id`, sql`r.tenant_id = ${param("tenantId")}`),
};

const statementsFor = ({ topic, userId }: Recipients) =>
  statements[userId !== null ? "user" : topic !== null ? "topic" : "all"];

/** A page of registrations, by id. @param page after: the last id of the previous page, empty for the first. */
export function pageRecipients(
  db: Ctx["db"],
  recipients: Recipients & { tenantId: string },
  page: { after: string; limit: number },
) {
  return all(db, statementsFor(recipients).page, { ...recipients, ...page });
}

export async function countRecipients({ db, tenant }: Pick<Ctx, "db" | "tenant">, recipients: Recipients) {
  const rows = await all(db, statementsFor(recipients).counts, { ...recipients, tenantId: tenant.id });
  return { web: 0, ios: 0, android: 0, ...Object.fromEntries(rows.map(({ platform, count }) => [platform, count])) };
}
