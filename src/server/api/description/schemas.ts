import { Kind, type TSchema } from "@sinclair/typebox";

export type Json = Record<string, unknown>;

const schemaPath = "#/components/schemas/";

export function success(content: Json): Json {
  return { description: "Success", content };
}

export class Schemas {
  readonly components: Record<string, Json>;
  readonly responses: Record<string, Json>;

  constructor(components: Record<"schemas" | "responses", Record<string, Json>>) {
    this.components = components.schemas;
    this.responses = components.responses;
  }

  /** Returns a schema, or a reference if it has a name. Throws if two schemas have the same name. */
  reference(schema: TSchema): Json {
    if (schema.$id === undefined) return this.#convert(schema) as Json;
    return this.define(schema.$id, this.#convertFields(schema));
  }

  define(name: string, schema: Json): Json {
    const known = this.components[name];
    if (known && !Bun.deepEquals({ ...known, examples: undefined }, schema))
      throw new Error(`Two schemas of the API are named ${name}`);
    this.components[name] ??= schema;
    return { $ref: `${schemaPath}${name}` };
  }

  /** Defines the schema of a reply. If the schema of `data` has no `$id`, its name is `name`. */
  reply(name: string, data: TSchema, isPaged = false): Json {
    const isList = data[Kind] === "Array" && data.items?.$id !== undefined;
    const subject = isList ? `${data.items.$id}List` : (data.$id ?? name);
    return this.define(`${subject}Reply`, {
      type: "object",
      required: ["request_id", "data", ...(isPaged ? ["page"] : [])],
      properties: {
        request_id: { type: "string" },
        data: this.reference(data),
        ...(isPaged && { page: { $ref: `${schemaPath}Page` } }),
      },
    });
  }

  shared(schema: Json, more: Json = {}): Json {
    const name = String(schema.$ref).slice(schemaPath.length);
    this.responses[name] ??= success({ "application/json": { schema }, ...more });
    return { $ref: `#/components/responses/${name}` };
  }

  /** Adds an example to the component that a reference names, unless the component has an example. */
  exemplify(reference: Json, example: unknown): Json {
    const component = this.components[String(reference.$ref).slice(schemaPath.length)];
    if (component && example !== undefined) component.examples ??= [example];
    return reference;
  }

  #convert(node: unknown): unknown {
    if (Array.isArray(node)) return node.map((item) => this.#convert(item));
    if (typeof node !== "object" || node === null) return node;
    if ("$id" in node) return this.reference(node as TSchema);
    return this.#convertFields(node as Json);
  }

  /** Converts fields to forms that client generators understand: no constants, and numbers with their size. */
  #convertFields({ $id, expects: _, form, ...node }: Json): Json {
    const fields = Object.fromEntries(Object.entries(node).map(([name, inner]) => [name, this.#convert(inner)]));
    const { anyOf, const: constant, patternProperties, ...rest } = { ...fields, ...(form as Json | undefined) };
    if (typeof constant === "boolean") return rest;
    if (constant !== undefined) return { ...rest, enum: [constant] };
    // `true` is written instead of `{}`, which means the same, because the reference page warns about `{}`.
    const [values = {}] = Object.values((patternProperties ?? {}) as Record<string, Json>);
    if (patternProperties) return { ...rest, additionalProperties: Object.keys(values).length > 0 ? values : true };
    if (rest.type === "integer") return { ...rest, format: "int64" };
    if (rest.type === "number") return { ...rest, format: "double" };
    return anyOf ? { ...rest, ...joined(anyOf as Json[]) } : rest;
  }
}

function joined(union: Json[]): Json {
  if (union.every((one) => one.enum)) {
    return { type: union[0]?.type, enum: union.flatMap((one) => one.enum) };
  }
  const [first, second, ...more] = union;
  const isNullable = second?.type === "null" && more.length === 0;
  if (!isNullable || typeof first?.type !== "string") return { anyOf: union };
  const values = first.enum ? { enum: [...(first.enum as unknown[]), null] } : {};
  return { ...first, ...values, type: [first.type, "null"] };
}
