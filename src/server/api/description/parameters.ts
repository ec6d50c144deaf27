import { Kind, OptionalKind, type TObject } from "@sinclair/typebox";
import type { Route } from "../../http/route.ts";
import { namesForm } from "../../values/schema.ts";
import { takesKey } from "../answers.ts";
import { actsForVisitors } from "../public-calls.ts";
import type { Json, Schemas } from "./schemas.ts";

const refer = (name: string): Json => ({ $ref: `#/components/parameters/${name}` });

export function parametersOf(route: Route, schemas: Schemas, examples: Record<string, string> = {}): Json[] {
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
      // Only Go's generator can send `deepObject`, and it does so in any case.
      ...(property[Kind] === "Record" ? { content: { "application/json": { schema: rest } } } : { schema: rest }),
    };
  });
}

/** Moves parameters that several operations share to `shared`, the components. */
export function shareParameters(paths: Record<string, Json>, shared: Record<string, Json>): void {
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
