import { sql } from "drizzle-orm";
import { rewardBalances, rewardEntries, rewardLots } from "../../modules/rewards/table.ts";
import { differences, inScope, recordCheck, rowOf } from "./check.ts";

/** Checks that balances and the remaining points of lots are the sums of the ledger, which is never negative. */
export const rewards = recordCheck({
  id: "rewards",
  remedy:
    "The ledger is never changed. Compare it with a backup, and correct the balance of a user with POST /rewards/adjust/.",
  select: sql`
    with sums as (
      select tenant_id, user_id, user_id as record, sum(balance) as balance, sum(remaining) as lots,
        sum(points) as right_balance, sum(points) as right_lots
      from (
        select tenant_id, user_id, balance, 0 as remaining, 0 as points from ${rewardBalances} b where ${inScope("b")}
        union all select tenant_id, user_id, 0, remaining, 0 from ${rewardLots} l where ${inScope("l")}
        union all select tenant_id, user_id, 0, 0, points from ${rewardEntries} e where ${inScope("e")})
      group by tenant_id, user_id),
    running as (
      select tenant_id, id, sum(points) over (partition by tenant_id, user_id order by sequence) as sum
      from ${rewardEntries} e where ${inScope("e")})
    ${differences("sums", ["balance"], sql`iif(right_balance >= 0, ${rowOf(rewardBalances, "user_id")}, null)`)}
    union all ${differences("sums", ["lots"])}
    union all select tenant_id, id, 'sum', sum, '0 or more', null from running where sum < 0`,
});
