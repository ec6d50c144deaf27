import { Type } from "@sinclair/typebox";
import { app, defineRoute, staff, token } from "../../http/route.ts";
import { AdjustInput, RedeemInput, RewardEntry, RewardHistoryQuery, Rewards, RewardsQuery } from "./model.ts";
import { adjustRewards, getRewards, listRewardEntries, redeemPoints } from "./service.ts";

const tag = "Rewards";
const read = { tag, access: [app("rewards:read"), token] } as const;
const book = {
  tag,
  reply: { status: 201, data: RewardEntry, existing: "The entry was already booked with the same `source`." },
  errors: ["notFound", "conflict", "notEnoughPoints"],
} as const;

export const rewardRoutes = [
  defineRoute("GET", "/rewards/", "getRewards", {
    ...read,
    summary: "Get a user's points",
    query: RewardsQuery,
    reply: { data: Rewards },
    errors: ["notFound"],
    handle: ({ ctx, query, subject }) => getRewards(ctx, query.customer_id, subject),
  }),
  defineRoute("GET", "/rewards/history/", "listRewardEntries", {
    ...read,
    summary: "List the entries of a user's account",
    query: RewardHistoryQuery,
    reply: { data: Type.Array(RewardEntry), page: true },
    errors: ["notFound"],
    handle: ({ ctx, query, subject }) => listRewardEntries(ctx, query, subject),
  }),
  defineRoute("POST", "/rewards/redeem/", "redeemPoints", {
    ...book,
    summary: "Spend points",
    access: [app("rewards:write"), token],
    body: RedeemInput,
    handle: ({ ctx, body, subject }) => redeemPoints(ctx, body, subject),
  }),
  defineRoute("POST", "/rewards/adjust/", "adjustRewards", {
    ...book,
    summary: "Add or subtract points of a user",
    access: [app("rewards:write"), staff],
    body: AdjustInput,
    handle: ({ ctx, body, subject }) => adjustRewards(ctx, body, subject),
  }),
];
