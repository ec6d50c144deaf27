import { expect } from "bun:test";
import type { Static } from "@sinclair/typebox";
import type { RewardEntry, Rewards } from "../../src/server/modules/rewards/model.ts";
import type { Shop } from "./factories.ts";

export type RewardsReply = Static<typeof Rewards>;
/** A row of the points ledger in a reply. */
export type EntryReply = Static<typeof RewardEntry>;

/** Gives a user points with the shop's key. */
export async function givePoints({ call }: Shop, userId: string, points: number): Promise<EntryReply> {
  const body = { customer_id: userId, points, note: "Welcome" };
  const { status, data, text } = await call<EntryReply>("POST /rewards/adjust/", { body });
  if (status !== 201) throw new Error(`The points were not given: ${text}`);
  return data;
}

/** Checks that balance, ledger and lots of a user agree. Returns the balance. */
export async function checkAccount({ app, namespace }: Shop, userId: string): Promise<number> {
  const ofUser = "tenant_id = (select id from tenants where namespace = ?) and user_id = ?";
  const { rows } = await app.db.execute({
    sql: `select (select balance from reward_balances where ${ofUser}) as balance,
      (select sum(points) from reward_entries where ${ofUser}) as ledger,
      (select sum(remaining) from reward_lots where ${ofUser}) as lots`,
    args: [namespace, userId, namespace, userId, namespace, userId],
  });
  const { balance, ledger, lots } = rows[0] as unknown as { balance: number; ledger: number; lots: number };
  expect({ ledger, lots }).toEqual({ ledger: balance, lots: balance });
  return balance;
}
