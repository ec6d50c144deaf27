import { sql } from "drizzle-orm";
import type { PushPlatform } from "../../../config/push-config.ts";
import type { Ctx } from "../../../context.ts";
import { all, get, param, run, statement } from "../../../db/statement.ts";
import { inTransaction } from "../../../db/transaction.ts";
import { notFound } from "../../../errors.ts";
import { recordAudit } from "../../audit/service.ts";
import { pushRegistrations, pushTopics } from "../table.ts";
import type { Registration } from "./registration-model.ts";
import { parseTopics, type RegistrationRow, registrationColumns } from "./registration-record.ts";

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
    if (!row) {
      throw notFound("registration", id, { in: `store ${JSON.stringify(ctx.tenant.namespace)}` });
    }
    await run(tx.db, remove, { tenantId: ctx.tenant.id, id });
    await recordAudit(tx, { event: "registration.removed", subject: id, details: { platform: row.platform } });
    return toRecord(ctx, row);
  });
}

function toRecord({ tenant }: Ctx, { id, is_proven, topics, lang, ...row }: Row): RegistrationRecord {
  return {
    registration_id: id,
    ...row,
    lang: lang ?? tenant.language,
    topics: parseTopics(topics),
    is_proven: is_proven === 1,
  };
}
