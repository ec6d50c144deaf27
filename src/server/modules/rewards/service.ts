import { sql } from "drizzle-orm";
import type { Ctx } from "../../context.ts";
import { keysetList, timeFilters } from "../../db/keyset-list.ts";
import { jsonOf } from "../../db/selection.ts";
import { get, ofUser, param, statement } from "../../db/statement.ts";
import { inTransaction } from "../../db/transaction.ts";
import { conflict, fieldError, forbidden, invalidField, notFound } from "../../errors.ts";
import type { ListPage } from "../../pagination/list-page.ts";
import { requireText } from "../../values/fields.ts";
import { largestMinor, toAmount } from "../../values/money.ts";
import { newId, toTimestamp } from "../../values/stamps.ts";
import { recordAudit } from "../audit/service.ts";
import { currencyDigits } from "../tenants/input.ts";
import { isSelf, requireStoredUser, requireSubject } from "../users/guards.ts";
import { users } from "../users/table.ts";
import { adjustPoints, isDue, spendPoints } from "./ledger.ts";
import { type AdjustInput, type RedeemInput, RewardEntry, type RewardHistoryQuery } from "./model.ts";
import { rewardBalances, rewardEntries, rewardLots } from "./table.ts";

/** Prefixes of sources, so that customers, the store and Bodega never use the same source. */
const customerPrefix = "customer:";
const storePrefix = "store:";
const ownPrefix = "entry:";

const entryJson = sql.raw(`json_object('id', id, 'user_id', user_id, 'kind', kind, 'points', points,
  'balance', balance, 'source', case substr(source, 1, instr(source, ':')) when '${ownPrefix}' then null
    when '${customerPrefix}' then substr(source, ${customerPrefix.length + 1})
    when '${storePrefix}' then substr(source, ${storePrefix.length + 1}) else source end,
  'order_id', order_id, 'note', note, 'created_at', created_at)`);

const isOpen = sql`${ofUser(rewardLots)} and remaining > 0`;
const { balance, version, updatedAt } = rewardBalances;
const account = {
  balance: sql<number>`coalesce(${balance}, 0)`,
  version: sql<number>`coalesce(${version}, 0)`,
  updatedAt,
  due: sql<number>`(select coalesce(sum(remaining), 0) from ${rewardLots} where ${ofUser(rewardLots)} and ${isDue})`,
  expiring: jsonOf(sql`(select json_object('points', remaining, 'expires_at', expires_at) from ${rewardLots}
    where ${isOpen} and expires_at > ${param("now")} order by expires_at, sequence limit 1)`),
};
const selectAccount = statement((q) =>
  q.select(account).from(sql`(select 1)`).leftJoin(rewardBalances, ofUser(rewardBalances)),
);
const entry = {
  ...{ json: sql<string>`${entryJson}`, points: rewardEntries.points, kind: rewardEntries.kind },
  version: sql<number>`(select version from ${rewardBalances} where ${ofUser(rewardBalances)})`,
};
// A user can be deleted after the authentication, so the statement checks that the user exists.
const isBooked = sql`${ofUser(rewardEntries)} and source = ${param("source")} and exists (
  select 1 from ${users} where tenant_id = ${param("tenantId")} and id = ${param("userId")})`;
const selectEntry = statement((q) => q.select(entry).from(rewardEntries).where(isBooked));

export async function getRewards(ctx: Ctx, customerId?: string, subject?: string) {
  const userId = await requireSubject(ctx, customerId, subject);
  const values = { tenantId: ctx.tenant.id, userId, now: toTimestamp(ctx.now()) };
  const row = (await get(ctx.db, selectAccount, values)) as NonNullable<(typeof selectAccount)["row"]>;
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
    expiring: row.expiring,
    version: row.version,
    updated_at: row.updatedAt,
  };
  // Until the expiry of points is booked, the reply shows less than the stored balance, and has no version.
  const isCurrent = row.version > 0 && row.due === 0;
  return { json: JSON.stringify(account), ...(isCurrent && { version: row.version }) };
}

export async function redeemPoints(ctx: Ctx, input: RedeemInput, subject?: string) {
  const userId = await requireSubject(ctx, input.customer_id, subject);
  return book(ctx, { userId, kind: "redeem", points: -input.points, source: input.source }, async (tx, source) => {
    const note = input.note === undefined ? null : requireText("note", input.note, 500);
    return (await spendPoints(tx, { userId, points: input.points, source, note })) > 0;
  });
}

/** Adds or subtracts points. A repeated `source` returns its entry. Errors: forbidden, notEnoughPoints, conflict. */
export async function adjustRewards(ctx: Ctx, input: AdjustInput, subject?: string) {
  const { points } = input;
  if (points === 0) throw invalidField("points", "must not be 0");
  const note = requireText("note", input.note, 500);
  const userId = await requireAdjustable(ctx, input.customer_id, subject);
  return book(ctx, { userId, kind: "adjust", points, source: input.source }, async (tx, source) => {
    const booked = await adjustPoints(tx, { userId, points, source, note });
    if (booked > 0) await recordAudit(tx, { event: "rewards.adjusted", subject: userId, details: { points } });
    return booked > 0;
  });
}

/** Returns the id of the user. Staff can adjust only points of users whom they can manage, and not their own points. */
async function requireAdjustable(ctx: Ctx, customerId?: string, subject?: string): Promise<string> {
  const { actor } = ctx;
  if (actor.kind !== "user") return requireSubject(ctx, customerId, subject);
  if (actor.role === "customer") throw forbidden();
  if (customerId === undefined) throw invalidField("customer_id", "is required");
  if (isSelf(ctx, customerId)) throw forbidden("You cannot adjust your own points.");
  await requireStoredUser(ctx, customerId);
  return customerId;
}

/** Books an entry, unless its source is already booked. Returns the reply: 201, or 200 for an earlier entry. */
function book(
  ctx: Ctx,
  entry: { userId: string; kind: "redeem" | "adjust"; points: number; source: string | undefined },
  write: (tx: Ctx, source: string) => Promise<boolean>,
) {
  const { userId, source: given } = entry;
  if (given !== undefined) requireText("source", given, 200);
  const prefix = isSelf(ctx, userId) ? customerPrefix : storePrefix;
  const source = given === undefined ? ownPrefix + newId("rwd") : prefix + given;
  return inTransaction(ctx, async (tx) => {
    const isNew = await write(tx, source);
    const booked = await get(tx.db, selectEntry, { tenantId: tx.tenant.id, userId, source });
    if (!booked) throw notFound("user", userId);
    if (booked.kind !== entry.kind || booked.points !== entry.points) {
      throw fieldError(conflict, "source", "belongs to another entry of the account");
    }
    return { json: booked.json, version: booked.version, status: isNew ? 201 : 200 };
  });
}

const readPage = keysetList({
  name: "rewards",
  fields: Object.keys(RewardEntry.properties),
  json: entryJson,
  from: sql`from ${rewardEntries}`,
  sorts: { sequence: sql`sequence` },
  tie: null,
});

export async function listRewardEntries(ctx: Ctx, query: RewardHistoryQuery, subject?: string): Promise<ListPage> {
  const user_id = await requireSubject(ctx, query.customer_id, subject);
  return readPage(ctx, query, { filters: { user_id, kind: query.kind, ...timeFilters(query, "created_at") } });
}
