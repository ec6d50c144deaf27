import { Kind, OptionalKind, type TObject } from "@sinclair/typebox";
import { codeOf, errorKinds } from "../../errors.ts";
import type { Access, Route, Upload } from "../../http/route.ts";
import { pageSchema } from "../../pagination/list-page.ts";
import { languageForm, namesForm } from "../../values/schema.ts";
import { takesKey } from "../answers.ts";
import { actsForVisitors } from "../public-calls.ts";
import document from "./document.json";
import examples from "./examples.json";
import introduction from "./introduction.txt" with { type: "text" };
import { errorResponses } from "./responses.ts";
import { type Json, Schemas, success } from "./schemas.ts";

const usual: Json[] = document.security;
/** The security requirements by kind of access. A caller must meet one of them. */
const requirements: Record<Access["kind"], Json[]> = { app: usual.slice(0, 2), token: usual.slice(2), public: [{}] };
const binary = { type: "string", format: "binary" };

export function describeApi(routes: readonly Route[], version: string): Json {
  const { info, components, ...rest } = structuredClone(document);
  components.schemas.ErrorBody.properties.code.enum = errorKinds.map(codeOf);
  Object.assign(components.parameters.lang.schema, languageForm);
  const schemas = new Schemas(components);
  schemas.reference(pageSchema);
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, schemas) };
  }
  shareParameters(paths, components.parameters);
  return { ...rest, info: { ...info, version, description: introduction.trim() }, paths, components };
}

function operation(route: Route, schemas: Schemas): Json {
  const { data, status = 200, page, single, type } = route.reply;
  const name = `${route.id.slice(0, 1).toUpperCase()}${route.id.slice(1)}`;
  const methods = [...new Set(route.access.map(({ kind }) => kind))].flatMap((kind) => requirements[kind]);
  const example: { params?: Record<string, string>; body?: unknown; reply?: unknown } =
    examples[route.id as keyof typeof examples] ?? {};
  const answer = () => {
    const usual = schemas.reply(name, data, page);
    const anyOf = [usual, ...(single ?? []).map((one) => schemas.reply(name, one))];
    const named = single ? schemas.define(`${name}Reply`, { anyOf }) : usual;
    const stream = route.stream && { "text/event-stream": { schema: { type: "string" } } };
    return schemas.shared(schemas.exemplify(named, example.reply), stream);
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
    ...(route.upload && { requestBody: { required: true, content: uploadContent(route, route.upload, schemas) } }),
    ...(route.body && {
      requestBody: {
        required: !("properties" in route.body) || (route.body.required ?? []).length > 0,
        content: { "application/json": { schema: body }, ...(route.plainText && { "text/plain": { schema: body } }) },
      },
    }),
    responses: {
      [status]: reply,
      ...notCreated(route, reply),
      ...(route.readEtagSource && { 304: { $ref: "#/components/responses/NotModified" } }),
      // With many ids, the URL may be longer than the runtime accepts. The runtime then replies 431 itself.
      ...(route.query?.properties.resource_id?.maxItems && { 431: { description: "The URL is too long. No body." } }),
      ...errorResponses(route, schemas),
    },
  };
}

function uploadContent({ signed }: Route, { types }: Upload, schemas: Schemas): Json {
  const form = { type: "object", required: ["file"], properties: { file: binary }, additionalProperties: false };
  const files = Object.fromEntries(types.map((type) => [type, { schema: binary }]));
  if (signed) return files;
  // Generated clients use the first content type, so the form comes first.
  return { "multipart/form-data": { schema: schemas.define("MediaUpload", form) }, ...files };
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

const refer = (name: string): Json => ({ $ref: `#/components/parameters/${name}` });

function parametersOf(route: Route, schemas: Schemas, examples: Record<string, string> = {}): Json[] {
  const headers = {
    If_Match: route.conditional,
    If_None_Match: route.readEtagSource,
    X_Client_Address: route.path.startsWith("/auth/") || actsForVisitors(route),
    Idempotency_Key: takesKey(route),
  };
  const read = Object.entries(headers).filter(([, isRead]) => isRead);
  return [
    ...["namespace", "lang"].map(refer),
    ...objectParameters(route.params, "path", schemas).map((one) => ({ ...one, example: examples[String(one.name)] })),
    ...objectParameters(withNames(route), "query", schemas),
    ...read.map(([name]) => refer(name)),
  ];
}

function withNames({ query, reply: { data } }: Route): TObject | undefined {
  const fields = query?.properties.fields;
  const properties: object | undefined = (data[Kind] === "Array" ? data.items : data).properties;
  if (!query || !fields || !properties) return query;
  return {
    ...query,
    properties: { ...query.properties, fields: { ...fields, form: namesForm(Object.keys(properties)) } },
  };
}

function objectParameters(schema: TObject | undefined, where: "path" | "query", schemas: Schemas): Json[] {
  if (!schema) return [];
  return Object.entries(schema.properties).map(([name, property]) => {
    const { description, ...rest } = schemas.reference(property);
    return {
      name,
      in: where,
      ...((where === "path" || property[OptionalKind] !== "Optional") && { required: true }),
      ...(description !== undefined && { description }),
      // Most generated clients cannot send `deepObject`, so JSON is described. Go clients send `deepObject` anyway.
      ...(property[Kind] === "Record" ? { content: { "application/json": { schema: rest } } } : { schema: rest }),
    };
  });
}

function shareParameters(paths: Record<string, Json>, shared: Record<string, Json>): void {
  const operations = Object.values(paths).flatMap((path) => Object.values(path) as { parameters: Json[] }[]);
  const own = operations.flatMap(({ parameters }) => parameters.filter((one) => !("$ref" in one)));
  const byText = Map.groupBy(own, (one) => JSON.stringify(one));
  const references = new Map<string, Json>();
  for (const [text, same] of [...byText].sort(([, a], [, b]) => b.length - a.length)) {
    if (same.length === 1) continue;
    const plain = String(same[0]?.name).replace(/\W+/g, "_").replace(/_$/, "");
    const namesakes = Object.keys(shared).filter((name) => name.replace(/_\d+$/, "") === plain).length;
    const name = namesakes === 0 ? plain : `${plain}_${namesakes + 1}`;
    shared[name] = same[0] as Json;
    references.set(text, refer(name));
  }
  for (const one of operations) {
    one.parameters = one.parameters.map((each) => references.get(JSON.stringify(each)) ?? each);
  }
}
