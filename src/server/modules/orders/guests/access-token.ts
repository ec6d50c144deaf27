import type { Ctx } from "../../../context.ts";

/** Returns the token with which a guest sees an order. It is computed from the server's key, so it is not stored. */
export function accessToken(
  { vault, tenant }: Pick<Ctx, "vault" | "tenant">,
  id: string,
  accessVersion: number,
): string {
  return vault.mac("order", `${tenant.id}:${id}:${accessVersion}`);
}

// Matches the JSON of a guest's new order. In the JSON of a dry run, the number is null, so it does not match.
const guestOrder = /^\{"id":"(ord_\w+)","number":\d+,"user_id":null,/;

/** Adds the access token to the reply with a guest's new order. The token is not in the stored reply. */
export function withAccessToken(ctx: Ctx, json: string): string {
  const [, id] = guestOrder.exec(json) ?? [];
  return id === undefined ? json : `${json.slice(0, -1)},"access_token":"${accessToken(ctx, id, 1)}"}`;
}
