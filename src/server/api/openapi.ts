import { type TSchema, Type } from "@sinclair/typebox";
import { codeOf, type ErrorKind, meaningOf, remedyOf, statusOf } from "../errors.ts";
import { type Access, asksOwnToken, isUnsigned } from "../http/access.ts";
import type { Route, Upload } from "../http/route.ts";
import { pageSchema } from "../pagination/list-page.ts";
import { takesKey } from "./idempotency.ts";
import { bodyReference, parametersOf, partReference, plain, reference } from "./openapi-parameters.ts";

type Json = Record<string, unknown>;

/** Errors that any route can answer. */
const always: ErrorKind[] = ["internalError", "unavailable", "malformedRequest", "namespaceMissing", "storeNotFound"];
/** All credentials that are sent are verified, also those that the route does not need. */
const keyErrors: ErrorKind[] = ["invalidAppCredentials", "appAuthFailed", "invalidTokenParams", "notAuthenticated"];
const credentialErrors: ErrorKind[] = [...keyErrors, "tokenNotFound", "tokenExpired", "tooManyAuthAttempts"];
const ownTokenErrors: ErrorKind[] = [...keyErrors, "userTokenInvalid", "tooManyAuthAttempts"];
const bodyErrors: ErrorKind[] = ["validationFailed", "unsupportedMediaType", "bodyTooLarge"];

const ErrorSchema = Type.Object({
  request_id: Type.String({ description: "Id of the request, also in the server's log. Quote it in bug reports." }),
  error: Type.Object({
    code: Type.Integer({ description: "Numeric code of the error; it never changes." }),
    message: Type.String({ description: "Description of the error for people. Its text may change." }),
    remedy: Type.Optional(Type.String({ description: "How to correct the request, or when to repeat it." })),
    details: Type.Optional(
      Type.Array(
        Type.Object({
          field: Type.String({ description: "Path of the invalid field, such as `images.0.url`." }),
          message: Type.String(),
        }),
        { description: "The invalid fields." },
      ),
    ),
  }),
});

interface SystemPage {
  id: string;
  summary: string;
  /** Schema of `data`; undefined for a page without the envelope. */
  data?: TSchema;
  /** Content type; JSON by default. */
  type?: string;
  errors: readonly ErrorKind[];
}

const systemTag = "System";
const statusOk = Type.Object({ status: Type.Literal("ok") });
/** The pages outside the API by path; all but files need no namespace. */
export const systemPages = {
  "/health/live": { id: "getLiveness", summary: "Check that the process runs", data: statusOk, errors: [] },
  "/health/ready": {
    id: "getReadiness",
    summary: "Check that the server can work",
    data: statusOk,
    errors: ["unavailable"],
  },
  "/openapi.json": { id: "getDescription", summary: "Get this description", errors: [] },
  "/metrics": {
    id: "getMetrics",
    summary: "Get metrics for Prometheus, if the server has a token for them",
    type: "text/plain",
    errors: ["notAuthenticated", "routeNotFound", "unavailable"],
  },
  /** Files are no part of the API, although a route answers them, which describes them as well. */
  "/media/{id}/{file}": { id: "getMedia", summary: "Get a picture", type: "image/webp", errors: ["notFound"] },
} as const satisfies Record<string, SystemPage>;
const headers = { "X-Request-Id": { description: "The same as `request_id`.", schema: { type: "string" } } };
/** The answer of the HTTP parser, which any path can get. */
const fromParser = { 431: { $ref: "#/components/responses/HeadersTooLarge" } };

