import { type SQL, sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { type CompiledStatement, get, param, statement } from "../../db/statement.ts";
import { decodeCursor } from "../../pagination/cursor.ts";
import { type ListPage, type PageRow, toListPage } from "../../pagination/list-page.ts";
import { defaultLimit, parseFields, parseIds } from "../../pagination/list-query.ts";
import { parseEmail } from "../../values/email.ts";
import { LruCache } from "../../values/lru-cache.ts";
import { requireText } from "../../values/text.ts";
import { nameKey } from "./input.ts";
import { type UserListQuery, type UserSortKey, userFields } from "./model.ts";
import { userJson } from "./rendering.ts";
import { users } from "./table.ts";

// The comparable form of an address is unique in the store, so it needs no second sort key.
const sortColumns: Record<UserSortKey, SQL> = { created_at: sql`created_at`, email: sql`email_key` };

// Ranges, because they can use an index in any script.
const emailBegins = sql`email_key >= ${param("q")} and email_key < ${param("qEnd")}`;
const nameBegins = sql`name_key >= ${param("q")} and name_key < ${param("qEnd")}`;
const ofTenant = sql`tenant_id = ${param("tenantId")}`;
const fewMatches = 1000;
const countMatches = statement<{ emails: number; names: number }>(sql`select
  (select count(*) from (select 1 from ${users} where ${ofTenant} and ${emailBegins} limit ${param("most")})) as emails,
  (select count(*) from (select 1 from ${users} where ${ofTenant} and ${nameBegins} limit ${param("most")})) as names`);

interface Filters {
  status: string | undefined;
  role: string | undefined;
  emailKey: string | undefined;
  q: string | undefined;
  /** JSON array. */
  ids: string | undefined;
}

/** One statement for each shape of list that is asked for; there could be 2 sorts × 2 directions × 32 sets of filters × 8. */
const statements = new LruCache<CompiledStatement<PageRow>>(200);

/**
 * One page of the tenant's users by keyset. `q` matches the beginning of an address or a name, ignoring case.
 * @throws malformedRequest for an invalid cursor or that of another list, validationFailed for an invalid filter.
 */
export async function listUsers(ctx: Ctx, query: UserListQuery): Promise<ListPage> {
  const fields = parseFields(query.fields, userFields);
  const limit = query.limit ?? defaultLimit;
  const sort = query.sort ?? "-created_at";
  const filters: Filters = {
    status: query.status,
    role: query.role,
    emailKey: query.email === undefined ? undefined : parseEmail("email", query.email).emailKey,
    q: query.q === undefined ? undefined : nameKey(requireText("q", query.q, 100)),
    ids: query.ids === undefined ? undefined : JSON.stringify(parseIds(query.ids)),
  };
  const { q, ids } = filters;
  const asked = [ctx.tenant.id, "users", sort, filters.status, filters.role, filters.emailKey, q, ids];
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, asked);
  const values = {
    tenantId: ctx.tenant.id,
    ...filters,
    // The highest character: all texts that begin with `q` sort between `q` and this.
    qEnd: q === undefined ? undefined : `${q}\u{10ffff}`,
    most: fewMatches,
  };
  // A few matches are looked up and sorted; many are found quickly by walking all users in order.
  const found = q === undefined || ids !== undefined ? undefined : await get(ctx.db, countMatches, values);
  const isRare = found !== undefined && found.emails + found.names < fewMatches;
  const shape = { isContinued: after !== undefined, isCounted: query.include_total ?? false, isRare };
  const row = await get(ctx.db, listStatement(sort, filters, shape), {
    ...values,
    value: after?.value,
    id: after?.id,
    limit,
    lastIndex: limit - 1,
  });
  return toListPage(row, { asked, limit, fields });
}

/** Page, last position, total and the next page come from one statement, and so from one snapshot. */
function listStatement(
  sort: string,
  filters: Filters,
  { isContinued, isCounted, isRare }: { isContinued: boolean; isCounted: boolean; isRare: boolean },
): CompiledStatement<PageRow> {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  const name = `${sort} ${given.map(([key]) => key)} ${isContinued} ${isCounted} ${isRare}`;
  const kept = statements.get(name);
  if (kept) return kept;
  const descending = sort.startsWith("-");
  const column = sortColumns[(descending ? sort.slice(1) : sort) as UserSortKey];
  // The plus sign keeps SQLite from walking all users in order when a few ids are known.
  const conditions = [isRare || filters.ids !== undefined ? sql`+${ofTenant}` : ofTenant];
  if (filters.ids !== undefined) conditions.push(sql`id in (select value from json_each(${param("ids")}))`);
  if (filters.status !== undefined) conditions.push(sql`status = ${param("status")}`);
  if (filters.role !== undefined) conditions.push(sql`role = ${param("role")}`);
  if (filters.emailKey !== undefined) conditions.push(sql`email_key = ${param("emailKey")}`);
  if (filters.q !== undefined) {
    conditions.push(
      isRare
        ? sql`id in (select id from ${users} where ${ofTenant} and ${emailBegins}
            union select id from ${users} where ${ofTenant} and ${nameBegins})`
        : sql`(${emailBegins} or ${nameBegins})`,
    );
  }
  const matching = sql`from ${users} where ${sql.join(conditions, sql` and `)}`;
  const position = isContinued
    ? sql` and (${column}, id) ${sql.raw(descending ? "<" : ">")} (${param("value")}, ${param("id")})`
    : sql``;
  const direction = sql.raw(descending ? "desc" : "asc");
  const page = sql`${matching}${position} order by ${column} ${direction}, id ${direction}`;
  const made = statement<PageRow>(sql`select
    (select group_concat(rendered) from (select ${userJson} as rendered ${page} limit ${param("limit")})) as json,
    (select json_array(${column}, id) ${page} limit 1 offset ${param("lastIndex")}) as last,
    exists(select 1 ${page} limit 1 offset ${param("limit")}) as has_more,
    ${isCounted ? sql`(select count(*) ${matching})` : sql`null`} as total`);
  statements.set(name, made);
  return made;
}
