import { type TSchema, Type } from "@sinclair/typebox";
import { codeOf, type ErrorKind, meaningOf, remedyOf, statusOf } from "../../errors.ts";
import { allowsAnonymous, asksOwnToken, ignoresCredentials, type Route } from "../../http/route.ts";
import { output } from "../../values/schema.ts";
import { takesKey } from "../answers.ts";
import { type Json, type Schemas, success } from "./schemas.ts";

/** Most routes can reply with these, because credentials are verified even on routes that need none. */
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
function generalErrors({ method, access, errors = [] }: Route): [name: string, kinds: ErrorKind[]] {
  const find = (name: string, ...hidden: ErrorKind[]): [string, ErrorKind[]] => {
    const isRead = method === "GET";
    if (isRead) hidden.push("unsupportedMediaType", "bodyTooLarge");
    return [isRead ? `Read${name}` : name, general.filter((kind) => !hidden.includes(kind) || errors.includes(kind))];
  };
  if (asksOwnToken(access)) return find("OwnTokenError", "tokenNotFound", "tokenExpired");
  if (ignoresCredentials(access)) {
    const unread = ["appAuthFailed", "tokenNotFound", "notAuthenticated", "tokenExpired"] as const;
    return find("UnsignedError", ...unread, "userTokenInvalid", "forbidden");
  }
  if (allowsAnonymous(access)) return find("PublicError", "userTokenInvalid", "forbidden");
  return find("Error", "userTokenInvalid");
}

const anyError = { $ref: "#/components/responses/AnyError" };
const content = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };
const explain = (kind: ErrorKind) =>
  `${codeOf(kind)} (${statusOf(kind)}): ${[meaningOf(kind), remedyOf(kind)].filter(Boolean).join(" ")}`;

export function errorResponses(kinds: readonly ErrorKind[], schemas: Schemas, route?: Route): Record<string, Json> {
  const isInvalid = kinds.some((kind) => statusOf(kind) === statusOf("validationFailed"));
  const byStatus = Map.groupBy(isInvalid ? ["validationFailed" as const, ...kinds] : kinds, statusOf);
  const responses = [...byStatus].map(([status, list]) => {
    const description = list.map((kind) => `${codeOf(kind)}: ${meaningOf(kind)}`).join("\n\n");
    const [kind, ...more] = list;
    if (kind === undefined || more.length > 0) return [status, { ...anyError, description }];
    schemas.responses[kind] ??= { description, content };
    return [status, { $ref: `#/components/responses/${kind}` }];
  });
  const [name, more] = route ? generalErrors(route) : ["AnyError", []];
  const share = (shared: string, isShared: (status: number) => boolean) => {
    const lines = more.filter((kind) => isShared(statusOf(kind))).map(explain);
    schemas.responses[shared] ??= { description: ["An error.", ...lines].join("\n\n"), content };
    return { $ref: `#/components/responses/${shared}` };
  };
  const client = share(name, (status) => status < 500);
  const server = share(route ? "ServerError" : "AnyError", (status) => status >= 500);
  return { ...Object.fromEntries(responses), "4XX": client, "5XX": server };
}

/** Lists the errors that a route declares or that follow from its path and headers; not those of all routes. */
export function ownErrors(route: Route): ErrorKind[] {
  const errors = new Set<ErrorKind>(route.errors);
  if (route.path.includes(":")) errors.add("notFound");
  if (route.conditional) errors.add("preconditionFailed");
  if (takesKey(route)) errors.add("idempotencyKeyReused");
  return [...errors].filter((kind) => !general.includes(kind)).sort((a, b) => codeOf(a) - codeOf(b));
}

interface SystemPage {
  id: string;
  summary: string;
  /** The schema of `data`; undefined for pages without the envelope. */
  data?: TSchema;
  type?: string;
  errors?: readonly ErrorKind[];
}

const warning = Type.Optional(Type.String({ description: "A problem for the operator to solve; the server works." }));
const health = output("Health", { status: Type.String({ description: "`ok`" }), warning });
const home = output("Home", {
  name: Type.String(),
  version: Type.String(),
  ready: Type.Boolean(),
  docs: Type.Optional(Type.String()),
  description: Type.String(),
});

export const systemPages = {
  "/": { id: "getHome", summary: "Get the server's version and state; browsers get a page", data: home },
  "/docs": {
    id: "getReference",
    summary: "Get this reference as a page, unless it is disabled",
    type: "text/html",
    errors: ["routeNotFound"],
  },
  "/health/live": { id: "getLiveness", summary: "Check that the process runs", data: health },
  "/health/ready": {
    id: "getReadiness",
    summary: "Check that the server is ready",
    data: health,
    errors: ["unavailable"],
  },
  "/openapi.json": { id: "getDescription", summary: "Get this description" },
  "/client.js": { id: "getClient", summary: "Get the client for JavaScript, as a module", type: "text/javascript" },
  "/client.d.ts": { id: "getClientTypes", summary: "Get the types of the client", type: "text/plain" },
  "/metrics": {
    id: "getMetrics",
    summary: "Get metrics for Prometheus, if the server has a token for them",
    type: "text/plain",
    errors: ["notAuthenticated", "routeNotFound", "unavailable"],
  },
  /** A route serves and describes files, although they are no part of the API. */
  "/media/{id}/{file}": { id: "getMedia", summary: "Get a picture", type: "image/webp", errors: ["notFound"] },
} as const satisfies Record<string, SystemPage>;

export function describePage(
  { id, summary, data, type = "application/json", errors = [] }: SystemPage,
  schemas: Schemas,
): Json {
  const schema = { type: type === "application/json" ? "object" : "string" };
  const reply = data ? schemas.shared(schemas.reply(id, data)) : success({ [type]: { schema } });
  const responses = { 200: reply, ...errorResponses(errors, schemas) };
  const security = errors.includes("notAuthenticated") ? [{ metrics: [] }] : [{}];
  return { get: { operationId: id, tags: ["System"], summary, security, parameters: [], responses } };
}
