import { sql } from "drizzle-orm";
import { param, statement } from "../../db/statement.ts";
import { rewardBalances, rewardEntries, rewardLots } from "../../modules/rewards/table.ts";
import { differences, type Inconsistency, inScope, isNamed, type RecordCheck } from "./check.ts";

const running = sql`select tenant_id, id, balance,
  sum(points) over (partition by tenant_id, user_id order by sequence) as sum from ${rewardEntries} e where ${inScope("e")}`;
const select = statement<Inconsistency>(sql`
  with sums as (
    select tenant_id, user_id, sum(balance) as balance, sum(remaining) as remaining, sum(points) as points from (
      select tenant_id, user_id, balance, 0 as remaining, 0 as points from ${rewardBalances} b where ${inScope("b")}
      union all select tenant_id, user_id, 0, remaining, 0 from ${rewardLots} l where ${inScope("l")}
      union all select tenant_id, user_id, 0, 0, points from ${rewardEntries} e where ${inScope("e")})
    group by tenant_id, user_id),
  balances as (
    select tenant_id, user_id as record, points >= 0 as fixable, balance, points as right_balance from sums),
  lots as (select tenant_id, user_id as record, 0 as fixable, remaining as lots, points as right_lots from sums)
  ${differences("balances", ["balance"])} union all ${differences("lots", ["lots"])}
  union all
  select tenant_id, id, id, 'sum', sum, '0 or more', 0 from (${running}) where sum < 0`);
// Entries with a wrong running balance are reported, not fixed.
const countOdd = statement<{ tenant_id: string; count: number }>(sql`
  select tenant_id, count(*) as count from (${running}) where balance <> sum group by tenant_id`);
const fixBalances = statement(sql`
  insert into ${rewardBalances} (tenant_id, user_id, balance, updated_at)
  select tenant_id, user_id, points, ${param("now")} from (
    select tenant_id, user_id, sum(points) as points from ${rewardEntries} e
    where ${isNamed("e", "user_id")} group by tenant_id, user_id) where points >= 0
  on conflict (tenant_id, user_id) do update set balance = excluded.balance, version = version + 1,
    updated_at = excluded.updated_at where balance <> excluded.balance`);

export const rewards: RecordCheck = {
  id: "rewards",
  about: "Balances and the remaining points of lots are the sums of the ledger, which is never negative.",
  remedy:
    "The ledger is never changed. Compare it with a backup, and correct the balance of a user with POST /rewards/adjust/.",
  select,
  notes: {
    count: countOdd,
    describe: (odd) => `ledger entries with a wrong running balance: ${odd}.`,
  },
  updates: [fixBalances],
};
