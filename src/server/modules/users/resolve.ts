import { sql } from "drizzle-orm";
import type { Ctx, SystemCtx } from "../../context.ts";
import { all, get, param, statement } from "../../db/statement.ts";
import { emailKey } from "../../values/email.ts";
import { isId } from "../../values/ids.ts";
import { maxCompared, unknownName } from "../../values/unknown-name.ts";
import { requireTenant } from "../tenants/service.ts";
import { users } from "./table.ts";

const selectById = statement<{ id: string }>(sql`
  select id from ${users} where tenant_id = ${param("tenantId")} and id = ${param("name")}`);
const selectByEmail = statement<{ id: string }>(sql`
  select id from ${users} where tenant_id = ${param("tenantId")} and email_key = ${param("name")}`);
const selectEmails = statement<{ email: string }>(sql`
  select email from ${users} where tenant_id = ${param("tenantId")} order by created_at desc, id desc
  limit ${param("most")}`);

/** Finds the id of a user by id or by email. Errors: notFound, with the most similar address. */
export async function resolveUserId(ctx: Ctx, idOrEmail: string): Promise<string> {
  const tenantId = ctx.tenant.id;
  const isUserId = isId("usr", idOrEmail);
  const name = isUserId ? idOrEmail : emailKey(idOrEmail);
  const found = name && (await get(ctx.db, isUserId ? selectById : selectByEmail, { tenantId, name }));
  if (found) return found.id;
  const rows = isUserId ? [] : await all(ctx.db, selectEmails, { tenantId, most: maxCompared });
  const emails = rows.map(({ email }) => email);
  throw unknownName("user", idOrEmail, emails, ctx.tenant.namespace);
}

/**
 * Finds the id of a store's user by id or email. An unknown name is returned unchanged: an operating system account may
 * look like an email. Errors: notFound for an unknown store.
 */
export async function findUserId(ctx: SystemCtx, namespace: string, email: string): Promise<string> {
  const tenant = await requireTenant(ctx, namespace);
  const name = emailKey(email);
  const found = name && (await get(ctx.db, selectByEmail, { tenantId: tenant.id, name }));
  return found ? found.id : email;
}
