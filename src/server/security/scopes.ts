import { invalidField } from "../errors.ts";

/** Scopes of app keys; `*` is all of them, also future ones. */
export const knownScopes = [
  "*",
  "catalog:read",
  "products:read",
  "products:write",
  "orders:read",
  "orders:write",
  "wishlist:read",
  "wishlist:write",
  "rewards:read",
  "rewards:write",
  "users:read",
  "users:write",
  "events:read",
  "notifications:write",
  "customers:sign-up",
  "auth:forward",
  "media:write",
] as const;

export type Scope = Exclude<(typeof knownScopes)[number], "*">;

/** Removes duplicates and keeps the order above; `orders:*` is all scopes of orders. Errors: validationFailed. */
export function parseScopes(scopes: readonly string[]): string[] {
  const wanted = new Set(scopes.flatMap((scope) => parseScope(scope)));
  if (wanted.size === 0) throw invalidField("scopes", "must contain at least one scope");
  return knownScopes.filter((scope) => wanted.has(scope));
}

/** The name may be a family. */
function parseScope(scope: string): string[] {
  const meant = knownScopes.filter(
    (known) => known === scope || (scope.endsWith(":*") && known.startsWith(scope.slice(0, -1))),
  );
  if (meant.length > 0) return meant;
  throw invalidField(
    "scopes",
    `contains the unknown scope ${JSON.stringify(scope)}. Scopes: ${knownScopes.join(", ")}`,
  );
}

/** Writing does not include reading. */
export function hasScope(scopes: ReadonlySet<string>, scope: Scope): boolean {
  return scopes.has("*") || scopes.has(scope);
}

/** The scopes of a key by its purpose: for pages in browsers, for a server of the store, and for a program that imports. */
export const keyPurposes: Record<"storefront" | "backend" | "import", readonly (typeof knownScopes)[number][]> = {
  storefront: ["catalog:read", "customers:sign-up"],
  backend: ["*"],
  import: ["products:read", "products:write", "media:write"],
};

/** What a visitor could do with the key of a page, by scope. Other scopes are harmless there. */
const visitorActs: Partial<Record<(typeof knownScopes)[number], string>> = {
  "*": "do everything in the store",
  "products:write": "read drafts and change or delete products",
  "orders:read": "read all orders with names and addresses",
  "orders:write": "create, cancel and refund orders",
  "wishlist:read": "read all wishlists",
  "wishlist:write": "change all wishlists",
  "rewards:read": "read all reward points",
  "rewards:write": "give away reward points",
  "users:read": "read all users",
  "users:write": "change and delete customers",
  "events:read": "read all events",
  "notifications:write": "send notifications to all customers",
  "media:write": "upload pictures until the quota is used up",
};

/** Returns an empty list for the scopes of a storefront key. */
export function listVisitorActs(scopes: readonly string[]): string[] {
  return knownScopes.flatMap((scope) => (scopes.includes(scope) ? (visitorActs[scope] ?? []) : []));
}
