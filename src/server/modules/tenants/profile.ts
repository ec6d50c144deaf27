import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { get, param, statement } from "../../db/statement.ts";
import { storeNotFound } from "../../errors.ts";
import { products } from "../products/table.ts";
import { tenants } from "./table.ts";

// The size comes first, because long texts take milliseconds to parse.
const newest = sql`select lang, case when octet_length(translations) > 65536 then '{}' else translations end as texts
  from ${products} where tenant_id = ${param("id")} and status = 'published' and deleted_at is null
  order by created_at desc, id desc limit 50`;
const languages = sql`select language as tag from ${tenants} where id = ${param("id")}
  union select lang from newest union select key from newest, json_each(texts)`;
const selectProfile = statement<{ json: string }>(sql`
  with newest as materialized (${newest})
  select json_object('namespace', namespace, 'title', title, 'domain', domain, 'url', url, 'currency', currency,
    'currency_sign', currency_sign, 'logo', logo, 'language', language,
    'languages', (select json_group_array(tag) from (${languages})), 'sign_up', sign_up,
    'sign_in_by_mail', json(iif(sign_in_by_mail = 'on', 'true', 'false'))) as json
  from ${tenants} where id = ${param("id")}`);

/** The store as its front ends see it, which is its own state. Errors: storeNotFound if it was just deleted. */
export async function readStoreProfile({ db, tenant }: Ctx): Promise<{ json: string; state: string }> {
  const row = await get(db, selectProfile, { id: tenant.id });
  if (!row) throw storeNotFound();
  return { json: row.json, state: row.json };
}
