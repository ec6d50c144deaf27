import type { InArgs, InStatement } from "@libsql/core/api";
import { validationFailed } from "../errors.ts";

/** What both engines bind without loss. */
export type BoundValue = null | string | number | bigint | Uint8Array;

const minInteger = -(2n ** 63n);
const maxInteger = 2n ** 63n - 1n;

/**
 * Turns one argument into what SQLite stores. Whole numbers become bigint, because both engines bind every JavaScript
 * number as REAL. Errors: validationFailed for text with a NUL (SQLite would cut it there); TypeError or RangeError for the rest.
 */
export function bindValue(value: unknown): BoundValue {
  if (typeof value === "string") {
    if (value.includes("\0")) throw validationFailed("Text must not hold a NUL character.");
    return value;
  }
  if (typeof value === "number") {
    if (Number.isSafeInteger(value)) return BigInt(value);
    if (!Number.isFinite(value)) throw new RangeError("Only finite numbers can be passed to the database.");
    return value;
  }
  if (value === null) return null;
  if (typeof value === "boolean") return value ? 1n : 0n;
  if (typeof value === "bigint") {
    if (value < minInteger || value > maxInteger) throw new RangeError("A bigint must fit into 64 bits.");
    return value;
  }
  if (value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (value instanceof Date) return bindValue(value.getTime());
  // The engine ends the whole process at a type that it does not know, so nothing else gets through.
  throw new TypeError(`A value of type ${value === undefined ? "undefined" : typeof value} cannot be bound.`);
}

/**
 * The arguments in SQLite's order. A kept statement would silently reuse an earlier call's value for a missing one,
 * so the count must match. `params` names each parameter, null where it has no name.
 */
export function bindArgs(params: (string | null)[], args: InArgs | undefined): BoundValue[] {
  if (args !== undefined && !Array.isArray(args)) return bindNamed(params, args);
  const count = args?.length ?? 0;
  if (count !== params.length) {
    throw new TypeError(`The statement takes ${params.length} arguments, but ${count} were passed.`);
  }
  const bound: BoundValue[] = new Array(count);
  for (let i = 0; i < count; i++) bound[i] = bindValue((args as unknown[])[i]);
  return bound;
}

function bindNamed(params: (string | null)[], args: Record<string, unknown>): BoundValue[] {
  const byName = new Map<string, unknown>();
  for (const name in args) byName.set(/^[:@$]/.test(name) ? name.slice(1) : name, args[name]);
  return params.map((name) => {
    if (name === null || !byName.has(name)) throw new TypeError(`No argument for parameter ${name ?? "?"} was passed.`);
    return bindValue(byName.get(name));
  });
}

/** The SQL of a statement in either form that a client takes. */
export function sqlOf(stmt: InStatement | [string, InArgs?]): string {
  return typeof stmt === "string" ? stmt : Array.isArray(stmt) ? stmt[0] : stmt.sql;
}

/** The arguments of a statement in either form that a client takes. */
export function argsOf(stmt: InStatement | [string, InArgs?]): InArgs | undefined {
  return typeof stmt === "string" ? undefined : Array.isArray(stmt) ? stmt[1] : stmt.args;
}
