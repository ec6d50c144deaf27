import { Kind, OptionalKind, type TObject } from "@sinclair/typebox";
import type { Route } from "../../http/route.ts";
import { languageForm, namesForm } from "../../values/schema.ts";
import { takesKey } from "../idempotency.ts";
import { actsForVisitors } from "../public-calls.ts";
import type { Json, Schemas } from "./schemas.ts";

/** The server refuses other values with its own error, so its schemas do not check them. */
const namespaceForm = { type: "string", minLength: 1 };
const ifMatchForm = { type: "string", pattern: '^(\\*|(W/)?"[^"]*")$' };

export function parametersOf(route: Route, schemas: Schemas, examples: Record<string, string> = {}): Json[] {
  const parameters = [
    parameter("query", "namespace", {
      required: true,
      schema: namespaceForm,
      description: "Namespace of the store.",
    }),
    parameter("query", "lang", {
      schema: { type: "string", ...languageForm },
      description: "Language of texts, as a BCP 47 tag such as `de` or `pt-BR`. Default: the store's language.",
    }),
    ...objectParameters(route.params, "path", schemas).map((one) => ({ ...one, example: examples[String(one.name)] })),
    ...objectParameters(withNames(route), "query", schemas),
  ];
  if (route.conditional) {
    const description =
      'An `ETag`, also in its weak form `W/"2"`. If the record has another version, the request fails with 5303.';
    parameters.push(parameter("header", "If-Match", { description, schema: ifMatchForm }));
  }
  if (route.readEtagSource) {
    const description =
      "`ETag` values, or `*`. If one is that of the present reply, the reply is 304 without a body. Browsers send it.";
    parameters.push(parameter("header", "If-None-Match", { description }));
  }
  if (route.path.startsWith("/auth/") || actsForVisitors(route)) {
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

function withNames({ query, reply: { data } }: Route): TObject | undefined {
  const fields = query?.properties.fields;
  const properties: object | undefined = (data[Kind] === "Array" ? data.items : data).properties;
  if (!query || !fields || !properties) return query;
  return {
    ...query,
    properties: { ...query.properties, fields: { ...fields, form: namesForm(Object.keys(properties)) } },
  };
}

function parameter(where: "query" | "header", name: string, rest: Json): Json {
  return { name, in: where, schema: { type: "string" }, ...rest };
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
      // Only Go's generator can send `deepObject`, and it does so in any case.
      ...(property[Kind] === "Record" ? { content: { "application/json": { schema: rest } } } : { schema: rest }),
    };
  });
}

/** Moves parameters that several operations share to the components. */
export function shareParameters(paths: Record<string, Json>): Record<string, Json> {
  const operations = Object.values(paths).flatMap((path) => Object.values(path) as { parameters: Json[] }[]);
  const all = operations.flatMap(({ parameters }) => parameters);
  const byText = Map.groupBy(all, (one) => JSON.stringify(one));
  const shared: Record<string, Json> = {};
  const references = new Map<string, Json>();
  for (const [text, same] of [...byText].sort(([, a], [, b]) => b.length - a.length)) {
    if (same.length === 1) continue;
    const plain = String(same[0]?.name).replace(/\W+/g, "_").replace(/_$/, "");
    const namesakes = Object.keys(shared).filter((name) => name.replace(/_\d+$/, "") === plain).length;
    const name = namesakes === 0 ? plain : `${plain}_${namesakes + 1}`;
    shared[name] = same[0] as Json;
    references.set(text, { $ref: `#/components/parameters/${name}` });
  }
  for (const one of operations) {
    one.parameters = one.parameters.map((each) => references.get(JSON.stringify(each)) ?? each);
  }
  return shared;
}