/** All errors that a route can answer, by code: its own and those that its access and input imply. */
function errorsOf(route: Route): ErrorKind[] {
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

/** The OpenAPI 3.1 description of the routes, generated from the schemas that the server checks. */
export function describeApi(routes: readonly Route[], version: string): Json {
  const schemas: Record<string, unknown> = { Error: plain(ErrorSchema), Page: plain(pageSchema) };
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, schemas) };
  }
  for (const [path, page] of Object.entries(systemPages)) paths[path] ??= describePage(page);
  return {
    openapi: "3.1.0",
    info: {
      title: "Bodega",
      version,
      description:
        "Store and content back end. Every reply is `{request_id, data}` or `{request_id, error}`; lists add `page`. " +
        "The exceptions are pictures, `/openapi.json`, `/metrics`, and replies to requests that are not valid HTTP.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    tags: [...new Set([...routes.map((route) => route.tag), systemTag])].map((name) => ({ name })),
    paths,
    components: {
      schemas,
      responses: {
        HeadersTooLarge: { description: "The headers are too large. The reply has no body and no `X-Request-Id`." },
      },
      securitySchemes: {
        app: {
          type: "http",
          scheme: "bearer",
          description:
            "`Authorization: Bearer <app_id>:<app_secret>`. Preferred over the query, because URLs are logged.",
        },
        appId: {
          type: "apiKey",
          in: "query",
          name: "app_id",
          description: "For storefront keys, and where the header cannot be sent.",
        },
        appSecret: { type: "apiKey", in: "query", name: "app_secret" },
        user: {
          type: "http",
          scheme: "bearer",
          description: "`Authorization: Bearer <user_id>:<token>`. The query takes precedence.",
        },
        userId: { type: "apiKey", in: "query", name: "user_id" },
        token: { type: "apiKey", in: "query", name: "token" },
        metrics: { type: "http", scheme: "bearer", description: "The value of `BODEGA_METRICS_TOKEN`." },
      },
    },
  };
}

function operation(route: Route, schemas: Record<string, unknown>): Json {
  const { data, status = 200, page, single, type } = route.reply;
  const usual = envelope(
    route.query?.properties.fields ? partReference(data, schemas) : reference(data, schemas),
    page,
  );
  const whole = json(single ? { oneOf: [usual, envelope(reference(single, schemas))] } : usual);
  const content = type === undefined ? whole : { [type]: { schema: {} } };
  const success: Json = { description: "Success", headers, content };
  const body = route.body && bodyReference(route.body, schemas);
  return {
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    description: `Allowed callers: ${route.access.map(describeAccess).join(", or ")}.`,
    security: route.access.flatMap(security),
    parameters: parametersOf(route),
    ...(route.upload && { requestBody: { required: true, content: uploadContent(route.upload) } }),
    ...(route.body && {
      requestBody: {
        required: !("properties" in route.body) || (route.body.required ?? []).length > 0,
        content: { ...json(body), ...(route.plainText && { "text/plain": { schema: body } }) },
      },
    }),
    responses: {
      [status]: success,
      ...notCreated(route, success),
      ...(route.readState && { 304: { description: "Unchanged since the reply with this `ETag`.", headers } }),
      ...errorResponses(errorsOf(route)),
      ...fromParser,
    },
  };
}

function uploadContent({ types }: Upload): Json {
  const form = { type: "object", required: ["file"], properties: { file: { type: "string", format: "binary" } } };
  const files = types.map((type) => [type, { schema: { type: "string", format: "binary" } }]);
  return { ...Object.fromEntries(files), "multipart/form-data": { schema: form } };
}

function describePage({ id, summary, data, type = "application/json", errors }: SystemPage): Json {
  const content = { [type]: { schema: data ? envelope(plain(data)) : {} } };
  const success = { description: "Success", headers, content };
  const responses = { 200: success, ...errorResponses(["internalError", ...errors]), ...fromParser };
  const security = errors.includes("notAuthenticated") ? [{ metrics: [] }] : [{}];
  return { get: { operationId: id, tags: [systemTag], summary, security, parameters: [], responses } };
}

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
      headers,
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

/** The 200 reply of a route that otherwise answers 201: a dry run, or a record that existed before. */
function notCreated({ query, reply }: Route, success: Json): Json {
  const isTry = query?.properties.dry_run && reply.status === 201;
  const description = isTry ? "With `dry_run=true`: the record that would be created." : reply.existing;
  return description === undefined ? {} : { 200: { ...success, description } };
}

function describeAccess(access: Access): string {
  if (access.kind === "app") return `app keys with the scope \`${access.scope}\``;
  if (access.kind === "token" && access.own) return "the user to whom the sent token belongs";
  if (access.kind === "token") return access.role ? "staff and owners with a user token" : "users with a user token";
  return "anyone";
}

/** The security requirements of a route; any one of them suffices. */
function security(access: Access): Json[] {
  if (access.kind === "app") return [{ app: [] }, { appId: [], appSecret: [] }];
  return access.kind === "token" ? [{ user: [] }, { userId: [], token: [] }] : [{}];
}

function json(schema: unknown): Json {
  return { "application/json": { schema } };
}
