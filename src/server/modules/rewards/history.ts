import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { keysetList, timeFilters } from "../../db/keyset-list.ts";
import type { ListPage } from "../../pagination/list-page.ts";
import { requireSubject } from "../users/subject.ts";
import { entryJson } from "./entries.ts";
import { RewardEntry, type RewardHistoryQuery } from "./model.ts";
import { rewardEntries } from "./table.ts";

const readPage = keysetList({
  name: "rewards",
  fields: Object.keys(RewardEntry.properties),
  json: entryJson,
  from: sql`from ${rewardEntries}`,
  sorts: { sequence: sql`sequence` },
  tie: null,
});

/** A page of a user's ledger, newest first. Errors: malformedRequest, validationFailed, notFound. */
export async function listRewardEntries(ctx: Ctx, query: RewardHistoryQuery, subject?: string): Promise<ListPage> {
  const user_id = await requireSubject(ctx, query.customer_id, subject);
  return readPage(ctx, query, { filters: { user_id, kind: query.kind, ...timeFilters(query, "created_at") } });
}
