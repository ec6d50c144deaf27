import type { ApiReply, Call, CallOptions } from "./client.ts";
import { ofProduct } from "./reactions.ts";

/** What a view answers. */
export interface ViewReply {
  active: boolean;
  count: number;
}

/** What is answered of views. */
export interface ViewsReply extends ViewReply {
  days: { day: string; count: number }[];
}

/** How somebody views: from where, with what, and named by what. */
export interface Looking {
  address?: string;
  agent?: string;
  query?: Record<string, string>;
  auth?: string;
}

function optionsOf({ address, agent, query, auth }: Looking): CallOptions {
  return {
    ...(address !== undefined && { address }),
    ...(auth !== undefined && { auth }),
    ...(agent !== undefined && { headers: { "user-agent": agent } }),
    ...(query && { query }),
  };
}

/** Views a product. */
export function viewProduct(call: Call, id: string, how: Looking = {}): Promise<ApiReply<ViewReply>> {
  return call("POST /views/", { ...optionsOf(how), body: ofProduct(id) });
}

/** Asks for a product's views. */
export function readViews(
  call: Call,
  id: string,
  how: Looking & { days?: string } = {},
): Promise<ApiReply<ViewsReply>> {
  const { days, query, ...rest } = how;
  const all = { ...ofProduct(id), ...query, ...(days !== undefined && { days }) };
  return call("GET /views/", { ...optionsOf({ ...rest, query: all }) });
}
