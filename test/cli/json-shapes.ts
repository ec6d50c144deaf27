import { join } from "node:path";

/** Types of a JSON value: `"string"`, `{ name: "string" }`, `["string"]`; several where elements differ. */
export type Shape = string | Shape[] | { [field: string]: Shape };

const file = join(import.meta.dir, "json-shapes.json");

/** The shapes that are promised, by verb. */
export async function readShapes(): Promise<Record<string, Shape>> {
  return (await Bun.file(file).json()) as Record<string, Shape>;
}

/** Puts new shapes in their place, in the order of the verbs' names. */
export async function writeShapes(shapes: Record<string, Shape>): Promise<void> {
  const sorted = Object.fromEntries(Object.entries(shapes).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  await Bun.write(file, `${JSON.stringify(sorted, null, 2)}\n`);
}

/** The types of a value without the value; an array has each shape of its elements once. */
export function shapeOf(value: unknown): Shape {
  if (value === null) return "null";
  if (Array.isArray(value)) {
    const shapes = new Map(value.map((element) => [JSON.stringify(shapeOf(element)), shapeOf(element)]));
    return [...shapes.values()];
  }
  if (typeof value !== "object") return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shapeOf(field)]));
}
