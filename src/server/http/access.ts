import type { Scope } from "../modules/app-keys/scopes.ts";

/** Who may call a route: an app key with a scope, a signed-in user, or anyone at all. */
export type Access = { kind: "app"; scope: Scope } | { kind: "token"; role?: "staff" } | { kind: "public" };

/** App keys that hold the scope. */
export function app(scope: Scope): Access {
  return { kind: "app", scope };
}

/** Any signed-in user. */
export const token: Access = { kind: "token" };

/** Signed-in users with the role staff or owner. */
export const staff: Access = { kind: "token", role: "staff" };

/** Anyone who names a tenant. */
export const anyone: Access = { kind: "public" };
