import { and, desc, eq, type SQL, sql } from "drizzle-orm";
import type { Ctx, SystemCtx } from "../../context.ts";
import { keysetList } from "../../db/keyset-list.ts";
import { all, get, ofStore, param, statement } from "../../db/statement.ts";
import type { ListPage } from "../../pagination/list-page.ts";
import { parseIds } from "../../pagination/list-query.ts";
import { emailKey, parseEmail } from "../../values/email.ts";
import { requireText } from "../../values/fields.ts";
import { isId } from "../../values/stamps.ts";
import { maxCompared, unknownName } from "../../values/unknown-name.ts";
import { requireTenant } from "../tenants/service.ts";
import { selectId } from "./guards.ts";
import { nameKey } from "./input.ts";
import { type UserListQuery, userFields } from "./model.ts";
import { userJson } from "./service.ts";
import { users } from "./table.ts";

// A condition on the beginning of a text is a range, because a range can use an index in any script.
const emailBegins = sql`email_key >= ${param("q")} and email_key < ${param("qEnd")}`;
const nameBegins = sql`name_key >= ${param("q")} and name_key < ${param("qEnd")}`;
const fewMatches = 1000;
const countFew = (condition: SQL) => sql<number>`(select count(*) from (
  select 1 from ${users} where ${ofStore(users)} and ${condition} limit ${fewMatches}))`;
const countMatches = statement((q) =>
  q.select({ emails: countFew(emailBegins), names: countFew(nameBegins) }).from(sql`(select 1)`),
);

const common = {
  name: "users",
  fields: userFields,
  json: userJson,
  bytes: sql`octet_length(addresses) + octet_length(metadata)`,
  from: sql`from ${users}`,
  sorts: { created_at: sql`created_at`, email: sql`email_key` },
};
const ids = sql`id in (select value from json_each(${param("ids")}))`;
const readMany = keysetList({ ...common, conditions: { ids, q: sql`(${emailBegins} or ${nameBegins})` } });
const readFew = keysetList({
  ...common,
  conditions: {
    q: sql`id in (select id from ${users} where ${ofStore(users)} and ${emailBegins}
      union select id from ${users} where ${ofStore(users)} and ${nameBegins})`,
  },
});

/** Lists users. `q` matches the beginning of an email or name. Errors: malformedRequest, validationFailed. */
export async function listUsers(ctx: Ctx, query: UserListQuery): Promise<ListPage> {
  const { email, ids } = query;
  const q = query.q === undefined ? undefined : nameKey(requireText("q", query.q, 100));
  const filters = {
    status: query.status,
    role: query.role,
    email_key: email === undefined ? undefined : parseEmail("email", email).emailKey,
    q,
    ids: ids === undefined ? undefined : JSON.stringify(parseIds(ids)),
  };
  // The highest character: texts that begin with `q` sort between `q` and `qEnd`.
  const values = { qEnd: `${q}\u{10ffff}` };
  // A few matches are found by their indexes and sorted. Many matches are found while reading all users in order.
  const found =
    q === undefined || ids !== undefined
      ? undefined
      : await get(ctx.db, countMatches, { tenantId: ctx.tenant.id, q, ...values });
  const isRare = found !== undefined && found.emails + found.names < fewMatches;
  const unindexed = { tenant: isRare || ids !== undefined };
  return (isRare ? readFew : readMany)(ctx, query, { filters, values, unindexed });
}

const isNamed = and(ofStore(users), eq(users.emailKey, param("id")));
const selectIdByEmail = statement((q) => q.select({ id: users.id }).from(users).where(isNamed));
const selectEmails = statement((q) => {
  const emails = q.select({ email: users.email }).from(users).where(ofStore(users));
  return emails.orderBy(desc(users.createdAt), desc(users.id)).limit(maxCompared);
});

export async function resolveUserId(ctx: Ctx, idOrEmail: string): Promise<string> {
  const tenantId = ctx.tenant.id;
  const isUserId = isId("usr", idOrEmail);
  const id = isUserId ? idOrEmail : emailKey(idOrEmail);
  const found = id && (await get(ctx.db, isUserId ? selectId : selectIdByEmail, { tenantId, id }));
  if (found) return found.id;
  const emails = isUserId ? [] : (await all(ctx.db, selectEmails, { tenantId })).map(({ email }) => email);
  throw unknownName("user", idOrEmail, emails, ctx.tenant.namespace);
}

/** Returns the id of the user with an email. Returns a text that is nobody's email unchanged. */
export async function findUserId(ctx: SystemCtx, namespace: string, email: string): Promise<string> {
  const tenant = await requireTenant(ctx, namespace);
  const id = emailKey(email);
  return (id && (await get(ctx.db, selectIdByEmail, { tenantId: tenant.id, id }))?.id) || email;
}
