import { type SQL, sql } from "drizzle-orm";
import { param, statement } from "../../db/statement.ts";
import { rewardBalances, rewardEntries, rewardLots, spendingOrder } from "../../modules/rewards/table.ts";
import { differences, type Inconsistency, inScope, isNamed, type RecordCheck } from "./check.ts";

/**
 * SQL for common table expressions that sum up each user's ledger, balance and lots. Expired lots have no points left;
 * refunds have taken back what their order earned; of the others the first to expire is spent first, so that the remaining
 * points are in the last. The newest lot has the room of all that expire with it.
 */
function accountSums(scope: (alias: string, column: string) => SQL): SQL {
  return sql`ledger as (
    select tenant_id, user_id, sum(points) as points from ${rewardEntries} e
    where ${scope("e", "user_id")} group by tenant_id, user_id),
  own_rooms as (
    select l.sequence, l.tenant_id, l.user_id, l.remaining, l.expires_at,
      e.sequence is not null as is_expired, max(0, own.points + coalesce((select sum(r.points) from ${rewardEntries} r
        where own.kind = 'earn' and r.tenant_id = l.tenant_id and r.user_id = l.user_id and r.points < 0
          and r.source > 'order:' || own.order_id || ':refund:' and r.source < 'order:' || own.order_id || ':refund;'
      ), 0)) as room
    from ${rewardEntries} own join ${rewardLots} l on l.sequence = own.sequence left join ${rewardEntries} e on e.tenant_id = l.tenant_id and e.user_id = l.user_id
      and e.source = 'lot:' || l.sequence || ':expire'
    where ${scope("own", "user_id")}),
  rooms as (
    select sequence, tenant_id, user_id, remaining, expires_at,
      iif(sequence = max(sequence) over same and not max(is_expired) over same, sum(room) over same, 0) as room
    from own_rooms window same as (partition by tenant_id, user_id, expires_at)),
  lot_sums as (
    select tenant_id, user_id, sum(remaining) as remaining, sum(room) as room from rooms group by tenant_id, user_id),
  users_ as (
    select tenant_id, user_id from ledger union select tenant_id, user_id from lot_sums
    union select tenant_id, user_id from ${rewardBalances} b where ${scope("b", "user_id")}),
  accounts as (
    select u.tenant_id, u.user_id as record, coalesce(b.balance, 0) as balance,
      coalesce(e.points, 0) as right_balance, coalesce(l.remaining, 0) as lots, coalesce(e.points, 0) as right_lots,
      coalesce(e.points, 0) between 0 and 9007199254740991 as is_sound,
      coalesce(l.room, 0) >= coalesce(e.points, 0) as has_room
    from users_ u left join ledger e on e.tenant_id = u.tenant_id and e.user_id = u.user_id
    left join lot_sums l on l.tenant_id = u.tenant_id and l.user_id = u.user_id
    left join ${rewardBalances} b on b.tenant_id = u.tenant_id and b.user_id = u.user_id)`;
}

const running = sql`select tenant_id, id, balance,
  sum(points) over (partition by tenant_id, user_id order by sequence) as sum from ${rewardEntries} e where ${inScope("e")}`;
const select = statement<Inconsistency>(sql`
  with ${accountSums(inScope)},
  balances as (select *, is_sound as fixable from accounts),
  lots as (select *, is_sound and has_room as fixable from accounts)
  ${differences("balances", ["balance"])} union all ${differences("lots", ["lots"])}
  union all
  select tenant_id, id, id, 'sum', sum, '0 or more', 0 from (${running}) where sum < 0`);
// Entries with a wrong running balance are reported, not fixed.
const countOdd = statement<{ tenant_id: string; count: number }>(sql`
  select tenant_id, count(*) as count from (${running}) where balance <> sum group by tenant_id`);
const fixBalances = statement(sql`
  insert into ${rewardBalances} (tenant_id, user_id, balance, updated_at)
  select tenant_id, record, right_balance, ${param("now")} from (
    with ${accountSums(isNamed)} select * from accounts where is_sound and balance <> right_balance) where true
  on conflict (tenant_id, user_id) do update set balance = excluded.balance, version = version + 1,
    updated_at = excluded.updated_at`);
const fixLots = statement(sql`
  update ${rewardLots} set remaining = r.remaining, points = max(${rewardLots}.points, r.remaining)
  from (with ${accountSums(isNamed)}
    select l.sequence, max(0, min(l.room, a.right_lots - l.later)) as remaining
    from (select *, sum(room) over (partition by user_id)
        - sum(room) over (partition by user_id order by ${spendingOrder}) as later from rooms) l
    join accounts a on a.record = l.user_id where a.is_sound and a.has_room and a.lots <> a.right_lots) r
  where ${rewardLots}.sequence = r.sequence and ${rewardLots}.remaining <> r.remaining`);

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
  updates: [fixBalances, fixLots],
};
