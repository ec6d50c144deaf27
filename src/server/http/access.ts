import type { Scope } from "../security/scopes.ts";

export type Access =
  | { kind: "app"; scope?: Scope }
  | { kind: "token"; role?: "staff"; own?: true }
  | { kind: "public"; noAuth?: true };

export function app(scope: Scope): Access {
  return { kind: "app", scope };
}

export const anyKey: Access = { kind: "app" };
export const token: Access = { kind: "token" };
export const staff: Access = { kind: "token", role: "staff" };

/**
 * The user whose token the call is about: refresh and logout (specification, section 4, rule 6). The token may be in
 * the body, is verified first, and fails with userTokenInvalid.
 */
export const ownToken: Access = { kind: "token", own: true };

/** Verifies credentials if some are sent. */
export const publicAccess: Access = { kind: "public" };

/** Ignores credentials (specification, section 4, rule 2): an old token must not prevent a new login. */
export const noAuth: Access = { kind: "public", noAuth: true };

// Called several times per request, so these functions are created once.
const isOwnToken = (method: Access) => method.kind === "token" && method.own === true;
const isPublic = (method: Access) => method.kind === "public";
const isNoAuth = (method: Access) => method.kind === "public" && method.noAuth === true;

export const asksOwnToken = (access: readonly Access[]): boolean => access.some(isOwnToken);
export const allowsAnonymous = (access: readonly Access[]): boolean => access.some(isPublic);
export const ignoresCredentials = (access: readonly Access[]): boolean => access.some(isNoAuth);
