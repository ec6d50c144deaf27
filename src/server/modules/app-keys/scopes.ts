import { invalidField } from "../../errors.ts";

/** What an app key can be allowed to do; `*` is everything, now and later. */
export const knownScopes = ["*", "products:read", "products:write", "users:read", "users:write"] as const;

/** A scope that a route can ask for. */
export type Scope = Exclude<(typeof knownScopes)[number], "*">;

/**
 * Scopes without doubles, in the order of the list above.
 * @throws AppError 5102 naming `scopes` for one that does not exist.
 */
export function parseScopes(scopes: readonly string[]): string[] {
  for (const scope of scopes) {
    if (!(knownScopes as readonly string[]).includes(scope)) {
      throw invalidField("scopes", `does not know ${JSON.stringify(scope)}; there are ${knownScopes.join(", ")}`);
    }
  }
  if (scopes.length === 0) throw invalidField("scopes", "must hold at least one scope");
  return knownScopes.filter((scope) => scopes.includes(scope));
}

/** Whether a key with these scopes may do what the scope names. Writing does not include reading. */
export function hasScope(scopes: ReadonlySet<string>, scope: Scope): boolean {
  return scopes.has("*") || scopes.has(scope);
}
