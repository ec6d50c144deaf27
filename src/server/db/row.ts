import type { Row } from "@libsql/core/api";

type Values = unknown[];

/** Makes the rows of a statement: own properties by name; indexes and `length` come from a shared prototype. */
export type RowMaker = (values: Values) => Row;

const valuesOf = Symbol("values");

/** Builds the row maker. Of two columns with one name, the name returns the first; indexes return both. */
export function createRowMaker(columns: string[]): RowMaker {
  const plain =
    new Set(columns).size === columns.length && !columns.some((name) => name === "length" || /^\d+$/.test(name));
  const prototype = {} as Record<string | number | symbol, unknown>;
  Object.defineProperty(prototype, "length", { value: columns.length });
  for (const [index, name] of columns.entries()) {
    const get = plain
      ? function (this: Record<string, unknown>) {
          return this[name];
        }
      : function (this: { [valuesOf]: Values }) {
          return this[valuesOf][index];
        };
    Object.defineProperty(prototype, index, { get });
  }
  const width = columns.length;
  if (plain) {
    return (values) => {
      const row = Object.create(prototype);
      for (let i = 0; i < width; i++) row[columns[i] as string] = valueFromSql(values[i]);
      return row;
    };
  }
  return (values) => {
    const own = values.map(valueFromSql);
    const row = Object.create(prototype, { [valuesOf]: { value: own } });
    for (const [i, name] of columns.entries()) {
      if (!Object.hasOwn(row, name)) {
        Object.defineProperty(row, name, { value: own[i], enumerable: true, writable: true, configurable: true });
      }
    }
    return row;
  };
}

function valueFromSql(value: unknown): unknown {
  if (typeof value === "bigint") {
    const number = Number(value);
    if (!Number.isSafeInteger(number)) throw new RangeError("An integer is too large for a JavaScript number.");
    return number;
  }
  if (value instanceof Uint8Array) {
    const { buffer, byteOffset, byteLength } = value;
    return byteLength === buffer.byteLength ? buffer : buffer.slice(byteOffset, byteOffset + byteLength);
  }
  return value;
}
