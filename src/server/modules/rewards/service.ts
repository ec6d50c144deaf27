import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { get, param, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { conflict, forbidden, invalidField } from "../../errors.ts";
import { newId } from "../../values/ids.ts";
import { largestMinor, toAmount } from "../../values/money.ts";
import { requireText } from "../../values/text.ts";
import { toTimestamp } from "../../values/timestamp.ts";
import { recordAudit } from "../audit/service.ts";
import { currencyDigits } from "../tenants/currency.ts";
import { requireStanding } from "../users/guards.ts";
import { isSelf } from "../users/permission.ts";
import { requireSubject } from "../users/subject.ts";
import { adjustPoints, spendPoints } from "./ledger.ts";
import type { AdjustInput, RedeemInput } from "./model.ts";
import { entryJson, givenPrefix, ownPrefix } from "./rendering.ts";
import { rewardBalances, rewardEntries, rewardLots } from "./table.ts";

const ofUser = sql`tenant_id = ${param("tenantId")} and user_id = ${param("userId")}`;
const isDue = sql`expires_at is not null and expires_at <= ${param("now")}`;

interface AccountRow {
  balance: number;
  version: number;
  updated_at: string | null;
  /** Points whose time is over, though nobody has booked that yet. */
  due: number;
  /** JSON of the lot that runs out next. */
  expiring: string | null;
}

interface EntryRow {
  json: string;
  points: number;
  kind: string;
  version: number;
}

const selectAccount = statement<AccountRow>(sql`
  select coalesce(b.balance, 0) as balance, coalesce(b.version, 0) as version, b.updated_at as updated_at,
    (select coalesce(sum(remaining), 0) from ${rewardLots} where ${ofUser} and remaining > 0 and ${isDue}) as due,
    (select json_object('points', remaining, 'expires_at', expires_at) from ${rewardLots}
      where ${ofUser} and remaining > 0 and expires_at > ${param("now")} order by expires_at, sequence limit 1) as expiring
  from (select 1) left join ${rewardBalances} b on b.tenant_id = ${param("tenantId")} and b.user_id = ${param("userId")}`);
const selectEntry = statement<EntryRow>(sql`
  select ${entryJson} as json, points, kind, (select version from ${rewardBalances} where ${ofUser}) as version
  from ${rewardEntries} where ${ofUser} and source = ${param("source")}`);

/** A reply about an account. */
interface RewardsReply {
  json: string;
  version?: number;
  status?: number;
}

/**
 * A user's balance: what can be spent now, what it is worth, and what runs out next.
 * @throws notFound, validationFailed as `requireSubject`.
 */
export async function getRewards(ctx: Ctx, customerId?: string, subject?: string): Promise<RewardsReply> {
  const userId = await requireSubject(ctx, customerId, subject);
  const values = { tenantId: ctx.tenant.id, userId, now: toTimestamp(ctx.now()) };
  const row = await get(ctx.db, selectAccount, values);
  if (!row) throw new Error("An account was read and returned no row");
  const balance = row.balance - row.due;
  const { currency, pointValue } = ctx.tenant;
  const digits = currencyDigits(currency);
  const valueMinor = Math.min(balance * pointValue, largestMinor(digits));
  const account = {
    user_id: userId,
    balance,
    value: toAmount(valueMinor, digits),
    value_minor: valueMinor,
    currency,
    expiring: row.expiring === null ? null : JSON.parse(row.expiring),
    version: row.version,
    updated_at: row.updated_at,
  };
  // Points whose time is over are gone from the balance before the ledger, and its version, say so.
  const isSettled = row.version > 0 && row.due === 0;
  return { json: JSON.stringify(account), ...(isSettled && { version: row.version }) };
}

/**
 * Spends points of a user. The same `source` again answers the first entry.
 * @throws notEnoughPoints when there are not so many, conflict for a source of another act; as `requireSubject`.
 */
export async function redeemPoints(ctx: Ctx, input: RedeemInput, subject?: string): Promise<RewardsReply> {
  const userId = await requireSubject(ctx, input.customer_id, subject);
  return book(ctx, userId, "redeem", -input.points, input, async (tx, source) => {
    const note = input.note === undefined ? null : requireText("note", input.note, 500);
    return (await spendPoints(tx, { userId, points: input.points, source, note })) > 0;
  });
}

/**
 * Adds points to an account, or takes them, for the store. The same `source` again answers the first entry.
 * @throws forbidden for customers, for staff's own account and for users whom they may not manage; notEnoughPoints below zero,
 * conflict for a source of another act; as `requireSubject`.
 */
export async function adjustRewards(ctx: Ctx, input: AdjustInput, subject?: string): Promise<RewardsReply> {
  const { points } = input;
  if (points === 0) throw invalidField("points", "must not be 0");
  const note = requireText("note", input.note, 500);
  const userId = await requireAdjustable(ctx, input.customer_id, subject);
  return book(ctx, userId, "adjust", points, input, async (tx, source) => {
    const booked = await adjustPoints(tx, { userId, points, source, note });
    if (booked > 0) await recordAudit(tx, { event: "rewards.adjusted", subject: userId, details: { points, note } });
    return booked > 0;
  });
}

/** Nobody gives points to themselves, and staff only to those whom they may manage. */
async function requireAdjustable(ctx: Ctx, customerId?: string, subject?: string): Promise<string> {
  const { actor } = ctx;
  if (actor.kind !== "user") return requireSubject(ctx, customerId, subject);
  if (actor.role === "customer") throw forbidden();
  if (customerId === undefined) throw invalidField("customer_id", "is required");
  if (isSelf(ctx, customerId)) throw forbidden("Nobody adjusts their own points.");
  await requireStanding(ctx, customerId);
  return customerId;
}

/** Books once for a source, in one transaction, and answers the entry; one that was there before with 200. */
function book(
  ctx: Ctx,
  userId: string,
  kind: "redeem" | "adjust",
  points: number,
  given: { source?: string },
  write: (tx: Ctx, source: string) => Promise<boolean>,
): Promise<RewardsReply> {
  const { source: name } = given;
  if (name !== undefined) requireText("source", name, 200);
  const source = name === undefined ? ownPrefix + newId("rwd") : givenPrefix + name;
  return inTransaction(ctx, async (tx) => {
    const isNew = await write(tx, source);
    const entry = await get(tx.db, selectEntry, { tenantId: tx.tenant.id, userId, source });
    if (!entry) throw new Error("An entry was written and is not there");
    if (entry.kind !== kind || entry.points !== points) {
      throw conflict("source: is booked with other points.", {
        details: [{ field: "source", message: "is booked with other points" }],
      });
    }
    return { json: entry.json, version: entry.version, status: isNew ? 201 : 200 };
  });
}
