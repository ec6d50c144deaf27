import { Type } from "@sinclair/typebox";
import { app, staff, token } from "../../http/access.ts";
import { defineRoute } from "../../http/route.ts";
import { listRewardEntries } from "./history.ts";
import { AdjustInput, RedeemInput, RewardEntry, RewardHistoryQuery, Rewards, RewardsQuery } from "./model.ts";
import { adjustRewards, getRewards, redeemPoints } from "./service.ts";

const tag = "Rewards";

/** The rewards endpoints. */
export const rewardRoutes = [
  defineRoute({
    method: "GET",
    path: "/rewards/",
    id: "getRewards",
    tag,
    summary: "Get a user's points",
    access: [app("rewards:read"), token],
    query: RewardsQuery,
    reply: { data: Rewards },
    errors: ["notFound"],
    handle: ({ ctx, query, subject }) => getRewards(ctx, query.customer_id, subject),
  }),
  defineRoute({
    method: "GET",
    path: "/rewards/history/",
    id: "listRewardEntries",
    tag,
    summary: "List the entries of a user's account",
    access: [app("rewards:read"), token],
    query: RewardHistoryQuery,
    reply: { data: Type.Array(RewardEntry), page: true },
    errors: ["malformedRequest", "notFound"],
    handle: ({ ctx, query, subject }) => listRewardEntries(ctx, query, subject),
  }),
  defineRoute({
    method: "POST",
    path: "/rewards/redeem/",
    id: "redeemPoints",
    tag,
    summary: "Spend points",
    access: [app("rewards:write"), token],
    body: RedeemInput,
    reply: { status: 201, data: RewardEntry, existing: "The entry was booked before with the same `source`." },
    errors: ["notFound", "conflict", "notEnoughPoints"],
    handle: ({ ctx, body, subject }) => redeemPoints(ctx, body, subject),
  }),
  defineRoute({
    method: "POST",
    path: "/rewards/adjust/",
    id: "adjustRewards",
    tag,
    summary: "Add or subtract points of a user",
    access: [app("rewards:write"), staff],
    body: AdjustInput,
    reply: { status: 201, data: RewardEntry, existing: "The entry was booked before with the same `source`." },
    errors: ["notFound", "conflict", "notEnoughPoints"],
    handle: ({ ctx, body, subject }) => adjustRewards(ctx, body, subject),
  }),
];
