import { afterAll, expect } from "bun:test";
import { join } from "node:path";

/**
 * The types of a JSON value: `"string"`, or `{ name: "string" }`. A field of a list ends in `[]` and has the type of
 * the elements. A field that only some elements have ends in `?`.
 */
export type Shape = string | { [field: string]: Shape };

const file = join(import.meta.dir, "json-shapes.json");

/** Reads the documented shapes, by command. In the file, `"= tenant create"` means the same shape as that command's. */
export async function readShapes(): Promise<Record<string, Shape>> {
  const written = (await Bun.file(file).json()) as Record<string, Shape>;
  const entries = Object.entries(written).map(([command, shape]): [string, Shape] => {
    return [command, typeof shape === "string" && shape.startsWith("= ") ? (written[shape.slice(2)] as Shape) : shape];
  });
  return Object.fromEntries(entries);
}

/**
 * Call this at the top of a test file. The returned function fails if the output of a command does not have its
 * documented shape. `BODEGA_WRITE_SHAPES=1` writes the present shapes to the file; review the diff.
 */
export async function usePromisedShapes(): Promise<(command: string, answer: unknown) => void> {
  const isWriting = process.env.BODEGA_WRITE_SHAPES === "1";
  const promised = await readShapes();
  const seen: Record<string, Shape> = {};
  afterAll(async () => {
    if (!isWriting) return;
    const all = Object.entries({ ...(await readShapes()), ...seen }).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const short = all.map(([command, shape], index) => {
      const same = all.slice(0, index).find(([, other]) => typeof shape !== "string" && Bun.deepEquals(shape, other));
      return [command, same ? `= ${same[0]}` : shape];
    });
    await Bun.write(file, `${JSON.stringify(Object.fromEntries(short), null, 2)}\n`);
  });
  return (command, answer) => {
    seen[command] = shapeOf(answer);
    if (!isWriting) expect({ [command]: seen[command] }).toEqual({ [command]: promised[command] as Shape });
  };
}

/** Returns the shape of a value. */
export function shapeOf(value: unknown): Shape {
  if (value === null) return "null";
  if (Array.isArray(value)) return { "[]": mergeShapes(value.map(shapeOf)) };
  if (typeof value !== "object") return typeof value;
  const fields = Object.entries(value).map(([name, field]): [string, Shape] => {
    const shape = shapeOf(field);
    return Array.isArray(field) ? [`${name}[]`, (shape as { "[]": Shape })["[]"]] : [name, shape];
  });
  return Object.fromEntries(fields);
}

/** Merges the shapes of the elements of a list. */
function mergeShapes(shapes: Shape[]): Shape {
  const records = shapes.filter((shape) => typeof shape !== "string");
  const words = [...new Set(shapes.filter((shape) => typeof shape === "string"))].toSorted();
  if (records.length === 0) return words.length === 0 ? "nothing" : words.join(" | ");
  const names = [...new Set(records.flatMap((record) => Object.keys(record)))];
  const merged = names.map((name): [string, Shape] => {
    const found = records.flatMap((record) => record[name] ?? []);
    const shape = found.length === 1 ? (found[0] as Shape) : mergeShapes(found);
    return [found.length < shapes.length ? `${name}?` : name, shape];
  });
  return Object.fromEntries(merged);
}
