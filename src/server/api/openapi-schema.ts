import { Kind, type TSchema } from "@sinclair/typebox";

type Json = Record<string, unknown>;

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
