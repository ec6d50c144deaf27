import { sql } from "drizzle-orm";
import { all, statement } from "../../db/statement.ts";
import { orders } from "../../modules/orders/table.ts";
import { rewardEntries } from "../../modules/rewards/table.ts";
import { differences, type Inconsistency, inScope, type RecordCheck } from "./check.ts";

const fields = ["points_used", "points_earned", "points_returned", "points_reversed"] as const;

const select = statement<Inconsistency>(sql`
  with booked as (
    select tenant_id, order_id, sum(case when kind = 'redeem' then -points else 0 end) as used,
      sum(case when kind = 'earn' then points else 0 end) as earned,
      sum(case when kind = 'reverse' and source like '%:return' then points else 0 end) as returned,
      sum(case when kind = 'reverse' and source like '%:reverse' then -points else 0 end) as reversed
    from ${rewardEntries} e where order_id is not null and ${inScope("e")} group by tenant_id, order_id),
  compared as (
    select o.tenant_id, o.id as record, o.id as target, 0 as fixable,
      o.points_used, coalesce(b.used, 0) as right_points_used,
      o.points_earned, coalesce(b.earned, 0) as right_points_earned,
      o.points_returned, coalesce(b.returned, 0) as right_points_returned,
      o.points_reversed, coalesce(b.reversed, 0) as right_points_reversed
    from ${orders} o left join booked b on b.order_id = o.id and b.tenant_id = o.tenant_id where ${inScope("o")})
  ${differences("compared", fields)}`);

/** The points that orders used, earned, returned and reversed are in the ledger. */
export const orderPoints: RecordCheck = {
  id: "points",
  remedy:
    "Orders and the ledger disagree, and neither is changed. Correct the balance of a user with POST /rewards/adjust/.",
  find: (ctx, tenantId) => all(ctx.db, select, { tenantId }),
};
