import { Type } from "@sinclair/typebox";
import { codeOf, errorKinds } from "../../errors.ts";
import type { Access, Route, Upload } from "../../http/route.ts";
import { pageSchema } from "../../pagination/list-page.ts";
import examples from "./examples.json";
import { describePage, systemPages } from "./pages.ts";
import { parametersOf, shareParameters } from "./parameters.ts";
import { errorResponses, ownErrors } from "./responses.ts";
import { type Json, Schemas, success } from "./schemas.ts";

const tags = {
  Products: "What a store sells, with variants, pictures, languages, filters and facets.",
  Categories: "A tree of categories; a product may be in any number.",
  Media: "Pictures of products, which are re-encoded and served in several widths.",
  Orders: "Placing orders, paying, fulfilling, cancelling and refunding them.",
  Wishlist: "Products that a customer wants to remember.",
  Rewards: "The points of a customer and their ledger.",
  Likes: "Likes of products and of the store's own resource types.",
  Bookmarks: "Bookmarks of products and of the store's own resource types.",
  Views: "Counts of views.",
  Authentication: "Sign-up, login, tokens, passwords.",
  "Two-factor": "One-time codes and recovery codes of the signed-in user.",
  Users: "The store's users and the caller's own profile.",
  Notifications: "Push messages and the devices that get them.",
  Events: "The store's events, oldest first.",
  System: "Pages outside the API, which need no namespace.",
};

const ErrorSchema = Type.Object(
  {
    request_id: Type.String({ description: "Id of the request, also in the server's log. Quote it in bug reports." }),
    error: Type.Object(
      {
        code: Type.Integer({
          enum: errorKinds.map(codeOf),
          description: "Numeric code of the error; it never changes. Later versions may have further codes.",
        }),
        type: Type.String({ description: "Name of the error, one for each code, such as `out_of_stock`." }),
        message: Type.String({ description: "Description of the error for people. Its text may change." }),
        remedy: Type.Optional(Type.String({ description: "How to correct the request, or when to repeat it." })),
        details: Type.Optional(
          Type.Array(
            Type.Object(
              {
                field: Type.String({ description: "Path of the invalid field, such as `images.0.url`." }),
                message: Type.String(),
                id: Type.Optional(Type.String({ description: "Of a conflict: the other record's id." })),
              },
              { $id: "FieldError" },
            ),
            { description: "The invalid fields." },
          ),
        ),
      },
      { $id: "ErrorBody" },
    ),
  },
  { $id: "Error" },
);

