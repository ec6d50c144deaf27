import { type SchemaOptions, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { refusedInLine, refusedInNote } from "./text.ts";

export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/** A text of 1 to `maxLength` characters. */
export function text(maxLength: number, description?: string, options?: SchemaOptions) {
  return textUpTo(maxLength, description, { minLength: 1, ...options });
}

/** A text of at most so many characters, which may be empty. */
export function textUpTo(maxLength: number, description?: string, options?: SchemaOptions) {
  return Type.String({ maxLength, ...(description !== undefined && { description }), ...options });
}

/**
 * JSON Schema keywords for the API description alone, as `form` of a schema: of what a service checks, with errors of its
 * own.
 */
type Form = Record<string, unknown>;

const notBlank = (refused: string): Form => ({ pattern: `^[^${refused}]*[^\\s${refused}][^${refused}]*$` });
export const lineForm = notBlank(refusedInLine);
const noteForm = notBlank(refusedInNote);

/** A text that `requireText` checks: not blank and of one line. */
export function line(maxLength: number, description?: string) {
  return text(maxLength, description, { form: lineForm });
}

/** A text that `checkNote` checks: not blank. */
export function lines(maxLength: number) {
  return text(maxLength, undefined, { form: noteForm });
}

export const languageForm: Form = {
  minLength: 2,
  maxLength: 35,
  pattern: "^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))?$",
};

/** The form of a comma-separated list of some of these names, without the spaces that services ignore. */
export function namesForm(names: readonly string[]): Form {
  const name = `(${names.join("|")})`;
  return { pattern: `^${name}(,${name})*$` };
}

export function whole(minimum: number, maximum: number, description?: string, options?: SchemaOptions) {
  return Type.Integer({ minimum, maximum, ...(description !== undefined && { description }), ...options });
}

/** RFC 3339, UTC. */
export const timestamp = Type.String({ format: "date-time" });

/** An object of a query or body, which refuses other fields. */
export function closed<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

/** The named schema of a JSON body, which refuses other fields. */
export function input<P extends TProperties>($id: string, properties: P) {
  return Type.Object(properties, { $id, additionalProperties: false });
}

/** As `input`, where every field is optional. */
export function patch<P extends TProperties>($id: string, properties: P) {
  return Type.Partial(Type.Object(properties), { $id, additionalProperties: false });
}

/** The named schema of an object in replies. */
export function output<P extends TProperties>($id: string, properties: P) {
  return Type.Object(properties, { $id });
}

export function oneOf<const T extends string>(texts: readonly T[], options: SchemaOptions = {}) {
  return Type.Union(
    texts.map((text) => Type.Literal(text)),
    options,
  );
}

/** The id in a path. A malformed one is answered with notFound. */
export const IdParams = Type.Object({ id: Type.String() });

/** The named reply to the removal of a record. */
export function deleted($id: string) {
  return output($id, { id: Type.String(), deleted: Type.Literal(true) });
}

const numeric = new WeakMap<TSchema, boolean>();

/** Whether there is a number anywhere in a schema. */
export function hasNumbers(schema: TSchema): boolean {
  const known = numeric.get(schema);
  if (known !== undefined) return known;
  const has = /"type":"(?:number|integer)"/.test(JSON.stringify(schema));
  numeric.set(schema, has);
  return has;
}
