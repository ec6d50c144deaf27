import { codeOf, type ErrorKind, meaningOf, remedyOf, statusOf } from "../../errors.ts";
import { allowsAnonymous, asksOwnToken, ignoresCredentials, type Route } from "../../http/route.ts";
import { takesKey } from "../answers.ts";
import type { Json, Schemas } from "./schemas.ts";

/** Errors that most routes can reply with. Even routes that need no credentials verify credentials that are sent. */
const general: readonly ErrorKind[] = [
  "internalError",
  "unavailable",
  "malformedRequest",
  "namespaceMissing",
  "validationFailed",
  "unsupportedMediaType",
  "bodyTooLarge",
  "invalidAppCredentials",
  "appAuthFailed",
  "invalidTokenParams",
  "tokenNotFound",
  "notAuthenticated",
  "tokenExpired",
  "tooManyAuthAttempts",
  "userTokenInvalid",
  "storeNotFound",
  "forbidden",
];
function generalErrors({ method, access, signed, errors = [] }: Route): [name: string, kinds: ErrorKind[]] {
  const find = (name: string, ...hidden: ErrorKind[]): [string, ErrorKind[]] => {
    const isRead = method === "GET";
    if (isRead) hidden.push("unsupportedMediaType", "bodyTooLarge");
    return [isRead ? `Read${name}` : name, general.filter((kind) => !hidden.includes(kind) || errors.includes(kind))];
  };
  if (asksOwnToken(access)) return find("OwnTokenError", "tokenNotFound", "tokenExpired");
  if (ignoresCredentials(access)) {
    if (signed)
      return find("SignedError", "appAuthFailed", "tokenNotFound", "tokenExpired", "userTokenInvalid", "forbidden");
    const unread = ["appAuthFailed", "tokenNotFound", "notAuthenticated", "tokenExpired"] as const;
    return find("UnsignedError", ...unread, "userTokenInvalid", "forbidden");
  }
  if (allowsAnonymous(access)) return find("PublicError", "userTokenInvalid", "forbidden");
  return find("Error", "userTokenInvalid");
}

const content = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };
const explain = (kind: ErrorKind) =>
  `${codeOf(kind)} (${statusOf(kind)}): ${[meaningOf(kind), remedyOf(kind)].filter(Boolean).join(" ")}`;

export function errorResponses(route: Route, schemas: Schemas): Record<string, Json> {
  const kinds = ownErrors(route);
  const isInvalid = kinds.some((kind) => statusOf(kind) === statusOf("validationFailed"));
  const byStatus = Map.groupBy(isInvalid ? ["validationFailed" as const, ...kinds] : kinds, statusOf);
  const share = (name: string, lines: string[]) => {
    schemas.responses[name] ??= { description: lines.join("\n\n"), content };
    return { $ref: `#/components/responses/${name}` };
  };
  const responses = [...byStatus].map(([status, list]) => {
    const lines = list.map((kind) => `${codeOf(kind)}: ${meaningOf(kind)}`);
    return [status, share(list.join("_"), lines)];
  });
  const [name, more] = generalErrors(route);
  const isServerError = (kind: ErrorKind) => statusOf(kind) >= 500;
  const client = share(name, ["An error.", ...more.filter((kind) => !isServerError(kind)).map(explain)]);
  const server = share("ServerError", ["An error.", ...more.filter(isServerError).map(explain)]);
  return { ...Object.fromEntries(responses), "4XX": client, "5XX": server };
}

/** Lists the errors that a route declares or that follow from its path and headers, except the general ones. */
function ownErrors(route: Route): ErrorKind[] {
  const errors = new Set<ErrorKind>(route.errors);
  if (route.path.includes(":")) errors.add("notFound");
  if (route.conditional) errors.add("preconditionFailed");
  if (takesKey(route)) errors.add("idempotencyKeyReused");
  return [...errors].filter((kind) => !general.includes(kind)).sort((a, b) => codeOf(a) - codeOf(b));
}
