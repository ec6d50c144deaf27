import type { ApiReply, Call, CallOptions } from "./client.ts";
import { ofProduct } from "./reactions.ts";

/** The reply to a view. */
export interface ViewReply {
  active: boolean;
  count: number;
}

/** The reply to a read of views. */
export interface ViewsReply extends ViewReply {
  days: { day: string; count: number }[];
}

/** The address, the user agent and the identity of a viewer. */
export interface Looking {
  address?: string;
  agent?: string;
  query?: Record<string, string>;
  auth?: string;
}

/** The default address of a viewer. */
export const usualAddress = "198.51.100.7";

function optionsOf({ address = usualAddress, agent, query, auth }: Looking): CallOptions {
  return {
    address,
    ...(auth !== undefined && { auth }),
    ...(agent !== undefined && { headers: { "user-agent": agent } }),
    ...(query && { query }),
  };
}

/** Views a product. */
export function viewProduct(call: Call, id: string, how: Looking = {}): Promise<ApiReply<ViewReply>> {
  return call("POST /views/", { ...optionsOf(how), body: ofProduct(id) });
}

/** Reads a product's views. */
export function readViews(
  call: Call,
  id: string,
  how: Looking & { days?: string } = {},
): Promise<ApiReply<ViewsReply>> {
  const { days, query, ...rest } = how;
  const all = { ...ofProduct(id), ...query, ...(days !== undefined && { days }) };
  return call("GET /views/", { ...optionsOf({ ...rest, query: all }) });
}
