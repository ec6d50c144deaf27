import { type AppError, invalidAppCredentials, invalidTokenParams, namespaceMissing } from "../errors.ts";
import { allowsAnonymous, asksOwnToken, ignoresCredentials, type Route } from "../http/route.ts";
import type { Body } from "./body.ts";

/** Parameters that the query or the body may contain; the query takes precedence. */
export const commonParameters = ["namespace", "lang", "app_id", "app_secret", "user_id", "token"] as const;

type CommonParameter = (typeof commonParameters)[number];

export type Common = Partial<Record<CommonParameter, string>>;

/**
 * Removes the common parameters from a body and returns them. The field `own` stays in the body. A value that is not a
 * string becomes an empty text, which every check refuses.
 */
export function popCommonParams(body: Record<string, unknown> | undefined, own?: CommonParameter): Common {
  const common: Common = {};
  for (const name of commonParameters) {
    if (!body || name === own || !Object.hasOwn(body, name)) continue;
    const value = body[name];
    common[name] = typeof value === "string" ? value : "";
    delete body[name];
  }
  return common;
}

/** App credentials, or their error, which is thrown only after the store was found. Null if none were sent. */
type KeyCredentials = { value: { appId: string; appSecret: string } } | { error: AppError } | null;

/** Parses `Authorization: Bearer <id>:<secret>`. User ids begin with `usr_`. */
function readBearer(authorization: string | null) {
  if (authorization === null || !/^bearer(?: |$)/i.test(authorization)) return null;
  const value = authorization.slice("bearer".length).trim();
  const colon = value.indexOf(":");
  const [id, secret] = colon === -1 ? [value] : [value.slice(0, colon), value.slice(colon + 1)];
  return { id, secret, isUser: id.startsWith("usr_") };
}

/** Reads the app credentials from the header; if it has none, from query or body (specification, section 5). */
function readAppCredentials(header: ReturnType<typeof readBearer>, common: Common): KeyCredentials {
  if (header && !header.isUser) {
    const form = "Authorization must be `Bearer <app_id>:<app_secret>`, with the colon.";
    if (header.secret === undefined) return { error: invalidAppCredentials(form) };
    return checkForm(header.id, header.secret);
  }
  if (common.app_id === undefined && common.app_secret === undefined) return null;
  return checkForm(common.app_id ?? "", common.app_secret ?? "");
}

const visible = /^[\x21-\x7e]{1,256}$/;

function checkForm(appId: string, appSecret: string): KeyCredentials {
  if (!visible.test(appId)) return { error: invalidAppCredentials("`app_id` is missing or malformed.") };
  if (!visible.test(appSecret)) return { error: invalidAppCredentials("`app_secret` is missing or malformed.") };
  return { value: { appId, appSecret } };
}

export interface TokenCredentials {
  userId: string;
  token: string;
}

type UserCredentials = Partial<Record<"user_id" | "token", string | undefined>>;

/**
 * Returns the user's credentials; null if none were sent. Together with app credentials, `user_id` only names a user.
 * @throws invalidTokenParams if id or token is missing or malformed.
 */
export function tokenCredentialsOf(sent: UserCredentials, besideApp: boolean): TokenCredentials | null {
  const { user_id: userId, token } = sent;
  if (token === undefined && (userId === undefined || besideApp)) return null;
  if (!userId || !visible.test(userId)) throw invalidTokenParams("`user_id` is missing or malformed.");
  if (!token || !visible.test(token)) throw invalidTokenParams("`token` is missing or malformed.");
  return { userId, token };
}

/** Whether the body can contain the namespace or credentials, so that it must be read before they are checked. */
export function bodyMayCarryCredentials(route: Route, query: Common, authorization: string | null): boolean {
  if (route.method === "GET" || route.upload) return false;
  if (query.namespace === undefined) return true;
  if (ignoresCredentials(route.access)) return false;
  const header = readBearer(authorization);
  const namesUser = header?.isUser || ("user_id" in query && "token" in query);
  if ((allowsAnonymous(route.access) || asksOwnToken(route.access)) && !namesUser) return true;
  // Even with a user token in query or header, the body may contain app credentials, and one valid credential suffices.
  return (header === null || header.isUser) && !("app_id" in query && "app_secret" in query);
}

export type RequestCredentials = ReturnType<typeof extractCredentials>;

/** In the result, `key` is the app credentials. `app` is the same, or null if the route ignores credentials. */
export function extractCredentials(
  route: Route,
  query: Common,
  authorization: string | null,
  body: Record<string, unknown> | undefined,
) {
  const header = readBearer(authorization);
  const { user_id, token } = query;
  const common = body ? { ...popCommonParams(body, route.ownField), ...query } : query;
  const key = readAppCredentials(header, common);
  // User credentials in the query take precedence over the header. Those in the body are read only on routes about the
  // token itself, and on public routes, so that a public write belongs to the user and not to a visitor.
  const inBody = asksOwnToken(route.access) || allowsAnonymous(route.access) ? common : undefined;
  const beside = header?.isUser ? { user_id: header.id, token: header.secret ?? "" } : inBody;
  const user = { user_id: user_id ?? beside?.user_id, token: token ?? beside?.token };
  return { common, app: ignoresCredentials(route.access) ? null : key, key, user };
}

/**
 * Returns the namespace. If it is missing, throws invalidAppCredentials or invalidTokenParams for a request with such
 * credentials (specification, section 7), and namespaceMissing for other requests.
 */
export function requireNamespace(
  { common: { namespace }, app, user }: RequestCredentials,
  body: Body | undefined,
): string {
  if (namespace) return namespace;
  // An unreadable body may contain the namespace, so the error of the body is more helpful.
  if (namespace === undefined && body?.error) throw body.error;
  if (app !== null) throw invalidAppCredentials("`namespace` is missing.");
  if (user.user_id !== undefined || user.token !== undefined) throw invalidTokenParams("`namespace` is missing.");
  throw namespaceMissing();
}
