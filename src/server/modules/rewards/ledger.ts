import { and, eq, gte, sql } from "drizzle-orm";
import type { Ctx, Tenant, WorkCtx } from "../../context.ts";
import { all, bind, get, ofUser, param, params, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { notEnoughPoints } from "../../errors.ts";
import { newId, toTimestamp } from "../../values/stamps.ts";
import { workThrough } from "../tenants/service.ts";
import { tenantForWork, tenants } from "../tenants/table.ts";
import { rewardBalances, rewardEntries, rewardLots, spendingOrder } from "./table.ts";

const dayMs = 86_400_000;
const hourMs = 3_600_000;

/** What an entry of the ledger books. `points` are positive, except for `adjustPoints`. */
interface Booking {
  userId: string;
  points: number;
  source: string;
  orderId?: string | undefined;
  note?: string | null | undefined;
}

type LedgerCtx = Pick<Ctx, "db" | "tenant" | "now">;
type Lot = readonly [points: number, expiresAt: string | null];

const { source } = rewardEntries;
const isSource = and(ofUser(rewardEntries), eq(source, param("source")));
const selectSource = statement((q) => q.select({ source }).from(rewardEntries).where(isSource));
const { balance, tenantId, userId } = rewardBalances;
const newBalance = params("tenantId", "userId", "balance", "version", "updatedAt");
const raised = {
  ...params("updatedAt"),
  balance: sql`balance + excluded.balance`,
  version: sql`version + excluded.version`,
};
const raise = { target: [tenantId, userId], set: raised };
const raiseBalance = statement((q) =>
  q.insert(rewardBalances).values(newBalance).onConflictDoUpdate(raise).returning({ balance }),
);
const insertEntries = statement(sql`
  insert into ${rewardEntries} (id, tenant_id, user_id, kind, points, balance, source, order_id, note, lots, created_at)
  select json_extract(value, '$[0]'), ${param("tenantId")}, ${param("userId")}, ${param("kind")},
    json_extract(value, '$[1]'), json_extract(value, '$[2]'), json_extract(value, '$[3]'), ${param("orderId")},
    ${param("note")}, ${param("lots")}, ${param("now")}
  from json_each(${param("rows")}) order by key`);
// Inserts a lot for each new entry, with all of its points.
const insertLots = statement(sql`
  insert into ${rewardLots} (sequence, tenant_id, user_id, remaining, expires_at)
  select e.sequence, e.tenant_id, e.user_id, e.points, json_extract(j.value, '$[4]')
  from json_each(${param("rows")}) j cross join ${rewardEntries} e on e.id = json_extract(j.value, '$[0]')`);
// Moves the remaining points of all lots with the same expiry to the newest of these lots. So spending takes time for
// each expiry of a user's points, not for each entry.
const joinLots = statement(sql`
  update ${rewardLots} set remaining = iif(j.is_newest, j.total, 0)
  from (select sequence, sequence = max(sequence) over same as is_newest, sum(remaining) over same as total,
      count(*) over same as count
    from ${rewardLots} where ${ofUser(rewardLots)} and remaining > 0 window same as (partition by expires_at)) j
  where j.count > 1 and ${rewardLots}.sequence = j.sequence`);
// The statement checks the balance, so concurrent bookings cannot make it negative.
const debited = { balance: sql`balance - ${param("points")}`, version: sql`version + 1`, updatedAt: param("now") };
const isEnough = and(ofUser(rewardBalances), gte(balance, param("points")));
const debitBalance = statement((q) => q.update(rewardBalances).set(debited).where(isEnough).returning({ balance }));
const selectBalance = statement((q) => q.select({ balance }).from(rewardBalances).where(ofUser(rewardBalances)));
/** Lots in the order of spending, with the sum of earlier lots. A reversal begins with the points of its order. */
const openLots = sql`(select sequence, remaining, expires_at,
    sum(remaining) over (order by coalesce(expires_at, '') is not (select coalesce(l.expires_at, '')
      from ${rewardEntries} e join ${rewardLots} l on l.sequence = e.sequence
      where e.tenant_id = ${param("tenantId")} and e.user_id = ${param("userId")} and e.source = ${param("earned")}),
      ${spendingOrder}) - remaining as earlier
    from ${rewardLots} where ${ofUser(rewardLots)} and remaining > 0)`;
const taken = sql`(select sum(min(o.remaining, ${param("points")} - o.earlier)) as points, o.expires_at from ${openLots} o
  where o.earlier < ${param("points")} group by o.expires_at order by o.expires_at is null, o.expires_at)`;
const selectTaken = statement((q) =>
  q.select({ lots: sql<string>`json_group_array(json_array(points, expires_at))` }).from(taken),
);
const { lots, createdAt } = rewardEntries;
// An order that expires gives its points back. If it is paid later, it spends points again, so the last entry counts.
const selectSpent = statement((q) =>
  q
    .select({ lots, createdAt })
    .from(rewardEntries)
    .where(and(ofUser(rewardEntries), sql`source in (select value from json_each(${param("sources")}))`))
    .orderBy(sql`sequence desc`)
    .limit(1),
);
const consumeLots = statement(sql`
  update ${rewardLots} set remaining = ${rewardLots}.remaining - min(o.remaining, ${param("points")} - o.earlier)
  from ${openLots} o
  where ${rewardLots}.sequence = o.sequence and o.earlier < ${param("points")}`);

export const isDue = sql`remaining > 0 and expires_at is not null and expires_at <= ${param("now")}`;
const selectDue = statement<{ points: number; last: number }>(sql`
  select coalesce(sum(remaining), 0) as points, max(sequence) as last from ${rewardLots}
  where ${ofUser(rewardLots)} and ${isDue}`);
const selectDueUsers = statement<{ userId: string; tenant: string }>(sql`
  select distinct user_id as userId, ${tenantForWork} as tenant
  from ${rewardLots} join ${tenants} t on t.id = ${rewardLots.tenantId} where ${isDue} limit 100`);

/** Maximum points of a payment, so that a balance cannot overflow and block payments. */
const maxEarned = 1_000_000_000_000n;

/** Returns the points for a payment: `pointsRate` thousandths of a point for every 100 minor units, rounded down. */
export function pointsFor(paidMinor: number, tenant: Pick<Tenant, "pointsRate">): number {
  const points = (BigInt(paidMinor) * BigInt(tenant.pointsRate)) / 100_000n;
  return Number(points < maxEarned ? points : maxEarned);
}

export function earnPoints(tx: LedgerCtx, booking: Booking): Promise<number> {
  return credit(tx, "earn", booking);
}

/** Spends points. Returns how many; 0 if the source was booked before. Errors: notEnoughPoints. */
export function spendPoints(tx: LedgerCtx, booking: Booking): Promise<number> {
  return debit(tx, "redeem", booking);
}

/** Gives an order's spent points back, the last spent first. `earlier` is how many were given back before. */
export async function returnPoints(tx: LedgerCtx, booking: Booking & { orderId: string }, earlier = 0) {
  return credit(tx, "reverse", booking, await lotsToReturn(tx, booking, earlier));
}

/** Takes earned points back, at most the balance. Returns how many. */
export async function reversePoints(tx: LedgerCtx, booking: Booking): Promise<number> {
  const { userId, points } = booking;
  await expireLots(tx, userId);
  const account = await get(tx.db, selectBalance, { tenantId: tx.tenant.id, userId });
  return debit(tx, "reverse", { ...booking, points: Math.min(points, account?.balance ?? 0) });
}

/** Adds `points` to a balance, or subtracts negative ones. Errors: notEnoughPoints if the balance is too small. */
export function adjustPoints(tx: LedgerCtx, booking: Booking): Promise<number> {
  const { points } = booking;
  return points < 0 ? debit(tx, "adjust", { ...booking, points: -points }) : credit(tx, "adjust", booking);
}

async function credit(
  tx: LedgerCtx,
  kind: "earn" | "reverse" | "adjust",
  { points: wanted, ...booking }: Booking,
  lots: readonly Lot[] = [[wanted, expiryOfNew(tx)]],
): Promise<number> {
  const { userId, source } = booking;
  const points = lots.reduce((sum, [more]) => sum + more, 0);
  if (points <= 0 || (await isBooked(tx, booking))) return 0;
  const values = { tenantId: tx.tenant.id, userId };
  const raise = { ...values, balance: points, version: lots.length, updatedAt: toTimestamp(tx.now()) };
  let balance = ((await get(tx.db, raiseBalance, raise))?.balance as number) - points;
  const rows = lots.map(([more, expiresAt], index) => {
    balance += more;
    return [newId("rwd"), more, balance, index > 0 ? `${source}:${index + 1}` : source, expiresAt];
  });
  const entries = entryValues(tx, booking, { kind, rows });
  await tx.db.batch([bind(insertEntries, entries), bind(insertLots, entries), bind(joinLots, values)]);
  return points;
}

async function debit(tx: LedgerCtx, kind: "redeem" | "reverse" | "adjust", booking: Booking): Promise<number> {
  if (booking.points <= 0 || (await isBooked(tx, booking))) return 0;
  // The background job may be late, so points that are due expire first.
  await expireLots(tx, booking.userId);
  return take(tx, kind, booking);
}

/** Expires due points of up to 100 users. Returns the number of users. */
export async function expireDuePoints(ctx: WorkCtx): Promise<number> {
  const users = await all(ctx.db, selectDueUsers, { now: toTimestamp(ctx.now()) });
  return workThrough(ctx, users, async (work, { userId }) => {
    await inTransaction(work, (tx) => expireLots(tx, userId));
    return true;
  });
}

/** Expires a user's due points. `take` finds exactly these points, because it begins with those that expire first. */
async function expireLots(tx: LedgerCtx, userId: string): Promise<void> {
  const found = await get(tx.db, selectDue, { tenantId: tx.tenant.id, userId, now: toTimestamp(tx.now()) });
  if (!found?.points) return;
  await take(tx, "expire", { userId, points: found.points, source: `lot:${found.last}:expire` });
}

async function take(
  tx: LedgerCtx,
  kind: "redeem" | "reverse" | "adjust" | "expire",
  { points, ...booking }: Booking,
): Promise<number> {
  const { userId, source, orderId } = booking;
  const earned = kind === "reverse" ? `order:${orderId}:earn` : null;
  const values = { tenantId: tx.tenant.id, userId, points, earned, now: toTimestamp(tx.now()) };
  const left = await get(tx.db, debitBalance, values);
  if (!left) throw notEnoughPoints();
  // Only an order's points can be given back, so only their lots are stored.
  const taken = kind === "redeem" && orderId !== undefined ? await get(tx.db, selectTaken, values) : undefined;
  const rows = [[newId("rwd"), -points, left.balance, source]];
  const entries = entryValues(tx, booking, { kind, rows, lots: taken?.lots });
  await tx.db.batch([bind(insertEntries, entries), bind(consumeLots, values)]);
  return points;
}

/** Returns the parameters of `insertEntries`. A row: id, points (negative if spent), balance, source, expiry of the lot. */
function entryValues(
  tx: LedgerCtx,
  { userId, orderId = null, note = null }: { userId: string; orderId?: string | null; note?: string | null },
  { kind, rows, lots = null }: { kind: string; rows: unknown[][]; lots?: string | null | undefined },
) {
  const now = toTimestamp(tx.now());
  return { tenantId: tx.tenant.id, userId, kind, orderId, note, lots, rows: JSON.stringify(rows), now };
}

/** Returns the expiry of new points. It is the end of a day (UTC), so the points of one day expire together. */
function expiryOfNew({ tenant: { pointsDays }, now }: LedgerCtx): string | null {
  return pointsDays === null ? null : toTimestamp((Math.ceil(now() / dayMs) + pointsDays) * dayMs);
}

/** Returns the lots of points to give back. The hours for which the order held the points are added to their expiry. */
async function lotsToReturn(tx: LedgerCtx, booking: Booking & { orderId: string }, earlier: number): Promise<Lot[]> {
  const { userId, orderId, points } = booking;
  const sources = JSON.stringify([`order:${orderId}:redeem`, `order:${orderId}:redeem:late`]);
  const spent = await get(tx.db, selectSpent, { tenantId: tx.tenant.id, userId, sources });
  if (!spent) return [];
  const heldMs = (Math.floor(tx.now() / hourMs) - Math.floor(Date.parse(spent.createdAt) / hourMs)) * hourMs;
  const lots: Lot[] = [];
  let from = earlier;
  let left = points;
  for (const [count, expiresAt] of (JSON.parse(spent.lots ?? "[]") as Lot[]).reverse()) {
    const returned = Math.min(Math.max(count - from, 0), left);
    from = Math.max(from - count, 0);
    left -= returned;
    if (returned > 0) lots.push([returned, expiresAt && toTimestamp(Date.parse(expiresAt) + heldMs)]);
  }
  return lots.reverse();
}

async function isBooked(tx: LedgerCtx, { userId, source }: Pick<Booking, "userId" | "source">): Promise<boolean> {
  return (await get(tx.db, selectSource, { tenantId: tx.tenant.id, userId, source })) !== undefined;
}
