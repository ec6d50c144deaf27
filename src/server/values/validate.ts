import { Kind, type Static, type TObject, type TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { type FieldError, validationFailed } from "../errors.ts";
import { attempt } from "./attempt.ts";
import { InexactNumber } from "./exact-json.ts";

const compiled = new WeakMap<TSchema, TypeCheck<TSchema>>();
const maxDetails = 20;
/** Maximum errors that are read. A nullable object reports each error twice, so this is more than `maxDetails`. */
const maxErrors = 100;
const sizeErrors = new Set([
  ValueErrorType.ArrayMaxItems,
  ValueErrorType.StringMaxLength,
  ValueErrorType.ObjectMaxProperties,
]);

/** Throws validationFailed, which names the invalid fields but repeats no value. `root` names the value itself. */
export function validate<T extends TSchema>(schema: T, value: unknown, root: string): Static<T> {
  let check = compiled.get(schema);
  if (!check) {
    // A server that only reads needs no schemas of writes, so a schema is compiled at its first use.
    check = TypeCompiler.Compile(schema);
    compiled.set(schema, check);
  }
  if (check.Check(value)) return value as Static<T>;
  const details = new Map<string, FieldError>();
  let seen = 0;
  for (const error of deepErrors(check.Errors(value))) {
    // An unknown name may be as long as the whole body, so it is cut.
    const start = error.path.slice(1, 401);
    const path = start.replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");
    const field = path.slice(0, 200) || root;
    if (!details.has(field)) details.set(field, { field, message: explain(error) });
    // TypeBox checks all items of an array that is too long, so this stops at the error about the length.
    if (details.size >= maxDetails || ++seen >= maxErrors || sizeErrors.has(error.type)) break;
  }
  throw validationFailed([...details.values()]);
}

/**
 * Replaces the error of a union by the errors inside the branch that matches the value's kind, so that the errors of a
 * nullable object name its invalid fields.
 */
function* deepErrors(errors: Iterable<ValueError>): Generator<ValueError> {
  for (const error of errors) {
    const isInside = ({ path }: ValueError) => path.length > error.path.length;
    // Only a union has branches.
    const branches = error.errors.map((branch) => [...branch]);
    const branch = branches.find((inner) => inner.length > 0 && inner.every(isInside));
    if (branch) yield* deepErrors(branch);
    else yield error;
  }
}

/**
 * Validates a query, in which numbers and booleans are texts. The fields of a record are sent as `option[size]`; some
 * generated clients send them as JSON in `option`.
 */
export function validateQuery<T extends TObject>(schema: T, query: Record<string, string | string[]>): Static<T> {
  if (schema.required === undefined && Object.keys(query).length === 0) return {} as Static<T>;
  const values: Record<string, unknown> = { ...query };
  const addTo = (record: string, fields: object) => {
    const others = typeof values[record] === "object" ? values[record] : undefined;
    values[record] = Object.assign(Object.create(null), others, fields);
  };
  for (const [name, text] of Object.entries(query)) {
    if (typeof text !== "string") continue;
    const [, record = "", field] = name.endsWith("]") ? (/^(\w+)\[(.+)\]$/s.exec(name) ?? []) : [];
    if (field !== undefined && kindOf(schema, record) === "Record") {
      delete values[name];
      addTo(record, { [field]: text });
      continue;
    }
    const value = parseText(kindOf(schema, name), text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) addTo(name, value);
    else values[name] = value;
  }
  return validate(schema, values, "query");
}

function kindOf(schema: TObject, name: string): unknown {
  return Object.hasOwn(schema.properties, name) ? schema.properties[name]?.[Kind] : undefined;
}

function parseText(kind: unknown, text: string): unknown {
  if (kind === "Number" || kind === "Integer") return /^-?\d{1,16}(\.\d{1,16})?$/.test(text) ? Number(text) : text;
  if (kind === "Boolean") return text === "true" || (text === "false" ? false : text);
  return (kind === "Record" ? attempt<unknown>(() => JSON.parse(text)) : undefined) ?? text;
}

function explain({ type, schema, value }: ValueError): string {
  if (type === ValueErrorType.ObjectRequiredProperty) return "is required";
  if (type === ValueErrorType.ObjectAdditionalProperties) return "is not a known field";
  if (value instanceof InexactNumber && schema.type !== "string")
    return "has more digits than a number can hold exactly";
  return `must be ${describe(schema)}`;
}

function describe(schema: TSchema): string {
  if (typeof schema.expects === "string") return schema.expects;
  return descriptions[schema[Kind]]?.(schema) ?? "an object";
}

const descriptions: Record<string, (schema: TSchema) => string> = {
  String: ({ minLength, maxLength }) => `a string${range(minLength, maxLength, "characters")}`,
  Integer: ({ minimum, maximum }) => `a whole number${range(minimum, maximum, "")}`,
  Number: ({ minimum, maximum }) => `a number${range(minimum, maximum, "")}`,
  Boolean: () => "true or false",
  Array: ({ minItems, maxItems }) => `an array${range(minItems, maxItems, "items")}`,
  Null: () => "null",
  Literal: (schema) => JSON.stringify(schema.const),
  Union: (schema) => (schema.anyOf as TSchema[]).map(describe).join(" or "),
};

function range(min: number | undefined, max: number | undefined, unit: string): string {
  const tail = unit && ` ${unit}`;
  if (min !== undefined && min === max) return ` of exactly ${min}${tail}`;
  if (min !== undefined && max !== undefined) return unit ? ` of ${min} to ${max}${tail}` : ` from ${min} to ${max}`;
  if (min !== undefined) return ` of at least ${min}${min === 1 ? tail.replace(/s$/, "") : tail}`;
  if (max !== undefined) return ` of at most ${max}${tail}`;
  return "";
}
