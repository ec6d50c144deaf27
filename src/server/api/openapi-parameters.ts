import type { TObject, TSchema } from "@sinclair/typebox";
import type { Route } from "../http/route.ts";
import { isOptional } from "../values/validate.ts";
import { commonParameters as commonParameterNames } from "./credentials.ts";
import { takesKey } from "./idempotency.ts";
import { plain, reference } from "./openapi-schema.ts";

type Json = Record<string, unknown>;

/** The parameters of a route in path, query and headers, as the API description lists them. */
export function parametersOf(route: Route): Json[] {
  return [
    ...commonParameters(route),
    ...objectParameters(route.params, "path"),
    ...objectParameters(route.query, "query"),
    ...ifMatch(route),
    ...idempotencyKey(route),
  ];
}

function commonParameters(route: Route): Json[] {
  return [
    {
      name: "namespace",
      in: "query",
      required: route.method === "GET",
      description: "Namespace of the store. Required in the query or in the JSON body; the query takes precedence.",
      schema: { type: "string" },
    },
    {
      name: "lang",
      in: "query",
      required: false,
      description: "Language of texts, as a BCP 47 tag such as `de` or `pt-BR`; the store's default without it.",
      schema: { type: "string" },
    },
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
  const description = "`ETag` of the record's version, or several. If none matches, the request is refused with 5303.";
  return [{ name: "If-Match", in: "header", required: false, description, schema: { type: "string" } }];
}

function idempotencyKey(route: Route): Json[] {
  if (!takesKey(route)) return [];
  const description =
    "A repeated request with the same key within 24 hours is not executed again; it gets the first reply.";
  const schema = { type: "string", minLength: 1, maxLength: 255, pattern: "^[!-~]+$" };
  return [{ name: "Idempotency-Key", in: "header", required: false, description, schema }];
}

const inQuery = "Can be sent in the query instead, which takes precedence.";
const commonHelp: Record<string, string> = {
  user_id: `With app credentials: the user that the call is about. ${inQuery} With a user token, send it in the query.`,
  token: "Send a user token in the query. Refresh and logout accept it here as well.",
};

/** The schema of a body, with the common parameters that any body may contain. */
export function bodyReference(schema: TSchema, schemas: Record<string, unknown>): unknown {
  const body = reference(schema, schemas);
  const target = schema.$id === undefined ? body : schemas[schema.$id];
  const properties = (target as { properties?: Record<string, unknown> }).properties ?? {};
  for (const name of commonParameterNames) {
    properties[name] ??= { type: "string", description: commonHelp[name] ?? inQuery };
  }
  return body;
}
