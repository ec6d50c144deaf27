import { Kind, OptionalKind, type TObject, type TSchema } from "@sinclair/typebox";
import type { Route } from "../http/route.ts";
import { maxTags } from "./check-input.ts";
import { commonParameters as commonParameterNames } from "./credentials.ts";
import { takesKey } from "./idempotency.ts";

type Json = Record<string, unknown>;

/** The forms of what the server refuses with an error of its own, so that its schemas do not check them. */
const namespaceForm = { type: "string", minLength: 1 };
const languageForm = {
  type: "string",
  minLength: 2,
  maxLength: 35,
  pattern:
    "^([A-Za-z]{2,3}|[A-Za-z]{5,8})(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))?$",
};
/** The base64url of a JSON array that begins with a text. */
const cursorForm = { pattern: "^WyI[A-Za-z0-9_-]+$" };
const tag = '(W/)?"[^",]*"';
const ifMatchForm = { type: "string", pattern: `^(\\*|${tag}( *, *${tag}){0,${maxTags - 1}})$` };

/** The parameters of a route in path, query and headers, as the API description lists them. */
export function parametersOf(route: Route): Json[] {
  const parameters = [
    parameter("query", "namespace", {
      required: route.method === "GET" || route.upload !== undefined,
      schema: namespaceForm,
      description: "Namespace of the store. Required in the query or in the JSON body; the query takes precedence.",
    }),
    parameter("query", "lang", {
      schema: languageForm,
      description: "Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language.",
    }),
    ...objectParameters(route.params, "path"),
    ...objectParameters(route.query, "query"),
  ];
  if (route.conditional) {
    const description =
      'At most ten `ETag` values, also in their weak form `W/"2"`. If none matches the record\'s current version, the ' +
      "request fails with 5303.";
    parameters.push(parameter("header", "If-Match", { description, schema: ifMatchForm }));
  }
  if (route.readState) {
    const description =
      "`ETag` values, or `*`. If one is that of the present reply, the reply is 304 without a body. Browsers send it.";
    parameters.push(parameter("header", "If-None-Match", { description }));
  }
  if (route.path.startsWith("/auth/")) {
    const description =
      "The customer's address, which limits then count. From a server whose key has the scope `auth:forward`; ignored from others.";
    parameters.push(parameter("header", "X-Client-Address", { description }));
  }
  if (takesKey(route)) {
    const description =
      "A request that is repeated with the same key within 24 hours is not executed again and gets the first reply.";
    const schema = { type: "string", minLength: 1, maxLength: 255, pattern: "^[!-~]+$" };
    parameters.push(parameter("header", "Idempotency-Key", { description, schema }));
  }
  return parameters;
}

function parameter(where: "query" | "header", name: string, rest: Json): Json {
  return { name, in: where, required: false, schema: { type: "string" }, ...rest };
}

function objectParameters(schema: TObject | undefined, where: "path" | "query"): Json[] {
  if (!schema) return [];
  return Object.entries(schema.properties).map(([name, property]) => {
    const { description, ...rest } = plain(property);
    return {
      name,
      in: where,
      required: where === "path" || property[OptionalKind] !== "Optional",
      ...(description !== undefined && { description }),
      ...(property[Kind] === "Record" && { style: "deepObject" }),
      schema: name === "cursor" ? { ...rest, ...cursorForm } : rest,
    };
  });
}

const inQuery = "Can be sent in the query instead, which takes precedence.";
const commonHelp: Record<string, string> = {
  user_id: `With app credentials: the user that the call is about. ${inQuery} With a user token, send both in the header.`,
  token: "Send a user token in the `Authorization` header. Refresh and logout accept it here as well.",
};

/** The schema of a body, with the common parameters that any body may contain. */
export function bodyReference(schema: TSchema, schemas: Record<string, unknown>): unknown {
  const body = reference(schema, schemas);
  const target = schema.$id === undefined ? body : schemas[schema.$id];
  const properties = (target as { properties?: Record<string, unknown> }).properties ?? {};
  for (const name of commonParameterNames) {
    const form = name === "namespace" ? namespaceForm : name === "lang" ? languageForm : { type: "string" };
    properties[name] ??= { ...form, description: commonHelp[name] ?? inQuery };
  }
  return body;
}

/** A schema, or a reference to it among the components if it has a name. */
export function reference(schema: TSchema, schemas: Record<string, unknown>): unknown {
  if (schema[Kind] === "Array" && schema.items) return { type: "array", items: reference(schema.items, schemas) };
  if (schema.$id === undefined) return plain(schema);
  const { $id, ...rest } = plain(schema);
  schemas[schema.$id] = rest;
  return { $ref: `#/components/schemas/${schema.$id}` };
}

/** The schema of a reply with all fields of each record, or those of `fields` and the id. */
export function partReference(schema: TSchema, schemas: Record<string, unknown>): unknown {
  if (schema[Kind] === "Array") return { type: "array", items: partReference(schema.items, schemas) };
  if (schema.$id === undefined) throw new Error("A record of which `fields` shows part needs a name ($id)");
  const whole = reference(schema, schemas) as { $ref: string };
  const { $id, ...rest } = plain(schema);
  schemas[`${$id}Part`] = { ...rest, required: ["id"], description: "`id` and the fields named by `fields`." };
  return { anyOf: [whole, { $ref: `${whole.$ref}Part` }] };
}

/** A schema without the properties that only this program understands. */
export function plain(schema: TSchema): Json {
  const copy = JSON.parse(JSON.stringify(schema)) as Json;
  const strip = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    delete (node as Json).expects;
    // A named schema may be nested in several others; its name is used only among the components.
    if (node !== copy) delete (node as Json).$id;
    for (const inner of Object.values(node)) strip(inner);
  };
  strip(copy);
  return copy;
}
