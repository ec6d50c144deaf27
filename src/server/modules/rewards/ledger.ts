import { sql } from "drizzle-orm";
import type { Tenant } from "../../context.ts";
import { get, param, run, statement } from "../../db/statement.ts";
import { notEnoughPoints } from "../../errors.ts";
import { newId } from "../../values/ids.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { expireDueLots } from "./due-lots.ts";
import { addToBalance, type LedgerCtx, type Written, writeEntry } from "./entries.ts";
import { rewardBalances, rewardEntries, rewardLots } from "./table.ts";

const dayMs = 86_400_000;
/** Sorts behind every time. */
const never = "~";

/** What is booked on a user's account. `points` is positive; which way it goes is the function's. */
export interface Booking {
  userId: string;
  points: number;
  /** What it comes from; the same source is booked once. */
  source: string;
  orderId?: string | undefined;
  note?: string | null | undefined;
}

const ofUser = sql`tenant_id = ${param("tenantId")} and user_id = ${param("userId")}`;
const selectSource = statement<{ id: string }>(sql`
  select id from ${rewardEntries} where ${ofUser} and source = ${param("source")}`);
const insertLot = statement(sql`
  insert into ${rewardLots} (sequence, tenant_id, user_id, points, remaining, expires_at, created_at)
  values (${param("sequence")}, ${param("tenantId")}, ${param("userId")}, ${param("points")}, ${param("points")},
    ${param("expiresAt")}, ${param("now")})`);
// The guard stands in the statement: a balance is never negative, however many spend at once.
const takeFromBalance = statement<Written>(sql`
  update ${rewardBalances} set balance = balance - ${param("points")}, version = version + 1,
    updated_at = ${param("now")}
  where ${ofUser} and balance >= ${param("points")} returning balance, version`);
const selectBalance = statement<{ balance: number }>(sql`select balance from ${rewardBalances} where ${ofUser}`);
/** Lots in the order in which they are spent, with what the older ones hold. */
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

/** No payment earns more, so that thousands of the largest fit into a balance: too many points must not stop a payment. */
const maxEarned = 1_000_000_000_000n;

/** Points that a payment earns: so many thousandths for every 100 minor units, rounded down. */
export function pointsFor(paidMinor: number, tenant: Pick<Tenant, "pointsRate">): number {
  const points = (BigInt(paidMinor) * BigInt(tenant.pointsRate)) / 100_000n;
  return Number(points < maxEarned ? points : maxEarned);
}

/** Books points that a payment earned. Answers how many: none when the source is booked already. */
export function earnPoints(tx: LedgerCtx, booking: Booking): Promise<number> {
  return add(tx, "earn", booking);
}

/**
 * Books points that are spent, the oldest first.
 * @returns how many: none when the source is booked already.
 * @throws notEnoughPoints when there are not so many.
 */
export function spendPoints(tx: LedgerCtx, booking: Booking): Promise<number> {
  return take(tx, "redeem", booking);
}

/**
 * Gives points back that an order had spent. Their time stood still meanwhile: they last as long as the latest of them
 * still had when they were spent, so that nobody loses them by waiting, or renews them by ordering.
 * @returns how many: none when the source is booked already.
 */
export async function givePointsBack(tx: LedgerCtx, booking: Booking): Promise<number> {
  return add(tx, "reverse", booking, await lifeBefore(tx, booking));
}

/**
 * Takes earned points back, as far as they are still there: a balance is never negative.
 * @returns how many it took.
 */
export async function clawBackPoints(tx: LedgerCtx, booking: Booking): Promise<number> {
  const { userId, points } = booking;
  await expireDueLots(tx, userId);
  const standing = await get(tx.db, selectBalance, { tenantId: tx.tenant.id, userId });
  return take(tx, "reverse", { ...booking, points: Math.min(points, standing?.balance ?? 0) });
}

/**
 * Books what staff adds or takes.
 * @param booking its `points` may be negative.
 * @throws notEnoughPoints when there are not so many to take.
 */
export function adjustPoints(tx: LedgerCtx, booking: Booking): Promise<number> {
  const { points } = booking;
  return points < 0 ? take(tx, "adjust", { ...booking, points: -points }) : add(tx, "adjust", booking);
}

/** @param life how long the points last, in milliseconds; null for ever. */
async function add(
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

async function take(tx: LedgerCtx, kind: "redeem" | "reverse" | "adjust", booking: Booking): Promise<number> {
  const { userId, points } = booking;
  if (points <= 0 || (await isBooked(tx, booking))) return 0;
  await expireDueLots(tx, userId);
  const values = { tenantId: tx.tenant.id, userId, points, now: toTimestamp(tx.now()) };
  const left = await get(tx.db, takeFromBalance, values);
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