export function describeApi(routes: readonly Route[], version: string): Json {
  const schemas = new Schemas();
  schemas.reference(ErrorSchema);
  schemas.reference(pageSchema);
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, schemas) };
  }
  for (const [path, page] of Object.entries(systemPages)) paths[path] ??= describePage(page, schemas);
  return {
    openapi: "3.1.0",
    info: {
      title: "Bodega",
      version,
      description:
        "The back end of a shop: products with stock, customers, orders, rewards, and what pages need to show them. Each call is for one " +
        "store, which `namespace` names, with the credentials of an app key or of a signed-in user.\n\nThe first request, where " +
        "`bodega key issue` has printed id and secret:\n\n" +
        "```sh\ncurl -H 'Authorization: Bearer <app_id>:<app_secret>' \\\n  'http://127.0.0.1:8080/products/?namespace=demo&limit=5'\n```\n\n" +
        "Every reply is `{request_id, data}` or `{request_id, error}`; lists add `page`. `X-Request-Id` is the same as `request_id`. " +
        "The exceptions are pictures, `/docs`, `/client.*`, `/openapi.json`, `/metrics`, and replies to requests that are not valid HTTP.\n\n" +
        "Lengths of texts count UTF-16 units.\n\n" +
        "`namespace`, `lang`, `app_id`, `app_secret`, `user_id` and `token` can also be sent in a JSON body; the query takes " +
        "precedence. With app credentials, `user_id` names the user that a call about likes, bookmarks or views is about.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: usual,
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: schemas.components,
      parameters: shareParameters(paths),
      responses: {
        NotModified: { description: "Unchanged since the reply with this `ETag`." },
        ...schemas.responses,
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

const usual: Json[] = [{ app: [] }, { appId: [], appSecret: [] }, { user: [] }, { userId: [], token: [] }];
const binary = { type: "string", format: "binary" };

function operation(route: Route, schemas: Schemas): Json {
  const { data, status = 200, page, single, type } = route.reply;
  const name = `${route.id.slice(0, 1).toUpperCase()}${route.id.slice(1)}`;
  const methods = [
    ...new Map(route.access.flatMap(security).map((method) => [JSON.stringify(method), method])).values(),
  ];
  const example: { params?: Record<string, string>; body?: unknown; reply?: unknown } =
    examples[route.id as keyof typeof examples] ?? {};
  const answer = () => {
    const usual = schemas.reply(name, data, page);
    const anyOf = [usual, ...(single ?? []).map((one) => schemas.reply(name, one))];
    const named = single ? schemas.define(`${name}Reply`, { anyOf }) : usual;
    return schemas.shared(schemas.exemplify(named, example.reply));
  };
  const reply: Json = type === undefined ? answer() : success({ [type]: { schema: binary } });
  const body = route.body && schemas.exemplify(schemas.reference(route.body), example.body);
  return {
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    description: `Allowed callers: ${route.access.map(describeAccess).join(", ")}.`,
    ...(Bun.deepEquals(methods, usual) ? {} : { security: methods }),
    parameters: parametersOf(route, schemas, example.params),
    ...(route.upload && { requestBody: { required: true, content: uploadContent(route.upload, schemas) } }),
    ...(route.body && {
      requestBody: {
        required: !("properties" in route.body) || (route.body.required ?? []).length > 0,
        content: { ...json(body), ...(route.plainText && { "text/plain": { schema: body } }) },
      },
    }),
    responses: {
      [status]: reply,
      ...notCreated(route, reply),
      ...(route.readEtagSource && { 304: { $ref: "#/components/responses/NotModified" } }),
      // With many ids, the URL could exceed what the runtime accepts as a request's head.
      ...(route.query?.properties.resource_id?.maxItems && {
        431: { description: "The address is too long. Without a body." },
      }),
      ...errorResponses(ownErrors(route), schemas, route),
    },
  };
}

function uploadContent({ types }: Upload, schemas: Schemas): Json {
  const form = { type: "object", required: ["file"], properties: { file: binary }, additionalProperties: false };
  const files = types.map((type) => [type, { schema: binary }]);
  // Generated clients use the first content type.
  return { "multipart/form-data": { schema: schemas.define("MediaUpload", form) }, ...Object.fromEntries(files) };
}

/** A route that replies 201 replies 200 to a dry run, and for a record that already existed. */
function notCreated({ query, reply }: Route, whole: Json): Json {
  const isTry = query?.properties.dry_run && reply.status === 201;
  const description = isTry ? "With `dry_run=true`: the record that would be created." : reply.existing;
  return description === undefined ? {} : { 200: { ...whole, description } };
}

function describeAccess(access: Access): string {
  if (access.kind === "app") return access.scope ? `app keys with \`${access.scope}\`` : "app keys";
  if (access.kind === "token" && access.own) return "the user whose token it is";
  if (access.kind === "token") return access.role ? "staff and owners" : "signed-in users";
  return "anyone";
}

/** Each of the returned requirements suffices. */
function security(access: Access): Json[] {
  if (access.kind === "app") return [{ app: [] }, { appId: [], appSecret: [] }];
  return access.kind === "token" ? [{ user: [] }, { userId: [], token: [] }] : [{}];
}

function json(schema: unknown): Json {
  return { "application/json": { schema } };
}
