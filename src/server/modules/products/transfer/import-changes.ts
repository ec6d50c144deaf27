import { invalidField } from "../../../errors.ts";

type Fields = Record<string, unknown>;

/**
 * Those of the given fields that would change a record, as PATCH takes them. What stands already is left out, so that a
 * row without news moves no version and makes no event.
 * @param isTable an empty cell stands for null and for an empty text alike.
 * @throws validationFailed for what no PATCH can say.
 */
export function findChanges(standing: Fields, given: Fields, isTable: boolean): Fields {
  const changes: Fields = {};
  for (const [name, value] of Object.entries(given)) {
    const before = standing[name];
    if (isSame(before, value) || (isTable && value === null && before === "")) continue;
    if (name === "images" && isSame(before, withAlt(value))) continue;
    if (name === "metadata" && isSame(before, asKept(value))) continue;
    const isMerged = (name === "metadata" || name === "translations") && isObject(before) && isObject(value);
    changes[name] = isMerged ? mergePatch(name, before, value) : value;
  }
  return changes;
}

/** What RFC 7396 has to merge into one object to make it the other. */
function mergePatch(field: string, before: Fields, after: Fields): Fields {
  const patch: Fields = {};
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) patch[name] = null;
  for (const [name, value] of Object.entries(after)) {
    const standing = before[name];
    if (isSame(standing, value)) continue;
    if (holdsNull(value)) throw invalidField(field, "cannot be changed to null values; leave these names out");
    // What is no object on both sides is replaced; a merge into it would keep names that are gone.
    patch[name] = isObject(standing) && isObject(value) ? mergePatch(field, standing, value) : value;
  }
  return patch;
}

function holdsNull(value: unknown): boolean {
  return value === null || (isObject(value) && Object.values(value).some(holdsNull));
}

/** Equal as JSON values: the order of an object's names means nothing. */
export function isSame(a: unknown, b: unknown): boolean {
  return Bun.deepEquals(a, b, true);
}

/** Free JSON once it has been written and read: digits beyond a double's are gone. */
function asKept(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function withAlt(images: unknown): unknown {
  if (!Array.isArray(images)) return images;
  return images.map((image) => (isObject(image) ? { ...image, alt: image.alt ?? "" } : image));
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
