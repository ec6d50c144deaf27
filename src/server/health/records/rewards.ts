import { count, sql } from "drizzle-orm";
import { param, run, statement } from "../../db/statement.ts";
import { rewardBalances, rewardEntries, rewardLots } from "../../modules/rewards/table.ts";
import { tenants } from "../../modules/tenants/table.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { finding, type RecordCheck } from "../finding.ts";
import { findInStores, inScope } from "../in-stores.ts";
import { differences, recordCheck, requireChange, rowOf } from "./check.ts";

const running = sql`select tenant_id, id, balance,
  sum(points) over (partition by tenant_id, user_id order by sequence) as sum from ${rewardEntries} e where ${inScope("e")}`;
const setBalance = statement(sql`
  update ${rewardBalances} set balance = ${param("expected")}, version = version + 1, updated_at = ${param("now")}
  where tenant_id = ${param("tenant_id")} and user_id = ${param("record")} and balance = ${param("found")}`);

const sums = recordCheck({
  id: "rewards",
  about: "Balances and the remaining points of lots are the sums of the ledger, which is never negative.",
  remedy:
    "The ledger is never changed. Compare it with a backup, and correct the balance of a user with POST /rewards/adjust/.",
  select: sql`
    with sums as (
      select tenant_id, user_id as record, sum(balance) as balance, sum(remaining) as lots, sum(points) as right_balance,
        sum(points) as right_lots
      from (
        select tenant_id, user_id, balance, 0 as remaining, 0 as points from ${rewardBalances} b where ${inScope("b")}
        union all select tenant_id, user_id, 0, remaining, 0 from ${rewardLots} l where ${inScope("l")}
        union all select tenant_id, user_id, 0, 0, points from ${rewardEntries} e where ${inScope("e")})
      group by tenant_id, user_id)
    ${differences("sums", ["balance"], sql`iif(right_balance >= 0, ${rowOf(rewardBalances)}, null)`)}
    union all ${differences("sums", ["lots"])}
    union all select tenant_id, id, 'sum', sum, '0 or more', null from (${running}) where sum < 0`,
  fix: async ({ ctx, now }, row) => requireChange(await run(ctx.db, setBalance, { ...row, now: toTimestamp(now()) })),
});

const { id, namespace } = tenants;
const ofStore = sql`${id} = r.tenant_id and r.balance <> r.sum`;
const countOdd = statement((q) =>
  q.select({ namespace, count: count() }).from(sql`(${running}) r`).innerJoin(tenants, ofStore).groupBy(id),
);

export const rewards: RecordCheck = {
  ...sums,
  // Entries with a wrong running balance are reported, not fixed.
  run: async (subject) => [
    ...(await sums.run(subject)),
    ...(await findInStores(subject, countOdd, ({ namespace, count }) => {
      const message = `Store ${namespace}: ledger entries with a wrong running balance: ${count}.`;
      return finding("note", namespace, message, null);
    })),
  ],
};
