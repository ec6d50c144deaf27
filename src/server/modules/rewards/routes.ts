import { Type } from "@sinclair/typebox";
import { app, staff, token } from "../../http/access.ts";
import { defineRoute } from "../../http/route.ts";
import { listRewardEntries } from "./history.ts";
import { AdjustInput, RedeemInput, RewardEntry, RewardHistoryQuery, Rewards, RewardsQuery } from "./model.ts";
import { adjustRewards, getRewards, redeemPoints } from "./service.ts";

const tag = "Rewards";

/** The rewards endpoints. */
export const rewardRoutes = [
  defineRoute("GET", "/rewards/", "getRewards", {
    tag,
    summary: "Get a user's points",
    access: [app("rewards:read"), token],
    query: RewardsQuery,
    reply: { data: Rewards },
    errors: ["notFound"],
    handle: ({ ctx, query, subject }) => getRewards(ctx, query.customer_id, subject),
  }),
  defineRoute("GET", "/rewards/history/", "listRewardEntries", {
    tag,
    summary: "List the entries of a user's account",
    access: [app("rewards:read"), token],
    query: RewardHistoryQuery,
    reply: { data: Type.Array(RewardEntry), page: true },
    errors: ["malformedRequest", "notFound"],
    handle: ({ ctx, query, subject }) => listRewardEntries(ctx, query, subject),
  }),
  defineRoute("POST", "/rewards/redeem/", "redeemPoints", {
    tag,
    summary: "Spend points",
    access: [app("rewards:write"), token],
    body: RedeemInput,
    reply: { status: 201, data: RewardEntry, existing: "The entry was booked before with the same `source`." },
    errors: ["notFound", "conflict", "notEnoughPoints"],
    handle: ({ ctx, body, subject }) => redeemPoints(ctx, body, subject),
  }),
  defineRoute("POST", "/rewards/adjust/", "adjustRewards", {
    tag,
    summary: "Add or subtract points of a user",
    access: [app("rewards:write"), staff],
    body: AdjustInput,
    reply: { status: 201, data: RewardEntry, existing: "The entry was booked before with the same `source`." },
    errors: ["notFound", "conflict", "notEnoughPoints"],
    handle: ({ ctx, body, subject }) => adjustRewards(ctx, body, subject),
  }),
];
