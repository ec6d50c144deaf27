import { sql } from "drizzle-orm";
import type { Ctx } from "../../../context.ts";
import { keysetList } from "../../../db/keyset-list.ts";
import { param, run, statement } from "../../../db/statement.ts";
import { notFound } from "../../../errors.ts";
import type { ListPage } from "../../../pagination/list-page.ts";
import type { ListQuery } from "../../../pagination/list-query.ts";
import { ownIdOf } from "../../users/guards.ts";
import { pushRegistrations, pushTopics } from "../table.ts";
import { Device } from "./registration-model.ts";

const readPage = keysetList({
  name: "devices",
  fields: Object.keys(Device.properties),
  json: sql`json_object('id', r.id, 'platform', r.platform, 'lang', coalesce(r.lang, ${param("language")}),
    'topics', json((select json_group_array(topic) from (
      select topic from ${pushTopics} where registration_id = r.id order by topic))),
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
