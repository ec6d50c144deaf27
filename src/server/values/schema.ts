import { type TSchema, Type } from "@sinclair/typebox";

/** Null beside another type. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/** A time as replies show it. */
export const timestamp = Type.String({ format: "date-time", description: "RFC 3339, UTC." });
