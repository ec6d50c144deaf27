import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import { codeOf, type ErrorKind, meaningOf, remedyOf, statusOf } from "../errors.ts";
import { type Access, asksOwnToken, isUnsigned } from "../http/access.ts";
import type { Route } from "../http/route.ts";
import { isOptional } from "../values/validate.ts";
import { commonParameters as commonParameterNames } from "./credentials.ts";
import { takesKey } from "./idempotency.ts";
import { partReference, plain, reference } from "./openapi-schema.ts";

type Json = Record<string, unknown>;

/** Codes that any route can answer. */
const always: ErrorKind[] = ["internalError", "unavailable", "malformedRequest", "namespaceMissing", "storeNotFound"];
/** Whatever is sent is judged, also where another method is asked for. */
const credentialErrors: ErrorKind[] = [
  "invalidAppCredentials",
  "appAuthFailed",
  "invalidTokenParams",
  "tokenNotFound",
  "notAuthenticated",
  "tokenExpired",
  "tooManyAuthAttempts",
];
const ownTokenErrors: ErrorKind[] = [
  "invalidAppCredentials",
  "appAuthFailed",
  "invalidTokenParams",
  "notAuthenticated",
  "tooManyAuthAttempts",
  "userTokenInvalid",
];
const bodyErrors: ErrorKind[] = ["validationFailed", "unsupportedMediaType", "bodyTooLarge"];

const ErrorSchema = Type.Object({
  request_id: Type.String(),
  error: Type.Object({
    code: Type.Integer(),
    message: Type.String(),
    remedy: Type.Optional(Type.String()),
    details: Type.Optional(Type.Array(Type.Object({ field: Type.String(), message: Type.String() }))),
  }),
});
const PageSchema = Type.Object({
  next_cursor: Type.Union([Type.String(), Type.Null()]),
  has_more: Type.Boolean(),
  limit: Type.Integer(),
  total: Type.Optional(Type.Integer({ description: "With `include_total=true`, where a list takes it." })),
});

/** Every error that a route can answer: its own, and those that its access and input bring with them; by code. */
export function errorsOf(route: Route): ErrorKind[] {
  const errors = new Set<ErrorKind>([...always, ...route.errors, "validationFailed"]);
  const add = (more: readonly ErrorKind[]) => {
    for (const kind of more) errors.add(kind);
  };
  if (isUnsigned(route.access)) add(["tooManyAuthAttempts"]);
  else add(asksOwnToken(route.access) ? ownTokenErrors : credentialErrors);
  if (!route.access.some((way) => way.kind === "public")) add(["forbidden"]);
  if (route.method !== "GET") add(bodyErrors);
  if (route.conditional) add(["preconditionFailed"]);
  if (takesKey(route)) add(["idempotencyKeyReused"]);
  return [...errors].sort((a, b) => codeOf(a) - codeOf(b));
}

/** The OpenAPI 3.1 description of the routes, made from what the server itself checks. */
export function describeApi(routes: readonly Route[], version: string): Json {
  const schemas: Record<string, unknown> = { Error: plain(ErrorSchema), Page: plain(PageSchema) };
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, schemas) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Bodega",
      version,
      description: "Store and content back end. Every reply is `{request_id, data}` or `{request_id, error}`.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas,
      securitySchemes: {
        app: { type: "http", scheme: "bearer", description: "`Authorization: Bearer <app_id>:<app_secret>`" },
        appId: { type: "apiKey", in: "query", name: "app_id", description: "The header keeps secrets out of URLs." },
        appSecret: { type: "apiKey", in: "query", name: "app_secret" },
        userId: { type: "apiKey", in: "query", name: "user_id" },
        token: { type: "apiKey", in: "query", name: "token" },
      },
    },
  };
}

function operation(route: Route, schemas: Record<string, unknown>): Json {
  const { data, status = 200, page, single } = route.reply;
  const usual = envelope(
    route.query?.properties.fields ? partReference(data, schemas) : reference(data, schemas),
    page,
  );
  const content = json(single ? { oneOf: [usual, envelope(reference(single, schemas))] } : usual);
  const success: Json = { description: "Success", headers: requestIdHeader(), content };
  return {
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    description: `Who may call: ${route.access.map(describeAccess).join(", or ")}.`,
    security: route.access.flatMap(security),
    parameters: [
      ...commonParameters(route),
      ...objectParameters(route.params, "path"),
      ...objectParameters(route.query, "query"),
      ...ifMatch(route),
      ...idempotencyKey(route),
    ],
    ...(route.body && {
      requestBody: { required: isRequired(route.body), content: json(bodyReference(route.body, schemas)) },
    }),
    responses: { [status]: success, ...notCreated(route, success), ...errorResponses(errorsOf(route)) },
  };
}

