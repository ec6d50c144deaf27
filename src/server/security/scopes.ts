import { invalidField } from "../errors.ts";

/**
 * The scopes of app keys. Each has a text: what visitors of a page could do if its key had the scope. The text is empty
 * for scopes that a page may have. `*` means all scopes, also future ones.
 */
const visitorActs = {
  "*": "do everything in the store",
  "catalog:read": "",
  "products:read": "",
  "products:write": "read drafts and change or delete products",
  "orders:read": "read all orders with names and addresses",
  "orders:write": "create, cancel and refund orders",
  "orders:place": "",
  "wishlist:read": "read all wishlists",
  "wishlist:write": "change all wishlists",
  "rewards:read": "read all reward points",
  "rewards:write": "give away reward points",
  "users:read": "read all users",
  "users:write": "change and delete customers",
  "events:read": "read all events",
  "notifications:write": "send notifications to all customers",
  "customers:sign-up": "",
  "auth:forward": "",
  "media:write": "upload pictures until the quota is used up",
  "settings:write": "change shipping, taxes and discount codes",
};

type KnownScope = keyof typeof visitorActs;
export type Scope = Exclude<KnownScope, "*">;

export const knownScopes = Object.keys(visitorActs) as KnownScope[];

/** Returns distinct scopes, in the order above. `orders:*` means all scopes of orders. Errors: validationFailed. */
export function parseScopes(scopes: readonly string[]): string[] {
  const wanted = new Set(scopes.flatMap((scope) => parseScope(scope)));
  if (wanted.size === 0) throw invalidField("scopes", "must contain at least one scope");
  return knownScopes.filter((scope) => wanted.has(scope));
}

function parseScope(scope: string): string[] {
  const meant = knownScopes.filter(
    (known) => known === scope || (scope.endsWith(":*") && known.startsWith(scope.slice(0, -1))),
  );
  if (meant.length > 0) return meant;
  throw invalidField("scopes", `has the unknown scope ${JSON.stringify(scope)}. Known: ${knownScopes.join(", ")}`);
}

/** Whether the scopes include this one. Writing does not include reading. */
export function hasScope(scopes: ReadonlySet<string>, scope: Scope): boolean {
  return scopes.has("*") || scopes.has(scope);
}

/** The scopes of keys for three purposes: for pages, for the store's own server, and for a program that imports. */
export const keyPurposes: Record<"storefront" | "backend" | "import", readonly KnownScope[]> = {
  storefront: ["catalog:read", "orders:place", "customers:sign-up"],
  backend: ["*"],
  import: ["products:read", "products:write", "media:write"],
};

/** Lists what visitors of a page could do if its key had these scopes. Empty for the scopes of a storefront key. */
export function listVisitorActs(scopes: readonly string[]): string[] {
  return knownScopes.flatMap((scope) => (scopes.includes(scope) ? visitorActs[scope] || [] : []));
}
