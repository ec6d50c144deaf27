import type { Row } from "@libsql/core/api";

/** Makes a row from the values of its columns. The row has a property for each column and one for each index. */
export type RowMaker = (values: unknown[]) => Row;

/** Creates a row maker. No two columns may have the same name. Indexes and `length` are on a shared prototype. */
export function createRowMaker(columns: string[]): RowMaker {
  const width = columns.length;
  const prototype = Object.defineProperty({}, "length", { value: width });
  for (const [index, name] of columns.entries()) {
    Object.defineProperty(prototype, index, {
      get(this: Record<string, unknown>) {
        return this[name];
      },
    });
  }
  return (values) => {
    const row = Object.create(prototype);
    for (let i = 0; i < width; i++) row[columns[i] as string] = valueFromSql(values[i]);
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