/** The schema of a success whose `data` has this one. */
function envelope(data: unknown, page = false): Json {
  return {
    type: "object",
    required: ["request_id", "data", ...(page ? ["page"] : [])],
    properties: {
      request_id: { type: "string" },
      data,
      ...(page && { page: { $ref: "#/components/schemas/Page" } }),
    },
  };
}

function errorResponses(kinds: readonly ErrorKind[]): Record<string, Json> {
  const byStatus = new Map<number, ErrorKind[]>();
  for (const kind of kinds) byStatus.set(statusOf(kind), [...(byStatus.get(statusOf(kind)) ?? []), kind]);
  const responses: Record<string, Json> = {};
  for (const [status, list] of byStatus) {
    const description = list
      .map((kind) => `${codeOf(kind)}: ${meaningOf(kind)}${remedyOf(kind) ? ` ${remedyOf(kind)}` : ""}`)
      .join("\n\n");
    responses[status] = {
      description,
      headers: requestIdHeader(),
      content: json({
        allOf: [
          { $ref: "#/components/schemas/Error" },
          { properties: { error: { properties: { code: { enum: list.map(codeOf) } } } } },
        ],
      }),
    };
  }
  return responses;
}

function commonParameters(route: Route): Json[] {
  return [
    {
      name: "namespace",
      in: "query",
      required: route.method === "GET",
      description: "The tenant. Required, here or in the JSON body; the query wins.",
      schema: { type: "string" },
    },
    { name: "lang", in: "query", required: false, description: "Language code.", schema: { type: "string" } },
  ];
}

function objectParameters(schema: TObject | undefined, where: "path" | "query"): Json[] {
  if (!schema) return [];
  return Object.entries(schema.properties).map(([name, property]) => {
    const { description, ...rest } = plain(property);
    return {
      name,
      in: where,
      required: where === "path" || !isOptional(property),
      ...(description !== undefined && { description }),
      schema: rest,
    };
  });
}

function ifMatch(route: Route): Json[] {
  if (!route.conditional) return [];
  const description = "The `ETag` that the record must still have, or several, of which one must fit.";
  return [{ name: "If-Match", in: "header", required: false, description, schema: { type: "string" } }];
}

function idempotencyKey(route: Route): Json[] {
  if (!takesKey(route)) return [];
  const description =
    "With the same key the request is done once within 24 hours, however often it is sent, and answered alike.";
  const schema = { type: "string", minLength: 1, maxLength: 255, pattern: "^[!-~]+$" };
  return [{ name: "Idempotency-Key", in: "header", required: false, description, schema }];
}

/** The reply beside 201: what was only tried, or was there before, is not created. */
function notCreated({ query, reply }: Route, success: Json): Json {
  const isTry = query?.properties.dry_run && reply.status === 201;
  const description = isTry ? "What it would have been, with `dry_run=true`." : reply.existing;
  return description === undefined ? {} : { 200: { ...success, description } };
}

function requestIdHeader(): Json {
  return { "X-Request-Id": { description: "Equal to `request_id`.", schema: { type: "string" } } };
}

function describeAccess(access: Access): string {
  if (access.kind === "app") return `app keys with the scope \`${access.scope}\``;
  if (access.kind === "token" && access.own) return "the signed-in user, by the token that it is about";
  if (access.kind === "token") return access.role ? "staff with a user token" : "signed-in users with a token";
  return "anyone";
}

/** The ways to prove what a route asks for; any one of them will do. */
function security(access: Access): Json[] {
  if (access.kind === "app") return [{ app: [] }, { appId: [], appSecret: [] }];
  return [access.kind === "token" ? { userId: [], token: [] } : {}];
}

function json(schema: unknown): Json {
  return { "application/json": { schema } };
}

const inQuery = "May stand in the query instead, which wins.";
const commonHelp: Record<string, string> = {
  user_id: `Beside app credentials: whom the call is about. ${inQuery} User tokens are sent with theirs in the query.`,
  token: "A user's token is sent in the query, except to refresh and logout, which take it here as well.",
};

/** The schema of a body, with the parameters that may stand in any body beside its own fields. */
function bodyReference(schema: TSchema, schemas: Record<string, unknown>): unknown {
  const body = reference(schema, schemas);
  const target = schema.$id === undefined ? body : schemas[schema.$id];
  const properties = (target as { properties?: Record<string, unknown> }).properties ?? {};
  for (const name of commonParameterNames) {
    properties[name] ??= { type: "string", description: commonHelp[name] ?? inQuery };
  }
  return body;
}

/** Whether there is a field that a body cannot do without. */
function isRequired(schema: TSchema): boolean {
  return !("properties" in schema) || (schema.required ?? []).length > 0;
}
