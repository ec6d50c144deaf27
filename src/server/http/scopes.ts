import { invalidField } from "../errors.ts";

/** What an app key can be allowed to do; `*` is everything, now and later. */
export const knownScopes = [
  "*",
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
] as const;

/** A scope that a route can ask for. */
export type Scope = Exclude<(typeof knownScopes)[number], "*">;

/**
 * Scopes without doubles, in the order of the list above; `orders:*` stands for all of the orders' scopes.
 * @throws validationFailed naming `scopes` for one that does not exist.
 */
export function parseScopes(scopes: readonly string[]): string[] {
  const wanted = new Set(scopes.flatMap((scope) => parseScope("scopes", scope)));
  if (wanted.size === 0) throw invalidField("scopes", "must hold at least one scope");
  return knownScopes.filter((scope) => wanted.has(scope));
}

/**
 * What one scope, or a family of them, stands for.
 * @throws validationFailed naming `field` for one that does not exist.
 */
export function parseScope(field: string, scope: string): string[] {
  const meant = knownScopes.filter((known) => known === scope || isFamilyOf(scope, known));
  if (meant.length > 0) return meant;
  throw invalidField(field, `does not know ${JSON.stringify(scope)}; there are ${knownScopes.join(", ")}`);
}

function isFamilyOf(pattern: string, scope: string): boolean {
  return pattern.endsWith(":*") && scope.startsWith(pattern.slice(0, -1));
}

/** Whether a key with these scopes may do what the scope names. Writing does not include reading. */
export function hasScope(scopes: ReadonlySet<string>, scope: Scope): boolean {
  return scopes.has("*") || scopes.has(scope);
}
