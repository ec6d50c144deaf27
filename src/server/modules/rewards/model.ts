import { type Static, Type } from "@sinclair/typebox";
import { listParts, timeRangeParts } from "../../pagination/list-query.ts";
import { closed, input, line, nullable, oneOf, output, timestamp, whole } from "../../values/schema.ts";

const maxPoints = 1_000_000_000;
const customerId = Type.Optional(Type.String({ description: "Id of the user, if the caller is staff or an app key." }));
const note = line(500);
const source = Type.Optional(line(200, "Your reference for the entry. A source is booked only once."));

const kind = oneOf(["earn", "redeem", "reverse", "expire", "adjust"]);

export const Rewards = output("Rewards", {
  user_id: Type.String(),
  balance: Type.Integer({ minimum: 0, description: "Points that can be spent now." }),
  value: Type.Number({ minimum: 0, description: "Value of the points when they pay for an order." }),
  value_minor: Type.Integer({ minimum: 0 }),
  currency: Type.String({ description: "ISO 4217." }),
  expiring: nullable(
    Type.Object(
      { points: Type.Integer({ minimum: 1 }), expires_at: timestamp },
      { description: "The points that expire next." },
    ),
  ),
  version: Type.Integer({ minimum: 0, description: "Increases by one with every entry; 0 without entries." }),
  updated_at: nullable(timestamp),
});

export const RewardEntry = output("RewardEntry", {
  id: Type.String({ description: "`rwd_…`" }),
  user_id: Type.String(),
  kind,
  points: Type.Integer({ description: "Negative if the entry reduces the balance." }),
  balance: Type.Integer({ minimum: 0, description: "Balance after the entry." }),
  source: nullable(Type.String()),
  order_id: nullable(Type.String()),
  note: nullable(Type.String()),
  created_at: timestamp,
});

export const RewardsQuery = closed({ customer_id: customerId });

export const RewardHistoryQuery = closed({
  ...listParts,
  ...timeRangeParts("created_at"),
  kind: Type.Optional(kind),
  customer_id: customerId,
});
export type RewardHistoryQuery = Static<typeof RewardHistoryQuery>;

export const RedeemInput = input("RedeemInput", {
  points: whole(1, maxPoints),
  note: Type.Optional(note),
  source,
  customer_id: customerId,
});
export type RedeemInput = Static<typeof RedeemInput>;

export const AdjustInput = input("AdjustInput", {
  points: whole(-maxPoints, maxPoints, "Points to add; negative to subtract. Must not be 0."),
  note,
  source,
  customer_id: customerId,
});
export type AdjustInput = Static<typeof AdjustInput>;
