import type { ApiReply, Call } from "./client.ts";

export type ReactionPath = "/likes/" | "/bookmarks/";

/** The reply to a change of a like or bookmark. */
export interface ReactionReply {
  active: boolean;
  count: number;
  visitor?: string;
}

/** A like or bookmark in a list. */
export interface ListedReaction {
  resource_type: string;
  resource_id: string;
  created_at: string;
}

/** Returns the fields of a call that name a product. */
export const ofProduct = (id: string) => ({ resource_type: "product", resource_id: id });

/** The calls of one actor for likes or bookmarks. */
export interface Reacting {
  add: (id: string) => Promise<ApiReply<ReactionReply>>;
  remove: (id: string) => Promise<ApiReply<ReactionReply>>;
  get: (id: string) => Promise<ApiReply<ReactionReply>>;
  list: (query?: Record<string, string>) => Promise<ApiReply<ListedReaction[]>>;
}

/**
 * Returns functions that make the calls of one actor.
 * @param by the query that identifies the actor: a visitor, or user and token. Empty for nobody.
 */
export function reacting(call: Call, path: ReactionPath, by: Record<string, string>): Reacting {
  return {
    add: (id) => call(`POST ${path}`, { query: by, body: ofProduct(id) }),
    remove: (id) => call(`DELETE ${path}`, { query: { ...ofProduct(id), ...by } }),
    get: (id) => call(`GET ${path}`, { query: { ...ofProduct(id), ...by } }),
    list: (query = {}) => call(`GET ${path}`, { query: { ...query, ...by } }),
  };
}

/** Likes or bookmarks a resource as a new visitor. Returns the visitor's token. */
export async function becomeVisitor(call: Call, path: ReactionPath, id: string): Promise<string> {
  const { data, text } = await reacting(call, path, {}).add(id);
  if (data?.visitor === undefined) throw new Error(`No visitor was made: ${text}`);
  return data.visitor;
}
