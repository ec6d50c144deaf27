import { type SchemaOptions, type TProperties, type TSchema, Type } from "@sinclair/typebox";
import { refusedInLine, refusedInNote } from "./fields.ts";

export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

export function text(maxLength: number, description?: string, options?: SchemaOptions) {
  return textUpTo(maxLength, description, { minLength: 1, ...options });
}

export function textUpTo(maxLength: number, description?: string, options?: SchemaOptions) {
  return Type.String({ maxLength, ...(description !== undefined && { description }), ...options });
}

/** JSON Schema keywords for the API description. Validation ignores them, because the service checks the value. */
type Form = Record<string, unknown>;

const notBlank = (refused: string): Form => ({ pattern: `^[^${refused}]*[^\\s${refused}][^${refused}]*$` });
export const lineForm = notBlank(refusedInLine);
const noteForm = notBlank(refusedInNote);

/** A schema for one line of text, not blank. The service checks the text with `requireText`. */
export function line(maxLength: number, description?: string) {
  return text(maxLength, description, { form: lineForm });
}

/** A schema for several lines of text, not blank. The service checks the text with `checkNote`. */
export function lines(maxLength: number) {
  return text(maxLength, undefined, { form: noteForm });
}

export const languageForm: Form = {
  minLength: 2,
  maxLength: 35,
  pattern: "^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?(-([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))?$",
};

/** Returns a JSON Schema pattern for these names, separated by commas. Services also accept spaces between them. */
export function namesForm(names: readonly string[]): Form {
  const name = `(${names.join("|")})`;
  return { pattern: `^${name}(,${name})*$` };
}

export function whole(minimum: number, maximum: number, description?: string, options?: SchemaOptions) {
  return Type.Integer({ minimum, maximum, ...(description !== undefined && { description }), ...options });
}

export const timestamp = Type.String({ format: "date-time" });

export function closed<P extends TProperties>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

export function input<P extends TProperties>($id: string, properties: P) {
  return Type.Object(properties, { $id, additionalProperties: false });
}

export function patch<P extends TProperties>($id: string, properties: P) {
  return Type.Partial(Type.Object(properties), { $id, additionalProperties: false });
}

export function output<P extends TProperties>($id: string, properties: P) {
  return Type.Object(properties, { $id });
}

export function oneOf<const T extends string>(texts: readonly T[], options: SchemaOptions = {}) {
  return Type.Union(
    texts.map((text) => Type.Literal(text)),
    options,
  );
}

/** The schema accepts any id, because a malformed id gets the same error as an unknown one: notFound. */
export const IdParams = Type.Object({ id: Type.String() });

export function deleted($id: string) {
  return output($id, { id: Type.String(), deleted: Type.Literal(true) });
}

/** The reply to calls that must not reveal whether a record exists, such as a request for a password reset. */
export const Accepted = output("Accepted", { accepted: Type.Literal(true) });
