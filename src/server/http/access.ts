import type { Scope } from "../security/scopes.ts";

/** Who may call a route: an app key with a scope, a signed-in user, or anyone at all. */
export type Access =
  | { kind: "app"; scope: Scope }
  | { kind: "token"; role?: "staff"; own?: true }
  | { kind: "public"; unsigned?: true };

/** App keys that hold the scope. */
export function app(scope: Scope): Access {
  return { kind: "app", scope };
}

/** Any signed-in user. */
export const token: Access = { kind: "token" };

/** Signed-in users with the role staff or owner. */
export const staff: Access = { kind: "token", role: "staff" };

/**
 * The signed-in user whose token the call is about: refresh and logout. The token may stand in the body, is judged by
 * itself whatever else is sent, and fails with userTokenInvalid (specification, section 4, rule 6).
 */
export const ownToken: Access = { kind: "token", own: true };

/** Anyone who names a tenant; who sends credentials is who they prove. */
export const anyone: Access = { kind: "public" };

/**
 * Anyone who names a tenant, and credentials are not looked at: login and password resets (specification, section 4,
 * rule 2). Clients send what they have with every call, and an old token must not keep its user from a new one.
 */
export const unsigned: Access = { kind: "public", unsigned: true };

/** Whether a route is about the very token that it is called with. */
export function asksOwnToken(access: readonly Access[]): boolean {
  return access.some((way) => way.kind === "token" && way.own === true);
}

/** Whether anyone may call a route. */
export function isOpen(access: readonly Access[]): boolean {
  return access.some((way) => way.kind === "public");
}

/** Whether a route looks at no credentials. */
export function isUnsigned(access: readonly Access[]): boolean {
  return access.some((way) => way.kind === "public" && way.unsigned === true);
}
