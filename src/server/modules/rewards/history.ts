import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { get, param, statement } from "../../db/statement.ts";
import { decodeCursor } from "../../pagination/cursor.ts";
import { type ListPage, type PageRow, toListPage } from "../../pagination/list-page.ts";
import { defaultLimit, parseFields, readTimeRange } from "../../pagination/list-query.ts";
import { requireSubject } from "../users/subject.ts";
import { entryJson } from "./entries.ts";
import { RewardEntry, type RewardHistoryQuery } from "./model.ts";
import { rewardEntries } from "./table.ts";

const operators = { from: ">=", after: ">", until: "<=", before: "<" } as const;
type BoundName = keyof typeof operators;
const boundNames = Object.keys(operators) as BoundName[];

const bounds = boundNames.map(
  (name) => sql`(${param(name)} is null or created_at ${sql.raw(operators[name])} ${param(name)})`,
);
const matching = sql`from ${rewardEntries} where tenant_id = ${param("tenantId")} and user_id = ${param("userId")}
  and (${param("kind")} is null or kind = ${param("kind")}) and ${sql.join(bounds, sql` and `)}`;
const page = sql`${matching} and sequence < ${param("beforeSequence")} order by sequence desc`;
// A user has few entries, so one statement serves every filter.
const selectPage = statement<PageRow>(sql`select
  (select group_concat(rendered) from (select ${entryJson} as rendered ${page} limit ${param("limit")})) as json,
  (select json_array(sequence, id) ${page} limit 1 offset ${param("lastIndex")}) as last,
  exists(select 1 ${page} limit 1 offset ${param("limit")}) as has_more,
  case when ${param("isCounted")} = 1 then (select count(*) ${matching}) end as total`);

/** A page of a user's ledger, newest first. Errors: malformedRequest, validationFailed, notFound. */
export async function listRewardEntries(ctx: Ctx, query: RewardHistoryQuery, subject?: string): Promise<ListPage> {
  const { limit = defaultLimit, kind = null } = query;
  const fields = parseFields(query.fields, Object.keys(RewardEntry.properties));
  const userId = await requireSubject(ctx, query.customer_id, subject);
  const range = readTimeRange(query, "created_at");
  const given = Object.fromEntries(
    boundNames.map((name) => [name, range.find(({ operator }) => operator === operators[name])?.value ?? null]),
  );
  const asked = [ctx.tenant.id, "rewards", userId, kind, given];
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor, asked);
  const row = await get(ctx.db, selectPage, {
    tenantId: ctx.tenant.id,
    userId,
    kind,
    ...given,
    beforeSequence: after?.value ?? Number.MAX_SAFE_INTEGER,
    limit,
    lastIndex: limit - 1,
    isCounted: query.include_total ? 1 : 0,
  });
  return toListPage(row, { asked, limit, fields });
}
