import type { InArgs, InStatement } from "@libsql/core/api";
import { validationFailed } from "../errors.ts";

/** A value that the file engine and the server both store without loss. */
export type BoundValue = null | string | number | bigint | Uint8Array;

const minInteger = -(2n ** 63n);
const maxInteger = 2n ** 63n - 1n;

/**
 * Converts an argument to the value that SQLite stores. Whole numbers become bigint, because both engines bind every
 * JavaScript number as REAL.
 * @throws validationFailed for text with a NUL character, where SQLite would cut the text; TypeError or RangeError for
 * other values that cannot be stored.
 */
export function bindValue(value: unknown): BoundValue {
  if (value === null) return null;
  switch (typeof value) {
    case "string":
      if (value.includes("\0")) throw validationFailed("Text must not contain a NUL character.");
      return value;
    case "number":
      if (Number.isSafeInteger(value)) return BigInt(value);
      if (!Number.isFinite(value)) throw new RangeError("Only finite numbers can be passed to the database.");
      return value;
    case "boolean":
      return value ? 1n : 0n;
    case "bigint":
      if (value < minInteger || value > maxInteger) throw new RangeError("A bigint must fit into 64 bits.");
      return value;
  }
  if (value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  // The engine would end the whole process for a value of another type, so such a value is refused here.
  throw new TypeError(`A value of type ${typeof value} cannot be bound.`);
}

/**
 * Converts the arguments of a statement with `count` parameters.
 * @throws as `bindValue`; TypeError for another number of arguments. In place of a missing argument, a cached statement
 * would use an argument of an earlier call.
 */
export function bindArgs(count: number, args: InArgs | undefined): BoundValue[] {
  const given = args ?? [];
  if (!Array.isArray(given)) throw new TypeError("Arguments are passed as a list.");
  if (given.length === count) return given.map(bindValue);
  throw new TypeError(`The statement takes ${count} arguments, but ${given.length} were passed.`);
}

export function sqlOf(stmt: InStatement): string {
  return typeof stmt === "string" ? stmt : stmt.sql;
}

export function argsOf(stmt: InStatement): InArgs | undefined {
  return typeof stmt === "string" ? undefined : stmt.args;
}
