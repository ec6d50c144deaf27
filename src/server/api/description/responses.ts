import { codeOf, type ErrorKind, errorKinds, meaningOf, remedyOf, statusOf } from "../../errors.ts";
import type { Route } from "../../http/route.ts";
import { takesKey } from "../idempotency.ts";
import type { Json, Schemas } from "./schemas.ts";

/** Errors that any route can answer: all credentials that are sent are verified, also those that the route does not need. */
const general = new Set<ErrorKind>([
  "internalError",
  "unavailable",
  "malformedRequest",
  "namespaceMissing",
  "storeNotFound",
  "validationFailed",
  "unsupportedMediaType",
  "bodyTooLarge",
  "methodNotAllowed",
  "routeNotFound",
  "invalidAppCredentials",
  "appAuthFailed",
  "invalidTokenParams",
  "tokenNotFound",
  "notAuthenticated",
  "tokenExpired",
  "userTokenInvalid",
  "tooManyAuthAttempts",
  "forbidden",
]);
const error = { $ref: "#/components/responses/Error" };
const content = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };
const explain = (kind: ErrorKind) => [meaningOf(kind), remedyOf(kind)].filter(Boolean).join(" ");

/** The errors of a route besides those that any route can answer, by status. */
export function errorResponses(kinds: readonly ErrorKind[], schemas: Schemas): Record<string, Json> {
  const isInvalid = kinds.some((kind) => statusOf(kind) === statusOf("validationFailed"));
  const byStatus = Map.groupBy(isInvalid ? ["validationFailed" as const, ...kinds] : kinds, statusOf);
  const responses = [...byStatus].map(([status, list]) => {
    const description = list.map((kind) => `${codeOf(kind)}: ${meaningOf(kind)}`).join("\n\n");
    const [kind, ...more] = list;
    if (kind === undefined || more.length > 0) return [status, { ...error, description }];
    schemas.responses[kind] ??= { description, content };
    return [status, { $ref: `#/components/responses/${kind}` }];
  });
  return { ...Object.fromEntries(responses), "4XX": error, "5XX": error };
}

/** The errors that a route declares, and those of its path and headers, without those that any route can answer. */
export function ownErrors(route: Route): ErrorKind[] {
  const errors = new Set<ErrorKind>(route.errors);
  if (route.path.includes(":")) errors.add("notFound");
  if (route.conditional) errors.add("preconditionFailed");
  if (takesKey(route)) errors.add("idempotencyKeyReused");
  return [...errors].filter((kind) => !general.has(kind)).sort((a, b) => codeOf(a) - codeOf(b));
}

/** The components of responses. */
export function sharedResponses(): Record<string, Json> {
  const lines = errorKinds
    .filter((kind) => general.has(kind))
    .map((kind) => `${codeOf(kind)} (${statusOf(kind)}): ${explain(kind)}`);
  return {
    Error: {
      description: ["An error. These codes any operation can answer:", ...lines].join("\n\n"),
      content,
    },
    NotModified: { description: "Unchanged since the reply with this `ETag`." },
  };
}
