import { sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { all, param, statement } from "../../../db/statement.ts";
import { tenants } from "../../tenants/table.ts";
import { type PushPlatform, type pushMessages, pushRegistrations, pushTopics } from "../table.ts";

/** Conditions for the recipients of a message; null matches all. `lang` also matches regional varieties. */
export type Recipients = Pick<typeof pushMessages.$inferSelect, "topic" | "userId" | "lang">;

/** SQL for the registrations `r` that get a message `m`; `id` is the column that orders them. */
const audiences = {
  topic: {
    from: sql`${pushTopics} p cross join ${pushRegistrations} r on r.id = p.registration_id`,
    id: sql`p.registration_id`,
    where: sql`p.tenant_id = m.tenant_id and p.topic = m.topic`,
  },
  user: {
    // Without `indexed by`, SQLite would read all registrations of the store by id.
    from: sql`${pushRegistrations} r indexed by push_registrations_by_user`,
    id: sql`r.id`,
    where: sql`r.user_id = m.user_id and r.tenant_id = m.tenant_id`,
  },
  everyone: { from: sql`${pushRegistrations} r`, id: sql`r.id`, where: sql`r.tenant_id = m.tenant_id` },
};
type Audience = (typeof audiences)["topic"];

/** Compiles a statement for each kind of audience. Returns a function that chooses the statement for a message. */
export function forAudiences<T>(compile: (audience: Audience) => T): (recipients: Recipients) => T {
  const [topic, user, everyone] = [audiences.topic, audiences.user, audiences.everyone].map(compile) as [T, T, T];
  return ({ topic: topicName, userId }) => (userId !== null ? user : topicName !== null ? topic : everyone);
}

const spoken = sql`lower(coalesce(r.lang, (select language from ${tenants} where id = m.tenant_id)))`;
export const isMeant = sql`(m.lang is null or ${spoken} = lower(m.lang) or ${spoken} like lower(m.lang) || '-%')`;

const message = sql`(select ${param("tenantId")} as tenant_id, ${param("topic")} as topic, ${param("userId")} as user_id,
  ${param("lang")} as lang) m`;
const counted = { platform: sql<PushPlatform>`r.platform`, count: sql<number>`count(*)` };
const selectCounts = forAudiences(({ from, where }) =>
  statement((q) => {
    const registrations = q.select(counted).from(sql`${message} cross join ${from}`);
    return registrations.where(sql`${where} and ${isMeant}`).groupBy(sql`r.platform`);
  }),
);

export async function countRecipients({ db, tenant }: Pick<Ctx, "db" | "tenant">, recipients: Recipients) {
  const rows = await all(db, selectCounts(recipients), { ...recipients, tenantId: tenant.id });
  return { web: 0, ios: 0, android: 0, ...Object.fromEntries(rows.map(({ platform, count }) => [platform, count])) };
}
