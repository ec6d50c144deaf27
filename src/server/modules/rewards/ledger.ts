import { sql } from "drizzle-orm";
import type { Tenant } from "../../context.ts";
import { get, param, run, statement } from "../../db/statement.ts";
import { notEnoughPoints } from "../../errors.ts";
import { newId } from "../../values/ids.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { addToBalance, expireLots, type LedgerCtx, ofUser, type Written, writeEntry } from "./entries.ts";
import { rewardBalances, rewardEntries, rewardLots } from "./table.ts";

const dayMs = 86_400_000;
/** Sorts after every timestamp. */
const never = "~";

/** Points to book on a user's account; positive unless said otherwise. */
interface Booking {
  userId: string;
  points: number;
  /** The reason, such as `order:ord_…:earn`; each source is booked once. */
  source: string;
  orderId?: string | undefined;
  note?: string | null | undefined;
}

const selectSource = statement<{ id: string }>(sql`
  select id from ${rewardEntries} where ${ofUser} and source = ${param("source")}`);
const insertLot = statement(sql`
  insert into ${rewardLots} (sequence, tenant_id, user_id, points, remaining, expires_at, created_at)
  values (${param("sequence")}, ${param("tenantId")}, ${param("userId")}, ${param("points")}, ${param("points")},
    ${param("expiresAt")}, ${param("now")})`);
// The statement checks the balance, so that concurrent bookings cannot make it negative.
const debitBalance = statement<Written>(sql`
  update ${rewardBalances} set balance = balance - ${param("points")}, version = version + 1,
    updated_at = ${param("now")}
  where ${ofUser} and balance >= ${param("points")} returning balance, version`);
const selectBalance = statement<{ balance: number }>(sql`select balance from ${rewardBalances} where ${ofUser}`);
/** Lots in the order in which they are spent, with the points of older ones. */
const openLots = sql`(select sequence, remaining, expires_at, sum(remaining) over (order by sequence) - remaining as older
    from ${rewardLots} where ${ofUser} and remaining > 0)`;
const selectLatest = statement<{ latest: string | null }>(sql`
  select nullif(max(coalesce(o.expires_at, ${never})), ${never}) as latest from ${openLots} o
  where o.older < ${param("points")}`);
const selectSpent = statement<{ expires_at: string | null; created_at: string }>(sql`
  select expires_at, created_at from ${rewardEntries}
  where ${ofUser} and order_id = ${param("orderId")} and kind = 'redeem' order by sequence limit 1`);
const consumeLots = statement(sql`
  update ${rewardLots} set remaining = ${rewardLots}.remaining - min(o.remaining, ${param("points")} - o.older)
  from ${openLots} o
  where ${rewardLots}.sequence = o.sequence and o.older < ${param("points")}`);

/** Maximum points of a payment, so that a balance cannot overflow and block payments. */
const maxEarned = 1_000_000_000_000n;

/** Points that a payment earns: `pointsRate` thousandths for every 100 minor units, rounded down. */
export function pointsFor(paidMinor: number, tenant: Pick<Tenant, "pointsRate">): number {
  const points = (BigInt(paidMinor) * BigInt(tenant.pointsRate)) / 100_000n;
  return Number(points < maxEarned ? points : maxEarned);
}

/** Books earned points. Returns how many; 0 if the source was booked before. */
export function earnPoints(tx: LedgerCtx, booking: Booking): Promise<number> {
  return credit(tx, "earn", booking);
}

/** Spends points, oldest first. Returns how many; 0 if the source was booked before. Errors: notEnoughPoints. */
export function spendPoints(tx: LedgerCtx, booking: Booking): Promise<number> {
  return debit(tx, "redeem", booking);
}

/** Returns points that an order spent, with their remaining lifetime. Returns how many; 0 if booked before. */
export async function returnPoints(tx: LedgerCtx, booking: Booking): Promise<number> {
  return credit(tx, "reverse", booking, await lifeBefore(tx, booking));
}

/** Reverses earned points, at most the balance. Returns how many. */
export async function reversePoints(tx: LedgerCtx, booking: Booking): Promise<number> {
  const { userId, points } = booking;
  await expireLots(tx, userId);
  const account = await get(tx.db, selectBalance, { tenantId: tx.tenant.id, userId });
  return debit(tx, "reverse", { ...booking, points: Math.min(points, account?.balance ?? 0) });
}

/** Adjusts a balance; `points` may be negative. Errors: notEnoughPoints if the balance would be negative. */
export function adjustPoints(tx: LedgerCtx, booking: Booking): Promise<number> {
  const { points } = booking;
  return points < 0 ? debit(tx, "adjust", { ...booking, points: -points }) : credit(tx, "adjust", booking);
}

/** @param life how long the points last, in milliseconds; null without expiry. */
async function credit(
  tx: LedgerCtx,
  kind: "earn" | "reverse" | "adjust",
  booking: Booking,
  life: number | null = lifeOfNew(tx),
): Promise<number> {
  const { userId, points } = booking;
  if (points <= 0 || (await isBooked(tx, booking))) return 0;
  const now = toTimestamp(tx.now());
  const { balance } = await addToBalance(tx, userId, points);
  const sequence = await writeEntry(tx, { ...booking, id: newId("rwd"), kind, balance });
  await run(tx.db, insertLot, {
    sequence,
    tenantId: tx.tenant.id,
    userId,
    points,
    expiresAt: life === null ? null : toTimestamp(tx.now() + life),
    now,
  });
  return points;
}

async function debit(tx: LedgerCtx, kind: "redeem" | "reverse" | "adjust", booking: Booking): Promise<number> {
  const { userId, points } = booking;
  if (points <= 0 || (await isBooked(tx, booking))) return 0;
  await expireLots(tx, userId);
  const values = { tenantId: tx.tenant.id, userId, points, now: toTimestamp(tx.now()) };
  const left = await get(tx.db, debitBalance, values);
  if (!left) throw notEnoughPoints();
  const expiresAt = kind === "redeem" ? ((await get(tx.db, selectLatest, values))?.latest ?? null) : null;
  await writeEntry(tx, { ...booking, id: newId("rwd"), kind, points: -points, balance: left.balance, expiresAt });
  await run(tx.db, consumeLots, values);
  return points;
}

function lifeOfNew({ tenant: { pointsDays } }: LedgerCtx): number | null {
  return pointsDays === null ? null : pointsDays * dayMs;
}

async function lifeBefore(tx: LedgerCtx, { userId, orderId }: Booking): Promise<number | null> {
  const spent = await get(tx.db, selectSpent, { tenantId: tx.tenant.id, userId, orderId: orderId ?? null });
  if (!spent) return lifeOfNew(tx);
  return spent.expires_at === null ? null : Date.parse(spent.expires_at) - Date.parse(spent.created_at);
}

async function isBooked(tx: LedgerCtx, { userId, source }: Booking): Promise<boolean> {
  return (await get(tx.db, selectSource, { tenantId: tx.tenant.id, userId, source })) !== undefined;
}
