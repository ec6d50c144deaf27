import { and, desc, eq } from "drizzle-orm";
import type { Ctx, SystemCtx } from "../../context.ts";
import { all, get, ofStore, param, statement } from "../../db/statement.ts";
import { emailKey } from "../../values/email.ts";
import { isId } from "../../values/stamps.ts";
import { maxCompared, unknownName } from "../../values/unknown-name.ts";
import { requireTenant } from "../tenants/service.ts";
import { selectId } from "./guards.ts";
import { users } from "./table.ts";

const isNamed = and(ofStore(users), eq(users.emailKey, param("id")));
const selectIdByEmail = statement((q) => q.select({ id: users.id }).from(users).where(isNamed));
const newest = [desc(users.createdAt), desc(users.id)];
const selectEmails = statement((q) =>
  q
    .select({ email: users.email })
    .from(users)
    .where(ofStore(users))
    .orderBy(...newest)
    .limit(maxCompared),
);

export async function resolveUserId(ctx: Ctx, idOrEmail: string): Promise<string> {
  const tenantId = ctx.tenant.id;
  const isUserId = isId("usr", idOrEmail);
  const id = isUserId ? idOrEmail : emailKey(idOrEmail);
  const found = id && (await get(ctx.db, isUserId ? selectId : selectIdByEmail, { tenantId, id }));
  if (found) return found.id;
  const emails = isUserId ? [] : (await all(ctx.db, selectEmails, { tenantId })).map(({ email }) => email);
  throw unknownName("user", idOrEmail, emails, ctx.tenant.namespace);
}

/** Returns the user's id, and an unknown name unchanged: it may be an account of the system. Errors: notFound. */
export async function findUserId(ctx: SystemCtx, namespace: string, email: string): Promise<string> {
  const tenant = await requireTenant(ctx, namespace);
  const id = emailKey(email);
  return (id && (await get(ctx.db, selectIdByEmail, { tenantId: tenant.id, id }))?.id) || email;
}
